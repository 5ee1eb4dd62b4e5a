"""Downloads pinned files over HTTP, resuming interrupted downloads."""

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

import httpx

from cutroom.engines.models.files import ModelSourceError, check_file, file_stamp
from cutroom.engines.models.manifest import ModelFile

ATTEMPTS = 4
PAUSE_SECONDS = 2.0
CONNECT_SECONDS = 15.0
READ_SECONDS = 60.0
MAX_REDIRECTS = 5
RETRIED_STATUSES = frozenset({429, 500, 502, 503, 504})

ReportBytes = Callable[[ModelFile, int], None]


class Downloader:
    """Downloads from one server; `server` names it in messages.

    The address and every redirect must use https, except that a server on the loopback interface may use http.
    """

    def __init__(self, address: str, *, server: str, report: ReportBytes, pause_seconds: float = PAUSE_SECONDS) -> None:
        self._address = address.rstrip("/")
        self._server = server
        self._report = report
        self._pause_seconds = pause_seconds
        try:
            base = httpx.URL(self._address)
        except httpx.InvalidURL as error:
            raise ModelSourceError(f"{address} is not a valid address of a {server}.") from error
        self._allows_http = _is_loopback_http(base)
        self._check_url(base)

    @asynccontextmanager
    async def session(self) -> AsyncIterator["DownloadSession"]:
        async with self._client() as client:
            yield DownloadSession(
                client, self._address, server=self._server, report=self._report, pause_seconds=self._pause_seconds
            )

    async def save(self, path: str, target: Path, *, limit_bytes: int) -> None:
        """Downloads a file whose content is verified later, at most so many bytes."""
        reason = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(self._pause_seconds * attempt)
            try:
                async with self._client() as client, client.stream("GET", f"{self._address}/{path}") as response:
                    if response.status_code in RETRIED_STATUSES:
                        raise httpx.ReadError(f"status {response.status_code}")
                    response.raise_for_status()
                    await _save_body(response, target, limit_bytes=limit_bytes)
            except httpx.TransportError as error:
                reason = str(error) or type(error).__name__
            except httpx.HTTPStatusError as error:
                raise ModelSourceError(f"the {self._server} responds with {error.response.status_code}.") from error
            except httpx.TooManyRedirects:
                raise ModelSourceError(f"the {self._server} redirects too often.") from None
            else:
                return
        raise ModelSourceError(f"the {self._server} cannot be reached: {reason}.")

    def _client(self) -> httpx.AsyncClient:
        limits = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
        hooks = {"request": [self._check_request]}
        return httpx.AsyncClient(timeout=limits, follow_redirects=True, max_redirects=MAX_REDIRECTS, event_hooks=hooks)

    async def _check_request(self, request: httpx.Request) -> None:
        """Also runs for every redirect."""
        self._check_url(request.url)

    def _check_url(self, url: httpx.URL) -> None:
        if (url.scheme == "https" and url.host) or (self._allows_http and _is_loopback_http(url)):
            return
        raise ModelSourceError(f"A {self._server} must use https://, not {url}.")


async def _save_body(response: httpx.Response, target: Path, *, limit_bytes: int) -> None:
    with await asyncio.to_thread(target.open, "wb") as handle:
        async for chunk in response.aiter_raw():
            limit_bytes -= len(chunk)
            if limit_bytes < 0:
                raise ModelSourceError(f"{target.name} is larger than any package may be.")
            handle.write(chunk)


class DownloadSession:
    """Downloads over one connection pool."""

    def __init__(
        self, client: httpx.AsyncClient, address: str, *, server: str, report: ReportBytes, pause_seconds: float
    ) -> None:
        self._client = client
        self._address = address
        self._server = server
        self._report = report
        self._pause_seconds = pause_seconds

    async def download(self, path: str, file: ModelFile, *, partial: Path) -> None:
        """Writes the file at a path below the address to `partial`, at most as many bytes as pinned.

        The caller verifies it. A partial file from an earlier pull is continued; it may be corrupt, so the download
        starts over once if the result does not match.
        """
        url = f"{self._address}/{quote(path)}"
        was_partial = file_stamp(partial) is not None
        await self._complete(url, file, partial=partial)
        if was_partial and (await asyncio.to_thread(check_file, partial, file)).fault is not None:
            await asyncio.to_thread(partial.unlink)
            await self._complete(url, file, partial=partial)

    async def _complete(self, url: str, file: ModelFile, *, partial: Path) -> None:
        reason = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(self._pause_seconds * attempt)
            try:
                await self._resume(url, file, partial=partial)
            except httpx.TransportError as error:
                reason = str(error) or type(error).__name__
            except httpx.TooManyRedirects:
                reason = "too many redirects"
                break
            else:
                return
        raise ModelSourceError(f"{file.name} could not be downloaded from the {self._server}: {reason}.")

    async def _resume(self, url: str, file: ModelFile, *, partial: Path) -> None:
        """Requests the bytes that are still missing."""
        stamp = file_stamp(partial)
        start = stamp.size_bytes if stamp is not None and stamp.size_bytes <= file.size_bytes else 0
        if start == file.size_bytes:
            return
        # Byte ranges refer to the file as it is stored.
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
        async with self._client.stream("GET", url, headers=headers) as response:
            start = self._check_response(response, file, start=start)
            handle = await asyncio.to_thread(partial.open, "r+b" if start else "wb")
            with handle:
                handle.seek(start)
                async for chunk in response.aiter_raw():
                    start += len(chunk)
                    if start > file.size_bytes:
                        raise ModelSourceError(
                            f"The {self._server} has more than {file.size_bytes} bytes for {file.name}."
                        )
                    handle.write(chunk)
                    self._report(file, start)
        if start < file.size_bytes:
            raise httpx.ReadError("the connection closed early")

    def _check_response(self, response: httpx.Response, file: ModelFile, *, start: int) -> int:
        """The file offset at which the response body starts."""
        status, server = response.status_code, self._server
        if status in RETRIED_STATUSES:
            raise httpx.ReadError(f"status {status}")
        if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and start:
            raise ModelSourceError(f"The {server} has fewer than {file.size_bytes} bytes for {file.name}.")
        if status not in {HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT}:
            raise ModelSourceError(f"{file.name} could not be downloaded from the {server}: status {status}.")
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise ModelSourceError(
                f"The {server} sent {file.name} compressed, although identity encoding was requested."
            )
        if status == HTTPStatus.OK:
            return 0
        if not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            raise ModelSourceError(f"The {server} sent a different range of {file.name} than requested.")
        return start


def _is_loopback_http(url: httpx.URL) -> bool:
    if url.scheme != "http":
        return False
    try:
        return url.host == "localhost" or ipaddress.ip_address(url.host).is_loopback
    except ValueError:
        return False
