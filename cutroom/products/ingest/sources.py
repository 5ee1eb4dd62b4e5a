"""Probes and downloads media from public URLs, Dropbox and Google Drive."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from email.message import Message
from html.parser import HTMLParser
from typing import Protocol
from urllib.parse import urlencode, urljoin

from cutroom.errors import Code
from cutroom.platform.egress.client import (
    Egress,
    EgressResponse,
    SlowResponseError,
    TooLargeError,
    UnreachableError,
)
from cutroom.platform.egress.urls import UrlError, parse_url
from cutroom.products.ingest.pace import DEFAULT_PACE, DOWNLOAD_SECONDS, Pace, PaceRules, TooSlowError
from cutroom.products.ingest.rules import (
    DRIVE_HOSTS,
    drive_download_url,
    dropbox_download_url,
    file_name_in_url,
    media_type,
    safe_file_name,
)

PROBE_SECONDS = 8.0
MAX_PAGE_BYTES = 1024 * 1024  # of an HTML page returned in place of the file
HEAD_BYTES = 1024
MAX_MEDIA_BYTES = 1 << 40  # limit of a probe; downloads set their own

# Content types under which media is served in practice; others are pages, playlists or images.
_MEDIA_TYPES = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/mp4", "application/ogg", "application/mxf"}
    | {"application/x-matroska", "application/x-download", "application/force-download"}
)
_PLAYLIST_TYPES = frozenset({"audio/mpegurl", "audio/x-mpegurl", "audio/x-scpls", "video/vnd.mpeg.dash.mpd"})
_PAGE_STARTS = (b"<!doctype", b"<html", b"<head", b"<?xml", b"<script", b"#extm3u", b"{", b"[playlist]")


class SourceError(Exception):
    """The source cannot be imported; the message is shown to the caller."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.code = Code.UNSUPPORTED_SOURCE
        self.retryable = retryable


def unreachable() -> SourceError:
    return SourceError("The source could not be fetched.", retryable=True)


def too_slow() -> SourceError:
    return SourceError("The source sends its file too slowly to be imported.")


def too_large() -> SourceError:
    return SourceError("The source is too large.")


def no_media() -> SourceError:
    return SourceError("There is no media behind this URL.")


def not_shared() -> SourceError:
    return SourceError("This file is not shared with everyone who has the link.")


def over_quota() -> SourceError:
    return SourceError("The provider has reached its download limit for this file. Try again later.")


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """Properties of a source, known from its headers or metadata."""

    content_type: str
    size_bytes: int | None = None
    file_name: str | None = None
    duration_seconds: float | None = None
    title: str | None = None


class Sink(Protocol):
    """Receives downloaded bytes."""

    async def write(self, data: bytes) -> None: ...


Progress = Callable[[int, int | None], Awaitable[None]]  # bytes received, total if known


class ImportSource(Protocol):
    """A provider that sources are imported from."""

    async def probe(self, url: str) -> SourceInfo: ...

    async def download(self, url: str, to: Sink, *, max_bytes: int, on_progress: Progress) -> SourceInfo: ...


@dataclass(slots=True)
class _OpenResponse:
    """A streaming response with its first bytes already read."""

    response: EgressResponse
    head: bytes
    rest: AsyncIterator[bytes]

    @property
    def info(self) -> SourceInfo:
        name = _disposition_name(self.response.header("content-disposition")) or file_name_in_url(
            self.response.final_url
        )
        kind = media_type(self.response.header("content-type"))
        return SourceInfo(kind, size_bytes=_size(self.response), file_name=name)

    @property
    def is_media(self) -> bool:
        kind = media_type(self.response.header("content-type"))
        known = kind in _MEDIA_TYPES or (kind.startswith(("video/", "audio/")) and kind not in _PLAYLIST_TYPES)
        return known and not self.head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_PAGE_STARTS)


class HttpsSource:
    """A public media file."""

    def __init__(
        self, egress: Egress, pace: PaceRules = DEFAULT_PACE, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._egress = egress
        self._pace = pace
        self._clock = clock

    async def probe(self, url: str) -> SourceInfo:
        async with self._open(url, max_bytes=MAX_MEDIA_BYTES, seconds=PROBE_SECONDS) as opened:
            return opened.info

    async def download(self, url: str, to: Sink, *, max_bytes: int, on_progress: Progress) -> SourceInfo:
        async with self._open(url, max_bytes=max_bytes, seconds=DOWNLOAD_SECONDS) as opened:
            total, pace = opened.info.size_bytes, Pace(self._pace, self._clock)
            await to.write(opened.head)
            done = len(opened.head)
            await on_progress(done, total)
            async for chunk in opened.rest:
                await to.write(chunk)
                done += len(chunk)
                pace.check(done, total)
                await on_progress(done, total)
            return opened.info

    @asynccontextmanager
    async def _open(self, url: str, *, max_bytes: int, seconds: float) -> AsyncIterator[_OpenResponse]:
        """Opens the media; raises SourceError if the response is something else."""
        async with self._request(self._download_url(url), max_bytes=max_bytes, seconds=seconds) as opened:
            if not opened.is_media:
                raise self._not_media_error(opened)
            yield opened

    def _download_url(self, url: str) -> str:
        return url

    def _not_media_error(self, opened: _OpenResponse) -> SourceError:  # noqa: ARG002 - used by subclasses
        return no_media()

    @asynccontextmanager
    async def _request(self, url: str, *, max_bytes: int, seconds: float) -> AsyncIterator[_OpenResponse]:
        try:
            async with self._egress.stream("GET", url, max_bytes=max_bytes, timeout_seconds=seconds) as response:
                if response.status != 200:
                    raise self._status_error(response)
                async with aclosing(response.chunks()) as chunks:
                    yield _OpenResponse(response, await _read_head(chunks), rest=chunks)
        except (TooSlowError, SlowResponseError):
            raise too_slow() from None
        except UnreachableError:
            raise unreachable() from None
        except TooLargeError:
            raise too_large() from None

    def _status_error(self, response: EgressResponse) -> SourceError:  # noqa: ARG002 - used by subclasses
        return unreachable()


class DropboxSource(HttpsSource):
    """A file by its Dropbox share link."""

    def _download_url(self, url: str) -> str:
        return dropbox_download_url(url)

    def _not_media_error(self, opened: _OpenResponse) -> SourceError:
        # An HTML page instead of the file: sign-in, password, deleted file, or folder preview.
        return not_shared() if opened.info.content_type == "text/html" else no_media()

    def _status_error(self, response: EgressResponse) -> SourceError:
        if response.status in {403, 404, 410, 460}:
            return not_shared()
        return over_quota() if response.status in {429, 509} else unreachable()


class GoogleDriveSource(HttpsSource):
    """A file by its Google Drive share link."""

    def _download_url(self, url: str) -> str:
        return drive_download_url(url)

    @asynccontextmanager
    async def _open(self, url: str, *, max_bytes: int, seconds: float) -> AsyncIterator[_OpenResponse]:
        """Confirms Drive's warning page for files too large to be scanned for viruses."""
        async with self._request(self._download_url(url), max_bytes=max_bytes, seconds=seconds) as opened:
            if opened.is_media:
                yield opened
                return
            if opened.info.content_type != "text/html":
                raise no_media()
            confirmed = _confirmed_url(opened.response.final_url, await _read_page(opened))
        async with self._request(confirmed, max_bytes=max_bytes, seconds=seconds) as opened:
            if not opened.is_media:
                raise _drive_page_error(await _read_page(opened))
            yield opened

    def _status_error(self, response: EgressResponse) -> SourceError:
        if response.status in {401, 403, 404, 410}:
            return not_shared()
        return over_quota() if response.status == 429 else unreachable()


class _ConfirmationForm(HTMLParser):
    """Parses Drive's download confirmation form."""

    def __init__(self) -> None:
        super().__init__()
        self.action: str | None = None
        self.fields: dict[str, str] = {}
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form" and attributes.get("id") == "download-form":
            self.action, self._inside = attributes.get("action"), True
        elif tag == "input" and self._inside and attributes.get("type") == "hidden":
            self.fields[attributes.get("name", "")] = attributes.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False


def _confirmed_url(base: str, page: str) -> str:
    form = _ConfirmationForm()
    form.feed(page)
    if form.action is None:
        raise _drive_page_error(page)
    url = urljoin(base, form.action)
    if form.fields:
        url = f"{url.partition('?')[0]}?{urlencode(form.fields)}"
    try:
        allowed = parse_url(url).host in DRIVE_HOSTS
    except UrlError:
        allowed = False
    if not allowed:
        raise no_media()
    return url


def _drive_page_error(page: str) -> SourceError:
    """Classifies a Drive error page; they have status 200 and are in English without Accept-Language."""
    if "Quota exceeded" in page or "Too many users have viewed or downloaded" in page:
        return over_quota()
    if "accounts.google.com" in page or "You need access" in page or "ServiceLogin" in page:
        return not_shared()
    return no_media()


async def _read_page(opened: _OpenResponse) -> str:
    page = bytearray(opened.head)
    async for chunk in opened.rest:
        page += chunk[: MAX_PAGE_BYTES - len(page)]
        if len(page) >= MAX_PAGE_BYTES:
            break
    return page.decode("utf-8", "replace")


async def _read_head(chunks: AsyncIterator[bytes]) -> bytes:
    head = bytearray()
    async for chunk in chunks:
        head += chunk
        if len(head) >= HEAD_BYTES:
            break
    return bytes(head)


def _size(response: EgressResponse) -> int | None:
    declared = response.header("content-length") or ""
    return int(declared) if declared.isdecimal() else None


def _disposition_name(disposition: str | None) -> str | None:
    if disposition is None:
        return None
    message = Message()
    message["Content-Disposition"] = disposition
    return safe_file_name(message.get_filename())
