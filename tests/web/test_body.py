"""Reading bodies: what is refused, and what counts as the same."""

import pytest
from starlette.requests import Request
from starlette.types import Message

from cutroom.errors import CutroomError
from cutroom.web.body import MAX_BODY_BYTES, MAX_DEPTH, Body, read_body


async def read(content: bytes, content_type: str = "application/json") -> Body:
    async def receive() -> Message:
        return {"type": "http.request", "body": content, "more_body": False}

    headers = [(b"content-type", content_type.encode())]
    return await read_body(Request({"type": "http", "method": "POST", "headers": headers}, receive))


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
async def test_spellings_of_one_document_have_one_hash(one: bytes, other: bytes) -> None:
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


async def test_a_fault_is_carried_so_that_its_answer_can_be_retained() -> None:
    body = await read(b"{")
    assert body.fault is not None
    assert body.fault.details == {"fields": [{"path": "body", "message": "This is not valid JSON."}]}


@pytest.mark.parametrize("depth", [MAX_DEPTH, MAX_DEPTH + 1])
async def test_documents_nest_at_most_so_deep(depth: int) -> None:
    body = await read(b"[" * depth + b"]" * depth)
    assert (body.fault is not None) == (depth > MAX_DEPTH)


@pytest.mark.parametrize("size", [MAX_BODY_BYTES, MAX_BODY_BYTES + 1])
async def test_a_body_has_at_most_so_many_bytes(size: int) -> None:
    content = b'"' + b"x" * (size - 2) + b'"'
    if size <= MAX_BODY_BYTES:
        assert (await read(content)).fault is None
    else:
        with pytest.raises(CutroomError):
            await read(content)


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON", "application/x+json"]
)
async def test_json_media_types_are_read(content_type: str) -> None:
    assert (await read(b"{}", content_type)).fault is None


@pytest.mark.parametrize("content_type", ["", "text/json", "application/jsonp", "multipart/form-data"])
async def test_other_media_types_are_refused(content_type: str) -> None:
    fault = (await read(b"{}", content_type)).fault
    assert fault is not None
    assert fault.details["fields"][0]["path"] == "Content-Type"
