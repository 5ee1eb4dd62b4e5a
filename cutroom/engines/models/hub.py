"""Downloads models from a hub over HTTPS, resuming interrupted downloads."""

import asyncio
import ipaddress
from collections.abc import Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

import httpx

from cutroom.engines.models.files import ModelSourceError, check_file, file_stamp, part_path
from cutroom.engines.models.manifest import HubLocation, Model, ModelFile

REVISION = "main"  # files are pinned by hash, so any revision that has them works
ATTEMPTS = 4
PAUSE_SECONDS = 2.0
CONNECT_SECONDS = 15.0
READ_SECONDS = 60.0
MAX_REDIRECTS = 5
RETRIED_STATUSES = frozenset({429, 500, 502, 503, 504})

ReportBytes = Callable[[ModelFile, int], None]


class HubSource:
    """A hub with the Hugging Face URL layout at a configured address."""

    name = "hub"

    def __init__(self, address: str, *, report: ReportBytes, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._address = address.rstrip("/")
        self._report = report
        self._pause_seconds = pause_seconds
        try:
            _require_https(httpx.Request("GET", self._address))
        except httpx.InvalidURL as error:
            raise ModelSourceError(f"{address} is not a valid hub address.") from error

    async def fetch(self, model: Model, files: Sequence[ModelFile], *, folder: Path) -> None:
        """Downloads each file to its partial path; the caller verifies it."""
        if model.hub is None:
            raise ModelSourceError(f"The model {model.name} is not available from a hub.")
        limits = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        hooks = {"request": [_check_request]}
        async with httpx.AsyncClient(
            timeout=limits, follow_redirects=True, max_redirects=MAX_REDIRECTS, event_hooks=hooks
        ) as client:
            for file in files:
                await self._fetch_file(client, model.hub, file, partial=part_path(folder, file))

    async def _fetch_file(self, client: httpx.AsyncClient, hub: HubLocation, file: ModelFile, *, partial: Path) -> None:
        url = self._url(hub, file)
        was_partial = file_stamp(partial) is not None
        await self._complete(client, url, file, partial=partial)
        # A partial file from an earlier pull may be corrupt, so start over once.
        if was_partial and (await asyncio.to_thread(check_file, partial, file)).fault is not None:
            await asyncio.to_thread(partial.unlink)
            await self._complete(client, url, file, partial=partial)

    async def _complete(self, client: httpx.AsyncClient, url: str, file: ModelFile, *, partial: Path) -> None:
        reason = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(self._pause_seconds * attempt)
            try:
                await self._resume(client, url, file, partial=partial)
            except httpx.TransportError as error:
                reason = str(error) or type(error).__name__
            except httpx.TooManyRedirects:
                reason = "too many redirects"
                break
            else:
                return
        raise ModelSourceError(f"{file.name} could not be downloaded from the hub: {reason}.")

    async def _resume(self, client: httpx.AsyncClient, url: str, file: ModelFile, *, partial: Path) -> None:
        """Requests the bytes that are still missing."""
        stamp = file_stamp(partial)
        start = stamp.size_bytes if stamp is not None and stamp.size_bytes <= file.size_bytes else 0
        if start == file.size_bytes:
            return
        # Byte ranges refer to the uncompressed file.
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
        async with client.stream("GET", url, headers=headers) as response:
            start = _check_response(response, file, start=start)
            handle = await asyncio.to_thread(partial.open, "r+b" if start else "wb")
            with handle:
                handle.seek(start)
                async for chunk in response.aiter_raw():
                    start += len(chunk)
                    if start > file.size_bytes:
                        raise ModelSourceError(f"The hub has more than {file.size_bytes} bytes for {file.name}.")
                    handle.write(chunk)
                    self._report(file, start)
        if start < file.size_bytes:
            raise httpx.ReadError("the connection closed early")

    def _url(self, hub: HubLocation, file: ModelFile) -> str:
        path = "/".join(filter(None, (hub.repository, "resolve", REVISION, hub.folder, file.name)))
        return f"{self._address}/{quote(path)}"


class MissingHub:
    """Placeholder source that explains how to configure a hub."""

    name = "hub"

    async def fetch(self, model: Model, files: Sequence[ModelFile], *, folder: Path) -> None:  # noqa: ARG002
        raise ModelSourceError("No hub is configured. Set CUTROOM_MODEL_HUB to its address, https://...")


def _check_response(response: httpx.Response, file: ModelFile, *, start: int) -> int:
    """The file offset at which the response body starts."""
    status = response.status_code
    if status in RETRIED_STATUSES:
        raise httpx.ReadError(f"status {status}")
    if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and start:
        raise ModelSourceError(f"The hub has fewer than {file.size_bytes} bytes for {file.name}.")
    if status not in {HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT}:
        raise ModelSourceError(f"{file.name} could not be downloaded from the hub: status {status}.")
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise ModelSourceError(f"The hub sent {file.name} compressed, although identity encoding was requested.")
    if status == HTTPStatus.OK:
        return 0
    if not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
        raise ModelSourceError(f"The hub sent a different range of {file.name} than requested.")
    return start


async def _check_request(request: httpx.Request) -> None:
    _require_https(request)


def _require_https(request: httpx.Request) -> None:
    """Also checks redirects."""
    host = request.url.host
    if request.url.scheme == "https" and host:
        return
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if request.url.scheme != "http" or not loopback:
        raise ModelSourceError(f"Hubs must use https://, not {request.url}.")
