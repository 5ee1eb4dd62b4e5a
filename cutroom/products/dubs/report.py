"""The sync report: for each line how it fits and how well it is understood, and what that comes to."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cutroom.products.dubs.line_sync import CLOSE

MAX_LISTED = 200


@dataclass(frozen=True, slots=True)
class LineSync:
    """A line as it lies in the dub."""

    number: int
    source_start_seconds: float
    slot_seconds: float
    start_seconds: float
    seconds: float
    stretch: float
    text: str
    heard: str | None  # by a recogniser, where one listened
    shortened: bool


def score(text: str, heard: str) -> float:
    """From 0 to 1: the share of words that a recogniser understood as they were meant."""
    wanted, found = _words(text), _words(heard)
    if not wanted:
        return 1.0
    return round(max(0.0, 1 - _edits(wanted, found) / len(wanted)), 3)


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return re.findall(r"\w+", plain)


def _edits(wanted: Sequence[str], found: Sequence[str]) -> int:
    row = list(range(len(found) + 1))
    for at, word in enumerate(wanted, 1):
        before, row[0] = row[0], at
        for other, heard in enumerate(found, 1):
            before, row[other] = row[other], min(row[other] + 1, row[other - 1] + 1, before + (word != heard))
    return row[-1]


def line_report(line: LineSync) -> dict[str, Any]:
    return {
        "line": line.number,
        "start": round(line.start_seconds, 3),
        "slotSeconds": round(line.slot_seconds, 3),
        "spokenSeconds": round(line.seconds, 3),
        "stretch": round(line.stretch, 3),
        "startErrorMs": round(1000 * (line.start_seconds - line.source_start_seconds)),
        "withinSlot": is_close(line),
        **({"score": score(line.text, line.heard)} if line.heard is not None else {}),
        **({"shortened": True} if line.shortened else {}),
    }


def is_close(line: LineSync) -> bool:
    return abs(line.seconds - line.slot_seconds) <= CLOSE * line.slot_seconds


def sync_report(lines: Sequence[LineSync]) -> dict[str, Any]:
    """Totals, and the lines that are understood or fit least first: where a person should look."""
    told = [line_report(line) for line in lines]
    stretches = [line.stretch for line in lines]
    worst = max(stretches, key=lambda each: abs(each - 1), default=1.0)
    scores = [each["score"] for each in told if "score" in each]
    order = sorted(told, key=lambda each: (each.get("score", 1.0), each["withinSlot"], each["line"]))
    return {
        "lines": len(lines),
        "within10Percent": round(sum(map(is_close, lines)) / len(lines), 4) if lines else 1.0,
        "worstStretch": round(worst, 3),
        "longestStartErrorMs": max((abs(each["startErrorMs"]) for each in told), default=0),
        "overlapMs": overlap_ms(lines),
        **({"score": round(sum(scores) / len(scores), 3)} if scores else {}),
        "segments": order[:MAX_LISTED],
    }


def overlap_ms(lines: Sequence[LineSync]) -> int:
    ordered = sorted(lines, key=lambda line: line.start_seconds)
    total = sum(max(0.0, one.start_seconds + one.seconds - two.start_seconds) for one, two in pairwise(ordered))
    return round(1000 * total)
