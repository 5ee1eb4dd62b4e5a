"""Small files that come with their description in one body (multipart/related), as Google's clients send them."""

import json
import re
from typing import Any

from starlette.types import Message, Receive

from cutroom.products.uploads.rules import MAX_SMALL_BYTES, UploadError, invalid, too_large

MAX_DESCRIPTION_BYTES = 64 * 1024
_BOUNDARY = re.compile(r'multipart/related;\s*boundary="?([^"\s;]{1,70})"?', re.IGNORECASE)


async def read_body(receive: Receive) -> bytes:
    """The whole body, which is small."""
    pieces, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise UploadError(408, "requestTimeout", "The body broke off.")
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if size > MAX_SMALL_BYTES + MAX_DESCRIPTION_BYTES:
            raise too_large(MAX_SMALL_BYTES)
        if not message.get("more_body", False):
            return b"".join(pieces)


def read_description(body: bytes) -> dict[str, Any]:
    """What the client says of the object; nothing is a description too."""
    try:
        described = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        described = None
    if not isinstance(described, dict):
        raise invalid("The object's description is not a JSON object.")
    return described


def split_related(content_type: str, body: bytes) -> tuple[dict[str, Any], bytes]:
    """The description and the bytes."""
    match = _BOUNDARY.match(content_type)
    if match is None:
        raise invalid("The body is not multipart/related.")
    delimiter = b"\r\n--" + match[1].encode("latin-1")
    pieces = (b"\r\n" + body).split(delimiter)
    if len(pieces) != 4 or not pieces[3].startswith(b"--"):
        raise invalid("The body does not have two parts.")
    description, data = (piece.partition(b"\r\n\r\n")[2] for piece in pieces[1:3])
    return read_description(description), data


def replay(data: bytes) -> Receive:
    """Bytes that are here already, for those who wait for a body."""

    async def receive() -> Message:
        return {"type": "http.request", "body": data}

    return receive
