"""Mux client: direct uploads, assets, and webhook signatures."""

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from cutroom.platform.settings import Settings

T = TypeVar("T")
UPLOAD_SECONDS = 24 * 60 * 60  # validity of an upload URL
CALL_SECONDS = 20.0
CHUNK_BYTES = 32 * 256 * 1024  # the protocol requires a multiple of 256 KiB
CHUNK_SECONDS = 300.0
MAX_EVENT_AGE_SECONDS = 300  # older events may be replays
PLAYBACK_URL = "https://stream.mux.com/{}.m3u8"
WAITING = "waiting"
FAILED_UPLOAD_STATUSES = frozenset({"errored", "cancelled", "timed_out"})
READY, ERRORED = "ready", "errored"
GONE = "GONE"

Read = Callable[[int, int], AsyncIterator[bytes]]
OnProgress = Callable[[int], None]


class HostingError(Exception):
    """A failed provider call; `retry` marks transient errors."""

    def __init__(self, message: str, *, reason: str, retry: bool) -> None:
        super().__init__(message)
        self.reason = reason
        self.retry = retry


@dataclass(frozen=True, slots=True)
class MuxUpload:
    """A direct upload and its status."""

    id: str
    status: str
    url: str | None
    asset_id: str | None


@dataclass(frozen=True, slots=True)
class MuxAsset:
    """A Mux asset and its processing status."""

    id: str
    status: str
    playback_id: str | None
    error: str | None


def is_configured(settings: Settings) -> bool:
    return settings.mux_token_id is not None


class Mux:
    """Client for one account. The SDK blocks, so calls run in threads; retries are left to the workflow."""

    def __init__(self, settings: Settings) -> None:
        import mux_python  # noqa: PLC0415 - only hosting workers have it

        configuration = mux_python.Configuration(
            host=settings.mux_url.rstrip("/"),
            username=settings.mux_token_id,
            password=settings.mux_token_secret.get_secret_value(),
        )
        configuration.retries = False
        client = mux_python.ApiClient(configuration)
        self._sdk = mux_python
        self._uploads = mux_python.DirectUploadsApi(client)
        self._assets = mux_python.AssetsApi(client)

    async def create_upload(self, passthrough: str) -> MuxUpload:
        """Creates an upload; Mux returns `passthrough` in all related events."""
        settings = self._sdk.CreateAssetRequest(
            playback_policies=[self._sdk.PlaybackPolicy.PUBLIC], passthrough=passthrough, video_quality="basic"
        )
        request = self._sdk.CreateUploadRequest(timeout=UPLOAD_SECONDS, cors_origin="*", new_asset_settings=settings)
        return _upload(await self._call(self._uploads.create_direct_upload, request))

    async def find_upload(self, passthrough: str) -> MuxUpload | None:
        """Finds an upload whose creation response was lost."""
        for data in await self._call(self._uploads.list_direct_uploads, limit=100):
            asset_settings = data.new_asset_settings
            if (
                asset_settings is not None
                and asset_settings.passthrough == passthrough
                and data.status == WAITING
                and data.url
            ):
                return _upload(data)
        return None

    async def get_upload(self, upload_id: str) -> MuxUpload:
        return _upload(await self._call(self._uploads.get_direct_upload, upload_id))

    async def get_asset(self, asset_id: str) -> MuxAsset:
        data = await self._call(self._assets.get_asset, asset_id)
        ids = data.playback_ids or []
        messages = list(getattr(data.errors, "messages", None) or ())
        return MuxAsset(
            data.id,
            data.status,
            playback_id=ids[0].id if ids else None,
            error=" ".join(messages) or getattr(data.errors, "type", None),
        )

    async def delete_asset(self, asset_id: str) -> None:
        """Deletes an asset with its playback ids; does nothing if it is gone."""
        try:
            await self._call(self._assets.delete_asset, asset_id)
        except HostingError as error:
            if error.reason != GONE:
                raise

    async def _call(self, function: Callable[..., Any], *arguments: object, **named: object) -> Any:  # noqa: ANN401
        import urllib3  # noqa: PLC0415 - the SDK's HTTP client

        try:
            response = await asyncio.to_thread(function, *arguments, _request_timeout=CALL_SECONDS, **named)
        except self._sdk.ApiException as error:
            raise _to_error(int(error.status or 0)) from error
        except urllib3.exceptions.HTTPError as error:
            raise HostingError(
                "The hosting provider could not be reached.", reason="UNREACHABLE", retry=True
            ) from error
        return response.data if response is not None else None


def _upload(data: Any) -> MuxUpload:  # noqa: ANN401 (the SDK has no types)
    return MuxUpload(data.id, data.status, url=data.url, asset_id=data.asset_id)


def _to_error(status: int) -> HostingError:
    if status in {401, 403}:
        return HostingError("The hosting provider rejected the credentials.", reason="CREDENTIALS", retry=False)
    if status == 429 or status >= 500 or status == 0:
        return HostingError("The hosting provider is unavailable.", reason="UNAVAILABLE", retry=True)
    if status == 404:
        return HostingError("The hosting provider no longer has this video.", reason=GONE, retry=False)
    return HostingError("The hosting provider rejected the request.", reason=f"HTTP_{status}", retry=False)


async def send_file(url: str, *, size: int, read: Read, on_progress: OnProgress) -> None:
    """Uploads a file in chunks, resuming at the provider's offset; a broken connection costs one chunk."""
    timeout = httpx.Timeout(CHUNK_SECONDS, connect=CALL_SECONDS)
    async with httpx.AsyncClient(timeout=timeout, trust_env=False) as client:
        try:
            offset = await _received_bytes(client, url, size)
            while offset < size:
                end = min(offset + CHUNK_BYTES, size)
                headers = {"Content-Length": str(end - offset), "Content-Range": f"bytes {offset}-{end - 1}/{size}"}
                response = await client.put(url, content=read(offset, end), headers=headers)
                offset = _parse_progress(response, size)
                on_progress(offset)
        except httpx.HTTPError as error:
            raise HostingError(
                "The hosting provider could not be reached.", reason="UNREACHABLE", retry=True
            ) from error


async def _received_bytes(client: httpx.AsyncClient, url: str, size: int) -> int:
    response = await client.put(url, headers={"Content-Length": "0", "Content-Range": f"bytes */{size}"})
    return _parse_progress(response, size)


def _parse_progress(response: httpx.Response, size: int) -> int:
    """The received bytes: 308 with a Range header, or success for all."""
    if response.status_code in {200, 201}:
        return size
    if response.status_code == 308:
        _, _, last = response.headers.get("range", "").rpartition("-")
        return int(last) + 1 if last.isdecimal() else 0
    raise _to_error(response.status_code)


def is_signed(header: str, body: bytes, *, secret: str, now: float) -> bool:
    """Verifies the signature and age of an event: `t=<time>,v1=<HMAC-SHA256 of time, dot, body>`."""
    fields = dict(part.partition("=")[::2] for part in header.split(","))
    timestamp, signature = fields.get("t", ""), fields.get("v1", "")
    if not timestamp.isdecimal() or abs(now - int(timestamp)) > MAX_EVENT_AGE_SECONDS:
        return False
    expected = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())
