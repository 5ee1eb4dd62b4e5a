"""Mux, through its own SDK: direct uploads, assets and the signature of its events."""

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from cutroom.platform.settings import Settings

T = TypeVar("T")
UPLOAD_SECONDS = 24 * 60 * 60  # how long Mux takes the file of an upload
CALL_SECONDS = 20.0
CHUNK_BYTES = 32 * 256 * 1024  # a multiple of what the protocol wants
CHUNK_SECONDS = 300.0
EVENT_SECONDS = 300  # an event that is older was kept by somebody
PLAYBACK_URL = "https://stream.mux.com/{}.m3u8"
WAITING = "waiting"
UPLOAD_ENDED = frozenset({"errored", "cancelled", "timed_out"})
READY, ERRORED = "ready", "errored"

Read = Callable[[int, int], AsyncIterator[bytes]]
Told = Callable[[int], None]


class HostError(Exception):
    """The host said no; `retry` tells whether it may say yes later."""

    def __init__(self, sentence: str, *, reason: str, retry: bool) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.retry = retry


@dataclass(frozen=True, slots=True)
class Upload:
    """A place for one file, and what became of it."""

    id: str
    status: str
    url: str | None
    asset_id: str | None


@dataclass(frozen=True, slots=True)
class Asset:
    """A file that Mux has, and how far it has come."""

    id: str
    status: str
    playback_id: str | None
    error: str | None


def is_configured(settings: Settings) -> bool:
    return settings.mux_token_id is not None


class Mux:
    """One account. The SDK blocks, so its calls run in threads; it tries nothing twice, for workflows do."""

    def __init__(self, settings: Settings) -> None:
        import mux_python  # noqa: PLC0415 - only workers that host have it

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

    async def create_upload(self, mark: str) -> Upload:
        """A new upload; Mux repeats our mark wherever it speaks of what comes of it."""
        settings = self._sdk.CreateAssetRequest(
            playback_policies=[self._sdk.PlaybackPolicy.PUBLIC], passthrough=mark, video_quality="basic"
        )
        request = self._sdk.CreateUploadRequest(timeout=UPLOAD_SECONDS, cors_origin="*", new_asset_settings=settings)
        return _upload(await self._call(self._uploads.create_direct_upload, request))

    async def find_upload(self, mark: str) -> Upload | None:
        """An upload that was made though its answer was lost."""
        for found in await self._call(self._uploads.list_direct_uploads, limit=100):
            asked = found.new_asset_settings
            if asked is not None and asked.passthrough == mark and found.status == WAITING and found.url:
                return _upload(found)
        return None

    async def get_upload(self, upload_id: str) -> Upload:
        return _upload(await self._call(self._uploads.get_direct_upload, upload_id))

    async def get_asset(self, asset_id: str) -> Asset:
        found = await self._call(self._assets.get_asset, asset_id)
        ids = found.playback_ids or []
        messages = list(getattr(found.errors, "messages", None) or ())
        return Asset(
            found.id,
            found.status,
            playback_id=ids[0].id if ids else None,
            error=" ".join(messages) or getattr(found.errors, "type", None),
        )

    async def _call(self, function: Callable[..., Any], *arguments: object, **named: object) -> Any:  # noqa: ANN401
        import urllib3  # noqa: PLC0415 - what the SDK speaks through

        try:
            answer = await asyncio.to_thread(function, *arguments, _request_timeout=CALL_SECONDS, **named)
        except self._sdk.ApiException as error:
            raise _refusal(int(error.status or 0)) from error
        except urllib3.exceptions.HTTPError as error:
            raise HostError("The host could not be reached.", reason="UNREACHABLE", retry=True) from error
        return answer.data


def _upload(found: Any) -> Upload:  # noqa: ANN401 (the SDK has no types)
    return Upload(found.id, found.status, url=found.url, asset_id=found.asset_id)


def _refusal(status: int) -> HostError:
    if status in {401, 403}:
        return HostError("The host does not accept this installation's credentials.", reason="CREDENTIALS", retry=False)
    if status == 429 or status >= 500 or status == 0:
        return HostError("The host is busy or away.", reason="UNAVAILABLE", retry=True)
    if status == 404:
        return HostError("The host has forgotten this video.", reason="GONE", retry=False)
    return HostError("The host refused the request.", reason=f"HTTP_{status}", retry=False)


async def send_file(url: str, *, size: int, read: Read, tell: Told) -> None:
    """Send a file in chunks, from where the host already has it: a connection that breaks costs one chunk."""
    timeout = httpx.Timeout(CHUNK_SECONDS, connect=CALL_SECONDS)
    async with httpx.AsyncClient(timeout=timeout, trust_env=False) as client:
        try:
            sent = await _received(client, url, size)
            while sent < size:
                end = min(sent + CHUNK_BYTES, size)
                headers = {"Content-Length": str(end - sent), "Content-Range": f"bytes {sent}-{end - 1}/{size}"}
                answer = await client.put(url, content=read(sent, end), headers=headers)
                sent = _progress(answer, size)
                tell(sent)
        except httpx.HTTPError as error:
            raise HostError("The host could not be reached.", reason="UNREACHABLE", retry=True) from error


async def _received(client: httpx.AsyncClient, url: str, size: int) -> int:
    answer = await client.put(url, headers={"Content-Length": "0", "Content-Range": f"bytes */{size}"})
    return _progress(answer, size)


def _progress(answer: httpx.Response, size: int) -> int:
    """308 and how much there is, or success and there is all."""
    if answer.status_code in {200, 201}:
        return size
    if answer.status_code == 308:
        _, _, last = answer.headers.get("range", "").rpartition("-")
        return int(last) + 1 if last.isdecimal() else 0
    raise _refusal(answer.status_code)


def is_signed(header: str, body: bytes, *, secret: str, now: float) -> bool:
    """Whether Mux sent this event, and lately: `t=<time>,v1=<HMAC-SHA256 of time, dot, body>`."""
    fields = dict(piece.partition("=")[::2] for piece in header.split(","))
    told, signature = fields.get("t", ""), fields.get("v1", "")
    if not told.isdecimal() or abs(now - int(told)) > EVENT_SECONDS:
        return False
    expected = hmac.new(secret.encode(), f"{told}.".encode() + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())
