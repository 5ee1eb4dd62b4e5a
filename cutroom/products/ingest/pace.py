"""How fast a source must send: a minimum rate over a sliding window, and a deadline, both by its size."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

DOWNLOAD_SECONDS = 6 * 3600.0  # however large the source is
SAMPLES_PER_WINDOW = 20


class TooSlowError(Exception):
    """The source does not send fast enough to keep its slot."""


@dataclass(frozen=True, slots=True)
class PaceRules:
    """The pace that is required of every source."""

    min_bytes_per_second: int = 32 * 1024
    window_seconds: float = 60.0
    grace_seconds: float = 600.0

    def min_rate(self, size_bytes: int | None) -> float:
        """Bytes per second in every window: of a large source, half of what it needs to end in time."""
        return max(self.min_bytes_per_second, (size_bytes or 0) / DOWNLOAD_SECONDS / 2)

    def deadline_seconds(self, size_bytes: int) -> float:
        return min(DOWNLOAD_SECONDS, self.grace_seconds + size_bytes / self.min_bytes_per_second)


DEFAULT_PACE = PaceRules()


class Pace:
    """Measures one download."""

    def __init__(self, rules: PaceRules, clock: Callable[[], float] = time.monotonic) -> None:
        self._rules = rules
        self._clock = clock
        self._started = clock()
        self._samples = deque([(self._started, 0)])  # when how many bytes had been received

    def check(self, received: int, total: int | None) -> None:
        """Raises TooSlowError; a source of unknown size is as large as what it has sent."""
        now, rules = self._clock(), self._rules
        if now - self._started > rules.deadline_seconds(max(received, total or 0)):
            raise TooSlowError
        if now - self._samples[-1][0] >= rules.window_seconds / SAMPLES_PER_WINDOW:
            self._samples.append((now, received))
        while len(self._samples) > 1 and now - self._samples[1][0] >= rules.window_seconds:
            self._samples.popleft()
        since, before = self._samples[0]
        if now - since >= rules.window_seconds and received - before < rules.min_rate(total) * (now - since):
            raise TooSlowError
