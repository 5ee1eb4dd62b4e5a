"""The response of server-sent events: paced by its reader, with heartbeats, and ended after some minutes."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cutroom.accounts.principals import Principal
from cutroom.errors import CutroomError
from cutroom.events.encoding import encode_position, encode_progress, encode_server_sent
from cutroom.events.hub import Batch, Subscription
from cutroom.events.rules import EVENT_TYPES, EventType
from cutroom.platform.db import DATABASE_ERRORS
from cutroom.web.error_responses import error_response
from cutroom.web.head_requests import IS_HEAD
from cutroom.web.runtime import Runtime
from cutroom.web.waiting import ABORT, WAITED_SECONDS, disconnected, release_slot, wait_limit

MEDIA_TYPE = "text/event-stream"
HEARTBEAT_SECONDS = 15.0
STREAM_SECONDS = 15 * 60.0  # then the reader connects again, with what it has seen last
AUTHORIZED_SECONDS = 60.0  # a revoked credential receives nothing later than this
STALL_SECONDS = 30.0  # a reader that takes nothing for this long is disconnected
CHUNK_BYTES = 32 * 1024  # handed to the connection at once
RETRY_MILLISECONDS = 1_000  # after which a reader connects again
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # proxies must not collect events
_HEARTBEAT = b": heartbeat\n\n"

Authorize = Callable[[], Awaitable[None]]


class ServerSentEvents(Response):
    """Sends what `stream` writes, until it returns or the reader disconnects."""

    media_type = MEDIA_TYPE

    def __init__(self) -> None:
        super().__init__(headers=_HEADERS)
        del self.headers["content-length"]

    async def stream(self, writer: "StreamWriter") -> None:
        """Start the response, write to it and end it."""
        raise NotImplementedError

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        release_slot(scope)
        started = time.perf_counter()
        writer = StreamWriter(self, scope, send)
        if IS_HEAD in scope:
            await writer.start()
            await writer.end()
            return
        streaming = asyncio.create_task(self.stream(writer))
        watching = asyncio.create_task(disconnected(receive))
        try:
            await asyncio.wait((streaming, watching), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (streaming, watching):
                task.cancel()
            await asyncio.gather(streaming, watching, return_exceptions=True)
            scope[WAITED_SECONDS] = time.perf_counter() - started
        if not streaming.cancelled() and (error := streaming.exception()) is not None:
            await self._fail(error, writer, scope, receive, send)

    async def _fail(
        self, error: BaseException, writer: "StreamWriter", scope: Scope, receive: Receive, send: Send
    ) -> None:
        """An error becomes a response; after the start, it ends the stream, and the reader connects again."""
        if isinstance(error, StalledError):
            if (abort := scope.get(ABORT)) is not None:
                abort()
        elif writer.has_started:
            if not isinstance(error, (CutroomError, *DATABASE_ERRORS)):
                raise error
            await writer.end()
        elif isinstance(error, Exception):
            response = error_response(error)
            response.headers.update({name: value for name, value in self.headers.items() if name.startswith("rate")})
            await response(scope, receive, send)


class EventStream(ServerSentEvents):
    """Follows the log of a library from a position, or from now on."""

    def __init__(
        self,
        runtime: Runtime,
        principal: Principal,
        *,
        authorize: Authorize,
        after: int | None = None,
        types: tuple[EventType, ...] = EVENT_TYPES,
        with_progress: bool = True,
    ) -> None:
        """`authorize` raises if the caller may not read any longer."""
        super().__init__()
        self._runtime = runtime
        self._principal = principal
        self._authorize = authorize
        self._after = after
        self._types = types
        self._with_progress = with_progress

    async def stream(self, writer: "StreamWriter") -> None:
        library_id, ends_at = self._principal.library_id, time.monotonic() + STREAM_SECONDS
        async with (
            wait_limit(self._runtime, self._principal),
            self._runtime.events.subscribe(
                library_id, after=self._after, types=self._types, with_progress=self._with_progress
            ) as subscription,
        ):
            await writer.start()
            sent = subscription.position
            await writer.write([f"retry: {RETRY_MILLISECONDS}\n".encode() + encode_position(library_id, sent)])
            authorized_at = time.monotonic()
            while (left := ends_at - time.monotonic()) > 0 and not subscription.has_ended:
                batch = await subscription.next(min(left, HEARTBEAT_SECONDS))
                if batch and time.monotonic() > authorized_at + AUTHORIZED_SECONDS:
                    await self._authorize()
                    authorized_at = time.monotonic()
                await writer.write(self._chunks(batch, subscription, sent))
                sent = subscription.position
            await writer.end()

    def _chunks(self, batch: Batch, subscription: Subscription, sent: int) -> Iterator[bytes]:
        library_id = self._principal.library_id
        yield from (encode_progress(each) for each in batch.progress)
        yield from encode_server_sent(library_id, batch.events)
        last = batch.events[-1].position if batch.events else sent
        if subscription.position > last:  # past events of other types
            yield encode_position(library_id, subscription.position)
        elif not batch:
            yield _HEARTBEAT


class StalledError(Exception):
    """The reader does not read."""


class StreamWriter:
    """Sends bytes when the reader has taken earlier ones."""

    def __init__(self, response: Response, scope: Scope, send: Send) -> None:
        self.has_started = False
        self._response = response
        self._scope = scope
        self._send = send

    async def start(self) -> None:
        self.has_started = True
        start = {"type": "http.response.start", "status": 200, "headers": self._response.raw_headers}
        await self._send(start)

    async def write(self, pieces: Iterable[bytes]) -> None:
        chunk = b""
        for piece in pieces:
            if chunk and len(chunk) + len(piece) > CHUNK_BYTES:
                await self._send_chunk(chunk)
                chunk = b""
            chunk += piece
        if chunk:
            await self._send_chunk(chunk)

    async def _send_chunk(self, chunk: bytes) -> None:
        try:
            async with asyncio.timeout(STALL_SECONDS):
                await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
        except TimeoutError as error:
            raise StalledError from error

    async def end(self) -> None:
        try:
            async with asyncio.timeout(STALL_SECONDS):
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError as error:
            raise StalledError from error
