"""Computes the rows of the video timeline: speech segments, and dub lines with their slots."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cutroom.products.transcripts.schemas import Segment

MIN_LEVEL_DB = -6.0  # relative to the median of the speaker
WEAK_SCORE = 0.6  # lines with a lower intelligibility score are flagged
MAX_TEMPO = 1.2
MIN_TEMPO = 0.8


@dataclass(frozen=True, slots=True)
class TimelineSpan:
    """A span on the timeline, with its tooltip; weak spans are highlighted for review."""

    start: float
    seconds: float
    label: str
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class DubTimeline:
    """The slots of a dub, the lines spoken in them, and those to review."""

    slots: tuple[TimelineSpan, ...]
    spoken: tuple[TimelineSpan, ...]
    weak: tuple[TimelineSpan, ...]


def speech_spans(segments: Iterable[Segment]) -> list[TimelineSpan]:
    return [
        TimelineSpan(each.start, max(0.0, each.end - each.start), each.text) for each in segments if not each.deleted
    ]


def dub_timeline(sync: Mapping[str, Any] | None) -> DubTimeline:
    """Builds the timeline of a dub from its sync report."""
    lines = sorted((sync or {}).get("segments", []), key=lambda line: line["start"])
    slots = [TimelineSpan(line["start"] - line["startErrorMs"] / 1000, line["slotSeconds"], "slot") for line in lines]
    spoken = [TimelineSpan(line["start"], line["spokenSeconds"], describe_line(line), is_weak(line)) for line in lines]
    return DubTimeline(tuple(slots), tuple(spoken), tuple(span for span in spoken if span.is_weak))


def is_weak(line: Mapping[str, Any]) -> bool:
    score = line.get("score")
    is_unclear = score is not None and score < WEAK_SCORE
    return is_unclear or is_quiet(line) or not line["withinSlot"] or not MIN_TEMPO <= speed_of(line) <= MAX_TEMPO


def speed_of(line: Mapping[str, Any]) -> float:
    """Relative to the voice's natural speed: its speaking rate, and the tempo that was changed afterwards."""
    return float(line["stretch"] * line.get("speakingRate", 1.0))


def is_quiet(line: Mapping[str, Any]) -> bool:
    return float(line.get("levelDb", 0.0)) < MIN_LEVEL_DB


def describe_line(line: Mapping[str, Any]) -> str:
    """One line of the sync report in words."""
    details = [f"line {line['line']}: {line['spokenSeconds']:.1f} s in a slot of {line['slotSeconds']:.1f} s"]
    if tempo := describe_tempo(speed_of(line)):
        details.append(tempo)
    if line["startErrorMs"]:
        details.append(f"starts {abs(line['startErrorMs'])} ms {'late' if line['startErrorMs'] > 0 else 'early'}")
    if line.get("score") is not None:
        details.append(f"{line['score']:.0%} of words recognized")
    if is_quiet(line):
        details.append(f"{-line['levelDb']:.0f} dB quieter than the speaker's other lines")
    if line.get("shortened"):
        details.append("shortened to fit")
    return ", ".join(details)


def describe_tempo(tempo: float) -> str:
    """`1.2 times as fast`; nothing at the natural tempo."""
    shown = f"{tempo:.2f}".rstrip("0").rstrip(".")
    return "" if shown == "1" else f"{shown} times as fast"
