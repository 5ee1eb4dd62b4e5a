"""Measures whether the event loop has work, or waits for other services."""

import asyncio
import time
from collections.abc import Callable

IDLE_TURN_SECONDS = 0.0001  # CPU time of a turn of the event loop that did next to nothing
WINDOW_SECONDS = 0.002  # CPU time of one sample
MAX_TURNS = 500  # of one sample
WEIGHT = 0.1  # of one sample; with one in 50 ms, half a second of load counts
IDLE_SHARE = 0.4


class EventLoopLoad:
    """The share of time in which the event loop has work.

    A sample lets the loop turn without pause for a moment, and adds up the turns that did something. Their CPU time
    counts, so that a process that has to wait for its core appears neither busy, nor idle because it gets little of it.
    """

    def __init__(self, cpu_clock: Callable[[], float] = time.thread_time) -> None:
        self.cpu_clock = cpu_clock
        self._share = 0.0
        self._is_sampling = False
        self._began = self._turn_at = self._busy = 0.0
        self._turns = 0

    @property
    def is_idle(self) -> bool:
        return self._share < IDLE_SHARE

    def reset(self) -> None:
        """Forget earlier samples."""
        self._share = 0.0

    def sample(self) -> None:
        """Take a sample; call it at regular intervals."""
        if not self._is_sampling:
            self._is_sampling, self._busy, self._turns = True, 0.0, 0
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        now = self.cpu_clock()
        if self._turns == 0:
            self._began = now
        elif now - self._turn_at >= IDLE_TURN_SECONDS:
            self._busy += now - self._turn_at
        self._turn_at = now
        self._turns += 1
        if now - self._began < WINDOW_SECONDS and self._turns < MAX_TURNS:
            asyncio.get_running_loop().call_soon(self._turn)
            return
        self._is_sampling = False
        share = self._busy / (now - self._began) if now > self._began else 0.0
        self._share += WEIGHT * (share - self._share)
