"""Estimates when a job will be ready, from its progress and from the measured runs of earlier jobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import log
from statistics import median

MARKS = 10  # a run is recorded as the seconds in which it reached each tenth of its progress
MARK_PERCENT = 100 // MARKS
SIMILAR_RUNS = 5  # earlier runs that an expectation is based on, those of the most similar length
MIN_MEDIA_SECONDS = 1.0
TRUSTED_PERCENT = 40.0  # progress from which the pace of the run itself outweighs earlier runs
MIN_DONE_SHARE = 0.1  # without a known length, the share of a run after which its pace says something
MIN_ELAPSED_SECONDS = 5.0
MIN_PACE, MAX_PACE = 0.1, 20.0  # of this run, relative to earlier ones
MAX_REMAINING_SECONDS = 24 * 3600.0
ROUNDING_SECONDS = 5
ROUNDING_PERCENT = 0.01
MAX_OVERDUE_SECONDS = 30.0  # a job that is late by more, and by half of what remained, has no estimate

_UNIFORM = tuple(float(MARK_PERCENT * (number + 1)) for number in range(MARKS))


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A finished run: the length of its media, if known, and the seconds in which it reached each mark."""

    media_seconds: float | None
    reached_seconds: Sequence[float]


@dataclass(frozen=True, slots=True)
class RunState:
    """The state of an unfinished run at its last progress report."""

    progress: float
    started_at: datetime
    reported_at: datetime
    expected_seconds: Sequence[float] | None  # as in MeasuredRun; None if nothing was measured before
    has_known_length: bool  # without it, only the shape of the expectation is meaningful


def expect_run(runs: Sequence[MeasuredRun], *, media_seconds: float | None) -> list[float] | None:
    """The expected seconds to each mark: the median of similar runs, in proportion to the length of the media."""
    complete = [run for run in runs if len(run.reached_seconds) == MARKS]
    if media_seconds is None:
        scaled = [list(run.reached_seconds) for run in complete[:SIMILAR_RUNS]]
    else:
        length = max(media_seconds, MIN_MEDIA_SECONDS)
        lengths = [(max(run.media_seconds, MIN_MEDIA_SECONDS), run) for run in complete if run.media_seconds]
        similar = sorted(lengths, key=lambda each: abs(log(each[0] / length)))[:SIMILAR_RUNS]
        scaled = [[seconds * length / own for seconds in run.reached_seconds] for own, run in similar]
    return [median(seconds) for seconds in zip(*scaled, strict=True)] if scaled else None


def seconds_until(expected_seconds: Sequence[float], progress: float) -> float:
    """The expected seconds from the start of a run until it reaches this progress, between marks in proportion."""
    marks = [0.0, *expected_seconds]
    whole, rest = divmod(min(max(progress, 0.0), 100.0), MARK_PERCENT)
    before = marks[int(whole)]
    after = marks[min(int(whole) + 1, MARKS)]
    return before + (after - before) * rest / MARK_PERCENT


def whole_percent(progress: float) -> int:
    """The progress as the API shows it; sums of shares may be short of a whole number by a rounding error."""
    return int(progress + ROUNDING_PERCENT)


def estimate_ready_at(run: RunState, *, now: datetime) -> datetime | None:
    """When the run will probably be ready, rounded; None if that cannot be said yet, or not any more."""
    remaining = _remaining_seconds(run)
    if remaining is None:
        return None
    ready_at = run.reported_at + timedelta(seconds=min(remaining, MAX_REMAINING_SECONDS))
    if now - ready_at > timedelta(seconds=max(MAX_OVERDUE_SECONDS, remaining / 2)):
        return None
    return _round_up(max(ready_at, now))


def _remaining_seconds(run: RunState) -> float | None:
    expected = run.expected_seconds or _UNIFORM
    elapsed = (run.reported_at - run.started_at).total_seconds()
    done, total = seconds_until(expected, run.progress), expected[-1]
    if run.expected_seconds is None or not run.has_known_length:
        is_conclusive = done >= MIN_DONE_SHARE * total and elapsed >= MIN_ELAPSED_SECONDS
        return (total - done) * elapsed / done if is_conclusive else None
    pace = min(max(elapsed / done, MIN_PACE), MAX_PACE) if done > 0 else 1.0
    weight = min(1.0, run.progress / TRUSTED_PERCENT)
    return (total - done) * (1 + weight * (pace - 1))


def _round_up(at: datetime) -> datetime:
    seconds = -(-at.timestamp() // ROUNDING_SECONDS) * ROUNDING_SECONDS
    return datetime.fromtimestamp(seconds, at.tzinfo)


def describe_remaining(ready_at: datetime | None, *, now: datetime) -> str:
    """The time left in words, such as "about 3 min left"; empty without an estimate."""
    if ready_at is None:
        return ""
    minutes = round((ready_at - now).total_seconds() / 60)
    if minutes < 1:
        return "less than a minute left"
    if minutes < 60:
        return f"about {minutes} min left"
    hours, rest = divmod(round(minutes / 10) * 10, 60)
    return f"about {hours} h {rest} min left" if rest else f"about {hours} h left"
