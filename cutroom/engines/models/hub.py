"""Models from a hub, over HTTPS; a download that was cut off goes on where it stopped."""

import asyncio
import ipaddress
from collections.abc import Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

import httpx

from cutroom.engines.models.files import ModelSourceError, check_file, look_at, part_path
from cutroom.engines.models.manifest import Hub, Model, ModelFile

REVISION = "main"  # hashes pin the files, so the newest will do as long as it has them
ATTEMPTS = 4
PAUSE_SECONDS = 2.0
CONNECT_SECONDS = 15.0
READ_SECONDS = 60.0
MAX_REDIRECTS = 5
BUSY = frozenset({429, 500, 502, 503, 504})

TellBytes = Callable[[ModelFile, int], None]


class HubSource:
    """A hub's address is the operator's to set; hubs of the usual kind differ in nothing else."""

    name = "hub"

    def __init__(self, address: str, *, tell: TellBytes, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._address = address.rstrip("/")
        self._tell = tell
        self._pause_seconds = pause_seconds
        try:
            _refuse_plain_http(httpx.Request("GET", self._address))
        except httpx.InvalidURL as error:
            raise ModelSourceError(f"{address} is not the address of a hub.") from error

    async def bring(self, model: Model, files: Sequence[ModelFile], *, folder: Path) -> None:
        """Write each file as a part in the folder; whether it is the right one is for the caller to check."""
        if model.hub is None:
            raise ModelSourceError(f"No hub is known to have the model {model.name}.")
        limits = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        hooks = {"request": [_check_request]}
        async with httpx.AsyncClient(
            timeout=limits, follow_redirects=True, max_redirects=MAX_REDIRECTS, event_hooks=hooks
        ) as client:
            for file in files:
                await self._bring_file(client, model.hub, file, part=part_path(folder, file))

    async def _bring_file(self, client: httpx.AsyncClient, hub: Hub, file: ModelFile, *, part: Path) -> None:
        url = self._url(hub, file)
        resumed = look_at(part) is not None
        await self._complete(client, url, file, part=part)
        # What an earlier pull left may have been spoiled by a crash; that is not the hub's fault, so start over.
        if resumed and (await asyncio.to_thread(check_file, part, file)).fault is not None:
            await asyncio.to_thread(part.unlink)
            await self._complete(client, url, file, part=part)

    async def _complete(self, client: httpx.AsyncClient, url: str, file: ModelFile, *, part: Path) -> None:
        reason = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(self._pause_seconds * attempt)
            try:
                await self._go_on(client, url, file, part=part)
            except httpx.TransportError as error:
                reason = str(error) or type(error).__name__
            except httpx.TooManyRedirects:
                reason = "too many redirects"
                break
            else:
                return
        raise ModelSourceError(f"{file.name} could not be fetched from the hub: {reason}.")

    async def _go_on(self, client: httpx.AsyncClient, url: str, file: ModelFile, *, part: Path) -> None:
        """One request for what is not there yet."""
        seen = look_at(part)
        start = seen.size_bytes if seen is not None and seen.size_bytes <= file.size_bytes else 0
        if start == file.size_bytes:
            return
        # Compression would make byte ranges mean something else.
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
        async with client.stream("GET", url, headers=headers) as response:
            start = _check_response(response, file, start=start)
            handle = await asyncio.to_thread(part.open, "r+b" if start else "wb")
            with handle:
                handle.seek(start)
                async for chunk in response.aiter_raw():
                    start += len(chunk)
                    if start > file.size_bytes:
                        raise ModelSourceError(f"The hub has more than {file.size_bytes} bytes for {file.name}.")
                    handle.write(chunk)
                    self._tell(file, start)
        if start < file.size_bytes:
            raise httpx.ReadError("it ended early")

    def _url(self, hub: Hub, file: ModelFile) -> str:
        path = "/".join(filter(None, (hub.repository, "resolve", REVISION, hub.folder, file.name)))
        return f"{self._address}/{quote(path)}"


class UnsetHub:
    """Stands where a hub would be tried, and says how to have one."""

    name = "hub"

    async def bring(self, model: Model, files: Sequence[ModelFile], *, folder: Path) -> None:  # noqa: ARG002
        raise ModelSourceError("No hub is set. Put the address of one, https://..., into CUTROOM_MODEL_HUB.")


def _check_response(response: httpx.Response, file: ModelFile, *, start: int) -> int:
    """Where in the file the body begins."""
    status = response.status_code
    if status in BUSY:
        raise httpx.ReadError(f"it answered {status}")
    if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and start:
        raise ModelSourceError(f"The hub has fewer than {file.size_bytes} bytes for {file.name}.")
    if status not in {HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT}:
        raise ModelSourceError(f"{file.name} could not be fetched from the hub: it answered {status}.")
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise ModelSourceError(f"The hub sent {file.name} compressed, though it was asked not to.")
    if status == HTTPStatus.OK:
        return 0
    if not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
        raise ModelSourceError(f"The hub sent another range of {file.name} than it was asked for.")
    return start


async def _check_request(request: httpx.Request) -> None:
    _refuse_plain_http(request)


def _refuse_plain_http(request: httpx.Request) -> None:
    """Redirects come through here as well."""
    host = request.url.host
    if request.url.scheme == "https" and host:
        return
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if request.url.scheme != "http" or not loopback:
        raise ModelSourceError(f"A hub is reached by https:// only, not by {request.url}.")
