"""Parses multipart/related uploads, in which Google's clients send small files together with their metadata."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from starlette.types import Message, Receive

from cutroom.products.uploads.rules import invalid
from cutroom.products.uploads.spool import Spool

MAX_METADATA_BYTES = 64 * 1024
_HEADER_BYTES = 4 * 1024  # of the boundaries and headers of both parts
_TAIL_BYTES = 1024
_BOUNDARY = re.compile(r'multipart/related;\s*boundary="?([^"\s;]{1,70})"?', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RelatedFile:
    """The metadata of a file, and where its content is in the body."""

    metadata: dict[str, Any]
    first: int
    end: int


def parse_metadata(body: bytes) -> dict[str, Any]:
    """Parses object metadata; an empty body means no metadata."""
    try:
        metadata = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        metadata = None
    if not isinstance(metadata, dict):
        raise invalid("The object metadata is not a JSON object.")
    return metadata


async def parse_related(content_type: str, body: Spool) -> RelatedFile:
    """Finds metadata and content; only the beginning and the end of the body are held in memory."""
    match = _BOUNDARY.match(content_type)
    if match is None:
        raise invalid("The body is not multipart/related.")
    boundary = b"--" + match[1].encode("latin-1")
    head = b"".join([chunk async for chunk in body.read(0, min(MAX_METADATA_BYTES + _HEADER_BYTES, body.size_bytes))])
    tail_at = max(0, body.size_bytes - _TAIL_BYTES)
    tail = b"".join([chunk async for chunk in body.read(tail_at)])
    delimiter = b"\r\n" + boundary
    opening, _, rest = head.partition(b"\r\n\r\n")
    metadata, _, rest = rest.partition(delimiter)
    _, blank_line, content = rest.partition(b"\r\n\r\n")
    closing = tail.rfind(delimiter + b"--")
    first, end = len(head) - len(content), tail_at + closing
    if not opening.startswith(boundary) or rest.startswith(b"--") or not blank_line or closing < 0 or end < first:
        raise invalid("The body does not have two parts.")
    return RelatedFile(parse_metadata(metadata), first=first, end=end)


def replay(chunks: AsyncIterator[bytes]) -> Receive:
    """Returns an ASGI receive function that yields bytes received before."""

    async def receive() -> Message:
        chunk = await anext(chunks, None)
        return {"type": "http.request", "body": chunk or b"", "more_body": chunk is not None}

    return receive
