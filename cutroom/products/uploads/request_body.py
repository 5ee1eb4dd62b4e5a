"""Reads request bodies whose senders may be slow or silent."""

import asyncio

from starlette.types import Message, Receive

from cutroom.products.uploads.rules import UploadError, too_large
from cutroom.products.uploads.spool import Spool


async def read_body(receive: Receive, to: Spool, *, max_bytes: int, idle_seconds: float) -> None:
    """Reads a size-limited request body."""
    while True:
        message = await next_message(receive, idle_seconds)
        if message is None or message["type"] == "http.disconnect":
            raise UploadError(408, "requestTimeout", "The request body ended early.")
        body: bytes = message.get("body", b"")
        if to.size_bytes + len(body) > max_bytes:
            raise too_large(max_bytes)
        await to.write(body)
        if not message.get("more_body", False):
            return


async def next_message(receive: Receive, seconds: float) -> Message | None:
    """Waits for the next part of a request; None if the sender is silent for too long."""
    try:
        async with asyncio.timeout(seconds):
            return await receive()
    except TimeoutError:
        return None
