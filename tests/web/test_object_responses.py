"""Byte ranges and content types of served objects."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import cast

import pytest
from starlette.requests import Request
from starlette.responses import StreamingResponse

from cutroom.errors import CutroomError
from cutroom.platform.storage.objects import Storage
from cutroom.web.object_responses import CONTENT_TYPES, ServedObject, object_response, parse_range


@pytest.mark.parametrize(
    ("header", "size", "expected"),
    [
        (None, 10, (200, (0, 10))),
        (None, 0, (200, (0, 0))),
        ("bytes=0-", 10, (206, (0, 10))),
        ("bytes=3-5", 10, (206, (3, 6))),
        ("bytes=3-99", 10, (206, (3, 10))),
        ("bytes=9-9", 10, (206, (9, 10))),
        ("bytes=-3", 10, (206, (7, 10))),
        ("bytes=-99", 10, (206, (0, 10))),
        ("bytes=10-", 10, (416, (0, 0))),
        ("bytes=5-3", 10, (416, (0, 0))),
        ("bytes=-0", 10, (416, (0, 0))),
        ("bytes=0-", 0, (416, (0, 0))),
        ("bytes=-1", 0, (416, (0, 0))),
        ("bytes=0-1,3-4", 10, (200, (0, 10))),
        ("bytes=a-b", 10, (200, (0, 10))),
        ("bytes=" + "9" * 400 + "-", 10, (200, (0, 10))),
        ("frames=1-2", 10, (200, (0, 10))),
        ("", 10, (200, (0, 10))),
    ],
)
def test_range(header: str | None, size: int, expected: tuple[int, tuple[int, int]]) -> None:
    assert parse_range(header, size) == expected


async def _always() -> bool:
    return True


@pytest.mark.parametrize(
    ("path", "content_type"),
    [
        ("libraries/l/videos/v/poster.jpg", "image/jpeg"),
        ("libraries/l/videos/v/subtitles/pt-BR.srt", "application/x-subrip; charset=utf-8"),
        ("libraries/l/videos/v/subtitles/pt-BR.ttml", "application/ttml+xml; charset=utf-8"),
        ("libraries/l/videos/v/subtitles/pt-BR.txt", "text/plain; charset=utf-8"),
        ("libraries/l/videos/v/source", "application/octet-stream"),
        ("libraries/l/videos/v/page.html", "application/octet-stream"),
        ("libraries/l/videos/v/drawing.svg", "application/octet-stream"),
        ("libraries/l/videos/v/mp4", "application/octet-stream"),
    ],
)
def test_content_type_follows_the_extension(path: str, content_type: str) -> None:
    assert ServedObject(path, 30, _always).content_type == content_type


def test_no_type_runs_in_a_browser() -> None:
    assert not any(word in each for each in CONTENT_TYPES.values() for word in ("html", "svg", "javascript", "pdf"))


@dataclass(frozen=True)
class FakeStorage:
    """Two chunks, or an object that is deleted between the look at its size and the first read."""

    exists: bool = True

    async def size(self, _path: str) -> int:
        return 6

    async def read(self, path: str, *, span: tuple[int, int] | None = None) -> AsyncIterator[bytes]:
        assert span is None
        if not self.exists:
            raise FileNotFoundError(path)
        yield b"one"
        yield b"two"


async def _body(answers: Sequence[bool], storage: FakeStorage) -> bytes:
    remaining = iter(answers)

    async def is_live() -> bool:
        return next(remaining)

    request = Request({"type": "http", "method": "GET", "headers": []})
    response = await object_response(request, cast("Storage", storage), ServedObject("a.jpg", 30, is_live))
    assert isinstance(response, StreamingResponse)
    return b"".join([cast("bytes", chunk) async for chunk in response.body_iterator])


async def test_object_is_streamed_while_it_is_live() -> None:
    assert await _body([True, True, True], FakeStorage()) == b"onetwo"


@pytest.mark.parametrize(
    ("answers", "storage"),
    [
        ([False], FakeStorage()),
        ([True, False], FakeStorage()),  # deleted while the first chunk is read: no response has started
        ([True, True, False], FakeStorage()),
        ([True], FakeStorage(exists=False)),
    ],
)
async def test_deleted_object_is_not_served(answers: list[bool], storage: FakeStorage) -> None:
    with pytest.raises(CutroomError, match="not found"):
        await _body(answers, storage)
