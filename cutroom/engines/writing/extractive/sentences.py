"""The sentences of a film as a writer uses them: whole, clean and in the order of time."""

from dataclasses import dataclass

from cutroom.engines.errors import EngineError
from cutroom.engines.writing.extractive.quotes import quotable
from cutroom.engines.writing.extractive.speech import speech
from cutroom.engines.writing.port import SpokenSegment, WritingInput
from cutroom.text.sentences import spoken_sentences
from cutroom.text.vocabulary import points_back, stems, words_of
from cutroom.text.writing_systems import SENTENCE_MARKS, bare, unspaced

MIN_WORDS = 5  # of a whole film; with less there is nothing to write
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


def sentences_of(material: WritingInput) -> list[Sentence]:
    """All that was said; EngineError where it is too little to write from."""
    parts = spoken_sentences(material.said)
    found = [each for part in parts if (each := _sentence(part, language=material.language)) is not None]
    if sum(each.words for each in found) < MIN_WORDS:
        raise EngineError("Too little is said in this film to write about it.")
    return found


def _sentence(part: SpokenSegment, *, language: str) -> Sentence | None:
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
