"""Spaces work of one subject, so that a flood of it leaves time for the requests of others."""

import math
from collections import OrderedDict


class Pacer:
    """A rate for each subject in this process; `burst` units may come at once."""

    def __init__(self, per_second: float, *, burst: float = 0.0) -> None:
        self._per_second = per_second
        self._ahead = burst / per_second
        self._ends: OrderedDict[str, float] = OrderedDict()  # of the work that each subject was given

    def delay(self, subject: str, units: float, now: float, *, longest: float = math.inf) -> float:
        """How long to wait with this much work; work that would wait for longer is not counted."""
        while self._ends and next(iter(self._ends.values())) <= now:
            self._ends.popitem(last=False)
        end = max(now, self._ends.get(subject, now))
        waiting = max(0.0, end - self._ahead - now)
        if waiting <= longest:
            self._ends[subject] = end + units / self._per_second
            self._ends.move_to_end(subject)
        return waiting
