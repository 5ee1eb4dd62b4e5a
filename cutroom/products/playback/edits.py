"""Which words a stream leaves out: what was requested, what is being packaged, and what is published.

A request names a revision of the transcript. Its cuts are worked out once, and stored under their own hash: later
tracks of the same stream are cut in the same places.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cutroom.media.cutting.spans import Span
from cutroom.media.cutting.timeline import CutTimeline
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from cutroom.products.playback.service import playback_path

_EDITS = """SELECT state, requested_edit, planned_edit, packaged_edit FROM playbacks
    WHERE library_id = $1 AND video_id = $2"""
_REQUEST = """INSERT INTO playbacks (library_id, video_id, state, revision, updated_at, requested_edit)
    VALUES ($1, $2, 'processing', 0, $3, $4)
    ON CONFLICT (library_id, video_id) DO UPDATE SET requested_edit = excluded.requested_edit"""


@dataclass(frozen=True, slots=True)
class RequestedEdit:
    """Leave out the deleted words of a revision, or nothing."""

    revision: int
    uncut: bool = False

    def to_row(self) -> dict[str, Any]:
        return {"revision": self.revision, "uncut": self.uncut}


@dataclass(frozen=True, slots=True)
class PackagedEdit:
    """What a request came to."""

    request: RequestedEdit
    deleted: tuple[Span, ...] = ()
    cut: str | None = None  # names the stored timeline; None if nothing is cut
    seconds: float | None = None  # of the output

    def to_row(self) -> dict[str, Any]:
        return {
            **self.request.to_row(),
            "deleted": [list(span) for span in self.deleted],
            "cut": self.cut,
            "seconds": self.seconds,
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "PackagedEdit":
        deleted = tuple((start, end) for start, end in row["deleted"])
        return cls(RequestedEdit(row["revision"], row["uncut"]), deleted, row["cut"], row["seconds"])


@dataclass(frozen=True, slots=True)
class PlaybackEdits:
    """The edits of one stream; None where there was none yet."""

    state: str
    requested: RequestedEdit | None
    planned: PackagedEdit | None
    packaged: PackagedEdit | None


NO_EDITS = PlaybackEdits("none", None, None, None)


async def find_edits(connection: Connection, library_id: str, video_id: str) -> PlaybackEdits:
    row = await connection.fetchrow(_EDITS, library_id, video_id)
    if row is None:
        return NO_EDITS
    planned, packaged = (
        PackagedEdit.from_row(each) if each is not None else None
        for each in (row["planned_edit"], row["packaged_edit"])
    )
    requested = RequestedEdit(**row["requested_edit"]) if row["requested_edit"] is not None else None
    return PlaybackEdits(row["state"], requested, planned, packaged)


async def request_edit(
    connection: Connection, library_id: str, video_id: str, *, edit: RequestedEdit, now: datetime
) -> None:
    """Replaces what is requested; the workflow of the stream packages it."""
    await connection.execute(_REQUEST, library_id, video_id, now, edit.to_row())


async def save_plan(connection: Connection, library_id: str, video_id: str, *, edit: PackagedEdit) -> None:
    await connection.execute(
        "UPDATE playbacks SET planned_edit = $3 WHERE library_id = $1 AND video_id = $2",
        library_id,
        video_id,
        edit.to_row(),
    )


async def keep_packaged(connection: Connection, library_id: str, video_id: str) -> None:
    """Gives up what was planned: without the original, the picture stays as it is packaged."""
    await connection.execute(
        "UPDATE playbacks SET planned_edit = packaged_edit WHERE library_id = $1 AND video_id = $2",
        library_id,
        video_id,
    )


async def publish_plan(connection: Connection, library_id: str, video_id: str) -> None:
    """Records that all tracks are those of the planned edit."""
    await connection.execute(
        "UPDATE playbacks SET packaged_edit = planned_edit WHERE library_id = $1 AND video_id = $2",
        library_id,
        video_id,
    )


def _cut_path(library_id: str, video_id: str, cut: str) -> str:
    return playback_path(library_id, video_id, f"cuts/{cut}.json")


async def store_timeline(storage: Storage, library_id: str, video_id: str, timeline: CutTimeline) -> str:
    """Stores the cuts, and returns their name."""
    content = json.dumps(timeline.as_json(), sort_keys=True).encode()
    cut = hashlib.sha256(content).hexdigest()[:16]
    await storage.put(_cut_path(library_id, video_id, cut), content)
    return cut


async def read_timeline(storage: Storage, library_id: str, video_id: str, cut: str) -> CutTimeline:
    path = _cut_path(library_id, video_id, cut)
    return CutTimeline.from_json(json.loads(b"".join([chunk async for chunk in storage.read(path)])))
