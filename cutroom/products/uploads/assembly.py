"""Finishes uploads: completes the object in the store, verifies it and releases the import.

Completing a large object takes the store up to minutes, so it happens without a transaction, under a lease: one short
transaction records who completes the object and until when, a second one finishes the session. If the process dies in
between, the next request or the sweep continues once the lease has ended.
"""

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.storage.multipart import InvalidPartsError, MultipartUploadNotFoundError
from cutroom.products.ingest.service import lock_upload_source
from cutroom.products.uploads.partial_parts import delete_partial_parts, md5_of
from cutroom.products.uploads.rules import (
    Session,
    UploadError,
    being_finished,
    crc_text,
    session_gone,
    try_again,
)
from cutroom.products.uploads.service import (
    FIND,
    Gateway,
    abort_session,
    delete_assembled,
    delete_or_defer,
    release_import,
    to_session,
)

LEASE = timedelta(seconds=60)
RENEWAL_SECONDS = 20.0
_log = logging.getLogger(__name__)


class _LeaseLostError(Exception):
    """The session was canceled or taken over while its object was being completed."""


@dataclass(frozen=True, slots=True)
class _Assembly:
    """The right to complete the object of a session."""

    session: Session
    owner: str
    etags: Sequence[str]


async def finish_session(gateway: Gateway, session: Session, *, hashes: Mapping[str, str]) -> Session:
    """Completes the object, verifies its checksums and releases the import, exactly once.

    Raises a retryable error while another request does the same.
    """
    assembly = await _begin(gateway, session, md5=hashes.get("md5"))
    if isinstance(assembly, Session):
        return assembly
    session = assembly.session
    try:
        await _while_renewing(gateway, assembly, _assemble(gateway, assembly, hashes))
        finished = await _complete(gateway, assembly)
    except (MultipartUploadNotFoundError, InvalidPartsError) as error:  # the caller cannot repair it
        is_aborted = await abort_session(gateway, session, assembly_owner=assembly.owner)
        raise (session_gone() if is_aborted else being_finished()) from error
    except _LeaseLostError:
        raise await _lost(gateway, session) from None
    except BaseException:
        with suppress(Exception):  # otherwise it ends by itself
            await _set_lease(gateway, assembly, until=gateway.clock())
        raise
    with suppress(Exception):  # leftovers are deleted by the sweep
        await delete_partial_parts(gateway.storage, session.library_id, session.id)
    return finished


async def _begin(gateway: Gateway, session: Session, *, md5: str | None) -> _Assembly | Session:
    """Acquires the lease; returns the session if it is complete already."""
    owner, now = new_id(), gateway.clock()
    async with gateway.database.transaction(session.library_id) as connection:
        current = await _locked(connection, session)
        if current.is_complete:
            return current
        if current.is_being_assembled(now):
            raise being_finished()
        row = await connection.fetchrow(
            """UPDATE upload_sessions SET state = 'assembling', assembly_owner = $3, assembly_until = $4,
                   md5 = coalesce($5, md5) WHERE library_id = $1 AND id = $2 RETURNING *""",
            session.library_id,
            session.id,
            owner,
            now + LEASE,
            md5,
        )
        assert row is not None  # locked by this transaction
        parts = await connection.fetch(
            "SELECT etag FROM upload_parts WHERE library_id = $1 AND session_id = $2 ORDER BY number",
            session.library_id,
            session.id,
        )
    return _Assembly(to_session(row), owner, etags=[part["etag"] for part in parts])


async def _locked(connection: Connection, session: Session) -> Session:
    """Locks the source before the session, as every other transaction does, to prevent deadlocks."""
    await lock_upload_source(connection, session.library_id, session.video_id)
    row = await connection.fetchrow(f"{FIND} FOR UPDATE", session.library_id, session.id)
    if row is None or row["state"] == "aborted":
        raise session_gone()
    if row["received_bytes"] != row["total_bytes"]:
        raise try_again("The upload is not complete yet.")
    return to_session(row)


async def _while_renewing(gateway: Gateway, assembly: _Assembly, work: Coroutine[None, None, None]) -> None:
    """Renews the lease while the work runs; cancels the work if the lease is lost."""
    working, renewing = asyncio.create_task(work), asyncio.create_task(_renew(gateway, assembly))
    try:
        await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
        await (working if working.done() else renewing)
    finally:
        working.cancel()
        renewing.cancel()
        await asyncio.gather(working, renewing, return_exceptions=True)


async def _renew(gateway: Gateway, assembly: _Assembly) -> None:
    while True:
        await asyncio.sleep(RENEWAL_SECONDS)
        try:
            is_held = await _set_lease(gateway, assembly, until=gateway.clock() + LEASE)
        except Exception:  # noqa: BLE001 - the next renewal may succeed; the second transaction checks the owner
            _log.warning("upload lease was not renewed", exc_info=True)
            continue
        if not is_held:
            raise _LeaseLostError


async def _set_lease(gateway: Gateway, assembly: _Assembly, *, until: datetime) -> bool:
    session = assembly.session
    async with gateway.database.transaction(session.library_id) as connection:
        row = await connection.fetchrow(
            """UPDATE upload_sessions SET assembly_until = $4
               WHERE library_id = $1 AND id = $2 AND state = 'assembling' AND assembly_owner = $3 RETURNING id""",
            session.library_id,
            session.id,
            assembly.owner,
            until,
        )
    return row is not None


async def _assemble(gateway: Gateway, assembly: _Assembly, hashes: Mapping[str, str]) -> None:
    session = assembly.session
    if hashes.get("crc32c", crc_text(session.crc32c)) != crc_text(session.crc32c):
        raise await _reject_digest(gateway, assembly)
    await _complete_object(gateway, assembly)
    # Hashing the object may take minutes, too. The caller's MD5 is recorded with the lease, for a later attempt.
    if session.md5 is not None and await md5_of(gateway.storage, session.storage_path) != session.md5:
        raise await _reject_digest(gateway, assembly)


async def _complete_object(gateway: Gateway, assembly: _Assembly) -> None:
    session = assembly.session
    assert session.multipart_id is not None  # set until the session is complete
    try:
        await gateway.multipart.complete(session.storage_path, session.multipart_id, etags=assembly.etags)
    except MultipartUploadNotFoundError:  # a process may have crashed after completing it
        stored = await gateway.multipart.find(session.storage_path)
        if stored is None or (stored.owner, stored.size_bytes) != (session.id, session.total_bytes):
            raise


async def _reject_digest(gateway: Gateway, assembly: _Assembly) -> UploadError:
    """Deletes an upload whose checksum does not match, still under the lease: no new session can start meanwhile."""
    await delete_assembled(gateway, assembly.session)
    await abort_session(gateway, assembly.session, assembly_owner=assembly.owner)
    return UploadError(400, "BadDigest", "The received bytes do not match the given checksum.")


async def _complete(gateway: Gateway, assembly: _Assembly) -> Session:
    """Marks the session complete and releases the import, if the lease is still held."""
    session, now = assembly.session, gateway.clock()
    async with gateway.database.transaction(session.library_id) as connection:
        await lock_upload_source(connection, session.library_id, session.video_id)
        row = await connection.fetchrow(
            """UPDATE upload_sessions SET state = 'complete', completed_at = $4, multipart_id = NULL
               WHERE library_id = $1 AND id = $2 AND state = 'assembling' AND assembly_owner = $3 RETURNING *""",
            session.library_id,
            session.id,
            assembly.owner,
            now,
        )
        if row is None:
            raise _LeaseLostError
        await connection.execute(
            "DELETE FROM upload_parts WHERE library_id = $1 AND session_id = $2", session.library_id, session.id
        )
        await release_import(
            connection, session.library_id, session.video_id, size_bytes=session.received_bytes, now=now
        )
    return to_session(row)


async def _lost(gateway: Gateway, session: Session) -> UploadError:
    """Deletes what was completed for a session that was canceled meanwhile; one that was taken over is left alone."""
    async with gateway.database.transaction(session.library_id) as connection:
        row = await connection.fetchrow(FIND, session.library_id, session.id)
    if row is not None and row["state"] != "aborted":
        return being_finished()
    await delete_or_defer(gateway, session)
    return session_gone()
