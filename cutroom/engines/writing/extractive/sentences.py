"""Extracts clean, quotable sentences from a transcript."""

from dataclasses import dataclass

from cutroom.engines.errors import UnsuitableInputError
from cutroom.engines.writing.extractive.quotes import clean_quote
from cutroom.engines.writing.extractive.speech_patterns import speech_patterns
from cutroom.engines.writing.port import WritingInput
from cutroom.text.sentences import SpokenSegment, sentence_segments
from cutroom.text.vocabulary import starts_with_back_reference, stems, words_of
from cutroom.text.writing_systems import SENTENCE_MARKS, is_unspaced, strip_closing_marks

MIN_WORDS = 5  # in the whole transcript
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
    needs_context: bool  # refers back to an earlier sentence
    is_housekeeping: bool  # a greeting, thanks or a call to subscribe

    @property
    def is_complete(self) -> bool:
        return strip_closing_marks(self.text)[-1:] in SENTENCE_MARKS


def extract_sentences(source: WritingInput) -> list[TranscriptSentence]:
    """All sentences; raises UnsuitableInputError if the transcript is too short."""
    segments = sentence_segments(source.segments)
    found = [each for segment in segments if (each := _sentence(segment, language=source.language)) is not None]
    if sum(each.word_count for each in found) < MIN_WORDS:
        raise UnsuitableInputError("too_little_speech", "The transcript of this video is too short to write about.")
    return found


def _sentence(segment: SpokenSegment, *, language: str) -> TranscriptSentence | None:
    text = clean_quote(segment.text, language=language)
    count = len(words_of(text))
    if not count:
        return None
    has_unspaced = any(map(is_unspaced, segment.text))
    return TranscriptSentence(
        text,
        max(0.0, segment.start_seconds),
        segment.end_seconds,
        segment.speaker,
        tuple(stems(text, language=language)),
        count,
        is_question=strip_closing_marks(text).endswith(_QUESTIONS),
        needs_context=starts_with_back_reference(segment.text if has_unspaced else text, language=language),
        is_housekeeping=speech_patterns(language).housekeeping.search(text) is not None,
    )
