"""The resumable protocol, spoken to the service by hand: what it promises, and what it refuses."""

import asyncio
import base64
import hashlib
import os
import re
from collections.abc import AsyncIterator
from datetime import timedelta

import httpx
import pytest
from starlette.types import Message

from cutroom.platform.storage.multipart import Multipart, StoreError
from cutroom.products.uploads import partial_parts
from cutroom.products.uploads.rules import CHUNK_BYTES, MAX_UPLOAD_BYTES, PART_BYTES
from cutroom.web.outer_middleware import RequestMiddleware
from dev.scratch import Accounts
from tests.conftest import MovableClock
from tests.products.uploads.conftest import Uploader, crc_of

DATA = os.urandom(2 * PART_BYTES + 3 * CHUNK_BYTES + 12_345)
SIZE = len(DATA)


def said(answer: httpx.Response) -> tuple[int, str]:
    error = answer.json()["error"]
    assert error["code"] == answer.status_code
    assert error["message"] == error["errors"][0]["message"]
    return answer.status_code, error["errors"][0]["reason"]


async def job_of(accounts: Accounts, uploader: Uploader) -> tuple[list[str], int, int | None]:
    """What the import still waits for, how often it was started, and the source's size."""
    row = await accounts.connection.fetchrow(
        """SELECT j.depends_on, s.size_bytes, (SELECT count(*) FROM outbox o WHERE o.workflow_id = j.id) AS starts
           FROM jobs j JOIN sources s ON s.library_id = j.library_id AND s.video_id = j.video_id
           WHERE j.video_id = $1""",
        uploader.reserved.video_id,
    )
    assert row is not None
    return row["depends_on"], row["starts"], row["size_bytes"]


async def test_a_file_in_one_put_is_stored_and_its_import_released(uploader: Uploader, accounts: Accounts) -> None:
    await uploader.start()
    assert (await job_of(accounts, uploader))[:2] == ([f"upload_{uploader.reserved.video_id}"], 0)
    answer = await uploader.put(DATA)
    assert answer.status_code == 200
    resource = answer.json()
    assert (resource["name"], resource["size"]) == (uploader.reserved.storage_path, str(SIZE))
    assert resource["contentType"] == "video/mp4"
    assert answer.headers["x-goog-hash"] == f"crc32c={crc_of(DATA)}" == f"crc32c={resource['crc32c']}"
    assert "x-request-id" in answer.headers
    assert await uploader.stored() == DATA
    assert await job_of(accounts, uploader) == ([], 1, SIZE)


async def test_a_body_of_unknown_length_is_a_file(uploader: Uploader) -> None:
    async def body() -> AsyncIterator[bytes]:
        for at in range(0, SIZE, 1_000_003):
            yield DATA[at : at + 1_000_003]

    await uploader.start()
    answer = await uploader.client.put(uploader.url, content=body())
    assert answer.status_code == 200
    assert await uploader.stored() == DATA


@pytest.mark.parametrize("chunk", [CHUNK_BYTES * 5, PART_BYTES, PART_BYTES * 2])
@pytest.mark.parametrize("known", [True, False])
async def test_chunks_become_one_object(uploader: Uploader, chunk: int, known: bool) -> None:  # noqa: FBT001
    answer = httpx.Response(0)
    await uploader.start()
    for at in range(0, SIZE, chunk):
        data = DATA[at : at + chunk]
        last = at + len(data) == SIZE
        answer = await uploader.put(data, f"{at}-{at + len(data) - 1}/{SIZE if known or last else '*'}")
        if not last:
            assert (answer.status_code, answer.headers["range"]) == (308, f"bytes=0-{at + len(data) - 1}")
            assert answer.content == b""
    assert answer.status_code == 200
    assert await uploader.stored() == DATA
    assert await uploader.pieces() == 0


async def test_many_small_chunks_make_few_pieces(uploader: Uploader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutroom.products.uploads.receiver.MAX_PIECES", 3)
    await uploader.start()
    for at in range(0, 8 * CHUNK_BYTES, CHUNK_BYTES):
        await uploader.put(DATA[at : at + CHUNK_BYTES], f"{at}-{at + CHUNK_BYTES - 1}/*")
        assert len((await uploader.row())["tail"]) <= 3
    answer = await uploader.ask(8 * CHUNK_BYTES)
    assert answer.status_code == 200
    assert await uploader.stored() == DATA[: 8 * CHUNK_BYTES]


async def test_a_status_query_tells_how_far_it_has_come(uploader: Uploader) -> None:
    await uploader.start()
    fresh = await uploader.ask()
    assert fresh.status_code == 308
    assert "range" not in fresh.headers
    await uploader.put(DATA[:CHUNK_BYTES], f"0-{CHUNK_BYTES - 1}/{SIZE}")
    for total in ("*", SIZE):
        assert (await uploader.ask(total)).headers["range"] == f"bytes=0-{CHUNK_BYTES - 1}"
    await uploader.put(DATA[CHUNK_BYTES:], f"{CHUNK_BYTES}-{SIZE - 1}/{SIZE}")
    done = await uploader.ask()
    assert (done.status_code, done.json()["size"]) == (200, str(SIZE))


@pytest.mark.parametrize("size", [PART_BYTES, CHUNK_BYTES])
async def test_a_file_of_unknown_size_ends_when_its_size_is_told(uploader: Uploader, size: int) -> None:
    await uploader.start()
    assert (await uploader.put(DATA[:size], f"0-{size - 1}/*")).status_code == 308
    assert (await uploader.ask(size)).status_code == 200
    assert await uploader.stored() == DATA[:size]


async def test_bytes_sent_again_are_skipped(uploader: Uploader) -> None:
    await uploader.start()
    first, second = 4 * CHUNK_BYTES, 40 * CHUNK_BYTES
    await uploader.put(DATA[:first], f"0-{first - 1}/{SIZE}")
    again = await uploader.put(DATA[:first], f"0-{first - 1}/{SIZE}")
    assert again.headers["range"] == f"bytes=0-{first - 1}"
    overlapping = await uploader.put(DATA[:second], f"0-{second - 1}/{SIZE}")
    assert overlapping.headers["range"] == f"bytes=0-{second - 1}"
    assert (await uploader.put(DATA)).status_code == 200
    assert await uploader.stored() == DATA


async def test_a_gap_is_refused_so_that_the_client_asks(uploader: Uploader) -> None:
    await uploader.start()
    answer = await uploader.put(DATA[CHUNK_BYTES:], f"{CHUNK_BYTES}-{SIZE - 1}/{SIZE}")
    assert said(answer) == (503, "backendError")
    assert answer.headers["retry-after"] == "1"
    assert "range" not in (await uploader.ask()).headers


@pytest.mark.parametrize(
    ("content_range", "status"),
    [
        ("0-99/1000", 400),  # not a multiple, and not the last
        ("0-99/50", 400),
        ("99-0/1000", 400),
        ("0-98/99", 400),  # the body has 100
        ("0-262143/*", 400),
        ("chapter 1", 400),
        ("*/0", 400),
        (f"0-99/{MAX_UPLOAD_BYTES + 1}", 413),
        (f"*/{MAX_UPLOAD_BYTES + 1}", 413),
    ],
)
async def test_a_range_that_cannot_be_is_refused(uploader: Uploader, content_range: str, status: int) -> None:
    await uploader.start()
    assert said(await uploader.put(DATA[:100], content_range))[0] == status


async def test_a_size_once_told_stays(uploader: Uploader) -> None:
    await uploader.start()
    await uploader.put(DATA[:CHUNK_BYTES], f"0-{CHUNK_BYTES - 1}/{SIZE}")
    for content_range in (f"*/{SIZE + 1}", f"{CHUNK_BYTES}-{SIZE}/{SIZE + 1}"):
        data = b"" if content_range[0] == "*" else DATA[CHUNK_BYTES:] + b"x"
        assert said(await uploader.put(data, content_range)) == (400, "invalid")
    too_long = await uploader.put(DATA[CHUNK_BYTES : 2 * CHUNK_BYTES] * 70, f"{CHUNK_BYTES}-{71 * CHUNK_BYTES - 1}/*")
    assert said(too_long) == (400, "invalid")


async def test_a_size_told_at_the_start_binds(uploader: Uploader) -> None:
    await uploader.start(**{"X-Upload-Content-Length": "100"})
    assert said(await uploader.put(DATA[:101])) == (400, "invalid")
    assert (await uploader.put(DATA[:100])).status_code == 200


async def test_a_body_longer_than_declared_is_refused(uploader: Uploader) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield DATA[: CHUNK_BYTES + 1]

    await uploader.start()
    headers = {"Content-Range": f"bytes 0-{CHUNK_BYTES - 1}/{SIZE}"}
    assert said(await uploader.client.put(uploader.url, content=body(), headers=headers)) == (400, "invalid")


async def test_an_empty_file_is_refused(uploader: Uploader) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b""

    await uploader.start()
    assert said(await uploader.put(b"")) == (400, "invalid")
    assert said(await uploader.client.put(uploader.url, content=body())) == (400, "invalid")


async def test_a_file_that_ends_before_what_has_come_is_refused(uploader: Uploader) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield DATA[:100]

    await uploader.start()
    await uploader.put(DATA[:CHUNK_BYTES], f"0-{CHUNK_BYTES - 1}/*")
    assert said(await uploader.client.put(uploader.url, content=body())) == (400, "invalid")


@pytest.mark.parametrize("bound", ["SILENCE_SECONDS", "PART_SECONDS"])
async def test_a_sender_that_falls_silent_is_let_go_and_its_bytes_kept(
    uploader: Uploader, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield DATA[:100]
        await asyncio.sleep(1)
        yield DATA[100:]

    await uploader.start()
    with monkeypatch.context() as patch:
        patch.setattr(f"cutroom.products.uploads.receiver.{bound}", 0.2)
        assert said(await uploader.client.put(uploader.url, content=body())) == (408, "requestTimeout")
    assert (await uploader.ask()).headers["range"] == "bytes=0-99"


async def test_too_many_at_once_are_told_to_come_back(uploader: Uploader, monkeypatch: pytest.MonkeyPatch) -> None:
    await uploader.start()
    monkeypatch.setattr(asyncio.Semaphore, "locked", lambda _: True)
    assert said(await uploader.put(DATA)) == (503, "backendError")


@pytest.mark.parametrize("sent", [1, CHUNK_BYTES, PART_BYTES + 777])
async def test_what_came_before_the_line_broke_is_kept(
    uploader: Uploader, service: RequestMiddleware, sent: int
) -> None:
    await uploader.start()
    messages: list[Message] = [
        {"type": "http.request", "body": DATA[:sent], "more_body": True},
        {"type": "http.disconnect"},
    ]
    answers = []

    async def receive() -> Message:
        return messages.pop(0)

    async def send(message: Message) -> None:
        answers.append(message)

    url = httpx.URL(uploader.url)
    scope = {
        "type": "http",
        "method": "PUT",
        "path": url.path,
        "query_string": url.query,
        "headers": [(b"content-length", str(SIZE).encode())],
    }
    await service({**scope, "state": {}}, receive, send)
    assert (await uploader.ask()).headers["range"] == f"bytes=0-{sent - 1}"
    assert (await uploader.put(DATA[sent:], f"{sent}-{SIZE - 1}/{SIZE}")).status_code == 200
    assert await uploader.stored() == DATA


@pytest.mark.parametrize("name", ["crc32c", "md5"])
async def test_a_right_checksum_is_accepted(uploader: Uploader, name: str) -> None:
    md5 = base64.b64encode(hashlib.md5(DATA, usedforsecurity=False).digest()).decode()
    await uploader.start()
    await uploader.put(DATA[:CHUNK_BYTES], f"0-{CHUNK_BYTES - 1}/{SIZE}")
    value = {"crc32c": crc_of(DATA), "md5": md5}[name]
    rest = {"x-goog-hash": f"{name}={value}"}
    answer = await uploader.put(DATA[CHUNK_BYTES:], f"{CHUNK_BYTES}-{SIZE - 1}/{SIZE}", **rest)
    assert answer.status_code == 200
    assert f"{name}={value}" in answer.headers["x-goog-hash"]
    assert answer.json().get("md5Hash") == (md5 if name == "md5" else None)


@pytest.mark.parametrize("checksum", [f"crc32c={crc_of(b'other')}", "md5=AAAAAAAAAAAAAAAAAAAAAA=="])
async def test_a_wrong_checksum_ends_the_session(uploader: Uploader, accounts: Accounts, checksum: str) -> None:
    await uploader.start()
    assert said(await uploader.put(DATA, **{"x-goog-hash": checksum})) == (400, "BadDigest")
    assert said(await uploader.ask()) == (410, "gone")
    with pytest.raises(FileNotFoundError):
        await uploader.stored()
    assert (await job_of(accounts, uploader))[1:] == (0, None)
    await uploader.start()
    assert (await uploader.put(DATA)).status_code == 200


async def test_the_last_put_can_be_repeated(uploader: Uploader, accounts: Accounts) -> None:
    await uploader.start()
    first = await uploader.put(DATA)
    for again in (await uploader.put(DATA), await uploader.put(DATA[-5:], f"{SIZE - 5}-{SIZE - 1}/{SIZE}")):
        assert (again.status_code, again.content) == (200, first.content)
    assert (await job_of(accounts, uploader))[1] == 1


async def test_an_answer_lost_with_its_process_is_found_again(
    uploader: Uploader, accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The object was put together, and then the process died before its row said so."""
    await uploader.start()
    complete = Multipart.complete

    async def complete_and_die(self: Multipart, path: str, upload_id: str, *, etags: list[str]) -> None:
        await complete(self, path, upload_id, etags=etags)
        raise StoreError(500, "died")

    with monkeypatch.context() as patch:
        patch.setattr(Multipart, "complete", complete_and_die)
        assert said(await uploader.put(DATA)) == (503, "backendError")
    await uploader.gateway.multipart.abort(uploader.reserved.storage_path, (await uploader.row())["multipart_id"])
    answer = await uploader.ask(SIZE)
    assert (answer.status_code, answer.json()["crc32c"]) == (200, crc_of(DATA))
    assert await uploader.stored() == DATA
    assert await job_of(accounts, uploader) == ([], 1, SIZE)


async def test_a_part_stored_before_its_row_is_stored_again(
    uploader: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    await uploader.start()
    put_part = Multipart.put_part

    async def put_and_die(self: Multipart, path: str, upload_id: str, *, number: int, pieces: list[bytes]) -> str:
        etag = await put_part(self, path, upload_id, number=number, pieces=pieces)
        if number == 2:
            raise StoreError(500, "died")
        return etag

    with monkeypatch.context() as patch:
        patch.setattr(Multipart, "put_part", put_and_die)
        assert said(await uploader.put(DATA)) == (503, "backendError")
    at = int(re.fullmatch(r"bytes=0-(\d+)", (await uploader.ask()).headers["range"])[1]) + 1  # type: ignore[index]
    assert at == PART_BYTES
    assert (await uploader.put(DATA[at:], f"{at}-{SIZE - 1}/{SIZE}")).status_code == 200
    assert await uploader.stored() == DATA


async def test_twins_at_the_same_time_make_one_object(uploader: Uploader, accounts: Accounts) -> None:
    await uploader.start()
    answers = await asyncio.gather(*(uploader.put(DATA) for _ in range(4)))
    statuses = {answer.status_code for answer in answers}
    assert 200 in statuses
    assert statuses <= {200, 503}
    assert await uploader.stored() == DATA
    assert (await job_of(accounts, uploader))[1] == 1


async def test_a_cancelled_session_is_gone_with_its_bytes(uploader: Uploader) -> None:
    await uploader.start()
    await uploader.put(DATA[:CHUNK_BYTES], f"0-{CHUNK_BYTES - 1}/{SIZE}")
    assert await uploader.pieces() == 1
    assert (await uploader.client.delete(uploader.url)).status_code == 499
    assert said(await uploader.ask()) == (410, "gone")
    assert said(await uploader.client.delete(uploader.url)) == (410, "gone")
    assert (await uploader.pieces(), (await uploader.row())["multipart_id"]) == (0, None)


async def test_a_new_session_replaces_an_open_one(uploader: Uploader) -> None:
    first = await uploader.start()
    await uploader.put(DATA[:CHUNK_BYTES], f"0-{CHUNK_BYTES - 1}/{SIZE}")
    await uploader.start()
    assert said(await uploader.client.put(first, content=DATA)) == (410, "gone")
    assert (await uploader.put(DATA)).status_code == 200


async def test_a_finished_upload_is_not_begun_again(uploader: Uploader) -> None:
    await uploader.start()
    await uploader.put(DATA)
    answer = await uploader.client.post(uploader.start_url(), headers={"x-goog-resumable": "start"})
    assert said(answer) == (412, "conditionNotMet")


async def test_the_start_wants_its_header_its_signature_and_its_time(uploader: Uploader, clock: MovableClock) -> None:
    url, headers = uploader.start_url(), {"x-goog-resumable": "start"}
    assert said(await uploader.client.post(url)) == (400, "invalid")
    for wrong in (url[:-2] + "AA", url.replace("/uploads/", "/uploads/0"), url.partition("?")[0]):
        assert said(await uploader.client.post(wrong, headers=headers)) == (403, "SignatureDoesNotMatch")
    clock.shift = timedelta(minutes=29, seconds=50)
    assert (await uploader.client.post(url, headers=headers)).status_code == 201
    clock.shift = timedelta(minutes=30, seconds=10)
    assert said(await uploader.client.post(url, headers=headers)) == (400, "ExpiredToken")


async def test_a_session_lives_seven_days(uploader: Uploader, clock: MovableClock) -> None:
    await uploader.start()
    clock.shift = timedelta(days=6, hours=23)
    assert (await uploader.ask()).status_code == 308
    clock.shift = timedelta(days=7, minutes=1)
    assert said(await uploader.ask()) == (410, "gone")


async def test_only_the_whole_token_opens_a_session(uploader: Uploader) -> None:
    url = await uploader.start()
    library_id, session_id, secret = url.partition("upload_id=")[2].split(".")
    other = f"/uploads/{uploader.reserved.video_id}?upload_id="
    for token in ("", "a.b.c", f"{library_id}.{session_id}.", f"{library_id}.{session_id}.{secret}x", session_id):
        assert said(await uploader.client.put(other + token, content=DATA)) == (404, "notFound")
    moved = url.replace(uploader.reserved.video_id, "0" * 26)
    assert said(await uploader.client.put(moved, content=DATA)) == (404, "notFound")
    assert secret.encode() not in (await uploader.row())["token_hash"]


@pytest.mark.parametrize("method", ["GET", "PATCH"])
async def test_other_methods_are_refused_in_the_same_shape(uploader: Uploader, method: str) -> None:
    url = await uploader.start()
    assert said(await uploader.client.request(method, url)) == (405, "methodNotAllowed")


async def test_a_browser_may_use_the_url(uploader: Uploader) -> None:
    url = await uploader.start()
    preflight = await uploader.client.options(url, headers={"Origin": "https://app.example"})
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert "Range" in (await uploader.ask()).headers["access-control-expose-headers"]


async def test_when_the_store_is_away_the_client_is_told_to_come_back(
    uploader: Uploader, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object, **__: object) -> None:
        raise httpx.ConnectError("away")

    await uploader.start()
    with monkeypatch.context() as patch:
        patch.setattr(Multipart, "put_part", away)
        assert said(await uploader.put(DATA)) == (503, "backendError")
    with monkeypatch.context() as patch:
        patch.setattr("cutroom.products.uploads.receiver.put_piece", away)
        assert said(await uploader.put(DATA[:CHUNK_BYTES], f"0-{CHUNK_BYTES - 1}/*")) == (503, "backendError")
    assert "range" not in (await uploader.ask()).headers
    assert partial_parts.MAX_PIECES > 1
