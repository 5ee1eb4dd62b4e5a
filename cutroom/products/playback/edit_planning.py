"""Works out what a stream leaves out, once for each request."""

from cutroom.media import ladder
from cutroom.media.cutting.timeline import CutTimeline
from cutroom.media.probe import MediaInfo
from cutroom.platform.db import Connection, Database
from cutroom.platform.storage.objects import Storage
from cutroom.products.playback import edits
from cutroom.products.playback.edits import PackagedEdit, RequestedEdit
from cutroom.products.playback.plan import PlaybackRef
from cutroom.products.transcripts.cutting.timelines import SOUND_RATE, cut_transcript
from cutroom.products.transcripts.editing.revisions import FIRST

WHOLE = PackagedEdit(RequestedEdit(FIRST))


async def plan_edit(database: Database, storage: Storage, ref: PlaybackRef, info: MediaInfo) -> PackagedEdit:
    """What the stream leaves out; the whole recording stays until a cut is requested."""
    async with database.transaction(ref.library_id) as connection:
        found = await edits.find_edits(connection, ref.library_id, ref.video_id)
        if found.requested is None:
            return WHOLE
        if found.planned is not None and found.planned.request == found.requested:
            return found.planned
        edit = PackagedEdit(found.requested)
        if not found.requested.uncut:
            edit = await _cut(connection, storage, ref, info, found.requested)
        await edits.save_plan(connection, ref.library_id, ref.video_id, edit=edit)
    return edit


async def _cut(
    connection: Connection, storage: Storage, ref: PlaybackRef, info: MediaInfo, request: RequestedEdit
) -> PackagedEdit:
    found = await cut_transcript(
        connection,
        storage,
        ref.library_id,
        ref.video_id,
        duration_seconds=info.duration_seconds,
        frame_rate=ladder.ladder_frame_rate(info) if info.media_type == "video" else SOUND_RATE,
        revision=request.revision,
    )
    if found is None:  # deleted since it was requested
        return PackagedEdit(request)
    if found.timeline is None:
        return PackagedEdit(request, found.deleted)
    cut = await edits.store_timeline(storage, ref.library_id, ref.video_id, found.timeline)
    return PackagedEdit(request, found.deleted, cut, found.timeline.seconds)


async def find_timeline(storage: Storage, ref: PlaybackRef, cut: str | None) -> CutTimeline | None:
    """The cuts of this name; None if the stream is whole."""
    return await edits.read_timeline(storage, ref.library_id, ref.video_id, cut) if cut is not None else None
