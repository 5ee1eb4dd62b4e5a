"""How the current revision becomes the transcript that new products and exports use.

Edits are stored as small differences to what was published last. Readers get them applied at once; words and subtitle
files follow when the edited text has been aligned with the sound.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cutroom.products.transcripts.document import DocumentSegment, DocumentWord, TranscriptDocument, document_of
from cutroom.products.transcripts.editing.splitting import fit_words, words_within
from cutroom.products.transcripts.segmentation import TimedWord, TranscriptSegment

MAX_UNPUBLISHED = 50  # revisions; the alignment of one that is not the newest is left out before


def current_rows(published: Sequence[Mapping[str, Any]], document: TranscriptDocument) -> list[dict[str, Any]]:
    """The segments of a document as stored ones: unchanged ones refer to their words, others have none yet."""
    base: dict[str, tuple[DocumentSegment, int, int]] = {}
    at = 0
    for segment, row in zip(document_of(published, ()).segments, published, strict=True):
        base[segment.id] = (segment, at, row["words"])
        at += row["words"]

    def words_of(segment: DocumentSegment) -> dict[str, Any]:
        known = base.get(segment.id)
        if known is None or not is_same_speech(known[0], segment):
            return {"words": 0, "words_from": None}
        return {"words": known[2], "words_from": known[1]}

    return [{**segment.to_row(), "deleted": segment.deleted, **words_of(segment)} for segment in document.segments]


def is_same_speech(old: DocumentSegment, new: DocumentSegment) -> bool:
    """Whether the words of a segment are still those of another version of it."""
    return (old.text, old.start_seconds, old.end_seconds) == (new.text, new.start_seconds, new.end_seconds)


def document_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Segments for people: without deleted ones, and without references to words."""
    return [
        {name: value for name, value in row.items() if name != "words_from"} for row in rows if not row.get("deleted")
    ]


def words_of_row(row: Mapping[str, Any], words: Sequence[TimedWord], at: int) -> tuple[TimedWord, ...]:
    """The words of a stored segment; those of edited text are estimated until it is aligned."""
    start = row.get("words_from", at)
    if start is not None:
        return tuple(words[start : start + row["words"]])
    known = words_within(words, row["start"], row["end"])
    return tuple(fit_words(row["text"], row["start"], row["end"], known=known))


@dataclass(frozen=True, slots=True)
class UnalignedSegment:
    """A segment whose text is to be aligned, with its position in the document."""

    position: int
    segment: DocumentSegment


def unaligned_segments(published: Sequence[Mapping[str, Any]], document: TranscriptDocument) -> list[UnalignedSegment]:
    """The segments whose words are not known from what was published, without deleted ones."""
    rows = current_rows(published, document)
    return [
        UnalignedSegment(at, segment)
        for at, (segment, row) in enumerate(zip(document.segments, rows, strict=True))
        if row["words_from"] is None and not segment.deleted
    ]


def with_words(
    rows: Sequence[Mapping[str, Any]],
    words: Sequence[TimedWord],
    aligned: Mapping[int, Sequence[DocumentWord]],
) -> list[TranscriptSegment]:
    """The segments with their words: aligned ones by their position, others as they are known or estimated."""
    return [
        TranscriptSegment(
            row["start"],
            row["end"],
            row["speaker"],
            row["text"],
            tuple(aligned[at]) if at in aligned else words_of_row(row, words, 0),
            row["deleted"],
        )
        for at, row in enumerate(rows)
    ]


def published_rows(document: TranscriptDocument, segments: Sequence[TranscriptSegment]) -> list[dict[str, Any]]:
    """The segments to store, each with its id and the number of its words."""
    return [
        {**segment.to_row(), "deleted": segment.deleted, "words": len(spoken.words)}
        for segment, spoken in zip(document.segments, segments, strict=True)
    ]
