"""The sentences of a film as a writer uses them: whole, clean and in the order of time."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cutroom.engines.errors import EngineError
from cutroom.engines.extractive.quotes import quotable
from cutroom.engines.extractive.speech import speech
from cutroom.engines.prose.letters import SENTENCE_MARKS, bare, unspaced
from cutroom.engines.prose.vocabulary import clean_text, points_back, stems, words_of
from cutroom.engines.writing import Material, Said

MAX_SAID = 20_000
MIN_WORDS = 5  # of a whole film; with less there is nothing to write
JOIN_SECONDS = 1.5  # a sentence goes on in the next segment of the same speaker if it comes within so long
_PARTS = re.compile(r"(?<=[.!?…])[\"'”\u2019)\]]*\s+(?=[^\W\d_]|[¿¡\"“«])|(?<=[。\uff01\uff1f])(?=.)")
_SHORT = re.compile(r"(?:^|\s)(?:mr|mrs|ms|dr|prof|st|sr|sra|srta|dra|vs|approx|no|fig|[^\W\d_])\.$", re.IGNORECASE)
_QUESTIONS = ("?", "\uff1f", "\u061f")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence fit to be quoted."""

    text: str
    start_seconds: float
    end_seconds: float
    speaker: str | None
    stems: tuple[str, ...]
    words: int
    asks: bool
    leans: bool  # it points back to what was said before, so it cannot stand alone
    serves: bool  # it greets, thanks or asks for subscribers

    @property
    def is_whole(self) -> bool:
        return bare(self.text)[-1:] in SENTENCE_MARKS


def sentences_of(material: Material) -> list[Sentence]:
    """All that was said; EngineError where it is too little to write from."""
    said = [each for each in material.said[:MAX_SAID] if clean_text(each.text)]
    ordered = sorted(said, key=lambda each: each.start_seconds)
    whole = list(_joined(_parted(ordered)))
    found = [each for part in whole if (each := _sentence(part, language=material.language)) is not None]
    if sum(each.words for each in found) < MIN_WORDS:
        raise EngineError("Too little is said in this film to write about it.")
    return found


def _sentence(part: Said, *, language: str) -> Sentence | None:
    text = quotable(part.text, language=language)
    count = len(words_of(text))
    if not count:
        return None
    return Sentence(
        text,
        max(0.0, part.start_seconds),
        part.end_seconds,
        part.speaker,
        tuple(stems(text, language=language)),
        count,
        asks=bare(text).endswith(_QUESTIONS),
        leans=points_back(part.text if any(map(unspaced, part.text)) else text, language=language),
        serves=speech(language).housekeeping.search(text) is not None,
    )


def _parted(said: Sequence[Said]) -> Iterator[Said]:
    """Segments that hold several sentences, taken apart; each part has its share of the time."""
    for each in said:
        parts = _split(clean_text(each.text))
        total = sum(map(len, parts)) or 1
        seconds = max(0.0, each.end_seconds - each.start_seconds) / total
        at = each.start_seconds
        for part in parts:
            yield Said(part, at, at + len(part) * seconds, each.speaker)
            at += len(part) * seconds


def _split(text: str) -> list[str]:
    parts: list[str] = []
    at = 0
    for match in _PARTS.finditer(text):
        if not _SHORT.search(text[at : match.start()]):
            parts.append(text[at : match.end()].strip())
            at = match.end()
    return [part for part in (*parts, text[at:].strip()) if part]


def _joined(said: Iterator[Said]) -> Iterator[Said]:
    """Segments that hold a part of a sentence, put together."""
    open_part: Said | None = None
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


def _goes_on(before: Said, after: Said) -> bool:
    near = after.start_seconds - before.end_seconds <= JOIN_SECONDS and before.speaker == after.speaker
    ended = bare(before.text)[-1:] in SENTENCE_MARKS
    return near and not ended and (after.text[0].islower() or before.text.rstrip()[-1:] in ",;")
