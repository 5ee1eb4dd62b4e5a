"""Opens and aborts upload sessions; `assembly` finishes them.

A session's row records what is durably stored and only grows. Writes are compare-and-set on the number of received
bytes, so concurrent requests on one session cannot corrupt it; the slower one gets a retryable error.
"""

import logging
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import httpx

from cutroom.accounts.plans import Plans, load_plans
from cutroom.accounts.service import may_still_use
from cutroom.errors import CutroomError
from cutroom.jobs.service import extend_deadline, release_dependents
from cutroom.library.quotas import load_state, lock_quotas
from cutroom.platform.clock import Clock
from cutroom.platform.db import Connection, Database, insert
from cutroom.platform.ids import is_id, new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.multipart import Multipart, StoreError
from cutroom.platform.storage.objects import Storage
from cutroom.products.ingest.service import (
    import_job_id,
    lock_upload_source,
    set_source_size,
    set_upload_deadline,
)
from cutroom.products.uploads.grants import Grant
from cutroom.products.uploads.partial_parts import delete_partial_parts
from cutroom.products.uploads.rules import (
    PART_BYTES,
    SESSION_LIFETIME,
    PartialPart,
    Session,
    UploadError,
    being_finished,
    session_gone,
    session_unknown,
)

_PURPOSE = "upload-session"
_SECRET_BYTES = 32
FIND = "SELECT * FROM upload_sessions WHERE library_id = $1 AND id = $2"
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
    idle_seconds: float = 30.0  # without a byte from the sender
    spool_dir: Path | None = None  # where received bytes wait for the object store
    plans: Plans = field(default_factory=load_plans)


async def check_sender(connection: Connection, library_id: str, account_id: str | None) -> None:
    """Refuses uploads into suspended libraries, and with URLs that were given to a former member."""
    if not await may_still_use(connection, library_id, account_id):
        raise UploadError(403, "forbidden", "This upload is no longer permitted.")


async def lock_source(connection: Connection, grant: Grant) -> None:
    """Serializes session starts of one video; fails once its file has been uploaded."""
    await check_sender(connection, grant.library_id, grant.account_id or None)
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
        await _reject_during_assembly(connection, grant, now=now)
    multipart_id = await gateway.multipart.create(grant.storage_path, content_type=grant.content_type, owner=session_id)
    row: dict[str, Any] = {
        "library_id": grant.library_id,
        "id": session_id,
        "video_id": grant.video_id,
        "account_id": grant.account_id or None,
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
    try:
        earlier = await _insert_session(gateway, grant, row, now=now)
    except BaseException:
        with suppress(Exception):  # the retention sweep aborts uploads without a session
            await gateway.multipart.abort(grant.storage_path, multipart_id)
        raise
    for each in earlier:
        await delete_or_defer(gateway, to_session(each))
    return f"{grant.library_id}.{session_id}.{secret}"


async def _insert_session(
    gateway: Gateway, grant: Grant, row: dict[str, Any], *, now: datetime
) -> list[asyncpg.Record]:
    """Inserts the session, and returns those that it has replaced."""
    async with gateway.database.transaction(grant.library_id) as connection:
        await lock_source(connection, grant)  # again: the object store was called without a transaction
        await _reject_during_assembly(connection, grant, now=now)
        await extend_import_deadline(connection, grant, wait=gateway.upload_wait, now=now)
        earlier = await connection.fetch(
            """UPDATE upload_sessions SET state = 'aborted'
               WHERE library_id = $1 AND video_id = $2 AND state IN ('open', 'assembling') RETURNING *""",
            grant.library_id,
            grant.video_id,
        )
        await insert(connection, "upload_sessions", row)
        await require_storage(connection, grant.library_id, plans=gateway.plans, now=now)
    return earlier


async def require_storage(
    connection: Connection, library_id: str, *, plans: Plans, now: datetime, more_bytes: int = 0
) -> None:
    """Reject an upload that, with all open ones, would exceed the storage of the library. Called after its changes."""
    await lock_quotas(connection, library_id)
    expected: int = await connection.fetchval(
        """SELECT coalesce(sum(coalesce(total_bytes, received_bytes)), 0)::bigint FROM upload_sessions
           WHERE library_id = $1 AND state IN ('open', 'assembling') AND expires_at > $2""",
        library_id,
        now,
    )
    state = await load_state(connection, library_id, plans)
    try:
        state.require_within(expected_bytes=expected + more_bytes)
    except CutroomError as error:
        raise UploadError(409, "quotaExceeded", error.message) from error


async def _reject_during_assembly(connection: Connection, grant: Grant, *, now: datetime) -> None:
    """An object that is completed now could otherwise replace that of the new session."""
    is_assembling = await connection.fetchval(
        """SELECT EXISTS (SELECT FROM upload_sessions WHERE library_id = $1 AND video_id = $2
               AND state = 'assembling' AND assembly_until > $3)""",
        grant.library_id,
        grant.video_id,
        now,
    )
    if is_assembling:
        raise being_finished()


async def find_session(gateway: Gateway, video_id: str, token: str) -> Session:
    """Returns the session of a session URL."""
    library_id, _, rest = token.partition(".")
    session_id, _, secret = rest.partition(".")
    if not (is_id(library_id) and is_id(session_id) and secret):
        raise session_unknown()
    async with gateway.database.transaction(library_id) as connection:
        row = await connection.fetchrow(FIND, library_id, session_id)
        if row is not None:
            await check_sender(connection, library_id, row["account_id"])
    token_hash = gateway.secret_box.keyed_hash(_PURPOSE, secret)
    if row is None or row["video_id"] != video_id or not secrets.compare_digest(row["token_hash"], token_hash):
        raise session_unknown()
    session = to_session(row)
    if session.state == "aborted" or session.expires_at <= gateway.clock():
        raise session_gone()
    return session


async def load_session(gateway: Gateway, library_id: str, session_id: str) -> Session | None:
    async with gateway.database.transaction(library_id) as connection:
        row = await connection.fetchrow(FIND, library_id, session_id)
    return None if row is None else to_session(row)


async def release_import(
    connection: Connection, library_id: str, video_id: str, *, size_bytes: int, now: datetime
) -> None:
    """Records the file's size and starts the import that depends on it."""
    await release_dependents(connection, library_id, video_id=video_id, prerequisite=f"upload_{video_id}", now=now)
    await set_source_size(connection, library_id, video_id, size_bytes=size_bytes)  # last, because it locks the totals


async def abort_session(gateway: Gateway, session: Session, *, assembly_owner: str | None = None) -> bool:
    """Aborts a session that is open, or that no other request assembles; returns whether it was.

    The import then waits as if nothing had been sent.
    """
    async with gateway.database.transaction(session.library_id) as connection:
        source = await lock_upload_source(connection, session.library_id, session.video_id)
        row = await connection.fetchrow(
            """UPDATE upload_sessions SET state = 'aborted', assembly_until = NULL
               WHERE library_id = $1 AND id = $2
               AND (state = 'open' OR state = 'assembling' AND (assembly_until <= $3 OR assembly_owner = $4))
               RETURNING *""",
            session.library_id,
            session.id,
            gateway.clock(),
            assembly_owner,
        )
        if row is not None and source is not None and source["upload_expires_at"] is not None:
            expires_at = min(source["upload_expires_at"], gateway.clock() + gateway.upload_wait)
            await set_upload_deadline(connection, session.library_id, session.video_id, expires_at=expires_at)
    if row is not None:
        await delete_or_defer(gateway, to_session(row))
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
        await delete_assembled(gateway, session)  # only now: an aborted upload cannot be completed any more
    await delete_partial_parts(gateway.storage, session.library_id, session.id)
    async with gateway.database.transaction(session.library_id) as connection:
        await connection.execute(
            "UPDATE upload_sessions SET multipart_id = NULL, partial_parts = '[]' WHERE library_id = $1 AND id = $2",
            session.library_id,
            session.id,
        )


async def delete_assembled(gateway: Gateway, session: Session) -> None:
    """Deletes the object if this session has completed it."""
    stored = await gateway.multipart.find(session.storage_path)
    if stored is not None and stored.owner == session.id:
        await gateway.storage.delete(session.storage_path)


def to_session(row: asyncpg.Record) -> Session:
    fields = {name: row[name] for name in Session.__dataclass_fields__}
    return Session(**{**fields, "partial_parts": tuple(PartialPart(**each) for each in row["partial_parts"])})
