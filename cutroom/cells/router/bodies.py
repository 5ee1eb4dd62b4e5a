"""Request bodies: a short one is kept, so that the request can be sent again; a long one is streamed once."""

from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect
from starlette.types import Receive

REPLAYABLE_BYTES = 256 * 1024


class RequestBody:
    """Reads at most REPLAYABLE_BYTES ahead."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._kept = b""
        self._is_complete = False
        self._is_spent = False

    async def read_ahead(self) -> None:
        while not self._is_complete and len(self._kept) < REPLAYABLE_BYTES:
            chunk, has_more = await self._next()
            self._kept += chunk
            self._is_complete = not has_more

    @property
    def is_replayable(self) -> bool:
        """Whether the request can be sent once more."""
        return self._is_complete or not self._is_spent

    @property
    def is_short(self) -> bool:
        return self._is_complete

    @property
    def kept(self) -> bytes:
        return self._kept

    def content(self) -> bytes | AsyncIterator[bytes]:
        """The body to send."""
        return self._kept if self._is_complete else self._stream()

    async def _stream(self) -> AsyncIterator[bytes]:
        self._is_spent = True
        yield self._kept
        has_more = True
        while has_more:
            chunk, has_more = await self._next()
            if chunk:
                yield chunk

    async def _next(self) -> tuple[bytes, bool]:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        return bytes(message.get("body", b"")), bool(message.get("more_body", False))
