"""Requests streams without deleted words, and reads what a stream leaves out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError
from cutroom.jobs.lifecycle import start_playback
from cutroom.library.originals import require_original
from cutroom.library.service import get_video
from cutroom.media.cutting.timeline import kept_ranges
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.playback.edits import PlaybackEdits, RequestedEdit, find_edits, read_timeline, request_edit
from cutroom.products.playback.schemas import KeptRange, NewPlaybackCut, PlaybackState, RequestedCut
from cutroom.products.transcripts.cutting.timelines import require_cuttable
from cutroom.products.transcripts.editing.revisions import read_document
from cutroom.products.transcripts.editing.service import require_state


@dataclass(frozen=True, slots=True)
class PlaybackEditor:
    """A caller who reads or requests what the stream of a video leaves out."""

    connection: Connection
    principal: Principal
    storage: Storage
    video_id: str
    now: datetime

    async def read(self) -> PlaybackState:
        video = await get_video(self.connection, self.principal, self.video_id)
        edits = await find_edits(self.connection, self.principal.library_id, self.video_id)
        packaged = edits.packaged
        is_cut = packaged is not None and packaged.cut is not None
        return PlaybackState.model_validate(
            {
                "video_id": self.video_id,
                "status": edits.state,
                "transcript_revision": packaged.request.revision if packaged and not packaged.request.uncut else None,
                "duration": packaged.seconds if packaged is not None and is_cut else video.duration,
                "kept": await self._kept(packaged.cut) if packaged is not None and packaged.cut is not None else None,
                "requested": _pending(edits),
            }
        )

    async def request(self, cut: NewPlaybackCut) -> PlaybackState:
        """Package the stream without the words that are deleted now; nothing is done if it is packaged like that."""
        await require_original(self.connection, self.principal, self.video_id)
        state = await require_state(self.connection, self.principal, self.video_id)
        if cut.transcript_revision is not None and cut.transcript_revision != state.revision:
            message = "The transcript was changed in the meantime. Get its current revision, then repeat the request."
            raise CutroomError(Code.CONFLICT, message=message, details={"revision": state.revision})
        library_id = self.principal.library_id
        if not cut.uncut:
            require_cuttable(await read_document(self.connection, library_id, self.video_id, state))
        edit = RequestedEdit(state.revision, cut.uncut)
        await request_edit(self.connection, library_id, self.video_id, edit=edit, now=self.now)
        await start_playback(self.connection, library_id, self.video_id, cause=f"cut_{new_id()}")
        return await self.read()

    async def _kept(self, cut: str) -> Sequence[KeptRange]:
        timeline = await read_timeline(self.storage, self.principal.library_id, self.video_id, cut)
        return [KeptRange(start=start, end=end) for start, end in kept_ranges(timeline)]


def _pending(edits: PlaybackEdits) -> RequestedCut | None:
    requested = edits.requested
    if requested is None or (edits.packaged is not None and edits.packaged.request == requested):
        return None
    return RequestedCut(transcript_revision=requested.revision, uncut=requested.uncut)
