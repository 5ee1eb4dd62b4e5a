"""Takes text apart into sentences, and puts those together that a transcript has cut."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from cutroom.engines.writing.port import SpokenSegment
from cutroom.text.vocabulary import clean_text
from cutroom.text.writing_systems import SENTENCE_MARKS, bare, unspaced

JOIN_SECONDS = 1.5  # a sentence goes on in the next segment of the same speaker if it comes within so long
MAX_JOINED_CHARACTERS = 1_000  # who never stops is cut somewhere
_PARTS = re.compile(r"(?<=[.!?…])[\"'”\u2019)\]]*\s+(?=[^\W\d_]|[¿¡\"“«])|(?<=[。\uff01\uff1f])(?=.)")
_SHORT = re.compile(r"(?:^|\s)(?:mr|mrs|ms|dr|prof|st|sr|sra|srta|dra|vs|approx|no|fig|[^\W\d_])\.$", re.IGNORECASE)


def spoken_sentences(said: Sequence[SpokenSegment]) -> list[SpokenSegment]:
    """Whole sentences in the order of time; each has its share of the time of its segment."""
    ordered = sorted((each for each in said if clean_text(each.text)), key=lambda each: each.start_seconds)
    return list(_joined(_parted(ordered)))


def split(text: str) -> list[str]:
    """The sentences of one text."""
    parts: list[str] = []
    at = 0
    for match in _PARTS.finditer(text):
        if not _SHORT.search(text[at : match.start()]):
            parts.append(text[at : match.end()].strip())
            at = match.end()
    return [part for part in (*parts, text[at:].strip()) if part]


def _parted(said: Sequence[SpokenSegment]) -> Iterator[SpokenSegment]:
    for each in said:
        parts = split(clean_text(each.text))
        total = sum(map(len, parts)) or 1
        seconds = max(0.0, each.end_seconds - each.start_seconds) / total
        at = each.start_seconds
        for part in parts:
            yield SpokenSegment(part, at, at + len(part) * seconds, each.speaker)
            at += len(part) * seconds


def _joined(said: Iterable[SpokenSegment]) -> Iterator[SpokenSegment]:
    open_part: SpokenSegment | None = None
    for each in said:
        if open_part is not None and _goes_on(open_part, each):
            blank = "" if unspaced(each.text[0]) and unspaced(open_part.text[-1]) else " "
            open_part = replace(open_part, text=open_part.text + blank + each.text, end_seconds=each.end_seconds)
            continue
        if open_part is not None:
            yield open_part
        open_part = each
    if open_part is not None:
        yield open_part


def _goes_on(before: SpokenSegment, after: SpokenSegment) -> bool:
    near = after.start_seconds - before.end_seconds <= JOIN_SECONDS and before.speaker == after.speaker
    ended = bare(before.text)[-1:] in SENTENCE_MARKS or len(before.text) > MAX_JOINED_CHARACTERS
    return near and not ended and (after.text[0].islower() or before.text.rstrip()[-1:] in ",;")
