"""Splits text into sentences, and rejoins sentences that transcript segments cut apart."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cutroom.text.vocabulary import clean_text
from cutroom.text.writing_systems import SENTENCE_MARKS, is_unspaced, strip_closing_marks

JOIN_SECONDS = 1.5  # maximum gap between two segments of one sentence
MAX_JOINED_CHARACTERS = 1_000  # bounds speech without sentence marks
_BOUNDARY = re.compile(r"(?<=[.!?…])[\"'”\u2019)\]]*\s+(?=[^\W\d_]|[¿¡\"“«])|(?<=[。\uff01\uff1f])(?=.)")
_ABBREVIATION = re.compile(
    r"(?:^|\s)(?:mr|mrs|ms|dr|prof|st|sr|sra|srta|dra|vs|approx|no|fig|[^\W\d_])\.$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class SpokenSegment:
    """A sentence or segment of a transcript."""

    text: str
    start_seconds: float
    end_seconds: float
    speaker: str | None = None


def sentence_segments(segments: Sequence[SpokenSegment]) -> list[SpokenSegment]:
    """Whole sentences in time order; a segment's time is divided among its sentences by length."""
    ordered = sorted((each for each in segments if clean_text(each.text)), key=lambda each: each.start_seconds)
    return list(_join(_split(ordered)))


def split_sentences(text: str) -> list[str]:
    sentences: list[str] = []
    at = 0
    for match in _BOUNDARY.finditer(text):
        if not _ABBREVIATION.search(text[at : match.start()]):
            sentences.append(text[at : match.end()].strip())
            at = match.end()
    return [sentence for sentence in (*sentences, text[at:].strip()) if sentence]


def _split(segments: Sequence[SpokenSegment]) -> Iterator[SpokenSegment]:
    for segment in segments:
        sentences = split_sentences(clean_text(segment.text))
        characters = sum(map(len, sentences)) or 1
        seconds_per_character = max(0.0, segment.end_seconds - segment.start_seconds) / characters
        at = segment.start_seconds
        for sentence in sentences:
            end = at + len(sentence) * seconds_per_character
            yield SpokenSegment(sentence, at, end, segment.speaker)
            at = end


def _join(segments: Iterable[SpokenSegment]) -> Iterator[SpokenSegment]:
    pending: SpokenSegment | None = None
    for segment in segments:
        if pending is not None and _continues(pending, segment):
            space = "" if is_unspaced(segment.text[0]) and is_unspaced(pending.text[-1]) else " "
            pending = replace(pending, text=pending.text + space + segment.text, end_seconds=segment.end_seconds)
            continue
        if pending is not None:
            yield pending
        pending = segment
    if pending is not None:
        yield pending


def _continues(before: SpokenSegment, after: SpokenSegment) -> bool:
    near = after.start_seconds - before.end_seconds <= JOIN_SECONDS and before.speaker == after.speaker
    ended = strip_closing_marks(before.text)[-1:] in SENTENCE_MARKS or len(before.text) > MAX_JOINED_CHARACTERS
    return near and not ended and (after.text[0].islower() or before.text.rstrip()[-1:] in ",;")
