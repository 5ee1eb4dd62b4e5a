"""Stores what was recognized again as a new revision of a transcript."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from cutroom.products.transcripts import service
from cutroom.products.transcripts.alignment import write_alignment
from cutroom.products.transcripts.editing.history import RevisionKind, compare
from cutroom.products.transcripts.editing.revisions import find_state, read_document
from cutroom.products.transcripts.editing.service import publish_edited
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.service import StoredTranscript


async def replace_transcript(
    connection: Connection,
    library_id: str,
    video_id: str,
    transcript: StoredTranscript,
    segments: Sequence[TranscriptSegment],
    *,
    storage: Storage,
    now: datetime,
) -> list[TranscriptSegment]:
    """Returns the segments that are not deleted.

    The words replace the old ones under the lock of the transcript, so that they are always those of its revision.
    """
    before = await find_state(connection, library_id, video_id, lock=True)
    if before is None:
        raise CutroomError(Code.FAILED_PRECONDITION, details={"reason": "transcript"})
    document = await read_document(connection, library_id, video_id, before)
    state = await service.save_transcript(connection, library_id, video_id, transcript=transcript, now=now)
    if before.revision != state.revision:
        await publish_edited(
            connection,
            library_id,
            video_id,
            revision=state.revision,
            kind=RevisionKind.RECOGNITION,
            changes=compare(document, state.published),
            now=now,
        )
    kept = [replace(each, deleted=row["deleted"]) for each, row in zip(segments, state.segments, strict=True)]
    await storage.put(state.alignment_path, write_alignment(kept, language=state.language))
    return [each for each in kept if not each.deleted]
