"""Downloads of files at signed URLs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cutroom_client import ChecksumError, Cutroom, UnsafeUrlError
from cutroom_client._sync.downloads import FileDownload
from cutroom_client.download_plan import DownloadPlan
from cutroom_client.transfers import SavedFile
from cutroom_client.urls import checked_url

from tests.clients.python.conftest import QUICK

CONTENT = bytes(range(256)) * 40
PART = 1000


@dataclass
class FileServer:
    """Serves one file in ranges."""

    url: str
    content: bytes = CONTENT
    headers: dict[str, str] = field(default_factory=dict)
    cut_off: set[int] = field(default_factory=set)  # starts of ranges whose first response ends early
    refused: set[int] = field(default_factory=set)  # starts of ranges that are refused
    requests: list[tuple[int, str | None]] = field(default_factory=list)


@contextmanager
def file_server() -> Iterator[FileServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            start, end = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
            served.requests.append((start, self.headers.get("Authorization")))
            content = served.content[start : end + 1]
            if start in served.refused:
                self.send_error(400)
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{start + len(content) - 1}/{len(served.content)}")
            self.send_header("Content-Length", str(len(content)))
            for name, value in served.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if start in served.cut_off:
                served.cut_off.discard(start)
                content = content[: len(content) // 2]
                self.close_connection = True
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Keeps the output of the tests quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = FileServer(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _download(served: FileServer, target: Path) -> SavedFile:
    with Cutroom("cr_secret", served.url, retry=QUICK) as client:
        plan = DownloadPlan(target, "file", part_bytes=PART)
        plan.load()
        return FileDownload(client.transport, lambda: f"{served.url}/files/a", plan, None).run()


def test_ranges_are_joined_without_the_key(tmp_path: Path) -> None:
    with file_server() as served:
        served.cut_off = {0, 3 * PART}
        saved = _download(served, tmp_path / "a.mp4")
    assert saved.path.read_bytes() == CONTENT
    assert (saved.size, saved.sha256) == (len(CONTENT), sha256(CONTENT).hexdigest())
    assert {authorization for _, authorization in served.requests} == {None}
    assert [each.name for each in tmp_path.iterdir()] == ["a.mp4"]


def test_download_continues_with_what_is_missing(tmp_path: Path) -> None:
    with file_server() as served:
        served.refused = {5 * PART}
        with pytest.raises(Exception, match="400"):
            _download(served, tmp_path / "a.mp4")
        assert not (tmp_path / "a.mp4").exists()
        served.refused, before = set(), len(served.requests)
        _download(served, tmp_path / "a.mp4")
        again = [start for start, _ in served.requests[before:]]
    assert (tmp_path / "a.mp4").read_bytes() == CONTENT
    assert PART not in again


def test_another_file_starts_over(tmp_path: Path) -> None:
    with file_server() as served:
        served.headers, served.refused = {"ETag": '"1"'}, {5 * PART}
        with pytest.raises(Exception, match="400"):
            _download(served, tmp_path / "a.mp4")
        served.headers, served.refused, served.content = {"ETag": '"2"'}, set(), CONTENT[::-1]
        _download(served, tmp_path / "a.mp4")
    assert (tmp_path / "a.mp4").read_bytes() == CONTENT[::-1]


def test_wrong_checksum_is_discarded(tmp_path: Path) -> None:
    with file_server() as served:
        served.headers = {"Repr-Digest": "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"}
        with pytest.raises(ChecksumError):
            _download(served, tmp_path / "a.mp4")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "url",
    ["http://example.com/a", "file:///etc/passwd", "https://me@example.com/a", "https:///a", "http://127.0.0.1:1/a"],
)
def test_unsafe_urls_are_refused(url: str) -> None:
    with pytest.raises(UnsafeUrlError):
        checked_url(url, base_url="http://127.0.0.1:8700")


@pytest.mark.parametrize("url", ["https://storage.example.com/a?sign=1", "http://127.0.0.1:8700/files/a", "/files/a"])
def test_signed_urls_are_opened(url: str) -> None:
    assert checked_url(url, base_url="http://127.0.0.1:8700").endswith("a") or "sign=1" in url
