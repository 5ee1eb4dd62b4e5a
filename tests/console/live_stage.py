"""Opens the event stream of a page, message by message: httpx's transport for ASGI returns whole responses only."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

from starlette.types import Message, Scope

from cutroom.web.outer_middleware import RequestMiddleware
from tests.console.conftest import Browser

_PAGE = re.compile(r'<body data-library="(\w+)" data-snapshot="([\d:,]+)">')


@dataclass(frozen=True, slots=True)
class StreamMessage:
    """A server-sent event."""

    event: str
    data: str
    id: str | None = None


@dataclass
class LiveStream:
    """An open stream; `status` is known once it has started."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    has_ended: bool = False
    _received: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)
    _text: str = ""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            return
        self._received.put_nowait(message.get("body", b"").decode())
        if not message.get("more_body"):
            self._received.put_nowait(None)

    async def next(self) -> StreamMessage | None:
        """The next message; None at the end of the stream."""
        while "\n\n" not in self._text:
            received = await self._received.get()
            if received is None:
                self.has_ended = True
                return None
            self._text += received
        text, _, self._text = self._text.partition("\n\n")
        fields = dict(line.split(": ", 1) for line in text.splitlines())
        return StreamMessage(fields["event"], fields["data"], fields.get("id"))

    async def response(self) -> int:
        """The status of a response that is no stream, once it has ended."""
        while await self._received.get() is not None:
            pass
        return self.status

    async def until(self, event: str) -> StreamMessage:
        """The next message of this kind."""
        while True:
            message = await self.next()
            assert message is not None, f"the stream ended before {event}"
            if message.event == event:
                return message


async def seen_by(browser: Browser, path: str = "/library") -> dict[str, str]:
    """What a page gives to its stream: its library, and the snapshot that it was rendered with."""
    found = _PAGE.search((await browser.get(path)).text)
    assert found is not None
    return {"library": found[1], "after": found[2]}


@asynccontextmanager
async def open_stream(service: RequestMiddleware, browser: Browser, query: dict[str, str]) -> AsyncIterator[LiveStream]:
    """Opens a stream with the browser's cookies, and closes it as a browser does."""
    stream, closed = LiveStream(), asyncio.Event()
    cookies = "; ".join(f"{name}={value}" for name, value in browser.client.cookies.items())
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/events",
        "raw_path": b"/events",
        "root_path": "",
        "query_string": urlencode(query).encode(),
        "headers": [(b"host", b"cutroom.test"), (b"cookie", cookies.encode())],
        "client": (browser.address or "::1", 4000),
        "server": ("cutroom.test", 80),
    }

    async def receive() -> Message:
        await closed.wait()
        return {"type": "http.disconnect"}

    task = asyncio.create_task(service(scope, receive, stream.send))
    try:
        yield stream
    finally:
        closed.set()
        await task
