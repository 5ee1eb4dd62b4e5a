"""Restores question marks that the recognizer wrote as periods."""

from collections.abc import Sequence
from dataclasses import replace

from cutroom.engines.recognition.port import Word
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.text.questions import end_as_question, is_unmarked_question


def mark_questions(segments: Sequence[TranscriptSegment], *, language: str) -> list[TranscriptSegment]:
    """Changes the text and the last word of segments that are questions; a segment is at most one sentence."""
    return [_marked(segment) if is_unmarked_question(segment.text, language) else segment for segment in segments]


def _marked(segment: TranscriptSegment) -> TranscriptSegment:
    *words, last = segment.words
    if not isinstance(last, Word):
        return segment
    return replace(
        segment, text=end_as_question(segment.text), words=(*words, replace(last, text=end_as_question(last.text)))
    )
