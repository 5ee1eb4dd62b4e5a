"""The end of an upload that is not a part yet, kept in the object store until it is.

It is kept in pieces, one for each answer that promised bytes: a client that sends small chunks then costs twice its
bytes in writes, where one growing object, or a row in the database, would cost many times as much.
"""

import asyncio
import base64
import hashlib
from collections.abc import Sequence

import obstore

from cutroom.platform.ids import new_id
from cutroom.platform.storage.objects import Storage
from cutroom.products.uploads.rules import ContentRange

MAX_PIECES = 64  # more of them are written anew as one


async def put_piece(storage: Storage, library_id: str, session_id: str, *, data: bytes) -> ContentRange:
    path = f"{_folder(library_id, session_id)}{new_id()}"
    await storage.put(path, data)
    return ContentRange(path, size_bytes=len(data))


async def read_pieces(storage: Storage, pieces: Sequence[ContentRange]) -> list[bytes]:
    """Their bytes, in order; FileNotFoundError when another request has made a part of them."""
    return list(await asyncio.gather(*(_read(storage, piece) for piece in pieces)))


async def _read(storage: Storage, piece: ContentRange) -> bytes:
    data = b"".join([chunk async for chunk in storage.read(piece.path)])
    if len(data) != piece.size_bytes:
        raise OSError(f"{piece.path} has {len(data)} bytes, not {piece.size_bytes}")
    return data


async def delete_pieces(storage: Storage, library_id: str, session_id: str) -> None:
    """Everything that a session kept, also what a process that died did not get to tell."""
    folder = _folder(library_id, session_id)
    async for found in obstore.list(storage.store, folder):
        for each in found:
            await storage.delete(each["path"])


async def md5_of(storage: Storage, path: str) -> str:
    """Read back what was stored: an MD5 cannot be carried from one process to the next, as a CRC can."""
    digest = hashlib.md5(usedforsecurity=False)
    async for chunk in storage.read(path):
        await asyncio.to_thread(digest.update, chunk)
    return base64.b64encode(digest.digest()).decode()


def _folder(library_id: str, session_id: str) -> str:
    return f"libraries/{library_id}/uploads/{session_id}/"
