"""Extracts clean, quotable sentences from a transcript."""

import re
from dataclasses import dataclass

from cutroom.engines.errors import UnsuitableInputError
from cutroom.engines.writing.extractive.clauses import stands_alone
from cutroom.engines.writing.extractive.quotes import clean_quote
from cutroom.engines.writing.extractive.speech_patterns import speech_patterns
from cutroom.engines.writing.port import WritingInput
from cutroom.text.sentences import SpokenSegment, sentence_segments
from cutroom.text.vocabulary import starts_with_back_reference, stems, words_of
from cutroom.text.writing_systems import SENTENCE_MARKS, strip_closing_marks

MIN_WORDS = 5  # in the whole transcript
INTRODUCTION = re.compile(
    r"\b(?:i'm|i am|my name is|this is|aqui é [oa]|eu sou [oa]?|me chamo|soy|me llamo|je suis|je m'appelle|ich bin"
    r"|sono|mi chiamo)\s+(?P<name>(?-i:[A-Z\u00c0-\u00dc])[\w'-]+(?: (?-i:[A-Z\u00c0-\u00dc])[\w'-]+)*)"
    r"|^(?P<here>(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)*) here\b",
    re.IGNORECASE,
)
# A name between commas, or beside one at an edge, addresses a person.
ADDRESS = re.compile(r"(?:^|, )[A-Z\u00c0-\u00dc][\w'\u2019-]+(?:, |[.!?]?$)")
_QUESTIONS = ("?", "\uff1f", "\u061f")


@dataclass(frozen=True, slots=True)
class TranscriptSentence:
    """A sentence that can be quoted."""

    text: str
    start_seconds: float
    end_seconds: float
    speaker: str | None
    stems: tuple[str, ...]
    word_count: int
    is_question: bool
    stands_alone: bool  # neither a reply nor addressed to a person, and refers to nothing said before
    is_housekeeping: bool  # a greeting, an introduction, thanks or a call to subscribe

    @property
    def is_complete(self) -> bool:
        return strip_closing_marks(self.text)[-1:] in SENTENCE_MARKS


def extract_sentences(source: WritingInput) -> list[TranscriptSentence]:
    """All sentences; raises UnsuitableInputError if the transcript is too short."""
    found: list[TranscriptSentence] = []
    for segment in sentence_segments(source.segments):
        sentence = _sentence(segment, found[-1] if found else None, language=source.language)
        if sentence is not None:
            found.append(sentence)
    if sum(each.word_count for each in found) < MIN_WORDS:
        raise UnsuitableInputError("too_little_speech", "The transcript of this video is too short to write about.")
    return found


def _sentence(segment: SpokenSegment, before: TranscriptSentence | None, *, language: str) -> TranscriptSentence | None:
    text = clean_quote(segment.text, language=language)
    count = len(words_of(text))
    if not count:
        return None
    housekeeping = speech_patterns(language).housekeeping
    spoken = segment.text if count < MIN_WORDS else text  # a short rest of a greeting is part of it
    is_reply = before is not None and before.is_question and before.speaker != segment.speaker
    continues = before is not None and starts_with_back_reference(segment.text, language=language)
    return TranscriptSentence(
        text,
        max(0.0, segment.start_seconds),
        segment.end_seconds,
        segment.speaker,
        tuple(stems(text, language=language)),
        count,
        is_question=strip_closing_marks(text).endswith(_QUESTIONS),
        stands_alone=not (is_reply or continues or ADDRESS.search(text)) and stands_alone(text, language=language),
        is_housekeeping=bool(housekeeping.search(spoken) or INTRODUCTION.search(text)),
    )
