"""Signed URLs of objects: what they serve, what they refuse, and how deletion revokes them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

import httpx
import pytest
from prometheus_client import CollectorRegistry

from cutroom.entrypoints.api import build_app
from cutroom.errors import CutroomError
from cutroom.library.live_videos import VALID_SECONDS
from cutroom.library.playback import PlaybackLinks
from cutroom.library.rules import character_path, video_path
from cutroom.platform.ids import new_id
from cutroom.platform.storage import objects
from cutroom.platform.storage.disposition import content_disposition
from cutroom.platform.storage.links import LIFETIME
from cutroom.platform.telemetry import AccessLog
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock
from tests.library.conftest import AddRow

CONTENT = bytes(range(256)) * 16
NAME = "Été à Paris.mp4"
MIB = 1024 * 1024


@pytest.fixture
async def video_id(add: AddRow) -> str:
    return await add("videos", status="ready")


@pytest.fixture
async def path(runtime: Runtime, person: Person, video_id: str) -> str:
    """The path of a stored file of a video."""
    stored = video_path(person.library_id, video_id, "shorts/r1/output-0.mp4")
    await runtime.storage.put(stored, CONTENT)
    return stored


@dataclass
class OwnApi:
    """An API process with a monotonic clock that stands still."""

    client: httpx.AsyncClient
    seconds: float = 1_000.0


@pytest.fixture
async def own_api(runtime: Runtime) -> AsyncIterator[OwnApi]:
    @asynccontextmanager
    async def open_dependencies() -> AsyncIterator[Runtime]:
        yield replace(runtime, monotonic=lambda: own.seconds)  # read on requests only

    app = build_app(open_dependencies)
    served = RequestMiddleware(app, registry=CollectorRegistry(), tracer=None, access_log=AccessLog("WARNING"))
    own = OwnApi(httpx.AsyncClient(transport=httpx.ASGITransport(app=served)))
    async with app.router.lifespan_context(app), own.client:
        yield own


async def set_deleted(accounts: Accounts, video_id: str, value: str) -> None:
    await accounts.connection.execute(f"UPDATE videos SET deleted_at = {value} WHERE id = $1", video_id)  # noqa: S608


def check_refused(response: httpx.Response, status: int, code: str) -> None:
    assert (response.status_code, response.json()["error"]["code"]) == (status, code), response.url
    assert CONTENT not in response.content


async def test_signed_url_serves_the_object(viewer: httpx.AsyncClient, runtime: Runtime, path: str) -> None:
    response = await viewer.get(runtime.storage.read_url(path))
    assert (response.status_code, response.content) == (200, CONTENT)
    expected = {
        "content-type": "video/mp4",
        "content-length": str(len(CONTENT)),
        "accept-ranges": "bytes",
        "cache-control": "private, max-age=30",
        "access-control-allow-origin": "*",
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox; default-src 'none'",
    }
    assert {name: response.headers[name] for name in expected} == expected
    assert "content-disposition" not in response.headers


@pytest.mark.parametrize("name", ["launch-pt.mp4", NAME, "日本の朝.zip", "a&b=c?d#e+f%20.mp4"])
async def test_download_url_names_the_file(viewer: httpx.AsyncClient, runtime: Runtime, path: str, name: str) -> None:
    response = await viewer.get(runtime.storage.download_url(path, name))
    assert (response.status_code, response.content) == (200, CONTENT)
    assert response.headers["content-disposition"] == content_disposition(name)


@pytest.mark.parametrize(
    ("requested", "status", "returned", "expected"),
    [
        ("bytes=0-9", 206, "bytes 0-9/4096", CONTENT[:10]),
        ("bytes=4000-", 206, "bytes 4000-4095/4096", CONTENT[4000:]),
        ("bytes=-500", 206, "bytes 3596-4095/4096", CONTENT[-500:]),
        ("bytes=9999-", 416, "bytes */4096", b""),
        ("bytes=0-1,5-6", 200, None, CONTENT),
    ],
    ids=["first", "from", "suffix", "beyond", "several"],
)
async def test_range_requests(
    viewer: httpx.AsyncClient,
    runtime: Runtime,
    path: str,
    requested: str,
    status: int,
    returned: str | None,
    expected: bytes,
) -> None:
    response = await viewer.get(runtime.storage.read_url(path), headers={"Range": requested})
    assert (response.status_code, response.content) == (status, expected)
    assert response.headers.get("content-range") == returned


async def test_head_and_preflight_requests(viewer: httpx.AsyncClient, runtime: Runtime, path: str) -> None:
    url = runtime.storage.download_url(path, NAME)
    head = await viewer.head(url)
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(CONTENT)))
    assert head.headers["content-disposition"] == content_disposition(NAME)
    preflight = await viewer.options(url)
    assert (preflight.status_code, preflight.headers["access-control-allow-headers"]) == (204, "Range")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_urls_allow_only_reads(viewer: httpx.AsyncClient, runtime: Runtime, path: str, method: str) -> None:
    check_refused(await viewer.request(method, runtime.storage.read_url(path)), 405, "METHOD_NOT_ALLOWED")
    assert await runtime.storage.size(path) == len(CONTENT)


async def test_url_expires_after_an_hour(
    viewer: httpx.AsyncClient, runtime: Runtime, path: str, clock: MovableClock
) -> None:
    url = runtime.storage.read_url(path)
    clock.shift = LIFETIME - timedelta(minutes=1)
    assert (await viewer.get(url)).status_code == 200
    clock.shift = LIFETIME
    check_refused(await viewer.get(url), 403, "PERMISSION_DENIED")


async def test_tampered_urls_are_rejected(
    viewer: httpx.AsyncClient, runtime: Runtime, accounts: Accounts, person: Person, path: str
) -> None:
    """Every change of token, object or name, and every other spelling of an issued URL."""
    other = (await accounts.person()).library_id
    foreign = path.replace(person.library_id, other)
    await runtime.storage.put(foreign, CONTENT)
    url = runtime.storage.read_url(path)
    token = url.split("/")[4]
    named = runtime.storage.download_url(path, "a.mp4")
    playback = PlaybackLinks(runtime.secret_box, "").url(person.library_id, path.split("/")[3], "", now=runtime.clock())
    changed = [
        url.replace(token, f"{token[:-1]}{'0' if token[-1] != '0' else '1'}"),
        url.replace(token, f"fl_ffffffff{token[11:]}"),
        url.replace(token, f"fl_{token[3:].upper()}"),
        url.replace(token, playback.split("/")[2]),
        url.replace(path, foreign),  # another library's object with a token of one's own
        url.replace("output-0", "output-1"),
        url.replace("shorts/r1", "shorts/r1/%2e%2e/r1"),
        url.replace("shorts/r1", "shorts/.%2E/shorts/r1"),
        url.replace("shorts/r1", "shorts/..%2Fshorts/r1"),
        url.replace("/shorts/", "%2Fshorts%2F"),
        url.replace("output-0.mp4", "output%2D0.mp4"),
        url.replace("/shorts/", "//shorts/"),
        url.replace("/libraries/", "//libraries/"),
        f"{url}/",
        f"{url}%00",
        f"{url}?name=a.mp4",
        f"{url}?name=",
        f"{url}?other=1",
        named.replace("a.mp4", "b.mp4"),
        named.partition("?")[0],
        f"{named}&name=a.mp4",
        f"{named}&other=1",
        named.replace("?name=", "?Name="),
    ]
    for each in changed:
        assert each not in {url, named}
        check_refused(await viewer.get(each), 403, "PERMISSION_DENIED")
    assert (await viewer.get(url)).status_code == (await viewer.get(named)).status_code == 200


async def test_objects_outside_libraries_are_not_served(viewer: httpx.AsyncClient, runtime: Runtime) -> None:
    path = f"doctor/{new_id()}"
    await runtime.storage.put(path, CONTENT)
    check_refused(await viewer.get(runtime.storage.read_url(path)), 403, "PERMISSION_DENIED")


async def test_objects_outside_videos_exist_or_do_not(
    viewer: httpx.AsyncClient, runtime: Runtime, person: Person
) -> None:
    path = character_path(person.library_id, new_id())
    url = runtime.storage.read_url(path)
    check_refused(await viewer.get(url), 404, "NOT_FOUND")
    await runtime.storage.put(path, CONTENT)
    assert (await viewer.get(url)).content == CONTENT
    await runtime.storage.delete(path)
    check_refused(await viewer.get(url), 404, "NOT_FOUND")


async def test_deletion_revokes_issued_urls(
    own_api: OwnApi, runtime: Runtime, accounts: Accounts, video_id: str, path: str
) -> None:
    urls = [runtime.storage.read_url(path), runtime.storage.download_url(path, NAME)]
    for url in urls:
        assert (await own_api.client.get(url)).content == CONTENT
    await set_deleted(accounts, video_id, "now()")
    own_api.seconds += VALID_SECONDS
    for url in urls:
        check_refused(await own_api.client.get(url), 404, "NOT_FOUND")
        assert (await own_api.client.head(url)).status_code == 404
    await set_deleted(accounts, video_id, "NULL")
    own_api.seconds += VALID_SECONDS
    for url in urls:
        assert (await own_api.client.get(url)).content == CONTENT


async def test_deletion_breaks_off_running_downloads(
    own_api: OwnApi,
    runtime: Runtime,
    accounts: Accounts,
    video_id: str,
    path: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(objects, "READ_BYTES", 64 * 1024)
    await runtime.storage.put(path, bytes(4 * MIB))
    read = objects.Storage.read
    chunks = 0

    async def delete_after_first_chunk(
        storage: objects.Storage, path: str, *, span: tuple[int, int] | None = None
    ) -> AsyncIterator[bytes]:
        nonlocal chunks
        async for chunk in read(storage, path, span=span):
            chunks += 1
            yield chunk
            if chunks == 1:
                await set_deleted(accounts, video_id, "now()")
                own_api.seconds += VALID_SECONDS

    monkeypatch.setattr(objects.Storage, "read", delete_after_first_chunk)
    with pytest.raises(CutroomError):  # the server then closes the connection
        await own_api.client.get(runtime.storage.read_url(path))
    assert chunks == 2
