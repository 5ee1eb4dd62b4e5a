"""Fake speech synthesis server with the OpenAI API, Chatterbox's upload extension and injectable faults."""

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from cutroom.engines.synthesis.port import SynthesizedSpeech
from tests.support.servers.openai_server import KEY, MAX_BODY_BYTES, MAX_WAIT_SECONDS, Fault, RejectedError

_SPEECH, _UPLOAD = "/v1/audio/speech", "/v1/audio/speech/upload"

Fields = Mapping[str, Any]  # request fields; files are bytes


@dataclass
class VoiceServer:
    """Responds with the result of `synthesize`, after any queued faults."""

    synthesize: Callable[[Fields], bytes]
    faults: deque[Fault] = field(default_factory=deque)
    received: list[tuple[str, Fields]] = field(default_factory=list)
    calls: int = 0

    def __enter__(self) -> Self:
        self._stopping = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = False  # so that closing waits for running handlers
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def respond(self, headers: Message, path: str, body: bytes) -> bytes:
        if path not in {_SPEECH, _UPLOAD}:
            raise RejectedError(404, "Not found.")
        if headers.get("Authorization") != f"Bearer {KEY}":
            raise RejectedError(401, "Incorrect API key provided.")
        fields = json.loads(body) if path == _SPEECH else _form(headers, body)
        self.received.append((path, fields))
        return self.synthesize(fields)

    def wait(self, seconds: float) -> None:
        self._stopping.wait(min(seconds, MAX_WAIT_SECONDS))


def _handler(server: VoiceServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = MAX_WAIT_SECONDS

        def do_POST(self) -> None:
            server.calls += 1
            self.close_connection = True
            body = self.rfile.read(min(MAX_BODY_BYTES, int(self.headers.get("Content-Length", "0"))))
            fault = server.faults.popleft() if server.faults else Fault()
            server.wait(fault.delay_seconds)
            status, response = fault.status, fault.body
            try:
                if response is None and status == 200:
                    response = server.respond(self.headers, self.path, body)
            except RejectedError as rejected:
                status, response = rejected.status, str(rejected).encode()
            self._send(status, response if response is not None else b"Internal error.", fault)

        def _send(self, status: int, body: bytes, fault: Fault) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Type", "audio/wav")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Connection", "close")
                self.end_headers()
                body = body[: round(len(body) * fault.keep)]
                step = 1 if fault.drip_seconds else max(1, len(body))
                for at in range(0, len(body), step):
                    self.wfile.write(body[at : at + step])
                    server.wait(fault.drip_seconds)
            except (BrokenPipeError, ConnectionResetError):
                return  # the client disconnected

        def log_message(self, *_: object) -> None:
            """Silence request logging."""

    return Handler


def _form(headers: Message, body: bytes) -> Fields:
    head = f"Content-Type: {headers.get('Content-Type', '')}\r\n\r\n".encode()
    form = BytesParser(policy=HTTP).parsebytes(head + body)
    fields: dict[str, Any] = {}
    for part in form.iter_parts():
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        name = str(part.get_param("name", header="content-disposition"))
        fields[name] = content if part.get_filename() else content.decode()
    return fields


def encode_wav(speech: SynthesizedSpeech, *, streamed: bool = False) -> bytes:
    """16-bit WAV; streaming servers write a placeholder length."""
    data = (speech.samples * 32767).astype("<i2").tobytes()
    length = 0xFFFFFFFF if streamed else len(data)
    rate = speech.sample_rate
    head = b"fmt " + (16).to_bytes(4, "little") + b"\x01\x00\x01\x00" + rate.to_bytes(4, "little")
    head += (2 * rate).to_bytes(4, "little") + b"\x02\x00\x10\x00" + b"data" + length.to_bytes(4, "little")
    return b"RIFF" + min(0xFFFFFFFF, length + 36).to_bytes(4, "little") + b"WAVE" + head + data
