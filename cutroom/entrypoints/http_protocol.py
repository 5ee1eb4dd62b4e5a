"""HTTP/1.1 of the API process: bounded request heads, and the error envelope for malformed requests."""

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from cutroom.errors import invalid_field
from cutroom.platform.ids import new_id
from cutroom.web.security_headers import default_headers
from cutroom.web.waiting import ABORT

MAX_HEAD_BYTES = 64 * 1024  # request line and headers; uvicorn has no limit of its own
HEAD_SECONDS = 30.0  # from the connection or the first byte of a request to the end of its headers


class HeadTooLargeError(Exception):
    """The request line and headers exceed MAX_HEAD_BYTES; the parser reports it as a malformed request."""


class EnvelopeProtocol(HttpToolsProtocol):
    """Closes connections whose request head is too large or too slow, and responds to malformed HTTP in JSON."""

    _is_reading_head = True
    _head_bytes = 0  # received, as long as the head is incomplete
    _head_deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        was_reading_head = self._is_reading_head
        super().data_received(data)
        if not self._is_reading_head:
            self._stop_watching_head()
            return
        self._watch_head()
        if was_reading_head:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("The request line and headers are too large.")

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:  # noqa: ANN401 (uvicorn's type)
        cycle.scope[ABORT] = self.transport.abort  # type: ignore[literal-required]
        super()._start_asgi_task(cycle, app)

    def on_message_begin(self) -> None:
        self._is_reading_head, self._head_bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._is_reading_head = False
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > MAX_HEAD_BYTES:
            raise HeadTooLargeError
        super().on_headers_complete()

    def _watch_head(self) -> None:
        if self._head_deadline is None:
            self._head_deadline = self.loop.call_later(HEAD_SECONDS, self._close_slow_connection)

    def _stop_watching_head(self) -> None:
        if self._head_deadline is not None:
            self._head_deadline.cancel()
            self._head_deadline = None

    def _close_slow_connection(self) -> None:
        self._head_deadline = None
        self.transport.close()

    def send_400_response(self, msg: str) -> None:
        body = json.dumps(invalid_field("request", msg).envelope()).encode()
        lines = [
            b"HTTP/1.1 400 Bad Request",
            b"content-type: application/json",
            b"content-length: " + str(len(body)).encode(),
            b"x-request-id: " + new_id().encode(),
            b"connection: close",
            *(name + b": " + value for name, value in default_headers(is_secure=False)),
        ]
        self.transport.write(b"\r\n".join(lines) + b"\r\n\r\n" + body)
        self.transport.close()
