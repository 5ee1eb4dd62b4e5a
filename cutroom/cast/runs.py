"""Comparisons of existing transcripts with the cast: one at a time in a library, and how far it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import asyncpg

from cutroom.cast.recognition import get_recognition
from cutroom.cast.schemas import CastRecognitionRun
from cutroom.errors import Code, CutroomError, not_found
from cutroom.library.folders import require_folders, videos_inside
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id

STALLED_AFTER = timedelta(hours=6)  # without progress, after which another comparison may start
_COLUMNS = """id, status, folder_id, videos_compared, videos_failed, speakers_recognized, created_at, finished_at"""

_RUNNING = """SELECT folder_id, last_video_id FROM cast_runs
    WHERE library_id = $1 AND id = $2 AND status = 'running'"""


@dataclass(frozen=True, slots=True)
class CastRunState:
    """A comparison in progress."""

    folder_id: str | None
    last_video_id: str | None

    def is_done_with(self, video_id: str) -> bool:
        return self.last_video_id is not None and video_id <= self.last_video_id


async def get_run(connection: Connection, library_id: str) -> CastRecognitionRun:
    """The latest comparison; raises NOT_FOUND if there was none."""
    row = await connection.fetchrow(
        f"SELECT {_COLUMNS} FROM cast_runs WHERE library_id = $1 ORDER BY id DESC LIMIT 1",  # noqa: S608 (a constant)
        library_id,
    )
    if row is None:
        raise not_found()
    return _run(row)


def _run(row: asyncpg.Record | Mapping[str, object]) -> CastRecognitionRun:
    return CastRecognitionRun.model_validate(dict(row))


async def start_run(
    connection: Connection, library_id: str, *, folder_id: str | None, now: datetime
) -> CastRecognitionRun:
    """A new comparison, or the one in progress if it compares the same videos.

    Raises FAILED_PRECONDITION while others are compared, and where there is nothing to compare with.
    """
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('cast ' || $1, 0))", library_id)
    if folder_id is not None:
        await require_folders(connection, library_id, [folder_id])
    await _require_comparable(connection, library_id)
    current = await connection.fetchrow(
        f"""SELECT {_COLUMNS} FROM cast_runs
            WHERE library_id = $1 AND status = 'running' AND updated_at > $2""",  # noqa: S608 (a constant)
        library_id,
        now - STALLED_AFTER,
    )
    if current is not None and current["folder_id"] != folder_id:
        raise _refused("running", "Other transcripts are being compared with the cast. Wait until it has finished.")
    if current is not None:
        return _run(current)
    await connection.execute("DELETE FROM cast_runs WHERE library_id = $1", library_id)
    row = {
        "library_id": library_id,
        "id": new_id(),
        "folder_id": folder_id,
        "status": "running",
        "created_at": now,
        "updated_at": now,
    }
    await insert(connection, "cast_runs", row)
    return await get_run(connection, library_id)


async def _require_comparable(connection: Connection, library_id: str) -> None:
    state = await get_recognition(connection, library_id)
    if not state.recognize_speakers and not state.folder_ids:
        raise _refused("recognition_off", "Speakers are recognized nowhere in this library.")
    has_prints = await connection.fetchval(
        "SELECT EXISTS (SELECT FROM cast_appearances WHERE library_id = $1 AND embedding_status = 'ready')", library_id
    )
    if not has_prints:
        raise _refused("no_voice_prints", "There is no voice print yet. Add a speaker of a video to a member first.")


def _refused(reason: str, message: str) -> CutroomError:
    return CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": reason})


async def find_running(
    connection: Connection, library_id: str, run_id: str, *, lock: bool = False
) -> CastRunState | None:
    """None if it has finished, or if another one has replaced it."""
    query = f"{_RUNNING} FOR UPDATE" if lock else _RUNNING
    row = await connection.fetchrow(query, library_id, run_id)
    return CastRunState(row["folder_id"], row["last_video_id"]) if row is not None else None


async def recognized_among(
    connection: Connection, library_id: str, run: CastRunState, video_ids: Sequence[str]
) -> list[str]:
    """Those of the videos that a comparison covers, and in which speakers are recognized; in the given order."""
    state, wanted = await get_recognition(connection, library_id), set(video_ids)
    if not state.recognize_speakers:
        wanted &= await videos_inside(connection, library_id, state.folder_ids, video_ids)
    if run.folder_id is not None:
        wanted &= await videos_inside(connection, library_id, [run.folder_id], video_ids)
    return [each for each in video_ids if each in wanted]


async def record_video(
    connection: Connection,
    library_id: str,
    run_id: str,
    video_id: str,
    *,
    now: datetime,
    recognized: int = 0,
    is_failed: bool = False,
) -> None:
    """Count a video, once."""
    await connection.execute(
        """UPDATE cast_runs SET last_video_id = $3, updated_at = $4, speakers_recognized = speakers_recognized + $5,
               videos_failed = videos_failed + $6, videos_compared = videos_compared + 1 - $6
           WHERE library_id = $1 AND id = $2 AND status = 'running'
             AND (last_video_id IS NULL OR last_video_id < $3)""",
        library_id,
        run_id,
        video_id,
        now,
        recognized,
        int(is_failed),
    )


async def finish_run(connection: Connection, library_id: str, run_id: str, *, now: datetime) -> None:
    await connection.execute(
        """UPDATE cast_runs SET status = 'finished', updated_at = $3, finished_at = $3
           WHERE library_id = $1 AND id = $2 AND status = 'running'""",
        library_id,
        run_id,
        now,
    )
