"""Builds the sync report: how well each line fits its slot, how intelligible and how loud it is, with totals."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from cutroom.products.dubs.line_levels import LineLevel, is_outlier, levels_db
from cutroom.products.dubs.line_sync import SLOT_TOLERANCE, is_natural_fit
from cutroom.products.dubs.script import DubScript, PlacedLine

MAX_LISTED = 200


@dataclass(frozen=True, slots=True)
class LineSync:
    """A line of the finished dub, compared with its source line."""

    number: int
    source_start_seconds: float
    slot_seconds: float
    start_seconds: float
    seconds: float
    tempo: float
    speaking_rate: float
    text: str
    recognized: str | None  # None if ASR did not cover this line
    shortened: bool
    level: LineLevel

    @property
    def natural_seconds(self) -> float:
        """The duration at natural speed: before the tempo was changed, with the voice at its own rate."""
        return self.seconds * self.tempo * self.speaking_rate

    @property
    def is_natural_fit(self) -> bool:
        return is_natural_fit(self.natural_seconds, self.slot_seconds)


def line_sync(script: DubScript, line: PlacedLine, recognized: Mapping[str, str]) -> LineSync:
    """A placed line beside its source line; `recognized` has the ASR texts by line number."""
    source = script.lines[line.number]
    return LineSync(
        number=line.number,
        source_start_seconds=source.start_seconds,
        slot_seconds=source.slot.seconds,
        start_seconds=line.start_seconds,
        seconds=line.seconds,
        tempo=line.tempo,
        speaking_rate=line.speaking_rate,
        text=line.text,
        recognized=recognized.get(str(line.number)),
        shortened=line.shortened,
        level=LineLevel(source.speaker, line.level, line.gain),
    )


def intelligibility(text: str, recognized: str) -> float:
    """From 0 to 1: one minus the word error rate of the recognized text."""
    expected, actual = _words(text), _words(recognized)
    if not expected:
        return 1.0
    return round(max(0.0, 1 - _edit_distance(expected, actual) / len(expected)), 3)


def _words(text: str) -> list[str]:
    normalized = unicodedata.normalize("NFKC", text).casefold()
    return re.findall(r"\w+", normalized)


def _edit_distance(expected: Sequence[str], actual: Sequence[str]) -> int:
    row = list(range(len(actual) + 1))
    for index, word in enumerate(expected, 1):
        diagonal, row[0] = row[0], index
        for column, other in enumerate(actual, 1):
            diagonal, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, diagonal + (word != other))
    return row[-1]


def line_report(line: LineSync, *, level_db: float | None) -> dict[str, Any]:
    return {
        "line": line.number,
        "start": round(line.start_seconds, 3),
        "slotSeconds": round(line.slot_seconds, 3),
        "spokenSeconds": round(line.seconds, 3),
        "naturalSeconds": round(line.natural_seconds, 3),
        "stretch": round(line.tempo, 3),
        "speakingRate": line.speaking_rate,
        "startErrorMs": round(1000 * (line.start_seconds - line.source_start_seconds)),
        "withinSlot": fits_slot(line),
        "fitsNaturally": line.is_natural_fit,
        **({"score": intelligibility(line.text, line.recognized)} if line.recognized is not None else {}),
        **({"levelDb": level_db} if level_db is not None else {}),
        **({"shortened": True} if line.shortened else {}),
    }


def fits_slot(line: LineSync) -> bool:
    return abs(line.seconds - line.slot_seconds) <= SLOT_TOLERANCE * line.slot_seconds


def sync_report(lines: Sequence[LineSync]) -> dict[str, Any]:
    """Totals, lines that are too quiet, and the lines ordered by score and fit, worst first, for review."""
    levels = levels_db([line.level for line in lines])
    reports = [line_report(line, level_db=level) for line, level in zip(lines, levels, strict=True)]
    outliers = [each for each in reports if "levelDb" in each and is_outlier(each["levelDb"])]
    extreme_tempo = max((line.tempo for line in lines), key=lambda tempo: abs(tempo - 1), default=1.0)
    scores = [each["score"] for each in reports if "score" in each]
    worst_first = sorted(
        reports, key=lambda each: (each.get("score", 1.0), each["withinSlot"], each not in outliers, each["line"])
    )
    return {
        "lines": len(lines),
        "within10Percent": round(sum(map(fits_slot, lines)) / len(lines), 4) if lines else 1.0,
        "naturalFit": round(sum(line.is_natural_fit for line in lines) / len(lines), 4) if lines else 1.0,
        "worstStretch": round(extreme_tempo, 3),
        "longestStartErrorMs": max((abs(each["startErrorMs"]) for each in reports), default=0),
        "overlapMs": overlap_ms(lines),
        "loudnessOutliers": [{name: each[name] for name in ("line", "start", "levelDb")} for each in outliers][
            :MAX_LISTED
        ],
        **({"score": round(sum(scores) / len(scores), 3)} if scores else {}),
        "segments": worst_first[:MAX_LISTED],
    }


def overlap_ms(lines: Sequence[LineSync]) -> int:
    ordered = sorted(lines, key=lambda line: line.start_seconds)
    total = sum(max(0.0, one.start_seconds + one.seconds - two.start_seconds) for one, two in pairwise(ordered))
    return round(1000 * total)
