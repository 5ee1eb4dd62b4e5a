"""Lanes over one axis of time: speech, dubs with how they fit, and clips. Only numbers; templates draw them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cutroom.products.transcripts.schemas import Segment

WEAK_SCORE = 0.6  # understood less than this, a line is worth a look
SQUEEZED = 1.2
STRETCHED = 0.8


@dataclass(frozen=True, slots=True)
class TimelineSpan:
    """Something that lasts, from and to in seconds; its words, and whether it is worth a look."""

    start: float
    seconds: float
    words: str
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class DubLane:
    """The slots of a dub and what is spoken in them."""

    slots: tuple[TimelineSpan, ...]
    spoken: tuple[TimelineSpan, ...]
    weak: tuple[TimelineSpan, ...]


def speech_lane(segments: Iterable[Segment]) -> list[TimelineSpan]:
    return [
        TimelineSpan(each.start, max(0.0, each.end - each.start), each.text) for each in segments if not each.deleted
    ]


def dub_lane(sync: Mapping[str, Any] | None) -> DubLane:
    """What the sync report says, in the order of time."""
    lines = sorted((sync or {}).get("segments", []), key=lambda line: line["start"])
    slots = [TimelineSpan(line["start"] - line["startErrorMs"] / 1000, line["slotSeconds"], "slot") for line in lines]
    spoken = [TimelineSpan(line["start"], line["spokenSeconds"], tell(line), is_weak(line)) for line in lines]
    return DubLane(tuple(slots), tuple(spoken), tuple(bar for bar in spoken if bar.is_weak))


def is_weak(line: Mapping[str, Any]) -> bool:
    score = line.get("score")
    is_unclear = score is not None and score < WEAK_SCORE
    return is_unclear or not line["withinSlot"] or not STRETCHED <= line["stretch"] <= SQUEEZED


def tell(line: Mapping[str, Any]) -> str:
    """A line of the report as a person reads it."""
    found = [f"line {line['line']}: {line['spokenSeconds']:.1f} s in a slot of {line['slotSeconds']:.1f} s"]
    if line["stretch"] != 1:
        found.append(f"spoken {line['stretch']:.2f} times as long")
    if line["startErrorMs"]:
        found.append(f"{line['startErrorMs']} ms off its start")
    if line.get("score") is not None:
        found.append(f"{line['score']:.0%} of its words understood")
    if line.get("shortened"):
        found.append("shortened to fit")
    return ", ".join(found)
