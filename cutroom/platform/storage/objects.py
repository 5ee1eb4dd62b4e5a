"""Reads and writes objects in the S3 bucket, and signs their URLs."""

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import PreconditionError
from obstore.store import S3Store

from cutroom.platform.clock import Clock, system_clock
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.platform.storage.links import FileLinks

if TYPE_CHECKING:
    from obstore import GetOptions  # exists in type stubs only

PART_BYTES = 8 * 1024 * 1024
MAX_PARTS = 9_000  # S3 allows ten thousand
MAX_CONCURRENT_PARTS = 2  # bounds memory per upload
LIST_BATCH = 1_000
READ_BYTES = 1024 * 1024
REQUEST_TIMEOUT = timedelta(seconds=30)  # including the response body
RANGE_BYTES = 32 * 1024 * 1024  # per GET request


class ObjectChangedError(Exception):
    """The object was replaced since its ETag was read."""


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """Size of an object, and the ETag of its current content."""

    size_bytes: int
    etag: str | None


@dataclass(frozen=True, slots=True)
class ListedObject:
    """An object as a listing shows it."""

    path: str
    size_bytes: int
    changed_at: datetime
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class Storage:
    """One bucket."""

    store: S3Store
    links: FileLinks
    clock: Clock

    @classmethod
    def connect(
        cls, settings: Settings, clock: Clock = system_clock, *, secret_box: SecretBox | None = None
    ) -> "Storage":
        """Opens the media bucket; processes that sign URLs pass the secret box whose key ring they follow."""
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
        signer = secret_box or SecretBox(settings.secret_key.get_secret_value(), clock)
        return cls(store, FileLinks(signer, settings.base_url), clock)

    async def size(self, path: str) -> int | None:
        """Size of an object in bytes, or None if it does not exist."""
        found = await self.find(path)
        return found.size_bytes if found is not None else None

    async def find(self, path: str) -> ObjectInfo | None:
        """An object's size and ETag, or None if it does not exist."""
        try:
            meta = await obstore.head_async(self.store, path)
        except FileNotFoundError:
            return None
        return ObjectInfo(meta["size"], meta["e_tag"])

    async def put(
        self, path: str, content: Path | bytes | AsyncIterable[bytes], *, expected_bytes: int | None = None
    ) -> None:
        """Stores or replaces an object; for a stream, `expected_bytes` sets the part size."""
        part = max(PART_BYTES, -(-(expected_bytes or 0) // MAX_PARTS))
        await obstore.put_async(self.store, path, content, chunk_size=part, max_concurrency=MAX_CONCURRENT_PARTS)

    async def read(
        self, path: str, *, span: tuple[int, int] | None = None, etag: str | None = None
    ) -> AsyncIterator[bytes]:
        """Streams an object, or a byte range of it, in chunks of about a megabyte.

        Requests time out regardless of progress, so long objects are read in ranges of RANGE_BYTES.
        Raises ObjectChangedError if the object is replaced while it is read, or does not have the given ETag.
        """
        try:
            async for chunk in self._read(path, span=span, etag=etag):
                yield chunk
        except PreconditionError as error:
            raise ObjectChangedError(path) from error

    async def _read(self, path: str, *, span: tuple[int, int] | None, etag: str | None) -> AsyncIterator[bytes]:
        options: GetOptions = {}
        if span is not None:
            options["range"] = span
        if etag is not None:
            options["if_match"] = etag
        result = await obstore.get_async(self.store, path, options=options)
        current = result.meta["e_tag"]
        offset, end = result.range
        while True:
            count = 0
            async for chunk in result.stream(min_chunk_size=READ_BYTES):
                yield bytes(chunk)
                count += len(chunk)
                if count >= RANGE_BYTES:
                    break
            offset += count
            if offset >= end:
                return
            following = (offset, min(offset + RANGE_BYTES, end))
            result = await obstore.get_async(self.store, path, options={"range": following, "if_match": current})

    async def delete(self, path: str) -> None:
        with suppress(FileNotFoundError):
            await obstore.delete_async(self.store, path)

    async def delete_under(self, prefix: str) -> None:
        """Deletes every object under a prefix."""
        async for batch in obstore.list(self.store, prefix):
            for found in batch:
                await self.delete(found["path"])

    async def list_objects(self, prefix: str, *, after: str | None = None) -> AsyncIterator[ListedObject]:
        """Streams the objects under a prefix in the order of their paths, those after a path if one is given."""
        async for batch in obstore.list(self.store, prefix, offset=after, chunk_size=LIST_BATCH):
            for found in batch:
                yield ListedObject(found["path"], found["size"], found["last_modified"], etag=found["e_tag"])

    async def folders(self, prefix: str) -> list[str]:
        """The next level of prefixes under a prefix, each with a slash at its end."""
        found = await obstore.list_with_delimiter_async(self.store, prefix)
        return [f"{each.rstrip('/')}/" for each in found["common_prefixes"]]

    async def names(self, prefix: str) -> list[str]:
        """Paths of every object under a prefix."""
        return [found["path"] async for batch in obstore.list(self.store, prefix) for found in batch]

    def read_url(self, path: str) -> str:
        """Returns a signed URL of an object."""
        return self.links.url(path, now=self.clock())

    def download_url(self, path: str, file_name: str) -> str:
        """Returns a signed URL that browsers save as `file_name`; media elements play it all the same."""
        return self.links.url(path, now=self.clock(), file_name=file_name)
