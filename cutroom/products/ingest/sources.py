"""Turns the link that a caller shared into the bytes behind it; each source can be probed and downloaded."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from email.message import Message
from html.parser import HTMLParser
from typing import Protocol
from urllib.parse import urlencode, urljoin

from cutroom.errors import Code
from cutroom.platform.egress.client import Answer, Egress, TooLargeError, UnreachableError
from cutroom.platform.egress.urls import UrlError, parse_url
from cutroom.products.ingest.rules import (
    DRIVE_HOSTS,
    drive_download_url,
    dropbox_download_url,
    file_name_in_url,
    media_type,
    safe_file_name,
)

PROBE_SECONDS = 8.0
DOWNLOAD_SECONDS = 6 * 3600.0
MAX_PAGE_BYTES = 1024 * 1024  # of a page that a provider shows instead of the file
PEEK_BYTES = 1024
MAX_MEDIA_BYTES = 1 << 40  # what a probe may come across; a download brings its own bound

# Types under which media is served in practice; the rest is a page, a list or a picture.
_MEDIA_TYPES = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/mp4", "application/ogg", "application/mxf"}
    | {"application/x-matroska", "application/x-download", "application/force-download"}
)
_LIST_TYPES = frozenset({"audio/mpegurl", "audio/x-mpegurl", "audio/x-scpls", "video/vnd.mpeg.dash.mpd"})
_PAGE_STARTS = (b"<!doctype", b"<html", b"<head", b"<?xml", b"<script", b"#extm3u", b"{", b"[playlist]")


class SourceError(Exception):
    """A source cannot be had; the message is for whoever asked for it."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.code = Code.UNSUPPORTED_SOURCE
        self.retryable = retryable


def unreachable() -> SourceError:
    return SourceError("The source could not be fetched.", retryable=True)


def too_large() -> SourceError:
    return SourceError("The source is too large.")


def not_media() -> SourceError:
    return SourceError("There is no media behind this URL.")


def not_shared() -> SourceError:
    return SourceError("This file is not shared with everyone who has the link.")


def over_quota() -> SourceError:
    return SourceError("The provider has reached its download limit for this file. Try again later.")


@dataclass(frozen=True, slots=True)
class Found:
    """What can be told of a source before it is downloaded."""

    content_type: str
    size_bytes: int | None = None
    file_name: str | None = None
    duration_seconds: float | None = None
    title: str | None = None


class Sink(Protocol):
    """Takes the bytes as they come."""

    async def write(self, data: bytes) -> None: ...


Progress = Callable[[int, int | None], Awaitable[None]]  # bytes so far, bytes in all when known


class ImportSource(Protocol):
    """One way in."""

    async def probe(self, url: str) -> Found: ...

    async def download(self, url: str, to: Sink, *, max_bytes: int, on_progress: Progress) -> Found: ...


@dataclass(slots=True)
class _Opened:
    """An answer of which the first bytes have been looked at."""

    answer: Answer
    head: bytes
    rest: AsyncIterator[bytes]

    @property
    def found(self) -> Found:
        name = _disposition_name(self.answer.header("content-disposition")) or file_name_in_url(self.answer.final_url)
        kind = media_type(self.answer.header("content-type"))
        return Found(kind, size_bytes=_size(self.answer), file_name=name)

    @property
    def is_media(self) -> bool:
        kind = media_type(self.answer.header("content-type"))
        known = kind in _MEDIA_TYPES or (kind.startswith(("video/", "audio/")) and kind not in _LIST_TYPES)
        return known and not self.head.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(_PAGE_STARTS)


class HttpsSource:
    """A file that anybody can fetch."""

    def __init__(self, egress: Egress) -> None:
        self._egress = egress

    async def probe(self, url: str) -> Found:
        async with self._open(url, max_bytes=MAX_MEDIA_BYTES, seconds=PROBE_SECONDS) as opened:
            return opened.found

    async def download(self, url: str, to: Sink, *, max_bytes: int, on_progress: Progress) -> Found:
        async with self._open(url, max_bytes=max_bytes, seconds=DOWNLOAD_SECONDS) as opened:
            total = opened.found.size_bytes
            await to.write(opened.head)
            done = len(opened.head)
            await on_progress(done, total)
            async for chunk in opened.rest:
                await to.write(chunk)
                done += len(chunk)
                await on_progress(done, total)
            return opened.found

    @asynccontextmanager
    async def _open(self, url: str, *, max_bytes: int, seconds: float) -> AsyncIterator[_Opened]:
        """Media, or a SourceError that says what there is instead."""
        async with self._ask(self._start(url), max_bytes=max_bytes, seconds=seconds) as opened:
            if not opened.is_media:
                raise self._instead(opened)
            yield opened

    def _start(self, url: str) -> str:
        return url

    def _instead(self, opened: _Opened) -> SourceError:  # noqa: ARG002 (others look at it)
        return not_media()

    @asynccontextmanager
    async def _ask(self, url: str, *, max_bytes: int, seconds: float) -> AsyncIterator[_Opened]:
        try:
            async with self._egress.stream("GET", url, max_bytes=max_bytes, timeout_seconds=seconds) as answer:
                if answer.status != 200:
                    raise self._refusal(answer)
                async with aclosing(answer.chunks()) as chunks:
                    yield _Opened(answer, await _peek(chunks), rest=chunks)
        except UnreachableError:
            raise unreachable() from None
        except TooLargeError:
            raise too_large() from None

    def _refusal(self, answer: Answer) -> SourceError:  # noqa: ARG002 (others look at it)
        return unreachable()


class DropboxSource(HttpsSource):
    """A file by its Dropbox share link."""

    def _start(self, url: str) -> str:
        return dropbox_download_url(url)

    def _instead(self, opened: _Opened) -> SourceError:
        # Where the file should be there is a page: sign in, give a password, deleted, or the preview of a folder.
        return not_shared() if opened.found.content_type == "text/html" else not_media()

    def _refusal(self, answer: Answer) -> SourceError:
        if answer.status in {403, 404, 410, 460}:
            return not_shared()
        return over_quota() if answer.status in {429, 509} else unreachable()


class GoogleDriveSource(HttpsSource):
    """A file by its Google Drive share link."""

    def _start(self, url: str) -> str:
        return drive_download_url(url)

    @asynccontextmanager
    async def _open(self, url: str, *, max_bytes: int, seconds: float) -> AsyncIterator[_Opened]:
        """Large files are behind a page that asks whether one wants them although nobody looked for viruses."""
        async with self._ask(self._start(url), max_bytes=max_bytes, seconds=seconds) as opened:
            if opened.is_media:
                yield opened
                return
            if opened.found.content_type != "text/html":
                raise not_media()
            confirmed = _confirmed_url(opened.answer.final_url, await _page(opened))
        async with self._ask(confirmed, max_bytes=max_bytes, seconds=seconds) as opened:
            if not opened.is_media:
                raise _drive_refusal(await _page(opened))
            yield opened

    def _refusal(self, answer: Answer) -> SourceError:
        if answer.status in {401, 403, 404, 410}:
            return not_shared()
        return over_quota() if answer.status == 429 else unreachable()


class _Form(HTMLParser):
    """The form by which Drive asks for confirmation, and the address that it leads to."""

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
    form = _Form()
    form.feed(page)
    if form.action is None:
        raise _drive_refusal(page)
    url = urljoin(base, form.action)
    if form.fields:
        url = f"{url.partition('?')[0]}?{urlencode(form.fields)}"
    try:
        allowed = parse_url(url).host in DRIVE_HOSTS
    except UrlError:
        allowed = False
    if not allowed:
        raise not_media()
    return url


def _drive_refusal(page: str) -> SourceError:
    """Which of Drive's pages this is; they come with status 200 and in English, for we name no language."""
    if "Quota exceeded" in page or "Too many users have viewed or downloaded" in page:
        return over_quota()
    if "accounts.google.com" in page or "You need access" in page or "ServiceLogin" in page:
        return not_shared()
    return not_media()


async def _page(opened: _Opened) -> str:
    page = bytearray(opened.head)
    async for chunk in opened.rest:
        page += chunk[: MAX_PAGE_BYTES - len(page)]
        if len(page) >= MAX_PAGE_BYTES:
            break
    return page.decode("utf-8", "replace")


async def _peek(chunks: AsyncIterator[bytes]) -> bytes:
    head = bytearray()
    async for chunk in chunks:
        head += chunk
        if len(head) >= PEEK_BYTES:
            break
    return bytes(head)


def _size(answer: Answer) -> int | None:
    declared = answer.header("content-length") or ""
    return int(declared) if declared.isdecimal() else None


def _disposition_name(disposition: str | None) -> str | None:
    if disposition is None:
        return None
    message = Message()
    message["Content-Disposition"] = disposition
    return safe_file_name(message.get_filename())
