"""Body validation and canonical hashing."""

import asyncio
import time

import pytest
from starlette.requests import Request
from starlette.types import Message

from cutroom.errors import CutroomError
from cutroom.web.body import (
    MAX_BODY_BYTES,
    MAX_DEPTH,
    MAX_VALUES,
    Body,
    read_body,
)


async def read(content: bytes, content_type: str = "application/json") -> Body:
    async def receive() -> Message:
        return {"type": "http.request", "body": content, "more_body": False}

    headers = [(b"content-type", content_type.encode())]
    return await read_body(
        Request({"type": "http", "method": "POST", "headers": headers}, receive), library_id="", hashed=True
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b'{"a": 1, "b": 2}', b'{"b":2,"a":1}'),
        (b'{"a": 1.0}', b'{"a": 1}'),
        (b'{"a": 1e2}', b'{"a": 100}'),
        ('{"a": "é"}'.encode(), b'{"a": "\\u00e9"}'),
        (b"", b""),
    ],
)
async def test_equivalent_documents_have_equal_hashes(one: bytes, other: bytes) -> None:
    assert (await read(one)).hash == (await read(other)).hash


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b'{"a": 1}', b'{"a": "1"}'),
        (b'{"a": null}', b"{}"),
        (b'{"a": [1, 2]}', b'{"a": [2, 1]}'),
        (b"{}", b""),
        (b"{", b"{ "),
    ],
)
async def test_different_documents_have_different_hashes(one: bytes, other: bytes) -> None:
    assert (await read(one)).hash != (await read(other)).hash


async def test_body_error_is_returned_not_raised() -> None:
    body = await read(b"{")
    assert body.error is not None
    assert body.error.details == {"fields": [{"path": "body", "message": "This is not valid JSON."}]}


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1])
async def test_nesting_is_limited(depth: int) -> None:
    body = await read(b"[" * depth + b"]" * depth)
    assert (body.error is not None) == (depth > MAX_DEPTH)


@pytest.mark.parametrize(
    "unit", [b"1,", b"1.5e-7,", b'"",', b"{},", b'{"a":[{}]},', b'"\\"', b'"\\u0001",', b'\\"'], ids=repr
)
async def test_crafted_body_costs_little(unit: bytes) -> None:
    """It took up to a second of CPU time before the number of values was limited."""
    content = b"[" + unit * (MAX_BODY_BYTES // len(unit) - 2) + b"1]"
    started = time.process_time()
    found = await read(content)
    assert found.error is not None
    assert time.process_time() - started < 0.2


async def test_large_document_leaves_the_loop_free() -> None:
    content = b'["' + b"\\u0001" * (MAX_BODY_BYTES // 6 - 4) + b'"]'
    reading = asyncio.create_task(read(content))
    turns = 0
    while not reading.done():
        await asyncio.sleep(0)
        turns += 1
    assert (await reading).error is None
    assert turns > 2  # read at once, there would be no other turn


@pytest.mark.parametrize(("count", "is_valid"), [(MAX_VALUES - 1, True), (MAX_VALUES, False)])
async def test_number_of_values_is_limited(count: int, *, is_valid: bool) -> None:
    found = await read(b"[" + b",".join([b'"a, [b] {c} \\" d"'] * count) + b"]")
    assert (found.error is None) is is_valid


@pytest.mark.parametrize("size", [MAX_BODY_BYTES, MAX_BODY_BYTES + 1])
async def test_body_size_is_limited(size: int) -> None:
    content = b'"' + b"x" * (size - 2) + b'"'
    if size <= MAX_BODY_BYTES:
        assert (await read(content)).error is None
    else:
        with pytest.raises(CutroomError):
            await read(content)


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON", "application/x+json"]
)
async def test_json_media_types_are_accepted(content_type: str) -> None:
    assert (await read(b"{}", content_type)).error is None


@pytest.mark.parametrize("content_type", ["", "text/json", "application/jsonp", "multipart/form-data"])
async def test_other_media_types_are_rejected(content_type: str) -> None:
    error = (await read(b"{}", content_type)).error
    assert error is not None
    assert error.details["fields"][0]["path"] == "Content-Type"
