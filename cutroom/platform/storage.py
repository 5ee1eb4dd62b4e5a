"""The object store, through the S3 API."""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import obstore
from obstore.store import S3Store

from cutroom.platform.settings import Settings

READ_URL_LIFETIME = timedelta(hours=1)
PART_BYTES = 8 * 1024 * 1024
PARTS_AT_ONCE = 2  # bounds the memory of one upload
READ_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Storage:
    """One bucket."""

    store: S3Store

    @classmethod
    def connect(cls, settings: Settings) -> "Storage":
        store = S3Store(
            settings.s3_bucket,
            endpoint=settings.s3_endpoint,
            region=settings.s3_region,
            access_key_id=settings.s3_access_key.get_secret_value(),
            secret_access_key=settings.s3_secret_key.get_secret_value(),
            client_options={"allow_http": bool((settings.s3_endpoint or "").startswith("http://"))},
        )
        return cls(store)

    async def size(self, path: str) -> int | None:
        """How many bytes an object has; nothing when there is no such object."""
        try:
            return (await obstore.head_async(self.store, path))["size"]
        except FileNotFoundError:
            return None

    async def put(self, path: str, content: Path | bytes | AsyncIterable[bytes]) -> None:
        """Store an object whole; one that was there is replaced."""
        await obstore.put_async(self.store, path, content, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE)

    async def read(self, path: str) -> AsyncIterator[bytes]:
        """The object's bytes, a few megabytes at a time."""
        found = await obstore.get_async(self.store, path)
        async for chunk in found.stream(min_chunk_size=READ_BYTES):
            yield bytes(chunk)

    async def delete(self, path: str) -> None:
        with suppress(FileNotFoundError):
            await obstore.delete_async(self.store, path)

    async def delete_under(self, prefix: str) -> None:
        """Remove every object whose path starts so."""
        async for batch in obstore.list(self.store, prefix):
            for found in batch:
                await self.delete(found["path"])

    async def names(self, prefix: str) -> list[str]:
        """Every object whose path starts so."""
        return [found["path"] async for batch in obstore.list(self.store, prefix) for found in batch]

    async def read_url(self, path: str) -> str:
        """A temporary URL to download one object."""
        return await obstore.sign_async(self.store, "GET", path, READ_URL_LIFETIME)

    async def read_urls(self, paths: list[str]) -> list[str]:
        return list(await obstore.sign_async(self.store, "GET", paths, READ_URL_LIFETIME))
