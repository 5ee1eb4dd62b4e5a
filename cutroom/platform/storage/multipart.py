"""Single calls of S3 multipart uploads, which obstore does not offer, signed with AWS Signature Version 4."""

import asyncio
import hashlib
import hmac
import html
import logging
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote, urlsplit

import httpx

from cutroom.platform.clock import system_clock
from cutroom.platform.settings import Settings

CONNECT_SECONDS = 10.0
TRANSFER_SECONDS = 120.0  # for one part, and for the store to put ten thousand of them together
MAX_CONNECTIONS = 100
UPLOADS_AT_ONCE = 64  # in one process, each with two parts in memory
# The parts' bytes are not hashed a second time: TLS guards them on the way, and our own checksum at the end.
_UNSIGNED = "UNSIGNED-PAYLOAD"
_OWNER = "x-amz-meta-upload"
_GONE = frozenset({"NoSuchUpload"})
_UNFIT = frozenset({"InvalidPart", "InvalidPartOrder", "EntityTooSmall", "NoSuchKey"})


class StoreError(Exception):
    """The store said no, or nothing that can be understood."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(f"the store answered {status} {code}")
        self.status = status
        self.code = code


class UploadGoneError(StoreError):
    """The multipart upload was finished or aborted before."""


class PartsUnfitError(StoreError):
    """The store does not hold the parts that it was told to put together."""


@dataclass(frozen=True, slots=True)
class Found:
    """An object that is there: how large, and which upload made it."""

    size_bytes: int
    owner: str | None


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
        """The given headers, all signed, with those that the signature itself needs."""
        parts, moment = urlsplit(url), now.strftime("%Y%m%dT%H%M%SZ")
        headers = {"x-amz-content-sha256": _UNSIGNED, **signed, "host": parts.netloc, "x-amz-date": moment}
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
        area = f"{moment[:8]}/{self.region}/s3/aws4_request"
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        signature = hmac.digest(self._key(area), f"AWS4-HMAC-SHA256\n{moment}\n{area}\n{digest}".encode(), "sha256")
        headers["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={self.access_key}/{area}, "
            f"SignedHeaders={';'.join(names)}, Signature={signature.hex()}"
        )
        return headers

    def presign(self, url: str, *, query: Mapping[str, str], seconds: int, now: datetime) -> str:
        """A URL that reads one object for so long, with these parameters of S3's own."""
        parts, moment = urlsplit(url), now.strftime("%Y%m%dT%H%M%SZ")
        area = f"{moment[:8]}/{self.region}/s3/aws4_request"
        given = {
            **query,
            "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
            "X-Amz-Credential": f"{self.access_key}/{area}",
            "X-Amz-Date": moment,
            "X-Amz-Expires": str(seconds),
            "X-Amz-SignedHeaders": "host",
        }
        encoded = "&".join(sorted(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in given.items()))
        canonical = f"GET\n{parts.path}\n{encoded}\nhost:{parts.netloc}\n\nhost\n{_UNSIGNED}"
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        signature = hmac.digest(self._key(area), f"AWS4-HMAC-SHA256\n{moment}\n{area}\n{digest}".encode(), "sha256")
        return f"{url}?{encoded}&X-Amz-Signature={signature.hex()}"

    def _key(self, area: str) -> bytes:
        key = f"AWS4{self.secret_key}".encode()
        for piece in area.split("/"):
            key = hmac.digest(key, piece.encode(), "sha256")
        return key


def bucket_url(settings: Settings) -> str:
    endpoint = settings.s3_endpoint or f"https://s3.{settings.s3_region}.amazonaws.com"
    return f"{endpoint.rstrip('/')}/{settings.s3_bucket}"


def object_url(bucket: str, path: str) -> str:
    return f"{bucket}/{quote(path, safe='/-_.~')}"


class Multipart:
    """Multipart uploads into one bucket; every call is one HTTP request and none is tried twice."""

    def __init__(self, client: httpx.AsyncClient, *, bucket_url: str, signer: Signer) -> None:
        self._client = client
        self._bucket_url = bucket_url
        self._signer = signer
        self.room = asyncio.Semaphore(UPLOADS_AT_ONCE)

    @classmethod
    def connect(cls, settings: Settings) -> "Multipart":
        logging.getLogger("httpx").setLevel(logging.WARNING)  # it would write a line for every part
        client = httpx.AsyncClient(
            timeout=httpx.Timeout(TRANSFER_SECONDS, connect=CONNECT_SECONDS),
            limits=httpx.Limits(max_connections=MAX_CONNECTIONS),
            trust_env=False,
        )
        return cls(client, bucket_url=bucket_url(settings), signer=Signer.of(settings))

    async def close(self) -> None:
        await self._client.aclose()

    async def create(self, path: str, *, content_type: str, owner: str) -> str:
        """Begin an upload; the finished object names its owner, so that a lost answer can be found again."""
        headers = {"content-type": content_type, _OWNER: owner}
        response = await self._call("POST", path, query="uploads=", headers=headers)
        match = re.search(r"<UploadId>([^<]+)</UploadId>", response.text)
        if match is None:
            raise StoreError(response.status_code, "no upload id")
        return html.unescape(match[1])

    async def put_part(self, path: str, upload_id: str, *, number: int, pieces: list[bytes]) -> str:
        """Store one part, or store it again; the tag by which to name what was stored. Takes the pieces away."""
        query = f"partNumber={number}&uploadId={quote(upload_id, safe='')}"
        return (await self._call("PUT", path, query=query, pieces=pieces)).headers["etag"]

    async def complete(self, path: str, upload_id: str, *, etags: Sequence[str]) -> None:
        """Put the parts together, in order; the object appears whole or not at all."""
        parts = "".join(
            f"<Part><PartNumber>{number}</PartNumber><ETag>{html.escape(etag)}</ETag></Part>"
            for number, etag in enumerate(etags, 1)
        )
        body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
        query = f"uploadId={quote(upload_id, safe='')}"
        response = await self._call("POST", path, query=query, pieces=[body])
        if "<Error>" in response.text:  # the status was sent before the work was done
            raise _error(response)

    async def abort(self, path: str, upload_id: str) -> None:
        """Forget an upload and its parts; one that is gone already is as good."""
        try:
            await self._call("DELETE", path, query=f"uploadId={quote(upload_id, safe='')}")
        except StoreError as error:
            if error.status != 404:
                raise

    async def find(self, path: str) -> Found | None:
        try:
            response = await self._call("HEAD", path)
        except StoreError as error:
            if error.status == 404:
                return None
            raise
        return Found(int(response.headers["content-length"]), owner=response.headers.get(_OWNER))

    async def _call(
        self,
        method: str,
        path: str,
        *,
        query: str = "",
        headers: Mapping[str, str] | None = None,
        pieces: list[bytes] | None = None,
    ) -> httpx.Response:
        url = object_url(self._bucket_url, path) + (f"?{query}" if query else "")
        # The store's clock is the world's, whatever ours is told to be.
        signed = self._signer.headers(method, url, signed=headers or {}, now=system_clock())
        signed["content-length"] = str(sum(map(len, pieces or ())))
        response = await self._client.request(method, url, headers=signed, content=_feed(pieces or []))
        if not response.is_success:
            raise _error(response)
        return response


async def _feed(pieces: list[bytes]) -> AsyncIterator[bytes]:
    """Hands over each piece and forgets it: httpx's own objects form cycles, and would keep it for long."""
    pieces.reverse()
    while pieces:
        yield pieces.pop()


def _error(response: httpx.Response) -> StoreError:
    match = re.search(r"<Code>([^<]+)</Code>", response.text)
    code = match[1] if match else "unknown"
    kind = UploadGoneError if code in _GONE else PartsUnfitError if code in _UNFIT else StoreError
    return kind(response.status_code, code)
