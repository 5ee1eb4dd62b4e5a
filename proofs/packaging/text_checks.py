"""Checks generated texts independently of the writer's own validation."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import cutroom.engines.writing.extractive
from cutroom.engines.writing.port import WritingInput

MIN_CHAPTERS = 3
MIN_CHAPTER_SECONDS = 10
_WORD = re.compile(r"[^\W_]+")
_TIME = re.compile(r"^(\d+):(\d\d) (.+)$")
_STEP = re.compile(r"^\d+\. ")
_NUMBERS = """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion
dois duas três quatro cinco seis sete oito nove dez onze doze vinte trinta quarenta cinquenta cem mil
dos tres cuatro siete ocho nueve diez once doce quince veinte treinta cuarenta cincuenta sesenta ciento doscientos"""
_NUMBER_WORDS = frozenset(_NUMBERS.split())


def unspoken_words(text: str, material: WritingInput) -> list[str]:
    """Words, names and numbers of a text that are neither in the transcript nor in a heading of its language."""
    spoken = _spoken_words(material)
    known = {*spoken, *heading_words(material.language)}
    joined = "".join(spoken)
    found = [word for word in _words(text) if word not in known]
    # A hashtag joins several words.
    return [word for word in found if not (f"#{word}" in _normalize(text) and word in joined)]


def changed_numbers(text: str, material: WritingInput) -> list[str]:
    """Numbers in a text, in digits or words, that the transcript does not contain in the same form."""
    spoken = " ".join(_spoken_words(material))
    return [run for run in _number_runs(text) if f" {run} " not in f" {spoken} "]


def chapter_faults(text: str, material: WritingInput) -> list[str]:
    """Faults in the chapters of a description; none if it has no chapters."""
    rows = [match for line in text.splitlines() if (match := _TIME.match(line))]
    if not rows:
        return []
    times = [int(row[1]) * 60 + int(row[2]) for row in rows]
    faults = [] if times[0] == 0 else ["the first does not start at 0:00"]
    faults += [] if len(times) >= MIN_CHAPTERS else [f"only {len(times)}"]
    ends = [*times[1:], material.duration_seconds]
    faults += [
        f"{row[0]} is too short"
        for row, start, end in zip(rows, times, ends, strict=True)
        if end - start < MIN_CHAPTER_SECONDS
    ]
    segment_starts = {0, *(int(each.start_seconds) for each in material.segments)}
    faults += [
        f"no segment starts at {row[0]}" for row, start in zip(rows, times, strict=True) if start not in segment_starts
    ]
    return faults


@cache
def heading_words(language: str) -> frozenset[str]:
    path = Path(cutroom.engines.writing.extractive.__file__).with_name("headings.toml")
    table = tomllib.loads(path.read_text(encoding="utf-8"))[language]
    return frozenset(word for line in table.values() for word in _words(line))


def _spoken_words(material: WritingInput) -> list[str]:
    return [word for each in material.segments for word in _words(each.text)]


def _words(text: str) -> list[str]:
    lines = [_STEP.sub("", _TIME.sub(r"\3", line)) for line in text.splitlines()]
    return [word for line in lines for word in _WORD.findall(_normalize(line))]


def _normalize(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower()


def _number_runs(text: str) -> Iterator[str]:
    run: list[str] = []
    for word in [*_words(text), ""]:
        if word.isdigit() or word in _NUMBER_WORDS:
            run.append(word)
        elif run:
            yield " ".join(run)
            run = []
