"""Upload sessions: beginning, finishing, cancelling and sweeping them.

A session's row says what is durably stored, and only ever grows: whoever writes names the number of bytes that it
believes are there, and writes nothing when it is wrong. So two requests on one session, or one that outlives its
process's connection, cannot harm each other; the slower one is told to ask how far the upload has come.
"""

import logging
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

import asyncpg
import httpx

from cutroom.jobs.service import release_dependents
from cutroom.platform.clock import Clock
from cutroom.platform.db import Connection, Database, insert
from cutroom.platform.ids import is_id, new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.multipart import Multipart, PartsUnfitError, StoreError, UploadGoneError
from cutroom.platform.storage.objects import Storage
from cutroom.products.uploads.grants import Grant
from cutroom.products.uploads.partial_parts import delete_pieces, md5_of
from cutroom.products.uploads.rules import (
    PART_BYTES,
    SESSION_LIFETIME,
    ContentRange,
    Session,
    UploadError,
    crc_text,
    session_gone,
    session_unknown,
    try_again,
)

_PURPOSE = "upload-session"
_SECRET_BYTES = 32
_FIND = "SELECT * FROM upload_sessions WHERE library_id = $1 AND id = $2"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Gateway:
    """The parts that uploads stand on."""

    database: Database
    multipart: Multipart
    storage: Storage
    secret_box: SecretBox
    clock: Clock


async def lock_source(connection: Connection, grant: Grant) -> None:
    """One start at a time for one video, and none once its file is there."""
    row = await connection.fetchrow(
        """SELECT size_bytes FROM sources
           WHERE library_id = $1 AND video_id = $2 AND type = 'upload' AND storage_path = $3 FOR UPDATE""",
        grant.library_id,
        grant.video_id,
        grant.storage_path,
    )
    if row is None:
        raise UploadError(404, "notFound", "The video that this upload is for is gone.")
    if row["size_bytes"] is not None:
        raise UploadError(412, "conditionNotMet", "The file has been uploaded already.")


async def wait_on(connection: Connection, grant: Grant, *, now: datetime) -> None:
    """The import waits from now on, for as long as this session can take; one that has given up does not come back."""
    waiting = await connection.fetchval(
        """UPDATE jobs SET updated_at = $3 WHERE library_id = $1 AND id = 'import_' || $2 AND status = 'queued'
           RETURNING true""",
        grant.library_id,
        grant.video_id,
        now,
    )
    if not waiting:
        raise UploadError(412, "conditionNotMet", "This video does not wait for its file any more.")


async def begin(gateway: Gateway, grant: Grant, *, total_bytes: int | None) -> str:
    """Open a session in place of an earlier one; its token, of which only a keyed hash is kept."""
    session_id, secret, now = new_id(), secrets.token_urlsafe(_SECRET_BYTES), gateway.clock()
    async with gateway.database.transaction(grant.library_id) as connection:
        await lock_source(connection, grant)
        await wait_on(connection, grant, now=now)
        earlier = await connection.fetch(
            """UPDATE upload_sessions SET state = 'aborted'
               WHERE library_id = $1 AND video_id = $2 AND state = 'open' RETURNING *""",
            grant.library_id,
            grant.video_id,
        )
        multipart_id = await gateway.multipart.create(
            grant.storage_path, content_type=grant.content_type, owner=session_id
        )
        row = {
            "library_id": grant.library_id,
            "id": session_id,
            "video_id": grant.video_id,
            "token_hash": gateway.secret_box.keyed_hash(_PURPOSE, secret),
            "state": "open",
            "storage_path": grant.storage_path,
            "content_type": grant.content_type,
            "multipart_id": multipart_id,
            "part_bytes": PART_BYTES,
            "parts": 0,
            "received_bytes": 0,
            "total_bytes": total_bytes,
            "crc32c": 0,
            "tail": [],
            "created_at": now,
            "expires_at": now + SESSION_LIFETIME,
        }
        await insert(connection, "upload_sessions", row)
    for each in earlier:
        await clean_or_leave(gateway, _session(each))
    return f"{grant.library_id}.{session_id}.{secret}"


async def find(gateway: Gateway, video_id: str, token: str) -> Session:
    """The session that a URL opens."""
    library_id, _, rest = token.partition(".")
    session_id, _, secret = rest.partition(".")
    if not (is_id(library_id) and is_id(session_id) and secret):
        raise session_unknown()
    async with gateway.database.transaction(library_id) as connection:
        row = await connection.fetchrow(_FIND, library_id, session_id)
    known = gateway.secret_box.keyed_hash(_PURPOSE, secret)
    if row is None or row["video_id"] != video_id or not secrets.compare_digest(row["token_hash"], known):
        raise session_unknown()
    session = _session(row)
    if session.state == "aborted" or session.expires_at <= gateway.clock():
        raise session_gone()
    return session


async def load(gateway: Gateway, library_id: str, session_id: str) -> Session | None:
    async with gateway.database.transaction(library_id) as connection:
        row = await connection.fetchrow(_FIND, library_id, session_id)
    return None if row is None else _session(row)


async def finish(gateway: Gateway, session: Session, *, hashes: Mapping[str, str]) -> Session:
    """Every byte is stored: check, put the object together, and release the import, once."""
    if hashes.get("crc32c", crc_text(session.crc32c)) != crc_text(session.crc32c):
        raise await _refuse_digest(gateway, session)
    md5 = hashes.get("md5")
    if md5 is not None:
        async with gateway.database.transaction(session.library_id) as connection:
            session = await _locked(connection, session)
            await _assemble(gateway, connection, session)
        if await md5_of(gateway.storage, session.storage_path) != md5:  # not under a lock: it may take minutes
            raise await _refuse_digest(gateway, session)
    try:
        async with gateway.database.transaction(session.library_id) as connection:
            session = await _locked(connection, session)
            if not session.is_complete:
                await _assemble(gateway, connection, session)
                session = await _complete(connection, session, md5=md5, now=gateway.clock())
    except (UploadGoneError, PartsUnfitError) as error:  # nothing that the caller sends can make it whole again
        await abort(gateway, session)
        raise session_gone() from error
    with suppress(Exception):  # what stays behind is swept
        await delete_pieces(gateway.storage, session.library_id, session.id)
    return session


async def _locked(connection: Connection, session: Session) -> Session:
    row = await connection.fetchrow(f"{_FIND} FOR UPDATE", session.library_id, session.id)
    if row is None or row["state"] == "aborted":
        raise session_gone()
    if row["received_bytes"] != row["total_bytes"]:
        raise try_again("The upload is not whole yet.")
    return _session(row)


async def _assemble(gateway: Gateway, connection: Connection, session: Session) -> None:
    """The row is locked meanwhile, so that no newer session's object is overwritten by an older one's."""
    if session.is_complete or session.multipart_id is None:
        return
    rows = await connection.fetch(
        "SELECT etag FROM upload_parts WHERE library_id = $1 AND session_id = $2 ORDER BY number",
        session.library_id,
        session.id,
    )
    try:
        await gateway.multipart.complete(
            session.storage_path, session.multipart_id, etags=[row["etag"] for row in rows]
        )
    except UploadGoneError:  # done before, by somebody who could not say so any more?
        found = await gateway.multipart.find(session.storage_path)
        if found is None or (found.owner, found.size_bytes) != (session.id, session.total_bytes):
            raise


async def _complete(connection: Connection, session: Session, *, md5: str | None, now: datetime) -> Session:
    """All that the end of an upload means, in the caller's one transaction."""
    await connection.execute(
        "DELETE FROM upload_parts WHERE library_id = $1 AND session_id = $2", session.library_id, session.id
    )
    row = await connection.fetchrow(
        """UPDATE upload_sessions SET state = 'complete', completed_at = $3, md5 = $4, multipart_id = NULL
           WHERE library_id = $1 AND id = $2 RETURNING *""",
        session.library_id,
        session.id,
        now,
        md5,
    )
    assert row is not None  # it is locked by this transaction
    await release(connection, session.library_id, session.video_id, size_bytes=session.received_bytes, now=now)
    return _session(row)


async def release(connection: Connection, library_id: str, video_id: str, *, size_bytes: int, now: datetime) -> None:
    """The file is there: its source says how large it is, and the import that waited for it starts."""
    await connection.execute(
        "UPDATE sources SET size_bytes = $3 WHERE library_id = $1 AND video_id = $2", library_id, video_id, size_bytes
    )
    await release_dependents(connection, library_id, video_id=video_id, prerequisite=f"upload_{video_id}", now=now)


async def _refuse_digest(gateway: Gateway, session: Session) -> UploadError:
    """What arrived is not what was sent: nothing of it is kept."""
    async with gateway.database.transaction(session.library_id) as connection:
        row = await connection.fetchrow(f"{_FIND} FOR UPDATE", session.library_id, session.id)
        if row is not None and row["state"] == "open":
            found = await gateway.multipart.find(session.storage_path)
            if found is not None and found.owner == session.id:
                await gateway.storage.delete(session.storage_path)
    await abort(gateway, session)
    return UploadError(400, "BadDigest", "The bytes that arrived do not have the checksum that was given.")


async def abort(gateway: Gateway, session: Session) -> bool:
    """End a session that is open; whether it was."""
    async with gateway.database.transaction(session.library_id) as connection:
        row = await connection.fetchrow(
            """UPDATE upload_sessions SET state = 'aborted'
               WHERE library_id = $1 AND id = $2 AND state = 'open' RETURNING *""",
            session.library_id,
            session.id,
        )
    if row is not None:
        await clean_or_leave(gateway, _session(row))
    return row is not None


async def clean_or_leave(gateway: Gateway, session: Session) -> None:
    """Clean up behind an aborted session; what fails is left to the sweep."""
    try:
        await clean(gateway, session)
    except (StoreError, httpx.HTTPError, OSError, asyncpg.PostgresError):
        _log.warning("an aborted upload is left to the sweep", exc_info=True)


async def clean(gateway: Gateway, session: Session) -> None:
    if session.multipart_id is not None:
        await gateway.multipart.abort(session.storage_path, session.multipart_id)
    await delete_pieces(gateway.storage, session.library_id, session.id)
    async with gateway.database.transaction(session.library_id) as connection:
        await connection.execute(
            "UPDATE upload_sessions SET multipart_id = NULL, tail = '[]' WHERE library_id = $1 AND id = $2",
            session.library_id,
            session.id,
        )


def _session(row: asyncpg.Record) -> Session:
    fields = {name: row[name] for name in Session.__dataclass_fields__}
    return Session(**{**fields, "tail": tuple(ContentRange(**piece) for piece in row["tail"])})
