"""Stores received bytes that do not fill an S3 part yet as separate objects.

There is one object per acknowledged request. A client that sends small chunks then causes twice its bytes in writes;
rewriting one growing object, or a database row, would cost many times as much.
"""

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterable, AsyncIterator, Sequence

import obstore

from cutroom.platform.ids import new_id
from cutroom.platform.storage.multipart import Multipart
from cutroom.platform.storage.objects import Storage
from cutroom.products.uploads.rules import PartialPart

MAX_PARTIAL_PARTS = 64  # further ones are merged into one object


async def put_partial_part(
    multipart: Multipart, library_id: str, session_id: str, *, content: AsyncIterable[bytes], size_bytes: int
) -> PartialPart:
    path = f"{_folder(library_id, session_id)}{new_id()}"
    await multipart.stream(path, content=content, size_bytes=size_bytes)
    return PartialPart(path, size_bytes=size_bytes)


async def read_partial_parts(storage: Storage, partial_parts: Sequence[PartialPart]) -> AsyncIterator[bytes]:
    """Streams them in order; raises FileNotFoundError if a concurrent request has merged them into a part."""
    for each in partial_parts:
        size_bytes = 0
        async for chunk in storage.read(each.path):
            size_bytes += len(chunk)
            yield chunk
        if size_bytes != each.size_bytes:
            raise OSError(f"{each.path} has {size_bytes} bytes, not {each.size_bytes}")


async def delete_partial_parts(storage: Storage, library_id: str, session_id: str) -> None:
    """Deletes all partial parts of a session, including unrecorded ones of crashed processes."""
    folder = _folder(library_id, session_id)
    async for batch in obstore.list(storage.store, folder):
        for each in batch:
            await storage.delete(each["path"])


async def md5_of(storage: Storage, path: str) -> str:
    """Hashes a stored object; unlike a CRC, MD5 state cannot be carried over between processes."""
    digest = hashlib.md5(usedforsecurity=False)
    async for chunk in storage.read(path):
        await asyncio.to_thread(digest.update, chunk)
    return base64.b64encode(digest.digest()).decode()


def _folder(library_id: str, session_id: str) -> str:
    return f"libraries/{library_id}/uploads/{session_id}/"
