"""A server that gives prepared responses, for faults that the real service does not have."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True, slots=True)
class Reply:
    """A response; without a status, the connection is closed instead."""

    status: int | None = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Received:
    """A request that arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class ScriptedService:
    """Where it listens, and what it received."""

    url: str
    received: list[Received] = field(default_factory=list)


@contextmanager
def scripted_service(replies: Sequence[Reply]) -> Iterator[ScriptedService]:
    """Replies in turn; the last one again and again."""
    script = list(replies)

    class Handler(BaseHTTPRequestHandler):
        def _respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            headers = {name.lower(): value for name, value in self.headers.items()}
            service.received.append(Received(self.command, self.path, headers, body))
            reply = script.pop(0) if len(script) > 1 else script[0]
            if reply.status is None:
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in {"Content-Type": reply.content_type, **reply.headers}.items():
                self.send_header(name, value.replace("{url}", service.url))
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _respond  # noqa: N815 (of the base class)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Keeps the output of the tests quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service = ScriptedService(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
