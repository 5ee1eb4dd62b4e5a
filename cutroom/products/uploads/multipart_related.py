"""Parses multipart/related uploads, in which Google's clients send small files together with their metadata."""

import json
import re
from typing import Any

from starlette.types import Message, Receive

from cutroom.products.uploads.rules import MAX_RELATED_BYTES, UploadError, invalid, too_large

MAX_METADATA_BYTES = 64 * 1024
_BOUNDARY = re.compile(r'multipart/related;\s*boundary="?([^"\s;]{1,70})"?', re.IGNORECASE)


async def read_body(receive: Receive) -> bytes:
    """Reads a size-limited request body."""
    chunks, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise UploadError(408, "requestTimeout", "The request body ended early.")
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        if size > MAX_RELATED_BYTES + MAX_METADATA_BYTES:
            raise too_large(MAX_RELATED_BYTES)
        if not message.get("more_body", False):
            return b"".join(chunks)


def parse_metadata(body: bytes) -> dict[str, Any]:
    """Parses object metadata; an empty body means no metadata."""
    try:
        metadata = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        metadata = None
    if not isinstance(metadata, dict):
        raise invalid("The object metadata is not a JSON object.")
    return metadata


def parse_related(content_type: str, body: bytes) -> tuple[dict[str, Any], bytes]:
    """Splits the body into metadata and content."""
    match = _BOUNDARY.match(content_type)
    if match is None:
        raise invalid("The body is not multipart/related.")
    delimiter = b"\r\n--" + match[1].encode("latin-1")
    parts = (b"\r\n" + body).split(delimiter)
    if len(parts) != 4 or not parts[3].startswith(b"--"):
        raise invalid("The body does not have two parts.")
    metadata, data = (part.partition(b"\r\n\r\n")[2] for part in parts[1:3])
    return parse_metadata(metadata), data


def replay(data: bytes) -> Receive:
    """Returns an ASGI receive function that yields bytes already in memory."""

    async def receive() -> Message:
        return {"type": "http.request", "body": data}

    return receive
