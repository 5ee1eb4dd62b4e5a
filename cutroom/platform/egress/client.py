"""The only way out for URLs that come from callers: imports, samples, images and webhook deliveries."""

import asyncio
import logging
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpcore

from cutroom.platform.egress.addresses import DeniedError, Network, Resolver, VettedBackend
from cutroom.platform.egress.urls import MAX_URL_LENGTH, Target, UrlError, fault_in_url, join_url, parse_url

__all__ = ["MAX_URL_LENGTH", "Answer", "Egress", "PostAnswer", "TooLargeError", "UnreachableError", "fault_in_url"]

MAX_REDIRECTS = 3
MAX_HEADER_BYTES = 64 * 1024
MAX_POST_ANSWER_BYTES = 64 * 1024
CONNECT_SECONDS = 5.0  # for each address, and again for the TLS handshake
HEADER_SECONDS = 20.0  # from the question to the end of the headers, once for each redirect
SILENCE_SECONDS = 15.0  # between two pieces of a body
RATE_WINDOW_SECONDS = 15.0
MIN_BYTES_PER_SECOND = 1024  # over one window, while we wait for the other side
FETCH_SECONDS = 60.0
POST_SECONDS = 15.0
USER_AGENT = "Cutroom/1"

logger = logging.getLogger("cutroom.egress")

# Of the caller's headers, these alone go on to another host after a redirect.
_KEPT_ACROSS_HOSTS = frozenset({"accept", "range"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class _RefusedError(Exception):
    """Our own reason to stop, on its way to the log."""


_FAILURES = (
    _RefusedError,
    DeniedError,
    UrlError,
    OSError,  # TimeoutError and ssl.SSLError among them
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
)


class UnreachableError(Exception):
    """A URL did not give what was asked: refused, unreachable, too slow or broken look the same from outside."""

    def __init__(self) -> None:
        super().__init__("The URL could not be fetched.")


class TooLargeError(Exception):
    """A body is longer than its reader allows."""

    def __init__(self) -> None:
        super().__init__("The content behind the URL is too large.")


@dataclass(slots=True)
class Answer:
    """A response whose headers have arrived; iterate over it to read the body, once."""

    status: int
    headers: Mapping[str, str]  # names in lower case
    final_url: str
    _body: AsyncIterator[bytes] = field(repr=False)
    _max_bytes: int

    def header(self, name: str) -> str | None:
        return self.headers.get(name.lower())

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self.chunks()

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        declared = self.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > self._max_bytes:
            raise TooLargeError
        total = 0
        try:
            async for chunk in _paced(self._body):
                total += len(chunk)
                if total > self._max_bytes:
                    raise TooLargeError
                yield chunk
        except _FAILURES as error:
            _log(self.final_url, error)
            raise UnreachableError from None


@dataclass(frozen=True, slots=True)
class PostAnswer:
    """What a webhook receiver said; the body is cut off at MAX_POST_ANSWER_BYTES."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Egress:
    """Fetches over https from vetted public addresses; reads no proxy, credential or cookie from anywhere."""

    def __init__(self, *, denied: Sequence[Network] = (), tls: ssl.SSLContext | None = None) -> None:
        self._resolver = Resolver(denied)
        self._tls = tls or ssl.create_default_context()

    def close(self) -> None:
        self._resolver.close()

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        max_bytes: int,
        timeout_seconds: float = FETCH_SECONDS,
    ) -> AsyncIterator[Answer]:
        """Ask, follow redirects (GET and HEAD only), and hand over the last answer; the time bounds it all."""
        question = _Question(method, _clean(headers), content)
        readers_own: Exception | None = None
        try:
            async with asyncio.timeout(timeout_seconds), self._follow(url, question, max_bytes=max_bytes) as answer:
                _refuse_compressed(answer)
                try:
                    yield answer
                except Exception as error:
                    readers_own = error  # a full disk on our side is not the fault of the URL
                    raise
        except _FAILURES as error:
            if error is readers_own:
                raise
            _log(url, error)
            raise UnreachableError from None

    async def fetch(self, url: str, *, max_bytes: int, timeout_seconds: float = FETCH_SECONDS) -> bytes:
        """The whole body behind a URL, when the last answer is 200."""
        async with self.stream("GET", url, max_bytes=max_bytes, timeout_seconds=timeout_seconds) as answer:
            if answer.status != 200:
                _log(url, _RefusedError(f"status {answer.status}"))
                raise UnreachableError
            return b"".join([chunk async for chunk in answer])

    async def post(
        self, url: str, body: bytes, *, headers: Mapping[str, str], timeout_seconds: float = POST_SECONDS
    ) -> PostAnswer:
        """Deliver a body; a redirect is an answer like any other, and is never followed."""
        question = _Question("POST", _clean(headers), body)
        received = bytearray()
        try:
            async with asyncio.timeout(timeout_seconds):
                target = parse_url(url)
                async with self._ask(target, question, max_bytes=MAX_POST_ANSWER_BYTES) as answer:
                    await _fill(received, answer)
                    return PostAnswer(answer.status, answer.headers, body=bytes(received))
        except _FAILURES as error:
            _log(url, error)
            raise UnreachableError from None

    @asynccontextmanager
    async def _follow(self, url: str, question: "_Question", *, max_bytes: int) -> AsyncIterator[Answer]:
        target = parse_url(url)
        for _ in range(MAX_REDIRECTS + 1):
            async with self._ask(target, question, max_bytes=max_bytes) as answer:
                location = answer.headers.get("location")
                if question.method not in {"GET", "HEAD"} or answer.status not in _REDIRECTS or location is None:
                    yield answer
                    return
            following = join_url(target, location)
            if following.origin != target.origin:
                question = question.for_other_host()
            target = following
        raise _RefusedError("too many redirects")

    @asynccontextmanager
    async def _ask(self, target: Target, question: "_Question", *, max_bytes: int) -> AsyncIterator[Answer]:
        """One question on one connection of its own, to an address vetted for it."""
        addresses = await self._resolver.vet(target.host, target.port)
        request = httpcore.Request(
            question.method,
            httpcore.URL(scheme="https", host=target.host, port=target.port, target=target.path),
            headers=question.headers_for(target),
            content=question.content,
            extensions={"timeout": _TIMEOUTS, "sni_hostname": target.host},
        )
        backend = VettedBackend(addresses)
        async with httpcore.AsyncHTTPConnection(
            request.url.origin, ssl_context=self._tls, http2=False, network_backend=backend
        ) as connection:
            async with asyncio.timeout(HEADER_SECONDS):
                response = await connection.handle_async_request(request)
            try:
                yield _answer(response, target, max_bytes=max_bytes)
            finally:
                await response.aclose()


@dataclass(frozen=True, slots=True)
class _Question:
    method: str
    headers: Mapping[str, str]
    content: bytes | None

    def headers_for(self, target: Target) -> list[tuple[bytes, bytes]]:
        own = {"host": target.authority, "user-agent": USER_AGENT, "accept": "*/*"}
        if self.content is not None:
            own["content-length"] = str(len(self.content))
        # Plain bodies only, so that a small answer cannot unpack into a large one; and one question a connection.
        fixed = {"accept-encoding": "identity", "connection": "close"}
        return [(name.encode(), value.encode("latin-1")) for name, value in {**own, **self.headers, **fixed}.items()]

    def for_other_host(self) -> "_Question":
        kept = {name: value for name, value in self.headers.items() if name in _KEPT_ACROSS_HOSTS}
        return _Question(self.method, kept, content=self.content)


_TIMEOUTS = {"connect": CONNECT_SECONDS, "read": SILENCE_SECONDS, "write": SILENCE_SECONDS}


def _clean(headers: Mapping[str, str] | None) -> dict[str, str]:
    lowered = {name.lower(): value for name, value in (headers or {}).items()}
    # Who is asked, and how long the question is, only the URL and the body decide.
    return {name: value for name, value in lowered.items() if name not in {"host", "content-length"}}


def _answer(response: httpcore.Response, target: Target, *, max_bytes: int) -> Answer:
    if sum(len(name) + len(value) for name, value in response.headers) > MAX_HEADER_BYTES:
        raise _RefusedError("headers too long")
    headers: dict[str, str] = {}
    for raw_name, raw_value in response.headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("utf-8", "replace")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return Answer(response.status, headers, target.url, _body=response.aiter_stream(), _max_bytes=max_bytes)


def _refuse_compressed(answer: Answer) -> None:
    if answer.headers.get("content-encoding", "identity").lower() != "identity":
        raise _RefusedError("compressed, though we asked for it plain")


async def _paced(body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Pass a body on, and give up on one that only drips; the reader's own pauses do not count."""
    clock = asyncio.get_running_loop().time
    waited, received = 0.0, 0
    while True:
        started = clock()
        try:
            chunk = await anext(body)
        except StopAsyncIteration:
            return
        waited, received = waited + clock() - started, received + len(chunk)
        if waited >= RATE_WINDOW_SECONDS:
            if received < MIN_BYTES_PER_SECOND * waited:
                raise _RefusedError("too slow")
            waited, received = 0.0, 0
        yield chunk


async def _fill(received: bytearray, answer: Answer) -> None:
    try:
        async for chunk in answer._body:  # noqa: SLF001 (ours; a long answer is cut off instead of refused)
            received += chunk[: MAX_POST_ANSWER_BYTES - len(received)]
            if len(received) >= MAX_POST_ANSWER_BYTES:
                return
    except (OSError, httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError):
        return  # the status has been given; what follows it is only for the record


def _log(url: str, error: Exception) -> None:
    """The log says why; the URL without what may be secret in it."""
    place = url.partition("?")[0].rpartition("@")[2][:200]
    logger.info("egress failed", extra={"place": place, "reason": f"{type(error).__name__}: {error}"[:300]})
