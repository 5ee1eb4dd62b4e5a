"""The object store, through the S3 API."""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import obstore
from obstore.store import S3Store

from cutroom.platform.clock import system_clock
from cutroom.platform.settings import Settings
from cutroom.platform.storage.multipart import Signer, bucket_url, object_url

READ_URL_LIFETIME = timedelta(hours=1)
PART_BYTES = 8 * 1024 * 1024
MAX_PARTS = 9_000  # S3 takes ten thousand
PARTS_AT_ONCE = 2  # bounds the memory of one upload
READ_BYTES = 1024 * 1024
REQUEST_TIMEOUT = timedelta(seconds=30)  # at most, to its last byte
RANGE_BYTES = 32 * 1024 * 1024  # of one answer of the store


@dataclass(frozen=True, slots=True)
class Storage:
    """One bucket."""

    store: S3Store
    signer: Signer
    bucket_url: str

    @classmethod
    def connect(cls, settings: Settings) -> "Storage":
        store = S3Store(
            settings.s3_bucket,
            endpoint=settings.s3_endpoint,
            region=settings.s3_region,
            access_key_id=settings.s3_access_key.get_secret_value(),
            secret_access_key=settings.s3_secret_key.get_secret_value(),
            client_options={
                "allow_http": bool((settings.s3_endpoint or "").startswith("http://")),
                "timeout": REQUEST_TIMEOUT,
            },
        )
        return cls(store, signer=Signer.of(settings), bucket_url=bucket_url(settings))

    async def size(self, path: str) -> int | None:
        """How many bytes an object has; nothing when there is no such object."""
        try:
            return (await obstore.head_async(self.store, path))["size"]
        except FileNotFoundError:
            return None

    async def put(
        self, path: str, content: Path | bytes | AsyncIterable[bytes], *, expected_bytes: int | None = None
    ) -> None:
        """Store an object whole; one that was there is replaced. A stream says how long it will be, about."""
        part = max(PART_BYTES, -(-(expected_bytes or 0) // MAX_PARTS))
        await obstore.put_async(self.store, path, content, chunk_size=part, max_concurrency=PARTS_AT_ONCE)

    async def read(self, path: str, *, span: tuple[int, int] | None = None) -> AsyncIterator[bytes]:
        """The object's bytes, or those of a span, about a megabyte at a time, however slowly they are taken.

        The client ends an answer that lasts too long, so long objects are asked for in sittings.
        One that is replaced meanwhile is an error: nobody gets half of each.
        """
        found = await obstore.get_async(self.store, path, options={"range": span} if span is not None else None)
        version = found.meta["e_tag"]
        place, end = found.range
        while True:
            sitting = 0
            async for chunk in found.stream(min_chunk_size=READ_BYTES):
                yield bytes(chunk)
                sitting += len(chunk)
                if sitting >= RANGE_BYTES:
                    break
            place += sitting
            if place >= end:
                return
            rest = (place, min(place + RANGE_BYTES, end))
            found = await obstore.get_async(self.store, path, options={"range": rest, "if_match": version})

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

    def download_url(self, path: str, file_name: str) -> str:
        """A temporary URL that a browser saves under this name, which is ASCII and holds no quote."""
        query = {"response-content-disposition": f'attachment; filename="{file_name}"'}
        seconds = int(READ_URL_LIFETIME.total_seconds())
        # The store's clock is the world's, whatever ours is told to be.
        return self.signer.presign(object_url(self.bucket_url, path), query=query, seconds=seconds, now=system_clock())

    async def read_urls(self, paths: list[str]) -> list[str]:
        return list(await obstore.sign_async(self.store, "GET", paths, READ_URL_LIFETIME))
