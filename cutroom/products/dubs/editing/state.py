"""Reads a dub with its edits and its published lines, and stores both."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Connection
from cutroom.platform.storage.objects import Storage
from cutroom.products.dubs.editing.adoption import adopted_dub
from cutroom.products.dubs.editing.lines import LineEdits, PublishedDub
from cutroom.products.dubs.script import read_schedule, read_script, read_voices
from cutroom.products.dubs.service import dub_path
from cutroom.products.transcripts.document import TranscriptDocument

_STATE = """SELECT revision, edits, lines, generation, redub_job_id, audio_path FROM dubs
    WHERE library_id = $1 AND video_id = $2 AND language = $3 AND product = $4 AND completion = 'complete'"""
_KEPT = ("script.json", "schedule.json", "voices.json")


@dataclass(frozen=True, slots=True)
class DubKey:
    """Which dub."""

    library_id: str
    video_id: str
    language: str
    product: str

    @property
    def columns(self) -> tuple[str, str, str, str]:
        return (self.library_id, self.video_id, self.language, self.product)


@dataclass(frozen=True, slots=True)
class DubState:
    """A published dub as it is stored."""

    revision: int
    edits: Mapping[str, LineEdits]  # by line
    published: Mapping[str, Any] | None  # the record of its lines; None if it was made before there were any
    generation: str  # the regeneration that published it
    redub_job_id: str | None  # the last one
    audio_path: str | None  # of the published track


async def find_dub(connection: Connection, key: DubKey, *, lock: bool = False) -> DubState | None:
    """A published dub; with `lock`, it does not change before the transaction ends."""
    row = await connection.fetchrow(f"{_STATE} FOR UPDATE" if lock else _STATE, *key.columns)
    if row is None:
        return None
    edits = {line: LineEdits.from_row(each) for line, each in row["edits"].items()}
    return DubState(row["revision"], edits, row["lines"], row["generation"], row["redub_job_id"], row["audio_path"])


async def read_published(storage: Storage, key: DubKey, state: DubState, document: TranscriptDocument) -> PublishedDub:
    """The published lines; of an older dub, as its stored script says."""
    if state.published is not None:
        return PublishedDub.from_row(state.published)
    paths = [dub_path(key.library_id, key.video_id, f"{key.language}-{key.product}/{name}") for name in _KEPT]
    if None in [await storage.size(path) for path in paths[:2]]:
        raise CutroomError(
            Code.FAILED_PRECONDITION, message="The lines of this dub are not known.", details={"reason": "no_lines"}
        )
    script, schedule = read_script(await _read(storage, paths[0])), read_schedule(await _read(storage, paths[1]))
    voices = read_voices(await _read(storage, paths[2])) if script.lines else {}
    return adopted_dub(script, schedule, voices, document)


async def _read(storage: Storage, path: str) -> bytes:
    return b"".join([chunk async for chunk in storage.read(path)])


async def save_edits(connection: Connection, key: DubKey, edits: Mapping[str, LineEdits]) -> int:
    """Store the edits of a locked dub, and return its new revision."""
    rows = {line: each.to_row() for line, each in edits.items()}
    revision: int = await connection.fetchval(
        """UPDATE dubs SET edits = $5, revision = revision + 1
           WHERE library_id = $1 AND video_id = $2 AND language = $3 AND product = $4 RETURNING revision""",
        *key.columns,
        {line: row for line, row in rows.items() if row},
    )
    return revision


async def save_redub(connection: Connection, key: DubKey, job_id: str) -> None:
    """Remember the last regeneration of a locked dub."""
    await connection.execute(
        """UPDATE dubs SET redub_job_id = $5
           WHERE library_id = $1 AND video_id = $2 AND language = $3 AND product = $4""",
        *key.columns,
        job_id,
    )
