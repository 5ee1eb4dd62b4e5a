"""Takes the bytes of one PUT: whole parts go to the store while the next is coming in, the rest becomes the tail.

Memory is bounded by two parts: the one on its way to the store and the one that is filling. While both are full
nothing is read, and the sender feels it.
"""

import asyncio
import time
from contextlib import suppress
from typing import Any

import google_crc32c
from starlette.types import Message, Receive

from cutroom.platform.db import Connection
from cutroom.products.uploads.partial_parts import MAX_PIECES, put_piece, read_pieces
from cutroom.products.uploads.rules import (
    Chunk,
    ContentRange,
    Session,
    UploadError,
    capacity,
    check_progress,
    invalid,
    part_bytes_for,
    too_large,
    try_again,
)
from cutroom.products.uploads.service import Gateway

SILENCE_SECONDS = 60.0  # a sender that is quiet for so long has gone
PART_SECONDS = 1_800.0  # and one that takes so long over a part holds our memory for nothing

# Names the bytes that it believes are stored, and changes nothing when it is wrong.
_ADVANCE = """UPDATE upload_sessions SET received_bytes = $4, parts = $5, crc32c = $6, tail = $7, part_bytes = $8,
        total_bytes = coalesce(total_bytes, $9)
    WHERE library_id = $1 AND id = $2 AND state = 'open' AND received_bytes = $3 RETURNING received_bytes"""
_PUT_PART = """INSERT INTO upload_parts (library_id, session_id, number, etag) VALUES ($1, $2, $3, $4)
    ON CONFLICT (library_id, session_id, number) DO UPDATE SET etag = excluded.etag"""


class Receiver:
    """One PUT at work on one session."""

    def __init__(self, gateway: Gateway, session: Session, chunk: Chunk) -> None:
        check_progress(chunk, received=session.received_bytes, total=session.total_bytes)
        total = session.total_bytes if session.total_bytes is not None else chunk.total
        self._gateway = gateway
        self._session = session
        self._chunk = chunk
        self.total = total
        self.received = session.received_bytes  # with what is held, but not stored yet
        self.crc32c = session.crc32c
        self._part_bytes = session.part_bytes if session.parts else part_bytes_for(total)
        self._capacity = total if total is not None else capacity(self._part_bytes)
        if self._capacity > capacity(self._part_bytes):
            raise too_large(capacity(self._part_bytes))
        self._parts = session.parts
        self._tail = session.tail
        self._spent: tuple[ContentRange, ...] = ()  # pieces of a tail that are part of a part now
        self._stored = session.received_bytes
        self._held: list[bytes] = []
        self._room = self._part_bytes - sum(piece.size_bytes for piece in session.tail)
        self._storing: asyncio.Task[None] | None = None
        self._skip = session.received_bytes - chunk.first  # bytes that came before and are sent again
        self._deadline = time.monotonic() + PART_SECONDS

    @property
    def is_whole(self) -> bool:
        return self.received == self.total

    async def take(self, receive: Receive) -> bool:
        """Take in the body; whether it came to its end. What had come before it broke off is kept all the same."""
        try:
            ended = await self._read(receive)
            if ended and self._chunk.is_whole and self.total is None:
                if self._skip or not self.received:
                    raise invalid("The file ends before what has come of it, or is empty.")
                self.total = self.received  # its end has told its size
            await self._settle()
            if self.is_whole:
                await self._store_last()
            else:
                await self._keep_tail()
        except FileNotFoundError as error:
            raise _overtaken() from error
        finally:
            if self._storing is not None:
                self._storing.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await self._storing
        return ended

    async def _read(self, receive: Receive) -> bool:
        left = self._chunk.length
        while True:
            message = await _next(receive, min(SILENCE_SECONDS, self._deadline - time.monotonic()))
            if message is None or message["type"] == "http.disconnect":
                return False
            body: bytes = message.get("body", b"")
            if left is not None and (left := left - len(body)) < 0:
                raise invalid("The body is longer than was declared.")
            if self._skip:
                skipped = min(self._skip, len(body))
                self._skip, body = self._skip - skipped, body[skipped:]
            if body:
                await self._hold(body)
            if not message.get("more_body", False):
                return True

    async def _hold(self, body: bytes) -> None:
        if self.received + len(body) > self._capacity:
            raise too_large(self._capacity) if self.total is None else invalid("The file is longer than was declared.")
        while len(body) >= self._room:
            head, body = body[: self._room], body[self._room :]
            self._append(head)
            await self._settle()
            self._storing = asyncio.create_task(self._store_part(await self._whole_part(), self.received, self.crc32c))
            self._room = self._part_bytes
            self._deadline = time.monotonic() + PART_SECONDS
        if body:
            self._append(body)

    def _append(self, body: bytes) -> None:
        self._held.append(body)
        self._room -= len(body)
        self.received += len(body)
        self.crc32c = google_crc32c.extend(self.crc32c, body)

    async def _settle(self) -> None:
        """Wait for the part on its way: parts are stored in order, one at a time."""
        storing, self._storing = self._storing, None
        if storing is not None:
            await storing

    async def _whole_part(self) -> list[bytes]:
        pieces = await read_pieces(self._gateway.storage, self._tail) if self._tail else []
        pieces.extend(self._held)
        self._held.clear()
        self._spent, self._tail = self._tail, ()
        return pieces

    async def _store_part(self, pieces: list[bytes], received: int, crc32c: int) -> None:
        """A crash between the two steps does no harm: the same number is then stored again."""
        session, number = self._session, self._parts + 1
        assert session.multipart_id is not None
        etag = await self._gateway.multipart.put_part(
            session.storage_path, session.multipart_id, number=number, pieces=pieces
        )
        async with self._gateway.database.transaction(session.library_id) as connection:
            await self._advance(connection, received=received, crc32c=crc32c, parts=number, tail=())
            await connection.execute(_PUT_PART, session.library_id, session.id, number, etag)
        self._parts, self._stored = number, received
        spent, self._spent = self._spent, ()
        for piece in spent:
            await self._gateway.storage.delete(piece.path)

    async def _store_last(self) -> None:
        session = self._session
        if self._held or self._tail:
            await self._store_part(await self._whole_part(), self.received, self.crc32c)
        elif session.total_bytes is None:  # it ended with a whole part, and only now says that it ends
            async with self._gateway.database.transaction(session.library_id) as connection:
                await self._advance(connection, received=self.received, crc32c=self.crc32c, parts=self._parts, tail=())

    async def _keep_tail(self) -> None:
        """Before an answer promises bytes, they are where the next process finds them."""
        if not self._held:
            return
        session, pieces = self._session, self._tail
        if len(pieces) >= MAX_PIECES:
            self._held[:0] = await read_pieces(self._gateway.storage, pieces)
            pieces = ()
        data = b"".join(self._held)
        self._held.clear()
        piece = await put_piece(self._gateway.storage, session.library_id, session.id, data=data)
        self._tail = (*pieces, piece)
        async with self._gateway.database.transaction(session.library_id) as connection:
            await self._advance(
                connection, received=self.received, crc32c=self.crc32c, parts=self._parts, tail=self._tail
            )
        self._stored = self.received

    async def _advance(
        self, connection: Connection, *, received: int, crc32c: int, parts: int, tail: tuple[ContentRange, ...]
    ) -> None:
        session = self._session
        pieces: list[dict[str, Any]] = [{"path": each.path, "size_bytes": each.size_bytes} for each in tail]
        advanced = await connection.fetchval(
            _ADVANCE,
            session.library_id,
            session.id,
            self._stored,
            received,
            parts,
            crc32c,
            pieces,
            self._part_bytes,
            self.total,
        )
        if advanced is None:
            raise _overtaken()


async def _next(receive: Receive, seconds: float) -> Message | None:
    try:
        async with asyncio.timeout(seconds):
            return await receive()
    except TimeoutError:
        return None


def _overtaken() -> UploadError:
    return try_again("Another request has moved this upload on. Ask how far it has come.")
