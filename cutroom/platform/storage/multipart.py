"""Single S3 calls that obstore does not expose, such as those of multipart uploads, signed with Signature Version 4."""

import hashlib
import hmac
import html
import logging
import re
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, urlsplit

import httpx

from cutroom.platform.clock import system_clock
from cutroom.platform.settings import Settings

CONNECT_SECONDS = 10.0
TRANSFER_SECONDS = 120.0  # for one part, and for completing an upload of ten thousand parts
MAX_CONNECTIONS = 100
MAX_LISTED = 1_000
# Payloads are not hashed again: TLS protects them in transit, and our own checksum covers the whole file.
_UNSIGNED = "UNSIGNED-PAYLOAD"
_OWNER = "x-amz-meta-upload"
_NOT_FOUND_CODES = frozenset({"NoSuchUpload"})
_INVALID_PART_CODES = frozenset({"InvalidPart", "InvalidPartOrder", "EntityTooSmall", "NoSuchKey"})


class StoreError(Exception):
    """The object store returned an error or an unexpected response."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(f"object store returned {status} {code}")
        self.status = status
        self.code = code


class MultipartUploadNotFoundError(StoreError):
    """The multipart upload was already completed or aborted."""


class InvalidPartsError(StoreError):
    """The parts of a completion request do not match those stored."""


@dataclass(frozen=True, slots=True)
class StoredObject:
    """Size of an object, and the upload session that created it."""

    size_bytes: int
    owner: str | None


@dataclass(frozen=True, slots=True)
class UnfinishedUpload:
    """A multipart upload that has been neither completed nor aborted."""

    path: str
    upload_id: str
    started_at: datetime


@dataclass(frozen=True, slots=True)
class Signer:
    """AWS Signature Version 4 for one account and region."""

    access_key: str
    secret_key: str
    region: str

    @classmethod
    def of(cls, settings: Settings) -> "Signer":
        return cls(
            access_key=settings.s3_access_key.get_secret_value(),
            secret_key=settings.s3_secret_key.get_secret_value(),
            region=settings.s3_region,
        )

    def headers(self, method: str, url: str, *, signed: Mapping[str, str], now: datetime) -> dict[str, str]:
        """Returns the given headers, all signed, plus the signature headers."""
        parts, timestamp = urlsplit(url), now.strftime("%Y%m%dT%H%M%SZ")
        headers = {"x-amz-content-sha256": _UNSIGNED, **signed, "host": parts.netloc, "x-amz-date": timestamp}
        names = sorted(headers)
        canonical = "\n".join(
            (
                method,
                parts.path,
                "&".join(sorted(parts.query.split("&"))),
                *(f"{name}:{headers[name].strip()}" for name in names),
                "",
                ";".join(names),
                headers["x-amz-content-sha256"],
            )
        )
        scope = f"{timestamp[:8]}/{self.region}/s3/aws4_request"
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        signature = hmac.digest(
            self._key(scope), f"AWS4-HMAC-SHA256\n{timestamp}\n{scope}\n{digest}".encode(), "sha256"
        )
        headers["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={self.access_key}/{scope}, "
            f"SignedHeaders={';'.join(names)}, Signature={signature.hex()}"
        )
        return headers

    def _key(self, scope: str) -> bytes:
        key = f"AWS4{self.secret_key}".encode()
        for component in scope.split("/"):
            key = hmac.digest(key, component.encode(), "sha256")
        return key


def bucket_url(settings: Settings) -> str:
    endpoint = settings.s3_endpoint or f"https://s3.{settings.s3_region}.amazonaws.com"
    return f"{endpoint.rstrip('/')}/{settings.s3_bucket}"


def object_url(bucket: str, path: str) -> str:
    return f"{bucket}/{quote(path, safe='/-_.~')}"


class Multipart:
    """Multipart uploads into one bucket; each call is one HTTP request without retries."""

    def __init__(self, client: httpx.AsyncClient, *, bucket_url: str, signer: Signer) -> None:
        self._client = client
        self._bucket_url = bucket_url
        self._signer = signer

    @classmethod
    def connect(cls, settings: Settings) -> "Multipart":
        logging.getLogger("httpx").setLevel(logging.WARNING)  # it logs a line per request
        client = httpx.AsyncClient(
            timeout=httpx.Timeout(TRANSFER_SECONDS, connect=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=MAX_CONNECTIONS),
            trust_env=False,
        )
        return cls(client, bucket_url=bucket_url(settings), signer=Signer.of(settings))

    async def close(self) -> None:
        await self._client.aclose()

    async def put(self, path: str, content: bytes, *, content_type: str, owner: str) -> None:
        """Stores a small object in one request."""
        headers = {"content-type": content_type, _OWNER: owner}
        await self._call("PUT", path, headers=headers, buffers=[content])

    async def stream(self, path: str, *, content: AsyncIterable[bytes], size_bytes: int) -> None:
        """Stores an object of known size in one request, without holding it in memory."""
        await self._send("PUT", path, content=content, size_bytes=size_bytes)

    async def delete(self, path: str) -> None:
        await self._call("DELETE", path)

    async def create(self, path: str, *, content_type: str, owner: str) -> str:
        """Creates an upload; `owner` in the object's metadata identifies it if the completion response is lost."""
        headers = {"content-type": content_type, _OWNER: owner}
        response = await self._call("POST", path, query="uploads=", headers=headers)
        match = re.search(r"<UploadId>([^<]+)</UploadId>", response.text)
        if match is None:
            raise StoreError(response.status_code, "no upload id")
        return html.unescape(match[1])

    async def put_part(self, path: str, upload_id: str, *, number: int, buffers: list[bytes]) -> str:
        """Uploads or replaces one part and returns its ETag; empties `buffers`."""
        query = f"partNumber={number}&uploadId={quote(upload_id, safe='')}"
        return (await self._call("PUT", path, query=query, buffers=buffers)).headers["etag"]

    async def stream_part(
        self, path: str, upload_id: str, *, number: int, content: AsyncIterable[bytes], size_bytes: int
    ) -> str:
        """Uploads or replaces one part from a stream of known size, and returns its ETag."""
        query = f"partNumber={number}&uploadId={quote(upload_id, safe='')}"
        response = await self._send("PUT", path, query=query, content=content, size_bytes=size_bytes)
        return response.headers["etag"]

    async def complete(self, path: str, upload_id: str, *, etags: Sequence[str]) -> None:
        """Completes the upload from its parts; the object appears atomically."""
        parts = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{html.escape(etag)}</ETag></Part>"
            for number, etag in enumerate(etags, 1)
        )
        body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
        query = f"uploadId={quote(upload_id, safe='')}"
        response = await self._call("POST", path, query=query, buffers=[body])
        if "<Error>" in response.text:  # S3 may send status 200 before an error occurs
            raise _error(response)

    async def abort(self, path: str, upload_id: str) -> None:
        """Aborts an upload and deletes its parts; succeeds if it is already gone."""
        try:
            await self._call("DELETE", path, query=f"uploadId={quote(upload_id, safe='')}")
        except StoreError as error:
            if error.status != 404:
                raise

    async def list_uploads(self, prefix: str) -> list[UnfinishedUpload]:
        """The oldest unfinished uploads under a prefix by path, at most a thousand."""
        query = f"max-uploads={MAX_LISTED}&prefix={quote(prefix, safe='')}&uploads="
        response = await self._call("GET", "", query=query)
        found = []
        for upload in re.findall(r"<Upload>(.*?)</Upload>", response.text, re.DOTALL):
            fields = {name: html.unescape(value) for name, value in re.findall(r"<(\w+)>([^<]*)</\1>", upload)}
            started_at = datetime.fromisoformat(fields["Initiated"])
            found.append(UnfinishedUpload(fields["Key"], fields["UploadId"], started_at))
        return found

    async def find(self, path: str) -> StoredObject | None:
        try:
            response = await self._call("HEAD", path)
        except StoreError as error:
            if error.status == 404:
                return None
            raise
        return StoredObject(int(response.headers["content-length"]), owner=response.headers.get(_OWNER))

    async def _call(
        self,
        method: str,
        path: str,
        *,
        query: str = "",
        headers: Mapping[str, str] | None = None,
        buffers: list[bytes] | None = None,
    ) -> httpx.Response:
        size_bytes = sum(map(len, buffers or ()))
        content = _stream(buffers or [])
        return await self._send(method, path, query=query, headers=headers, content=content, size_bytes=size_bytes)

    async def _send(
        self,
        method: str,
        path: str,
        *,
        content: AsyncIterable[bytes],
        size_bytes: int,
        query: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        url = object_url(self._bucket_url, path) + (f"?{query}" if query else "")
        # S3 checks the signature against real time, so the injected clock does not apply.
        signed = self._signer.headers(method, url, signed=headers or {}, now=system_clock())
        signed["content-length"] = str(size_bytes)
        response = await self._client.request(method, url, headers=signed, content=content)
        if not response.is_success:
            raise _error(response)
        return response


async def _stream(buffers: list[bytes]) -> AsyncIterator[bytes]:
    """Yields and drops each buffer: httpx objects form reference cycles that would keep them alive."""
    buffers.reverse()
    while buffers:
        yield buffers.pop()


def _error(response: httpx.Response) -> StoreError:
    match = re.search(r"<Code>([^<]+)</Code>", response.text)
    code = match[1] if match else "unknown"
    kind = (
        MultipartUploadNotFoundError
        if code in _NOT_FOUND_CODES
        else InvalidPartsError
        if code in _INVALID_PART_CODES
        else StoreError
    )
    return kind(response.status_code, code)
