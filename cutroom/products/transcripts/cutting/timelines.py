"""Makes the timeline of a recording without its deleted words, for products that cut picture and sound."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from cutroom.errors import Code, CutroomError
from cutroom.media.cutting.spans import Span, merge_spans
from cutroom.media.cutting.timeline import CutTimeline, FrameSpan
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts.alignment import attach_words, read_words
from cutroom.products.transcripts.cutting.edit_list import make_edit_list
from cutroom.products.transcripts.document import TranscriptDocument
from cutroom.products.transcripts.editing.publishing import current_rows
from cutroom.products.transcripts.editing.revisions import find_state, read_document

MAX_CUTS = 1_000  # in one rendered recording
SOUND_RATE = Fraction(50)  # of the frames at which sound without a picture is cut


@dataclass(frozen=True, slots=True)
class TranscriptCut:
    """A recording without the words that are deleted in a revision."""

    revision: int
    deleted: tuple[Span, ...]
    timeline: CutTimeline | None  # None if nothing is cut


def deleted_spans(document: TranscriptDocument) -> tuple[Span, ...]:
    """When deleted segments were said, in order; those that touch are one."""
    return tuple(merge_spans((each.start_seconds, each.end_seconds) for each in document.segments if each.deleted))


def require_cuttable(document: TranscriptDocument) -> None:
    """Raises FAILED_PRECONDITION if there are too many cuts to render, or if nothing would be left."""
    if len(deleted_spans(document)) > MAX_CUTS:
        message = f"A video can have at most {MAX_CUTS} cuts."
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": "too_many_cuts"})
    if document.segments and not document.kept:
        message = "Every word of this video is deleted."
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": "nothing_left"})


async def require_cut(connection: Connection, library_id: str, video_id: str) -> None:
    """Raises FAILED_PRECONDITION if the deleted words of the current revision, if any, cannot be left out."""
    state = await find_state(connection, library_id, video_id)
    if state is not None:
        require_cuttable(await read_document(connection, library_id, video_id, state))


async def cut_transcript(
    connection: Connection,
    storage: Storage,
    library_id: str,
    video_id: str,
    *,
    duration_seconds: float,
    frame_rate: Fraction,
    revision: int | None = None,
) -> TranscriptCut | None:
    """What remains of a recording in a revision of its transcript, by default the current one; None without any."""
    state = await find_state(connection, library_id, video_id)
    if state is None:
        return None
    wanted = state.revision if revision is None else min(revision, state.revision)
    try:
        document = await read_document(connection, library_id, video_id, state, wanted)
    except CutroomError as error:
        if error.code != Code.NOT_FOUND:
            raise
        wanted = state.revision  # the other one is not kept any more
        document = await read_document(connection, library_id, video_id, state)
    deleted = deleted_spans(document)
    if not deleted:
        return TranscriptCut(wanted, (), None)
    data = b""
    if await storage.size(state.alignment_path) is not None:
        data = b"".join([chunk async for chunk in storage.read(state.alignment_path)])

    def make() -> Sequence[FrameSpan]:
        segments = attach_words(current_rows(state.segments, document), read_words(data) if data else ())
        found = make_edit_list(segments, duration_seconds=duration_seconds, frame_rate=frame_rate)
        return found.kept if found.cuts else ()

    kept = await asyncio.to_thread(make)
    return TranscriptCut(wanted, deleted, CutTimeline(frame_rate, tuple(kept), deleted) if kept else None)
