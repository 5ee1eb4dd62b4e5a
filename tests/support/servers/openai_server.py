"""Fake transcription server with the OpenAI API and injectable faults."""

import io
import json
import socket
import threading
import wave
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cutroom.engines.recognition.port import Transcription, Word
from cutroom.engines.types import SAMPLE_RATE, TimeSpan

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

KEY = "key-of-the-test"
MODEL = "whisper-1"
MAX_BODY_BYTES = 25 * 1024 * 1024
MAX_WAIT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A valid request."""

    samples: "Samples"
    model: str
    language: str | None
    response_format: str
    granularities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """One faulty response: a status, a replaced or truncated body, or a delay."""

    status: int = 200
    body: bytes | None = None
    keep: float = 1.0  # share of the body sent before the connection closes
    delay_seconds: float = 0.0
    drip_seconds: float = 0.0  # between two bytes of the body


Transcribe = Callable[[ReceivedRequest], dict[str, Any]]


class RejectedError(Exception):
    """The server rejects the request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class OpenAiServer:
    """Responds with the result of `transcribe`, after any queued faults."""

    transcribe: Transcribe
    faults: deque[Fault] = field(default_factory=deque)
    requests: list[ReceivedRequest] = field(default_factory=list)
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

    def respond(self, headers: Message, path: str, body: bytes) -> dict[str, Any]:
        if path != "/v1/audio/transcriptions":
            raise RejectedError(404, "Not found.")
        if headers.get("Authorization") != f"Bearer {KEY}":
            raise RejectedError(401, "Incorrect API key provided.")
        request = _read(headers, body)
        if request.model != MODEL:
            raise RejectedError(404, f"The model {request.model} does not exist.")
        self.requests.append(request)
        return self.transcribe(request)

    def wait(self, seconds: float) -> None:
        self._stopping.wait(min(seconds, MAX_WAIT_SECONDS))


def _handler(server: OpenAiServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = MAX_WAIT_SECONDS

        def do_POST(self) -> None:
            server.calls += 1
            self.close_connection = True
            length = int(self.headers.get("Content-Length", "0"))
            if length > MAX_BODY_BYTES:
                self._send(413, _error("The file is too large."), Fault())
                return
            body = self.rfile.read(length)
            fault = server.faults.popleft() if server.faults else Fault()
            server.wait(fault.delay_seconds)
            status, response = fault.status, fault.body
            try:
                if response is None and status == 200:
                    response = json.dumps(server.respond(self.headers, self.path, body)).encode()
            except RejectedError as rejected:
                status, response = rejected.status, _error(str(rejected))
            self._send(status, response if response is not None else _error("Internal error."), fault)

        def _send(self, status: int, body: bytes, fault: Fault) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Connection", "close")
                if status in {429, 503}:
                    self.send_header("Retry-After-Ms", "20")
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


def _error(message: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", "code": None}}).encode()


def _read(headers: Message, body: bytes) -> ReceivedRequest:
    """Parses the multipart form and decodes its audio file."""
    head = f"Content-Type: {headers.get('Content-Type', '')}\r\n\r\n".encode()
    form = BytesParser(policy=HTTP).parsebytes(head + body)
    if form.get_content_type() != "multipart/form-data":
        raise RejectedError(400, "The body is not a form.")
    values: dict[str, list[bytes]] = {}
    for part in form.iter_parts():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        values.setdefault(str(name), []).append(content if isinstance(content, bytes) else b"")
    if "file" not in values or "model" not in values:
        raise RejectedError(400, "The file or the model is missing.")
    texts = {name: [each.decode() for each in found] for name, found in values.items() if name != "file"}
    return ReceivedRequest(
        samples=_samples(values["file"][0]),
        model=texts["model"][0],
        language=texts["language"][0] if "language" in texts else None,
        response_format=texts.get("response_format", ["json"])[0],
        granularities=tuple(texts.get("timestamp_granularities[]", ())),
    )


def _samples(data: bytes) -> "Samples":
    try:
        with wave.open(io.BytesIO(data)) as file:
            if (file.getnchannels(), file.getsampwidth(), file.getframerate()) != (1, 2, SAMPLE_RATE):
                raise RejectedError(400, "Unsupported audio format.")
            pcm = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    except (wave.Error, EOFError) as error:
        raise RejectedError(400, "The file is not audio.") from error
    return (pcm / 32767).astype(np.float32)


def verbose_json(transcription: Transcription, *, seconds: float, language: str = "english") -> dict[str, Any]:
    """A `verbose_json` response as OpenAI sends it: words without punctuation, and the language by name."""
    text = " ".join(word.text for word in transcription.words)
    return {
        "task": "transcribe",
        "language": language,
        "duration": seconds,
        "text": text,
        "words": [
            {"word": bare, "start": word.start_seconds, "end": word.end_seconds}
            for word in transcription.words
            for bare in [word.text.strip(".,;:!?()\"'")]
        ],
        "segments": [_segment(number, words) for number, words in enumerate(_by_sentence(transcription.words))],
    }


def _by_sentence(words: tuple[Word, ...]) -> list[list[Word]]:
    sentences: list[list[Word]] = [[]]
    for word in words:
        sentences[-1].append(word)
        if word.text.endswith((".", "!", "?")):
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


def _segment(number: int, words: list[Word]) -> dict[str, Any]:
    span = TimeSpan(words[0].start_seconds, words[-1].end_seconds)
    return {
        "id": number,
        "seek": 0,
        "start": span.start_seconds,
        "end": span.end_seconds,
        "text": " " + " ".join(word.text for word in words),
        "tokens": [],
        "temperature": 0.0,
        "avg_logprob": -0.2,
        "compression_ratio": 1.4,
        "no_speech_prob": 0.01,
    }


def free_port() -> int:
    """An unused port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
