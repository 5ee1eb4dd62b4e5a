"""HTTP client for untrusted URLs: imports, voice samples, images and webhook deliveries."""

import asyncio
import hashlib
import logging
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import httpcore

from cutroom.platform.egress.addresses import AddressDeniedError, Network, PinnedBackend, Resolver
from cutroom.platform.egress.urls import MAX_URL_LENGTH, Target, UrlError, join_url, parse_url, url_error

__all__ = [
    "MAX_URL_LENGTH",
    "Egress",
    "EgressResponse",
    "PostResponse",
    "SlowResponseError",
    "TooLargeError",
    "UnreachableError",
    "url_error",
]

MAX_REDIRECTS = 3
_HOST_DIGITS = 12
MAX_HEADER_BYTES = 64 * 1024
MAX_POST_RESPONSE_BYTES = 64 * 1024
CONNECT_SECONDS = 5.0  # per address, and again for the TLS handshake
HEADER_SECONDS = 20.0  # from sending the request to the end of the headers, per redirect
READ_SECONDS = 15.0  # between two reads of the body
RATE_WINDOW_SECONDS = 15.0
MIN_BYTES_PER_SECOND = 1024  # average over one window, excluding the reader's own pauses
FETCH_SECONDS = 60.0
POST_SECONDS = 15.0
USER_AGENT = "Cutroom/1"

logger = logging.getLogger("cutroom.egress")

# The only caller headers kept on a redirect to another host.
_KEPT_ACROSS_HOSTS = frozenset({"accept", "range"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class _RefusedError(Exception):
    """Why a request was aborted; only logged."""


class _TooSlowError(_RefusedError):
    """The body arrives below the minimum rate."""


_FAILURES = (
    _RefusedError,
    AddressDeniedError,
    UrlError,
    OSError,  # includes TimeoutError and ssl.SSLError
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
)


class UnreachableError(Exception):
    """Fetch failed.

    Blocked, unreachable, slow and malformed are indistinguishable to the caller, so that errors reveal nothing about
    the network.
    """

    def __init__(self) -> None:
        super().__init__("The URL could not be fetched.")


class SlowResponseError(UnreachableError):
    """The body arrives below the minimum rate; only a host that was allowed and has responded can cause it."""


class TooLargeError(Exception):
    """The body exceeds the byte limit of the request."""

    def __init__(self) -> None:
        super().__init__("The content behind the URL is too large.")


@dataclass(slots=True)
class EgressResponse:
    """A streaming response; the body can be iterated once."""

    status: int
    headers: Mapping[str, str]  # lower-case names
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
            raise (SlowResponseError if isinstance(error, _TooSlowError) else UnreachableError) from None


@dataclass(frozen=True, slots=True)
class PostResponse:
    """The response to a POST; the body is truncated to MAX_POST_RESPONSE_BYTES."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Egress:
    """Fetches over HTTPS from public addresses only; ignores proxy settings, credentials and cookies."""

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
        header_seconds: float = HEADER_SECONDS,
    ) -> AsyncIterator[EgressResponse]:
        """Yields the final response after redirects (GET and HEAD only); the timeout covers the whole exchange."""
        request = _Request(method, _clean(headers), content, header_seconds)
        reader_error: Exception | None = None
        try:
            async with asyncio.timeout(timeout_seconds), self._follow(url, request, max_bytes=max_bytes) as response:
                _reject_compressed(response)
                try:
                    yield response
                except Exception as error:
                    reader_error = error  # an error of ours, such as a full disk, is not a failed fetch
                    raise
        except _FAILURES as error:
            if error is reader_error:
                raise
            _log(url, error)
            raise UnreachableError from None

    async def fetch(self, url: str, *, max_bytes: int, timeout_seconds: float = FETCH_SECONDS) -> bytes:
        """Returns the body of a URL; any final status other than 200 is an error."""
        async with self.stream("GET", url, max_bytes=max_bytes, timeout_seconds=timeout_seconds) as response:
            if response.status != 200:
                _log(url, _RefusedError(f"status {response.status}"))
                raise UnreachableError
            return b"".join([chunk async for chunk in response])

    async def post(
        self, url: str, body: bytes, *, headers: Mapping[str, str], timeout_seconds: float = POST_SECONDS
    ) -> PostResponse:
        """Posts a body; redirects are not followed."""
        request = _Request("POST", _clean(headers), body)
        received = bytearray()
        try:
            async with asyncio.timeout(timeout_seconds):
                target = parse_url(url)
                async with self._send(target, request, max_bytes=MAX_POST_RESPONSE_BYTES) as response:
                    await _read_truncated(received, response)
                    return PostResponse(response.status, response.headers, body=bytes(received))
        except _FAILURES as error:
            _log(url, error)
            raise UnreachableError from None

    @asynccontextmanager
    async def _follow(self, url: str, request: "_Request", *, max_bytes: int) -> AsyncIterator[EgressResponse]:
        target = parse_url(url)
        for _ in range(MAX_REDIRECTS + 1):
            async with self._send(target, request, max_bytes=max_bytes) as response:
                location = response.headers.get("location")
                if request.method not in {"GET", "HEAD"} or response.status not in _REDIRECTS or location is None:
                    yield response
                    return
            following = join_url(target, location)
            if following.origin != target.origin:
                request = request.for_other_host()
            target = following
        raise _RefusedError("too many redirects")

    @asynccontextmanager
    async def _send(self, target: Target, request: "_Request", *, max_bytes: int) -> AsyncIterator[EgressResponse]:
        """Sends one request on its own connection, pinned to addresses checked for it."""
        addresses = await self._resolver.resolve(target.host, target.port)
        outgoing = httpcore.Request(
            request.method,
            httpcore.URL(scheme="https", host=target.host, port=target.port, target=target.path),
            headers=request.headers_for(target),
            content=request.content,
            extensions={"timeout": _TIMEOUTS, "sni_hostname": target.host},
        )
        backend = PinnedBackend(addresses)
        async with httpcore.AsyncHTTPConnection(
            outgoing.url.origin, ssl_context=self._tls, http2=False, network_backend=backend
        ) as connection:
            async with asyncio.timeout(request.header_seconds):
                response = await connection.handle_async_request(outgoing)
            try:
                yield _to_response(response, target, max_bytes=max_bytes)
            finally:
                await response.aclose()


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    headers: Mapping[str, str]
    content: bytes | None
    header_seconds: float = HEADER_SECONDS

    def headers_for(self, target: Target) -> list[tuple[bytes, bytes]]:
        own = {"host": target.authority, "user-agent": USER_AGENT, "accept": "*/*"}
        if self.content is not None:
            own["content-length"] = str(len(self.content))
        # No compression, so that a small response cannot expand into a large one; one request per connection.
        fixed = {"accept-encoding": "identity", "connection": "close"}
        return [(name.encode(), value.encode("latin-1")) for name, value in {**own, **self.headers, **fixed}.items()]

    def for_other_host(self) -> "_Request":
        kept = {name: value for name, value in self.headers.items() if name in _KEPT_ACROSS_HOSTS}
        return replace(self, headers=kept)


_TIMEOUTS = {"connect": CONNECT_SECONDS, "read": READ_SECONDS, "write": READ_SECONDS}


def _clean(headers: Mapping[str, str] | None) -> dict[str, str]:
    lowered = {name.lower(): value for name, value in (headers or {}).items()}
    # Host and length follow from the URL and the body alone.
    return {name: value for name, value in lowered.items() if name not in {"host", "content-length"}}


def _to_response(response: httpcore.Response, target: Target, *, max_bytes: int) -> EgressResponse:
    if sum(len(name) + len(value) for name, value in response.headers) > MAX_HEADER_BYTES:
        raise _RefusedError("headers too long")
    headers: dict[str, str] = {}
    for raw_name, raw_value in response.headers:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("utf-8", "replace")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return EgressResponse(response.status, headers, target.url, _body=response.aiter_stream(), _max_bytes=max_bytes)


def _reject_compressed(response: EgressResponse) -> None:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise _RefusedError("compressed despite accept-encoding: identity")


async def _paced(body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Passes the body through and aborts below the minimum rate; the reader's own pauses do not count."""
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
                raise _TooSlowError("too slow")
            waited, received = 0.0, 0
        yield chunk


async def _read_truncated(received: bytearray, response: EgressResponse) -> None:
    try:
        async for chunk in response._body:  # noqa: SLF001 - truncates long bodies instead of raising
            received += chunk[: MAX_POST_RESPONSE_BYTES - len(received)]
            if len(received) >= MAX_POST_RESPONSE_BYTES:
                return
    except (OSError, httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError):
        return  # the status has arrived; the body is informational only


def _log(url: str, error: Exception) -> None:
    """Logs the reason, and a digest of the host to group failures by: a URL is the caller's, and logs outlive it."""
    authority = url.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2]
    host, reason = authority.rpartition(":")[0] or authority, f"{type(error).__name__}: {error}"
    digest = hashlib.sha256(host.encode()).hexdigest()[:_HOST_DIGITS]
    logger.info("egress failed", extra={"host_digest": digest, "reason": reason.replace(host or url, "host")[:300]})
