"""Describes a transcript as a document for translation."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cutroom.engines.translation.document import DocumentLine, DocumentSpeaker, TranslationDocument
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.text.glossary.rules import TermRule

MaxCharacters = Callable[[int], int | None]  # of the line with this index


def transcript_document(
    segments: Sequence[TranscriptSegment],
    *,
    source: str,
    target: str,
    speakers: Sequence[Mapping[str, Any]] = (),
    title: str | None = None,
    max_characters: MaxCharacters | None = None,
    glossary: tuple[TermRule, ...] = (),
) -> TranslationDocument:
    """One line per segment, identified by its index, with its speaker and times."""
    lines = tuple(
        DocumentLine(
            str(at),
            segment.text,
            segment.speaker,
            start_seconds=segment.start_seconds,
            end_seconds=segment.end_seconds,
            max_characters=max_characters(at) if max_characters else None,
        )
        for at, segment in enumerate(segments)
    )
    people = tuple(DocumentSpeaker(each["id"], each.get("label"), each.get("gender")) for each in speakers)
    return TranslationDocument(source, target, lines, people, title or "", glossary)
