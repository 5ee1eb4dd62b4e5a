"""Receives the bytes of one PUT: full parts are uploaded while the next one is read, the rest becomes a partial part.

Parts are spooled to disk, so that memory does not depend on their size. There are at most two: the one being uploaded
and the one being filled. While both are full nothing is read, which applies backpressure to the sender.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import closing, suppress
from typing import Any

import google_crc32c
from starlette.types import Receive

from cutroom.platform.db import Connection
from cutroom.products.ingest.service import set_upload_deadline
from cutroom.products.uploads.partial_parts import MAX_PARTIAL_PARTS, put_partial_part, read_partial_parts
from cutroom.products.uploads.request_body import next_message
from cutroom.products.uploads.rules import (
    Chunk,
    PartialPart,
    Session,
    UploadError,
    capacity,
    check_progress,
    invalid,
    part_bytes_for,
    too_large,
    try_again,
)
from cutroom.products.uploads.service import Gateway, require_storage
from cutroom.products.uploads.spool import Spool

PART_SECONDS = 1_800.0  # per part; slower senders would hold their slot too long

# Compare-and-set on received_bytes: does nothing if a concurrent request has advanced the session.
_ADVANCE = """UPDATE upload_sessions SET received_bytes = $4, part_count = $5, crc32c = $6, partial_parts = $7,
        part_bytes = $8, total_bytes = coalesce(total_bytes, $9)
    WHERE library_id = $1 AND id = $2 AND state = 'open' AND received_bytes = $3 RETURNING received_bytes"""
_PUT_PART = """INSERT INTO upload_parts (library_id, session_id, number, etag) VALUES ($1, $2, $3, $4)
    ON CONFLICT (library_id, session_id, number) DO UPDATE SET etag = excluded.etag"""


class Receiver:
    """Receives one PUT of a session."""

    def __init__(self, gateway: Gateway, session: Session, chunk: Chunk) -> None:
        check_progress(chunk, received=session.received_bytes, total=session.total_bytes)
        total = session.total_bytes if session.total_bytes is not None else chunk.total
        self._gateway = gateway
        self._session = session
        self._chunk = chunk
        self.total = total
        self.received = session.received_bytes  # including buffered bytes
        self.crc32c = session.crc32c
        self._part_bytes = session.part_bytes if session.part_count else part_bytes_for(total)
        self._capacity = total if total is not None else capacity(self._part_bytes)
        if self._capacity > capacity(self._part_bytes):
            raise too_large(capacity(self._part_bytes))
        self._part_count = session.part_count
        self._partial_parts = session.partial_parts
        self._merged: tuple[PartialPart, ...] = ()  # now contained in a part
        self._stored = session.received_bytes
        self._spool = Spool(gateway.spool_dir)  # received bytes of the next part
        self._free_bytes = self._part_bytes - _size(session.partial_parts)
        self._uploading: asyncio.Task[None] | None = None
        self._skip = session.received_bytes - chunk.first  # bytes sent again
        self._deadline = time.monotonic() + PART_SECONDS

    @property
    def is_file_complete(self) -> bool:
        return self.received == self.total

    async def receive(self, receive: Receive) -> bool:
        """Receives the body and returns whether it was complete; bytes received before a disconnect are kept."""
        try:
            is_complete = await self._read(receive)
            if is_complete and self._chunk.ends_file and self.total is None:
                if self._skip or not self.received:
                    raise invalid("The file is shorter than the bytes already received, or empty.")
                self.total = self.received  # known at the end of the body
            await self._await_upload()
            if self.is_file_complete:
                await self._upload_last_part()
            else:
                await self._store_partial_part()
        except FileNotFoundError as error:
            raise _superseded() from error
        finally:
            if self._uploading is not None:
                self._uploading.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await self._uploading
            self._spool.close()
        return is_complete

    async def _read(self, receive: Receive) -> bool:
        remaining = self._chunk.length
        while True:
            seconds = min(self._gateway.idle_seconds, self._deadline - time.monotonic())
            message = await next_message(receive, seconds)
            if message is None or message["type"] == "http.disconnect":
                return False
            body: bytes = message.get("body", b"")
            if remaining is not None and (remaining := remaining - len(body)) < 0:
                raise invalid("The body is longer than declared.")
            if self._skip:
                skipped = min(self._skip, len(body))
                self._skip, body = self._skip - skipped, body[skipped:]
            if body:
                await self._buffer(body)
            if not message.get("more_body", False):
                return True

    async def _buffer(self, body: bytes) -> None:
        if self.received + len(body) > self._capacity:
            raise too_large(self._capacity) if self.total is None else invalid("The file is longer than declared.")
        while len(body) >= self._free_bytes:
            head, body = body[: self._free_bytes], body[self._free_bytes :]
            await self._append(head)
            await self._await_upload()
            self._uploading = asyncio.create_task(self._upload_part(*self._take_spool()))
            self._free_bytes = self._part_bytes
            self._deadline = time.monotonic() + PART_SECONDS
        if body:
            await self._append(body)

    async def _append(self, body: bytes) -> None:
        await self._spool.write(body)
        self._free_bytes -= len(body)
        self.received += len(body)
        self.crc32c = google_crc32c.extend(self.crc32c, body)

    async def _await_upload(self) -> None:
        """Waits for the pending part: parts are uploaded in order, one at a time."""
        uploading, self._uploading = self._uploading, None
        if uploading is not None:
            await uploading

    def _take_spool(self) -> tuple[Spool, int, int]:
        """Starts a new spool; returns the filled one with the position and checksum at its end."""
        spool, self._spool = self._spool, Spool(self._gateway.spool_dir)
        self._merged, self._partial_parts = self._partial_parts, ()
        return spool, self.received, self.crc32c

    async def _content(self, partial_parts: tuple[PartialPart, ...], spool: Spool) -> AsyncIterator[bytes]:
        async for chunk in read_partial_parts(self._gateway.storage, partial_parts):
            yield chunk
        async for chunk in spool.read():
            yield chunk

    async def _upload_part(self, spool: Spool, received: int, crc32c: int) -> None:
        """Uploads a part, then records it; after a crash in between, the same part number is uploaded again."""
        session, number = self._session, self._part_count + 1
        assert session.multipart_id is not None
        with closing(spool):
            etag = await self._gateway.multipart.stream_part(
                session.storage_path,
                session.multipart_id,
                number=number,
                content=self._content(self._merged, spool),
                size_bytes=_size(self._merged) + spool.size_bytes,
            )
        async with self._gateway.database.transaction(session.library_id) as connection:
            await self._advance(connection, received=received, crc32c=crc32c, part_count=number, partial_parts=())
            await connection.execute(_PUT_PART, session.library_id, session.id, number, etag)
        self._part_count, self._stored = number, received
        merged, self._merged = self._merged, ()
        for each in merged:
            await self._gateway.storage.delete(each.path)

    async def _upload_last_part(self) -> None:
        session = self._session
        if self._spool.size_bytes or self._partial_parts:
            await self._upload_part(*self._take_spool())
        elif session.total_bytes is None:  # ended on a part boundary, and the size is known only now
            async with self._gateway.database.transaction(session.library_id) as connection:
                await self._advance(
                    connection,
                    received=self.received,
                    crc32c=self.crc32c,
                    part_count=self._part_count,
                    partial_parts=(),
                )

    async def _store_partial_part(self) -> None:
        """Stores buffered bytes durably before the response acknowledges them."""
        if not self._spool.size_bytes:
            return
        session, kept = self._session, self._partial_parts
        merged: tuple[PartialPart, ...] = ()
        if len(kept) >= MAX_PARTIAL_PARTS:
            kept, merged = (), kept
        stored = await put_partial_part(
            self._gateway.multipart,
            session.library_id,
            session.id,
            content=self._content(merged, self._spool),
            size_bytes=_size(merged) + self._spool.size_bytes,
        )
        self._partial_parts = (*kept, stored)
        async with self._gateway.database.transaction(session.library_id) as connection:
            await self._advance(
                connection,
                received=self.received,
                crc32c=self.crc32c,
                part_count=self._part_count,
                partial_parts=self._partial_parts,
            )
        self._stored = self.received

    async def _advance(
        self,
        connection: Connection,
        *,
        received: int,
        crc32c: int,
        part_count: int,
        partial_parts: tuple[PartialPart, ...],
    ) -> None:
        session = self._session
        if not self._stored:  # the first bytes; until then the import waits for a shorter time
            await set_upload_deadline(connection, session.library_id, session.video_id, expires_at=session.expires_at)
        rows: list[dict[str, Any]] = [{"path": each.path, "size_bytes": each.size_bytes} for each in partial_parts]
        advanced = await connection.fetchval(
            _ADVANCE,
            session.library_id,
            session.id,
            self._stored,
            received,
            part_count,
            crc32c,
            rows,
            self._part_bytes,
            self.total,
        )
        if advanced is None:
            raise _superseded()
        if session.total_bytes is None:  # otherwise checked when the session was opened
            gateway = self._gateway
            await require_storage(connection, session.library_id, plans=gateway.plans, now=gateway.clock())


def _size(partial_parts: Sequence[PartialPart]) -> int:
    return sum(each.size_bytes for each in partial_parts)


def _superseded() -> UploadError:
    return try_again("Another request has advanced this upload. Query its status.")
