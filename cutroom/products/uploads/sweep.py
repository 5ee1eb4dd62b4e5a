"""Expires uploads and upload sessions, finishes abandoned ones, and deletes objects of aborted sessions."""

import logging
from dataclasses import dataclass, replace

from cutroom.platform.db import Connection
from cutroom.products.uploads.assembly import finish_session
from cutroom.products.uploads.cancellation import expire_upload
from cutroom.products.uploads.service import Gateway, abort_session, delete_session_objects, load_session

SWEEP_BATCH = 100
_log = logging.getLogger(__name__)


async def expire_sessions(gateway: Gateway, *, at_most: int = SWEEP_BATCH) -> int:
    """Aborts expired sessions, deletes their objects and rows, and returns how many were processed.

    Call it again while it returns `at_most`. Sessions that fail are retried in the next sweep.
    """
    now, swept = gateway.clock(), 0
    async with gateway.database.connection() as connection:
        stale = await connection.fetch("SELECT library_id, id FROM stale_uploads($1, $2)", now, at_most)
    for row in stale:
        try:
            swept += await _expire(gateway, row["library_id"], row["id"])
        except Exception:  # noqa: BLE001 - one failure must not stop the sweep
            _log.exception("upload session sweep failed", extra={"upload_session": row["id"]})
    return swept


async def finish_abandoned(gateway: Gateway, *, at_most: int = SWEEP_BATCH) -> int:
    """Finishes complete uploads whose request crashed or failed, and returns how many; see `expire_sessions`."""
    finished = 0
    async with gateway.database.connection() as connection:
        rows = await connection.fetch(
            "SELECT library_id, id FROM unfinished_assemblies($1, $2)", gateway.clock(), at_most
        )
    for row in rows:
        try:
            session = await load_session(gateway, row["library_id"], row["id"])
            if session is not None and session.expires_at > gateway.clock():
                await finish_session(gateway, session, hashes={})
                finished += 1
        except Exception:  # noqa: BLE001 - one failure must not stop the sweep
            _log.exception("upload assembly failed", extra={"upload_session": row["id"]})
    return finished


async def expire_uploads(gateway: Gateway, *, at_most: int = SWEEP_BATCH) -> int:
    """Fails imports whose file did not arrive in time, and returns how many; call it again like `expire_sessions`."""
    now, expired = gateway.clock(), 0
    async with gateway.database.connection() as connection:
        rows = await connection.fetch("SELECT library_id, video_id FROM expired_uploads($1, $2)", now, at_most)
    for row in rows:
        try:
            async with gateway.database.transaction(row["library_id"]) as connection:
                expired += await expire_upload(connection, row["library_id"], row["video_id"], now=now)
        except Exception:  # noqa: BLE001 - one failure must not stop the sweep
            _log.exception("upload expiry failed", extra={"video_id": row["video_id"]})
    return expired


async def end_video_sessions(gateway: Gateway, library_id: str, video_id: str) -> None:
    """Aborts the upload sessions of a video that is purged, and deletes what they have received."""
    async with gateway.database.transaction(library_id) as connection:
        rows = await connection.fetch(
            "SELECT id FROM upload_sessions WHERE library_id = $1 AND video_id = $2", library_id, video_id
        )
    for row in rows:
        session = await load_session(gateway, library_id, row["id"])
        if session is not None and session.state in {"open", "assembling"}:
            await abort_session(gateway, session, assembly_owner=session.assembly_owner)
        if session is not None and session.state != "complete":
            await delete_session_objects(gateway, session)


async def _expire(gateway: Gateway, library_id: str, session_id: str) -> bool:
    session = await load_session(gateway, library_id, session_id)
    if session is None:
        return False
    if session.state in {"open", "assembling"}:
        if not await abort_session(gateway, session):
            return False  # it is being finished
        session = replace(session, state="aborted")
    if session.state == "aborted":
        await delete_session_objects(gateway, session)
    if session.expires_at < gateway.clock():
        async with gateway.database.transaction(library_id) as connection:
            await connection.execute(
                "DELETE FROM upload_sessions WHERE library_id = $1 AND id = $2", library_id, session_id
            )
    return True


@dataclass(frozen=True, slots=True)
class LiveUploads:
    """Sessions of a library that have not expired, and their multipart uploads."""

    session_ids: frozenset[str]
    multipart_ids: frozenset[str]


async def live_uploads(connection: Connection, library_id: str) -> LiveUploads:
    rows = await connection.fetch("SELECT id, multipart_id FROM upload_sessions WHERE library_id = $1", library_id)
    multipart_ids = {row["multipart_id"] for row in rows if row["multipart_id"] is not None}
    return LiveUploads(frozenset(row["id"] for row in rows), frozenset(multipart_ids))
