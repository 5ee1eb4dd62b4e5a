"""Keeps the level of each line in the mix near the median of its speaker."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

MAX_BELOW_MEDIAN_DB = 6.0
MAX_LIFTED_GAIN = 16.0  # 24 dB: what needs more is not speech


@dataclass(frozen=True, slots=True)
class LineLevel:
    """The level of a synthesized line before mixing, and its gain in the mix."""

    speaker: str
    level: float  # linear; 0 if it is not known
    gain: float = 1.0

    @property
    def mixed(self) -> float:
        return self.level * self.gain


def lift_quiet_lines(lines: Sequence[LineLevel]) -> list[float]:
    """The gain of each line, raised where the line would be more than MAX_BELOW_MEDIAN_DB below its speaker's median.

    Gains are raised up to MAX_LIFTED_GAIN. Raised lines stay below the median, so that it does not change.
    """
    floors = {
        speaker: median * 10 ** (-MAX_BELOW_MEDIAN_DB / 20) for speaker, median in _medians_by_speaker(lines).items()
    }
    return [
        max(line.gain, min(_round_up(floors[line.speaker] / line.level), MAX_LIFTED_GAIN))
        if 0 < line.mixed < floors[line.speaker]
        else line.gain
        for line in lines
    ]


def levels_db(lines: Sequence[LineLevel]) -> list[float | None]:
    """The mixed level of each line relative to its speaker's median, to a tenth; None if it is not known."""
    medians = _medians_by_speaker(lines)
    return [round(20 * math.log10(line.mixed / medians[line.speaker]), 1) if line.mixed > 0 else None for line in lines]


def is_outlier(level_db: float) -> bool:
    """Whether a level relative to the median is too low."""
    return level_db < -MAX_BELOW_MEDIAN_DB


def _medians_by_speaker(lines: Sequence[LineLevel]) -> dict[str, float]:
    """The upper median, because the mean of the two middle levels would change when one of them is raised."""
    levels: dict[str, list[float]] = {}
    for line in lines:
        if line.mixed > 0:
            levels.setdefault(line.speaker, []).append(line.mixed)
    return {speaker: statistics.median_high(each) for speaker, each in levels.items()}


def _round_up(gain: float) -> float:
    return math.ceil(gain * 10_000) / 10_000
