"""Opens, finishes and aborts upload sessions.

A session's row records what is durably stored and only grows. Writes are compare-and-set on the number of received
bytes, so concurrent requests on one session cannot corrupt it; the slower one gets a retryable error.
"""

import logging
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

import asyncpg
import httpx

from cutroom.jobs.service import extend_deadline, release_dependents
from cutroom.platform.clock import Clock
from cutroom.platform.db import Connection, Database, insert
from cutroom.platform.ids import is_id, new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.multipart import InvalidPartsError, Multipart, MultipartUploadNotFoundError, StoreError
from cutroom.platform.storage.objects import Storage
from cutroom.products.ingest.service import (
    import_job_id,
    lock_upload_source,
    set_source_size,
    set_upload_deadline,
)
from cutroom.products.uploads.grants import Grant
from cutroom.products.uploads.partial_parts import delete_partial_parts, md5_of
from cutroom.products.uploads.rules import (
    PART_BYTES,
    SESSION_LIFETIME,
    PartialPart,
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
    """Dependencies of the upload gateway."""

    database: Database
    multipart: Multipart
    storage: Storage
    secret_box: SecretBox
    clock: Clock
    upload_wait: timedelta  # for the first byte of a session


async def lock_source(connection: Connection, grant: Grant) -> None:
    """Serializes session starts of one video; fails once its file has been uploaded."""
    row = await lock_upload_source(connection, grant.library_id, grant.video_id)
    if row is None or row["storage_path"] != grant.storage_path:
        raise UploadError(404, "notFound", "The video of this upload no longer exists.")
    if row["size_bytes"] is not None:
        raise UploadError(412, "conditionNotMet", "The file has already been uploaded.")


async def extend_import_deadline(connection: Connection, grant: Grant, *, wait: timedelta, now: datetime) -> None:
    """Lets the import wait for the session that starts now; expired imports stay expired."""
    is_waiting = await extend_deadline(connection, grant.library_id, import_job_id(grant.video_id), now=now)
    if not is_waiting:
        raise UploadError(412, "conditionNotMet", "The upload of this video was canceled or has expired.")
    await set_upload_deadline(connection, grant.library_id, grant.video_id, expires_at=now + wait)


async def open_session(gateway: Gateway, grant: Grant, *, total_bytes: int | None) -> str:
    """Opens a session, replacing an earlier one; returns its token, of which only a keyed hash is stored."""
    session_id, secret, now = new_id(), secrets.token_urlsafe(_SECRET_BYTES), gateway.clock()
    async with gateway.database.transaction(grant.library_id) as connection:
        await lock_source(connection, grant)
        await extend_import_deadline(connection, grant, wait=gateway.upload_wait, now=now)
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
            "part_count": 0,
            "received_bytes": 0,
            "total_bytes": total_bytes,
            "crc32c": 0,
            "partial_parts": [],
            "created_at": now,
            "expires_at": now + SESSION_LIFETIME,
        }
        await insert(connection, "upload_sessions", row)
    for each in earlier:
        await delete_or_defer(gateway, _session(each))
    return f"{grant.library_id}.{session_id}.{secret}"


async def find_session(gateway: Gateway, video_id: str, token: str) -> Session:
    """Returns the session of a session URL."""
    library_id, _, rest = token.partition(".")
    session_id, _, secret = rest.partition(".")
    if not (is_id(library_id) and is_id(session_id) and secret):
        raise session_unknown()
    async with gateway.database.transaction(library_id) as connection:
        row = await connection.fetchrow(_FIND, library_id, session_id)
    token_hash = gateway.secret_box.keyed_hash(_PURPOSE, secret)
    if row is None or row["video_id"] != video_id or not secrets.compare_digest(row["token_hash"], token_hash):
        raise session_unknown()
    session = _session(row)
    if session.state == "aborted" or session.expires_at <= gateway.clock():
        raise session_gone()
    return session


async def load_session(gateway: Gateway, library_id: str, session_id: str) -> Session | None:
    async with gateway.database.transaction(library_id) as connection:
        row = await connection.fetchrow(_FIND, library_id, session_id)
    return None if row is None else _session(row)


async def finish_session(gateway: Gateway, session: Session, *, hashes: Mapping[str, str]) -> Session:
    """Verifies checksums, assembles the object and releases the import, exactly once."""
    if hashes.get("crc32c", crc_text(session.crc32c)) != crc_text(session.crc32c):
        raise await _reject_digest(gateway, session)
    md5 = hashes.get("md5")
    if md5 is not None:
        async with gateway.database.transaction(session.library_id) as connection:
            session = await _locked(connection, session)
            await _assemble(gateway, connection, session)
        if await md5_of(gateway.storage, session.storage_path) != md5:  # without a lock: it may take minutes
            raise await _reject_digest(gateway, session)
    try:
        async with gateway.database.transaction(session.library_id) as connection:
            session = await _locked(connection, session)
            if not session.is_complete:
                await _assemble(gateway, connection, session)
                session = await _complete(connection, session, md5=md5, now=gateway.clock())
    except (MultipartUploadNotFoundError, InvalidPartsError) as error:  # the caller cannot repair it
        await abort_session(gateway, session)
        raise session_gone() from error
    with suppress(Exception):  # leftovers are deleted by the sweep
        await delete_partial_parts(gateway.storage, session.library_id, session.id)
    return session


async def _locked(connection: Connection, session: Session) -> Session:
    """Locks the source before the session, as every other transaction does, to prevent deadlocks."""
    await lock_upload_source(connection, session.library_id, session.video_id)
    row = await connection.fetchrow(f"{_FIND} FOR UPDATE", session.library_id, session.id)
    if row is None or row["state"] == "aborted":
        raise session_gone()
    if row["received_bytes"] != row["total_bytes"]:
        raise try_again("The upload is not complete yet.")
    return _session(row)


async def _assemble(gateway: Gateway, connection: Connection, session: Session) -> None:
    """Completes the multipart upload under the row lock, so that an old session cannot overwrite a newer one."""
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
    except MultipartUploadNotFoundError:  # a process may have crashed after completing it
        stored = await gateway.multipart.find(session.storage_path)
        if stored is None or (stored.owner, stored.size_bytes) != (session.id, session.total_bytes):
            raise


async def _complete(connection: Connection, session: Session, *, md5: str | None, now: datetime) -> Session:
    """Marks the session complete and releases the import, in the caller's transaction."""
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
    assert row is not None  # locked by this transaction
    await release_import(connection, session.library_id, session.video_id, size_bytes=session.received_bytes, now=now)
    return _session(row)


async def release_import(
    connection: Connection, library_id: str, video_id: str, *, size_bytes: int, now: datetime
) -> None:
    """Records the file's size and starts the import that depends on it."""
    await release_dependents(connection, library_id, video_id=video_id, prerequisite=f"upload_{video_id}", now=now)
    await set_source_size(connection, library_id, video_id, size_bytes=size_bytes)  # last, because it locks the totals


async def _reject_digest(gateway: Gateway, session: Session) -> UploadError:
    """Deletes an upload whose checksum does not match."""
    async with gateway.database.transaction(session.library_id) as connection:
        row = await connection.fetchrow(f"{_FIND} FOR UPDATE", session.library_id, session.id)
        if row is not None and row["state"] == "open":
            stored = await gateway.multipart.find(session.storage_path)
            if stored is not None and stored.owner == session.id:
                await gateway.storage.delete(session.storage_path)
    await abort_session(gateway, session)
    return UploadError(400, "BadDigest", "The received bytes do not match the given checksum.")


async def abort_session(gateway: Gateway, session: Session) -> bool:
    """Aborts an open session; returns whether it was open. The import then waits as if nothing had been sent."""
    async with gateway.database.transaction(session.library_id) as connection:
        source = await lock_upload_source(connection, session.library_id, session.video_id)
        row = await connection.fetchrow(
            """UPDATE upload_sessions SET state = 'aborted'
               WHERE library_id = $1 AND id = $2 AND state = 'open' RETURNING *""",
            session.library_id,
            session.id,
        )
        if row is not None and source is not None and source["upload_expires_at"] is not None:
            expires_at = min(source["upload_expires_at"], gateway.clock() + gateway.upload_wait)
            await set_upload_deadline(connection, session.library_id, session.video_id, expires_at=expires_at)
    if row is not None:
        await delete_or_defer(gateway, _session(row))
    return row is not None


async def delete_or_defer(gateway: Gateway, session: Session) -> None:
    """Deletes the objects of an aborted session; failures are left to the sweep."""
    try:
        await delete_session_objects(gateway, session)
    except (StoreError, httpx.HTTPError, OSError, asyncpg.PostgresError):
        _log.warning("upload cleanup deferred to sweep", exc_info=True)


async def delete_session_objects(gateway: Gateway, session: Session) -> None:
    if session.multipart_id is not None:
        await gateway.multipart.abort(session.storage_path, session.multipart_id)
    await delete_partial_parts(gateway.storage, session.library_id, session.id)
    async with gateway.database.transaction(session.library_id) as connection:
        await connection.execute(
            "UPDATE upload_sessions SET multipart_id = NULL, partial_parts = '[]' WHERE library_id = $1 AND id = $2",
            session.library_id,
            session.id,
        )


def _session(row: asyncpg.Record) -> Session:
    fields = {name: row[name] for name in Session.__dataclass_fields__}
    return Session(**{**fields, "partial_parts": tuple(PartialPart(**each) for each in row["partial_parts"])})
