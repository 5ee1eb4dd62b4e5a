"""Sources against a server that imitates each provider."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from cutroom.errors import Code
from cutroom.platform.egress.client import Egress
from cutroom.products.ingest.pace import PaceRules
from cutroom.products.ingest.sources import DropboxSource, GoogleDriveSource, HttpsSource, SourceError, SourceInfo
from tests.support.network_namespace import (
    FakeInternet,
    ReceivedRequest,
    in_namespace,
    open_internet,
    reply,
    unavailable_reason,
)

pytestmark = pytest.mark.skipif(unavailable_reason() is not None, reason=unavailable_reason() or "")

MP4 = b"\x00\x00\x00\x18ftypmp42" + bytes(range(256)) * 40
FILE_ID = "1IP0o8dHcQrIHGgVyp0Ofvx2cGfLzyO1x"
DRIVE_URL = f"https://drive.google.com/file/d/{FILE_ID}/view?usp=sharing"
DROPBOX_URL = "https://www.dropbox.com/scl/fi/key/A%20clip.mp4?rlkey=rl&dl=0"
HOSTS = ["media.site.com", "www.dropbox.com", "uc1.dl.dropboxusercontent.com", "drive.google.com", "evil.site.com"]
HOSTS += ["drive.usercontent.google.com", "accounts.google.com"]

UNREACHABLE = "The source could not be fetched."
NOT_MEDIA = "There is no media behind this URL."
NOT_SHARED = "This file is not shared with everyone who has the link."
OVER_QUOTA = "The provider has reached its download limit for this file. Try again later."
TOO_LARGE = "The source is too large."

# Drive's warning page for files it does not scan, abridged.
CONFIRM_PAGE = f"""<!DOCTYPE html><html><head><title>Google Drive - Virus scan warning</title></head><body>
<p class="uc-warning-caption">Google Drive can't scan this file for viruses.</p>
<form id="download-form" action="ACTION" method="get"><input type="submit" value="Download anyway"/>
<input type="hidden" name="id" value="{FILE_ID}"><input type="hidden" name="export" value="download">
<input type="hidden" name="confirm" value="t"><input type="hidden" name="uuid" value="6f3c&amp;1"></form></html>"""
QUOTA_PAGE = """<!DOCTYPE html><html><head><title>Google Drive - Quota exceeded</title></head><body>
<p class="uc-error-subcaption">Too many users have viewed or downloaded this file recently.</p></body></html>"""
SIGN_IN_PAGE = '<!doctype html><html><form action="https://accounts.google.com/v3/signin/identifier"></form></html>'


@dataclass
class Kept:
    """Records written bytes and reported progress."""

    data: bytes = b""
    steps: list[tuple[int, int | None]] = field(default_factory=list)

    async def write(self, data: bytes) -> None:
        self.data += data

    async def progress(self, done: int, total: int | None) -> None:
        self.steps.append((done, total))


class Provider:
    """Responds by host and path, ignoring the query."""

    def __init__(self, pages: dict[str, bytes]) -> None:
        self.pages = pages

    async def __call__(self, request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        writer.write(self.pages.get(request.host + request.path.partition("?")[0], reply(404)))


@asynccontextmanager
async def provider(**pages: bytes) -> AsyncIterator[tuple[FakeInternet, Egress]]:
    async with open_internet() as internet:
        await internet.serve(
            HOSTS, Provider({name.replace("__", "/").replace("_", "."): page for name, page in pages.items()})
        )
        egress = Egress(tls=internet.authority.trust())
        yield internet, egress
        egress.close()
        assert internet.canaries.connections == []


async def refused(source: HttpsSource, url: str, *, max_bytes: int = 100_000) -> str:
    """Asserts that probe and download raise the same error; returns its message."""
    with pytest.raises(SourceError) as caught:
        await source.download(url, kept := Kept(), max_bytes=max_bytes, on_progress=kept.progress)
    assert caught.value.code is Code.UNSUPPORTED_SOURCE
    return str(caught.value)


@in_namespace
async def test_media_file_is_probed_and_downloaded() -> None:
    page = reply(
        200, MP4, Content_Type="video/mp4", Content_Disposition="attachment; filename*=UTF-8''%C3%A9t%C3%A9.mp4"
    )
    async with provider(media_site_com__a=page) as (_, egress):
        source, kept, url = HttpsSource(egress), Kept(), "https://media.site.com/a"
        found = SourceInfo("video/mp4", size_bytes=len(MP4), file_name="été.mp4")
        assert await source.probe(url) == found
        assert await source.download(url, kept, max_bytes=len(MP4), on_progress=kept.progress) == found
        assert kept.data == MP4
        assert await refused(source, url, max_bytes=len(MP4) - 1) == TOO_LARGE


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (reply(200, b"<!doctype html><p>", Content_Type="text/html"), NOT_MEDIA),
        (reply(200, b"\n <HTML>", Content_Type="video/mp4"), NOT_MEDIA),
        (reply(200, b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd", Content_Type="video/mp4"), NOT_MEDIA),
        (reply(200, MP4, Content_Type="audio/x-mpegurl"), NOT_MEDIA),
        (reply(200, MP4, Content_Type="image/png"), NOT_MEDIA),
        (reply(200, b"{}", Content_Type="application/json"), NOT_MEDIA),
        (reply(404, MP4, Content_Type="video/mp4"), UNREACHABLE),
        (reply(500), UNREACHABLE),
        (reply(206, MP4, Content_Type="video/mp4"), UNREACHABLE),
        (reply(302, Location="http://media.site.com/b"), UNREACHABLE),
        (reply(302, Location="https://169.254.169.254/latest"), UNREACHABLE),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n" + MP4, UNREACHABLE),  # truncated body
    ],
)
def test_non_media_response_is_rejected(page: bytes, message: str) -> None:
    @in_namespace
    async def work() -> None:
        async with provider(media_site_com__a=page) as (_, egress):
            assert await refused(HttpsSource(egress), "https://media.site.com/a") == message

    work()


@pytest.mark.parametrize("declared", [True, False])
def test_dripping_source_is_refused_long_before_its_deadline(declared: bool) -> None:  # noqa: FBT001
    """The server sends 1 KiB after the other; by the injected clock, each takes a second."""

    async def drip(_: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        length = b"Content-Length: 9999999\r\n" if declared else b""
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n" + length + b"\r\n" + MP4[:1024])
        for _number in range(1000):
            writer.write(bytes(1024))
            await writer.drain()

    @in_namespace
    async def work() -> None:
        async with open_internet() as internet:
            await internet.serve(HOSTS, drip)
            egress, kept = Egress(tls=internet.authority.trust()), Kept()
            source = HttpsSource(egress, PaceRules(), clock=lambda: len(kept.data) / 1024)
            with pytest.raises(SourceError) as caught:
                await source.download("https://media.site.com/a", kept, max_bytes=10**8, on_progress=kept.progress)
            egress.close()
            assert str(caught.value) == "The source sends its file too slowly to be imported."
            assert not caught.value.retryable
            assert len(kept.data) < 200 * 1024

    work()


@in_namespace
async def test_generic_content_type_is_accepted_and_named_after_the_url() -> None:
    pages = {
        "media_site_com__a": reply(200, MP4),
        "media_site_com__b": reply(200, MP4, Content_Type="binary/octet-stream"),
    }
    async with provider(**pages) as (_, egress):
        assert (await HttpsSource(egress).probe("https://media.site.com/a")).file_name == "a"
        assert (await HttpsSource(egress).probe("https://media.site.com/b")).content_type == "binary/octet-stream"


@in_namespace
async def test_dropbox_download_follows_redirect_to_content_host() -> None:
    content = "https://uc1.dl.dropboxusercontent.com/cd/0/get/abc/file?dl=1"
    media = reply(200, MP4, Content_Type="application/binary", Content_Disposition='attachment; filename="A clip.mp4"')
    async with open_internet() as internet:
        pages = {
            "www.dropbox.com/scl/fi/key/A%20clip.mp4": reply(302, Location=content),
            "uc1.dl.dropboxusercontent.com/cd/0/get/abc/file": media.replace(b"application/binary", b"video/mp4"),
        }
        await internet.serve(HOSTS, Provider(pages))
        egress, kept = Egress(tls=internet.authority.trust()), Kept()
        found = await DropboxSource(egress).download(DROPBOX_URL, kept, max_bytes=100_000, on_progress=kept.progress)
        egress.close()
        assert (found.file_name, kept.data) == ("A clip.mp4", MP4)
        assert internet.requests[0].path == "/scl/fi/key/A%20clip.mp4?rlkey=rl&dl=1"


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (reply(200, b"<!DOCTYPE html>sign in", Content_Type="text/html; charset=utf-8"), NOT_SHARED),
        (reply(404, b"gone"), NOT_SHARED),
        (reply(403), NOT_SHARED),
        (reply(429), OVER_QUOTA),
        (reply(509), OVER_QUOTA),
        (reply(500), UNREACHABLE),
        (reply(200, b"PK\x03\x04", Content_Type="application/zip"), NOT_MEDIA),
    ],
)
def test_dropbox_error_pages_are_classified(page: bytes, message: str) -> None:
    @in_namespace
    async def work() -> None:
        async with provider(www_dropbox_com__s__key__clip=page) as (_, egress):
            assert await refused(DropboxSource(egress), "https://www.dropbox.com/s/key/clip?dl=0") == message

    work()


DRIVE_MEDIA = reply(200, MP4, Content_Type="video/mp4", Content_Disposition='attachment; filename="lesson 1.mp4"')
TO_CONTENT = reply(303, Location=f"https://drive.usercontent.google.com/download?id={FILE_ID}&export=download")


@in_namespace
async def test_small_drive_file_needs_no_confirmation() -> None:
    pages = {"drive_google_com__uc": TO_CONTENT, "drive_usercontent_google_com__download": DRIVE_MEDIA}
    async with provider(**pages) as (internet, egress):
        found = await GoogleDriveSource(egress).probe(DRIVE_URL)
        assert found == SourceInfo("video/mp4", size_bytes=len(MP4), file_name="lesson 1.mp4")
        assert internet.requests[0].path == f"/uc?id={FILE_ID}&export=download"


@in_namespace
async def test_large_drive_file_is_confirmed_with_the_form_fields() -> None:
    async def drive(request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        if request.host == "drive.google.com":
            writer.write(TO_CONTENT)
        elif "confirm=t&uuid=6f3c%261" in request.path:
            writer.write(DRIVE_MEDIA)
        else:
            page = CONFIRM_PAGE.replace("ACTION", "https://drive.usercontent.google.com/download")
            writer.write(reply(200, page.encode(), Content_Type="text/html; charset=utf-8"))

    async with open_internet() as internet:
        await internet.serve(HOSTS, drive)
        egress, kept = Egress(tls=internet.authority.trust()), Kept()
        await GoogleDriveSource(egress).download(DRIVE_URL, kept, max_bytes=100_000, on_progress=kept.progress)
        egress.close()
        assert kept.data == MP4
        assert kept.steps[-1] == (len(MP4), len(MP4))


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (reply(200, QUOTA_PAGE.encode(), Content_Type="text/html"), OVER_QUOTA),
        (reply(200, SIGN_IN_PAGE.encode(), Content_Type="text/html"), NOT_SHARED),
        (reply(302, Location="https://accounts.google.com/ServiceLogin"), NOT_SHARED),
        (reply(200, b"<!doctype html>hello", Content_Type="text/html"), NOT_MEDIA),
        (
            reply(200, CONFIRM_PAGE.replace("ACTION", "https://evil.site.com/").encode(), Content_Type="text/html"),
            NOT_MEDIA,
        ),
        (reply(200, CONFIRM_PAGE.replace("ACTION", "http://127.0.0.1/").encode(), Content_Type="text/html"), NOT_MEDIA),
        (
            reply(200, CONFIRM_PAGE.replace("ACTION", "/uc").encode(), Content_Type="text/html"),
            NOT_MEDIA,
        ),  # repeats
        (reply(403), NOT_SHARED),
        (reply(404), NOT_SHARED),
        (reply(429), OVER_QUOTA),
        (reply(503), UNREACHABLE),
        (reply(200, b"%PDF-1.7", Content_Type="application/pdf"), NOT_MEDIA),
    ],
)
def test_drive_error_pages_are_classified(page: bytes, message: str) -> None:
    @in_namespace
    async def work() -> None:
        sign_in = reply(200, SIGN_IN_PAGE.encode(), Content_Type="text/html")
        async with provider(drive_google_com__uc=page, accounts_google_com__ServiceLogin=sign_in) as (_, egress):
            assert await refused(GoogleDriveSource(egress), DRIVE_URL) == message

    work()
