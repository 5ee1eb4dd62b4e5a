"""The resumable protocol: progress, errors, crashes and concurrency."""

import asyncio
import base64
import hashlib
import os
import re
from collections.abc import AsyncIterable, AsyncIterator
from datetime import timedelta

import httpx
import pytest
from starlette.types import Message

from cutroom.platform.storage.multipart import Multipart, StoreError
from cutroom.products.uploads import partial_parts
from cutroom.products.uploads.rules import CHUNK_BYTES, MAX_UPLOAD_BYTES, PART_BYTES
from cutroom.web.outer_middleware import RequestMiddleware
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock
from tests.products.uploads.conftest import Uploader, crc_of

DATA = os.urandom(2 * PART_BYTES + 3 * CHUNK_BYTES + 12_345)
SIZE = len(DATA)


def error_of(response: httpx.Response) -> tuple[int, str]:
    error = response.json()["error"]
    assert error["code"] == response.status_code
    assert error["message"] == error["errors"][0]["message"]
    return response.status_code, error["errors"][0]["reason"]


async def job_of(accounts: Accounts, uploader: Uploader) -> tuple[list[str], int, int | None]:
    """The import's dependencies, number of starts, and the source's size."""
    row = await accounts.connection.fetchrow(
        """SELECT j.depends_on, s.size_bytes, (SELECT count(*) FROM outbox o WHERE o.workflow_id = j.id) AS starts
           FROM jobs j JOIN sources s ON s.library_id = j.library_id AND s.video_id = j.video_id
           WHERE j.video_id = $1""",
        uploader.reserved.video_id,
    )
    assert row is not None
    return row["depends_on"], row["starts"], row["size_bytes"]


async def test_single_put_stores_file_and_releases_import(uploader: Uploader, accounts: Accounts) -> None:
    await uploader.start()
    assert (await job_of(accounts, uploader))[:2] == ([f"upload_{uploader.reserved.video_id}"], 0)
    response = await uploader.put(DATA)
    assert response.status_code == 200
    resource = response.json()
    assert (resource["name"], resource["size"]) == (uploader.reserved.storage_path, str(SIZE))
    assert resource["contentType"] == "video/mp4"
    assert response.headers["x-goog-hash"] == f"crc32c={crc_of(DATA)}" == f"crc32c={resource['crc32c']}"
    assert "x-request-id" in response.headers
    assert await uploader.stored() == DATA
    assert await job_of(accounts, uploader) == ([], 1, SIZE)


async def test_body_of_unknown_length_is_accepted(uploader: Uploader) -> None:
    async def body() -> AsyncIterator[bytes]:
        for at in range(0, SIZE, 1_000_003):
            yield DATA[at : at + 1_000_003]

    await uploader.start()
    response = await uploader.client.put(uploader.url, content=body())
    assert response.status_code == 200
    assert await uploader.stored() == DATA


@pytest.mark.parametrize("chunk", [CHUNK_BYTES * 5, PART_BYTES, PART_BYTES * 2])
@pytest.mark.parametrize("known", [True, False])
async def test_chunks_become_one_object(uploader: Uploader, chunk: int, known: bool) -> None:  # noqa: FBT001
    response = httpx.Response(0)
    await uploader.start()
    for at in range(0, SIZE, chunk):
        data = DATA[at : at + chunk]
        last = at + len(data) == SIZE
        response = await uploader.put(data, f"{at}-{at + len(data) - 1}/{SIZE if known or last else '*'}")
        if not last:
            assert (response.status_code, response.headers["range"]) == (308, f"bytes=0-{at + len(data) - 1}")
            assert response.content == b""
    assert response.status_code == 200
    assert await uploader.stored() == DATA
    assert await uploader.partial_part_count() == 0


async def test_partial_parts_are_merged(uploader: Uploader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutroom.products.uploads.receiver.MAX_PARTIAL_PARTS", 3)
    await uploader.start()
    for at in range(0, 8 * CHUNK_BYTES, CHUNK_BYTES):
        await uploader.put(DATA[at : at + CHUNK_BYTES], f"{at}-{at + CHUNK_BYTES - 1}/*")
        assert len((await uploader.row())["partial_parts"]) <= 3
    response = await uploader.query(8 * CHUNK_BYTES)
    assert response.status_code == 200
    assert await uploader.stored() == DATA[: 8 * CHUNK_BYTES]


async def test_status_query_returns_received_range(uploader: Uploader) -> None:
    await uploader.start()
    fresh = await uploader.query()
    assert fresh.status_code == 308
    assert "range" not in fresh.headers
    await uploader.put(DATA[:CHUNK_BYTES], f"0-{CHUNK_BYTES - 1}/{SIZE}")
    for total in ("*", SIZE):
        assert (await uploader.query(total)).headers["range"] == f"bytes=0-{CHUNK_BYTES - 1}"
    await uploader.put(DATA[CHUNK_BYTES:], f"{CHUNK_BYTES}-{SIZE - 1}/{SIZE}")
    done = await uploader.query()
    assert (done.status_code, done.json()["size"]) == (200, str(SIZE))


@pytest.mark.parametrize("size", [PART_BYTES, CHUNK_BYTES])
async def test_upload_of_unknown_size_ends_when_size_is_declared(uploader: Uploader, size: int) -> None:
    await uploader.start()
    assert (await uploader.put(DATA[:size], f"0-{size - 1}/*")).status_code == 308
    assert (await uploader.query(size)).status_code == 200
    assert await uploader.stored() == DATA[:size]


async def test_repeated_bytes_are_skipped(uploader: Uploader) -> None:
    await uploader.start()
    first, second = 4 * CHUNK_BYTES, 40 * CHUNK_BYTES
    await uploader.put(DATA[:first], f"0-{first - 1}/{SIZE}")
    again = await uploader.put(DATA[:first], f"0-{first - 1}/{SIZE}")
    assert again.headers["range"] == f"bytes=0-{first - 1}"
    overlapping = await uploader.put(DATA[:second], f"0-{second - 1}/{SIZE}")
    assert overlapping.headers["range"] == f"bytes=0-{second - 1}"
    assert (await uploader.put(DATA)).status_code == 200
    assert await uploader.stored() == DATA


async def test_gap_is_rejected_as_retryable(uploader: Uploader) -> None:
    await uploader.start()
    response = await uploader.put(DATA[CHUNK_BYTES:], f"{CHUNK_BYTES}-{SIZE - 1}/{SIZE}")
    assert error_of(response) == (503, "backendError")
    assert response.headers["retry-after"] == "1"
    assert "range" not in (await uploader.query()).headers


@pytest.mark.parametrize(
    ("content_range", "status"),
    [
        ("0-99/1000", 400),  # neither a multiple nor the last chunk
        ("0-99/50", 400),
        ("99-0/1000", 400),
        ("0-98/99", 400),  # the body has 100 bytes
        ("0-262143/*", 400),
        ("chapter 1", 400),
        ("*/0", 400),
        (f"0-99/{MAX_UPLOAD_BYTES + 1}", 413),
        (f"*/{MAX_UPLOAD_BYTES + 1}", 413),
    ],
)
async def test_invalid_range_is_rejected(uploader: Uploader, content_range: str, status: int) -> None:
    await uploader.start()
    assert error_of(await uploader.put(DATA[:100], content_range))[0] == status


async def test_declared_size_cannot_change(uploader: Uploader) -> None:
    await uploader.start()
    await uploader.put(DATA[:CHUNK_BYTES], f"0-{CHUNK_BYTES - 1}/{SIZE}")
    for content_range in (f"*/{SIZE + 1}", f"{CHUNK_BYTES}-{SIZE}/{SIZE + 1}"):
        data = b"" if content_range[0] == "*" else DATA[CHUNK_BYTES:] + b"x"
        assert error_of(await uploader.put(data, content_range)) == (400, "invalid")
    too_long = await uploader.put(DATA[CHUNK_BYTES : 2 * CHUNK_BYTES] * 70, f"{CHUNK_BYTES}-{71 * CHUNK_BYTES - 1}/*")
    assert error_of(too_long) == (400, "invalid")


async def test_size_declared_at_start_is_enforced(uploader: Uploader) -> None:
    await uploader.start(**{"X-Upload-Content-Length": "100"})
    assert error_of(await uploader.put(DATA[:101])) == (400, "invalid")
    assert (await uploader.put(DATA[:100])).status_code == 200


async def test_body_longer_than_declared_is_rejected(uploader: Uploader) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield DATA[: CHUNK_BYTES + 1]

    await uploader.start()
    headers = {"Content-Range": f"bytes 0-{CHUNK_BYTES - 1}/{SIZE}"}
    assert error_of(await uploader.client.put(uploader.url, content=body(), headers=headers)) == (400, "invalid")


async def test_empty_file_is_rejected(uploader: Uploader) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b""

    await uploader.start()
    assert error_of(await uploader.put(b"")) == (400, "invalid")
    assert error_of(await uploader.client.put(uploader.url, content=body())) == (400, "invalid")


async def test_file_shorter_than_received_bytes_is_rejected(uploader: Uploader) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield DATA[:100]

    await uploader.start()
    await uploader.put(DATA[:CHUNK_BYTES], f"0-{CHUNK_BYTES - 1}/*")
    assert error_of(await uploader.client.put(uploader.url, content=body())) == (400, "invalid")


async def test_sender_too_slow_for_a_part_times_out_and_bytes_are_kept(
    uploader: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield DATA[:100]
        await asyncio.Event().wait()

    await uploader.start()
    with monkeypatch.context() as patch:
        patch.setattr("cutroom.products.uploads.receiver.PART_SECONDS", 0.2)
        assert error_of(await uploader.client.put(uploader.url, content=body())) == (408, "requestTimeout")
    assert (await uploader.query()).headers["range"] == "bytes=0-99"


@pytest.mark.parametrize("sent", [1, CHUNK_BYTES, PART_BYTES + 777])
async def test_bytes_before_a_disconnect_are_kept(uploader: Uploader, service: RequestMiddleware, sent: int) -> None:
    await uploader.start()
    messages: list[Message] = [
        {"type": "http.request", "body": DATA[:sent], "more_body": True},
        {"type": "http.disconnect"},
    ]
    responses = []

    async def receive() -> Message:
        return messages.pop(0)

    async def send(message: Message) -> None:
        responses.append(message)

    url = httpx.URL(uploader.url)
    scope = {
        "type": "http",
        "method": "PUT",
        "path": url.path,
        "query_string": url.query,
        "headers": [(b"content-length", str(SIZE).encode())],
    }
    await service({**scope, "state": {}}, receive, send)
    assert (await uploader.query()).headers["range"] == f"bytes=0-{sent - 1}"
    assert (await uploader.put(DATA[sent:], f"{sent}-{SIZE - 1}/{SIZE}")).status_code == 200
    assert await uploader.stored() == DATA


@pytest.mark.parametrize("name", ["crc32c", "md5"])
async def test_correct_checksum_is_accepted(uploader: Uploader, name: str) -> None:
    md5 = base64.b64encode(hashlib.md5(DATA, usedforsecurity=False).digest()).decode()
    await uploader.start()
    await uploader.put(DATA[:CHUNK_BYTES], f"0-{CHUNK_BYTES - 1}/{SIZE}")
    value = {"crc32c": crc_of(DATA), "md5": md5}[name]
    rest = {"x-goog-hash": f"{name}={value}"}
    response = await uploader.put(DATA[CHUNK_BYTES:], f"{CHUNK_BYTES}-{SIZE - 1}/{SIZE}", **rest)
    assert response.status_code == 200
    assert f"{name}={value}" in response.headers["x-goog-hash"]
    assert response.json().get("md5Hash") == (md5 if name == "md5" else None)


@pytest.mark.parametrize("checksum", [f"crc32c={crc_of(b'other')}", "md5=AAAAAAAAAAAAAAAAAAAAAA=="])
async def test_wrong_checksum_aborts_the_session(uploader: Uploader, accounts: Accounts, checksum: str) -> None:
    await uploader.start()
    assert error_of(await uploader.put(DATA, **{"x-goog-hash": checksum})) == (400, "BadDigest")
    assert error_of(await uploader.query()) == (410, "gone")
    with pytest.raises(FileNotFoundError):
        await uploader.stored()
    assert (await job_of(accounts, uploader))[1:] == (0, None)
    await uploader.start()
    assert (await uploader.put(DATA)).status_code == 200


async def test_final_put_is_idempotent(uploader: Uploader, accounts: Accounts) -> None:
    await uploader.start()
    first = await uploader.put(DATA)
    for again in (await uploader.put(DATA), await uploader.put(DATA[-5:], f"{SIZE - 5}-{SIZE - 1}/{SIZE}")):
        assert (again.status_code, again.content) == (200, first.content)
    assert (await job_of(accounts, uploader))[1] == 1


async def test_crash_after_completion_is_recovered(
    uploader: Uploader, accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process dies after completing the object, before its row is updated."""
    await uploader.start()
    complete = Multipart.complete

    async def complete_and_die(self: Multipart, path: str, upload_id: str, *, etags: list[str]) -> None:
        await complete(self, path, upload_id, etags=etags)
        raise StoreError(500, "died")

    with monkeypatch.context() as patch:
        patch.setattr(Multipart, "complete", complete_and_die)
        assert error_of(await uploader.put(DATA)) == (503, "backendError")
    await uploader.gateway.multipart.abort(uploader.reserved.storage_path, (await uploader.row())["multipart_id"])
    response = await uploader.query(SIZE)
    assert (response.status_code, response.json()["crc32c"]) == (200, crc_of(DATA))
    assert await uploader.stored() == DATA
    assert await job_of(accounts, uploader) == ([], 1, SIZE)


async def test_part_without_row_is_uploaded_again(uploader: Uploader, monkeypatch: pytest.MonkeyPatch) -> None:
    await uploader.start()
    stream_part = Multipart.stream_part

    async def put_and_die(
        self: Multipart, path: str, upload_id: str, *, number: int, content: AsyncIterable[bytes], size_bytes: int
    ) -> str:
        etag = await stream_part(self, path, upload_id, number=number, content=content, size_bytes=size_bytes)
        if number == 2:
            raise StoreError(500, "died")
        return etag

    with monkeypatch.context() as patch:
        patch.setattr(Multipart, "stream_part", put_and_die)
        assert error_of(await uploader.put(DATA)) == (503, "backendError")
    at = int(re.fullmatch(r"bytes=0-(\d+)", (await uploader.query()).headers["range"])[1]) + 1  # type: ignore[index]
    assert at == PART_BYTES
    assert (await uploader.put(DATA[at:], f"{at}-{SIZE - 1}/{SIZE}")).status_code == 200
    assert await uploader.stored() == DATA


async def test_concurrent_duplicates_create_one_object(uploader: Uploader, accounts: Accounts) -> None:
    await uploader.start()
    responses = await asyncio.gather(*(uploader.put(DATA) for _ in range(4)))
    statuses = {response.status_code for response in responses}
    assert 200 in statuses
    assert statuses <= {200, 503}
    assert await uploader.stored() == DATA
    assert (await job_of(accounts, uploader))[1] == 1


async def test_cancelled_session_deletes_its_bytes(uploader: Uploader) -> None:
    await uploader.start()
    await uploader.put(DATA[:CHUNK_BYTES], f"0-{CHUNK_BYTES - 1}/{SIZE}")
    assert await uploader.partial_part_count() == 1
    assert (await uploader.client.delete(uploader.url)).status_code == 499
    assert error_of(await uploader.query()) == (410, "gone")
    assert error_of(await uploader.client.delete(uploader.url)) == (410, "gone")
    assert (await uploader.partial_part_count(), (await uploader.row())["multipart_id"]) == (0, None)


async def test_new_session_replaces_an_open_one(uploader: Uploader) -> None:
    first = await uploader.start()
    await uploader.put(DATA[:CHUNK_BYTES], f"0-{CHUNK_BYTES - 1}/{SIZE}")
    await uploader.start()
    assert error_of(await uploader.client.put(first, content=DATA)) == (410, "gone")
    assert (await uploader.put(DATA)).status_code == 200


async def test_finished_upload_cannot_be_restarted(uploader: Uploader) -> None:
    await uploader.start()
    await uploader.put(DATA)
    response = await uploader.client.post(uploader.start_url(), headers={"x-goog-resumable": "start"})
    assert error_of(response) == (412, "conditionNotMet")


async def test_start_requires_header_and_valid_signature(uploader: Uploader, clock: MovableClock) -> None:
    url, headers = uploader.start_url(), {"x-goog-resumable": "start"}
    assert error_of(await uploader.client.post(url)) == (400, "invalid")
    for wrong in (url[:-2] + "AA", url.replace("/uploads/", "/uploads/0"), url.partition("?")[0]):
        assert error_of(await uploader.client.post(wrong, headers=headers)) == (403, "SignatureDoesNotMatch")
    clock.shift = timedelta(minutes=29, seconds=50)
    assert (await uploader.client.post(url, headers=headers)).status_code == 201
    clock.shift = timedelta(minutes=30, seconds=10)
    assert error_of(await uploader.client.post(url, headers=headers)) == (400, "ExpiredToken")


async def test_session_expires_after_seven_days(uploader: Uploader, clock: MovableClock) -> None:
    await uploader.start()
    clock.shift = timedelta(days=6, hours=23)
    assert (await uploader.query()).status_code == 308
    clock.shift = timedelta(days=7, minutes=1)
    assert error_of(await uploader.query()) == (410, "gone")


async def test_partial_token_is_rejected(uploader: Uploader) -> None:
    url = await uploader.start()
    library_id, session_id, secret = url.partition("upload_id=")[2].split(".")
    other = f"/uploads/{uploader.reserved.video_id}?upload_id="
    for token in ("", "a.b.c", f"{library_id}.{session_id}.", f"{library_id}.{session_id}.{secret}x", session_id):
        assert error_of(await uploader.client.put(other + token, content=DATA)) == (404, "notFound")
    moved = url.replace(uploader.reserved.video_id, "0" * 26)
    assert error_of(await uploader.client.put(moved, content=DATA)) == (404, "notFound")
    assert secret.encode() not in (await uploader.row())["token_hash"]


@pytest.mark.parametrize("method", ["GET", "PATCH"])
async def test_unsupported_methods_get_google_errors(uploader: Uploader, method: str) -> None:
    url = await uploader.start()
    assert error_of(await uploader.client.request(method, url)) == (405, "methodNotAllowed")


async def test_cors_allows_browsers(uploader: Uploader) -> None:
    url = await uploader.start()
    preflight = await uploader.client.options(url, headers={"Origin": "https://app.example"})
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert "Range" in (await uploader.query()).headers["access-control-expose-headers"]


async def test_store_outage_is_retryable(uploader: Uploader, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unavailable(*_: object, **__: object) -> None:
        raise httpx.ConnectError("unavailable")

    await uploader.start()
    with monkeypatch.context() as patch:
        patch.setattr(Multipart, "stream_part", unavailable)
        assert error_of(await uploader.put(DATA)) == (503, "backendError")
    with monkeypatch.context() as patch:
        patch.setattr("cutroom.products.uploads.receiver.put_partial_part", unavailable)
        assert error_of(await uploader.put(DATA[:CHUNK_BYTES], f"0-{CHUNK_BYTES - 1}/*")) == (503, "backendError")
    assert "range" not in (await uploader.query()).headers
    assert partial_parts.MAX_PARTIAL_PARTS > 1


async def test_uploads_into_a_suspended_library_are_refused(
    uploader: Uploader, accounts: Accounts, person: Person
) -> None:
    await uploader.start()
    suspend = "UPDATE libraries SET suspended_at = CASE WHEN $2 THEN now() END WHERE id = $1"
    await accounts.connection.execute(suspend, person.library_id, True)  # noqa: FBT003 (an SQL argument)
    assert error_of(await uploader.put(b"data")) == (403, "forbidden")
    started = await uploader.client.post(uploader.start_url(), headers={"x-goog-resumable": "start"})
    assert error_of(started) == (403, "forbidden")
    await accounts.connection.execute(suspend, person.library_id, False)  # noqa: FBT003 (as above)
    assert (await uploader.put(b"data")).status_code == 200


async def test_upload_of_a_former_member_is_refused(uploader: Uploader, accounts: Accounts, person: Person) -> None:
    await uploader.start()
    claim = "UPDATE upload_sessions SET account_id = $2 WHERE library_id = $1"
    await accounts.connection.execute(claim, person.library_id, person.user_id)
    assert (await uploader.query()).status_code == 308
    await accounts.connection.execute(claim, person.library_id, (await accounts.person()).user_id)
    assert error_of(await uploader.query()) == (403, "forbidden")
    assert error_of(await uploader.put(b"data")) == (403, "forbidden")
