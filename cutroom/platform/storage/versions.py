"""Lists and deletes object versions and unfinished multipart uploads under a prefix, which obstore does not expose."""

import html
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote

import httpx

from cutroom.platform.clock import system_clock
from cutroom.platform.settings import Settings
from cutroom.platform.storage.multipart import Signer, StoreError, bucket_url, object_url

TIMEOUT_SECONDS = 30.0
PAGE = 1000
_VERSION = re.compile(r"<(Version|DeleteMarker)>(.*?)</\1>", re.DOTALL)
_UPLOAD = re.compile(r"<Upload>(.*?)</Upload>", re.DOTALL)
_TRUNCATED = "<IsTruncated>true</IsTruncated>"
_GONE = 404
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """One stored version of an object, or a delete marker; the version is empty in a bucket without versioning."""

    path: str
    version_id: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class UnfinishedUpload:
    """A multipart upload that was neither completed nor aborted."""

    path: str
    upload_id: str


@dataclass(frozen=True, slots=True)
class PrefixContents:
    """How much is stored under a prefix."""

    versions: int = 0
    size_bytes: int = 0
    uploads: int = 0

    @property
    def is_empty(self) -> bool:
        return not self.versions and not self.uploads


class ObjectVersions:
    """All versions of the objects of one bucket."""

    def __init__(self, client: httpx.AsyncClient, *, bucket_url: str, signer: Signer) -> None:
        self._client = client
        self._bucket_url = bucket_url
        self._signer = signer

    @classmethod
    def connect(cls, settings: Settings) -> "ObjectVersions":
        client = httpx.AsyncClient(timeout=TIMEOUT_SECONDS, trust_env=False)
        return cls(client, bucket_url=bucket_url(settings), signer=Signer.of(settings))

    async def close(self) -> None:
        await self._client.aclose()

    async def measure(self, prefix: str) -> PrefixContents:
        sizes = [each.size_bytes async for page in self._versions(prefix) for each in page]
        uploads = [each async for page in self._uploads(prefix) for each in page]
        return PrefixContents(len(sizes), sum(sizes), len(uploads))

    async def delete_under(self, prefix: str, on_batch: Callable[[], None] = lambda: None) -> None:
        """Delete every version, delete marker and unfinished upload under a prefix."""
        await self._delete_pages(lambda: self._versions(prefix), self._delete_version, on_batch)
        await self._delete_pages(lambda: self._uploads(prefix), self._abort, on_batch)

    @staticmethod
    async def _delete_pages(
        pages: Callable[[], AsyncIterator[list[Item]]],
        delete: Callable[[Item], Awaitable[None]],
        on_batch: Callable[[], None],
    ) -> None:
        """Always delete the first page and list again, because markers of deleted entries are not reliable."""
        nothing: list[Item] = []
        while page := await anext(pages(), nothing):
            for each in page:
                await delete(each)
            on_batch()

    async def _versions(self, prefix: str) -> AsyncIterator[list[ObjectVersion]]:
        marker = ""
        while True:
            query = f"versions=&max-keys={PAGE}&prefix={quote(prefix, safe='')}{marker}"
            text = (await self._call("GET", "", query)).text
            page = [
                ObjectVersion(_field(found, "Key"), _field(found, "VersionId"), int(_field(found, "Size") or 0))
                for _, found in _VERSION.findall(text)
            ]
            yield page
            if _TRUNCATED not in text:
                return
            names = {"key-marker": "NextKeyMarker", "version-id-marker": "NextVersionIdMarker"}
            marker = "".join(
                f"&{name}={quote(value, safe='')}" for name, tag in names.items() if (value := _field(text, tag))
            )

    async def _uploads(self, prefix: str) -> AsyncIterator[list[UnfinishedUpload]]:
        marker = ""
        while True:
            query = f"uploads=&max-uploads={PAGE}&prefix={quote(prefix, safe='')}{marker}"
            text = (await self._call("GET", "", query)).text
            yield [
                UnfinishedUpload(path, _field(found, "UploadId"))
                for found in _UPLOAD.findall(text)
                if (path := _field(found, "Key")).startswith(prefix)
            ]
            if _TRUNCATED not in text:
                return
            names = {"key-marker": "NextKeyMarker", "upload-id-marker": "NextUploadIdMarker"}
            marker = "".join(
                f"&{name}={quote(value, safe='')}" for name, tag in names.items() if (value := _field(text, tag))
            )

    async def _delete_version(self, found: ObjectVersion) -> None:
        query = f"versionId={quote(found.version_id, safe='')}" if found.version_id else ""
        await self._delete(found.path, query)

    async def _abort(self, found: UnfinishedUpload) -> None:
        await self._delete(found.path, f"uploadId={quote(found.upload_id, safe='')}")

    async def _delete(self, path: str, query: str) -> None:
        try:
            await self._call("DELETE", path, query)
        except StoreError as error:
            if error.status != _GONE:
                raise

    async def _call(self, method: str, path: str, query: str) -> httpx.Response:
        url = object_url(self._bucket_url, path) + (f"?{query}" if query else "")
        # S3 checks the signature against real time, so the injected clock does not apply.
        headers = self._signer.headers(method, url, signed={}, now=system_clock())
        response = await self._client.request(method, url, headers=headers)
        if not response.is_success:
            raise StoreError(response.status_code, _field(response.text, "Code") or "unknown")
        return response


def _field(text: str, name: str) -> str:
    match = re.search(rf"<{name}>([^<]*)</{name}>", text)
    return html.unescape(match[1]) if match else ""
