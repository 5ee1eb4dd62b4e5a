"""Sends calls: authentication, retries, and responses as models or typed errors."""

from __future__ import annotations

import json
import platform
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar, Union

import httpx
from pydantic import TypeAdapter, ValidationError

from cutroom_client import log_redaction
from cutroom_client._async import runtime
from cutroom_client._version import __version__
from cutroom_client.calls import Call
from cutroom_client.errors import ApiError, ConnectionFailedError, NotFoundError, UnexpectedResponseError, api_error
from cutroom_client.retrying import retries_failure, retries_response, retry_after_seconds
from cutroom_client.server_events import EventParser, ServerEvent
from cutroom_client.settings import ClientSettings

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
USER_AGENT = f"cutroom-client/{__version__} Python/{platform.python_version()}"
STREAM_SILENCE = 30.0  # seconds; the service sends a heartbeat every 15


class AsyncTransport:
    """Sends the calls of one client. The key goes to the base URL and nowhere else: redirects are not followed."""

    def __init__(self, settings: ClientSettings, http: httpx.AsyncClient | None = None) -> None:
        log_redaction.install()
        self.settings = settings
        self._owned = http is None
        self.http = http or httpx.AsyncClient(timeout=settings.timeout, follow_redirects=False)

    async def aclose(self) -> None:
        if self._owned:
            await self.http.aclose()

    async def parsed(self, call: Call, shape: type[T]) -> T:
        """The response as a model."""
        return await self._interpreted(call, TypeAdapter(shape))

    async def either(self, call: Call, first: type[A], second: type[B]) -> A | B:
        """The response as one of two models."""
        union: TypeAdapter[Any] = TypeAdapter(Union[first, second])  # type: ignore[arg-type]  # noqa: UP007
        result: A | B = await self._interpreted(call, union)
        return result

    async def content(self, call: Call) -> bytes:
        return (await self.send(call)).content

    async def text(self, call: Call) -> str:
        return (await self.send(call)).text

    async def nothing(self, call: Call) -> None:
        """For deletions: NOT_FOUND after an attempt whose outcome is unknown means that it took effect."""
        attempts = Attempts()
        try:
            await self.send(call, attempts=attempts)
        except NotFoundError:
            if not (call.method == "DELETE" and attempts.uncertain):
                raise

    async def send(self, call: Call, *, attempts: Attempts | None = None) -> httpx.Response:
        """The successful response, read completely, after as many attempts as are allowed."""
        attempts = attempts or Attempts()
        request = self._request(call)
        while True:
            try:
                response = await self.http.send(request(), follow_redirects=False)
            except httpx.TransportError as failure:
                attempts.uncertain = True
                if not self._may_retry(attempts, allowed=retries_failure(call, failure)):
                    raise ConnectionFailedError(f"{call.operation}: {reason_of(failure)}") from failure
                await self._pause(attempts, None)
                continue
            error = error_of(response)
            if response.is_success and not is_truncated(response):
                return response
            attempts.uncertain = attempts.uncertain or response.is_success or response.status_code >= 500
            wait = error.retry_after if isinstance(error, ApiError) else None
            if not self._may_retry(attempts, allowed=self._retries(call, response, error), wait=wait):
                raise error
            await self._pause(attempts, wait)

    async def events(self, call: Call) -> AsyncIterator[ServerEvent]:
        """The events of one connection, until it ends."""
        async with self.opened_stream(call) as stream:
            async for event in stream:
                yield event

    @asynccontextmanager
    async def opened_stream(
        self, call: Call, *, silence: float = STREAM_SILENCE
    ) -> AsyncIterator[AsyncIterator[ServerEvent]]:
        """The events of one connection, which is established inside the context."""
        timeout = httpx.Timeout(self.settings.timeout.connect, read=silence)
        async with self._streamed(call, timeout, accept="text/event-stream") as response:
            yield _parsed_events(response)

    async def chunks(self, call: Call) -> AsyncIterator[bytes]:
        """The body of a response as it arrives."""
        async with self._streamed(call, self.settings.timeout, accept="*/*") as response:
            async for chunk in response.aiter_bytes():
                yield chunk

    @asynccontextmanager
    async def _streamed(self, call: Call, timeout: httpx.Timeout, *, accept: str) -> AsyncIterator[httpx.Response]:
        request = self._request(call)()
        request.headers["Accept"] = accept
        request.extensions["timeout"] = timeout.as_dict()
        try:
            response = await self.http.send(request, stream=True, follow_redirects=False)
        except httpx.TransportError as failure:
            raise ConnectionFailedError(f"{call.operation}: {reason_of(failure)}") from failure
        try:
            if not response.is_success:
                await response.aread()
                raise error_of(response)
            yield response
        except httpx.TransportError as failure:
            raise ConnectionFailedError(f"{call.operation}: {reason_of(failure)}") from failure
        finally:
            await response.aclose()

    async def _interpreted(self, call: Call, shape: TypeAdapter[T]) -> T:
        response = await self.send(call)
        try:
            return shape.validate_json(response.content)
        except ValidationError as error:
            problems = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:3])
            message = f"{call.operation}: the response is not what this version of the client expects ({problems})"
            raise UnexpectedResponseError(message) from error

    def _request(self, call: Call) -> RequestBuilder:
        headers = {
            "Authorization": f"Bearer {self.settings.api_key.get_secret_value()}",
            "Accept": "application/json",
            "User-Agent": USER_AGENT,
            **call.sent_headers(max_credits=self.settings.max_credits),
        }
        return RequestBuilder(self.http, call, self.settings.base_url, headers)

    def _retries(self, call: Call, response: httpx.Response, error: Exception) -> bool:
        if response.is_success:  # cut off on the way
            return call.repeatable
        return retries_response(call, response.status_code, error if isinstance(error, ApiError) else None)

    def _may_retry(self, attempts: Attempts, *, allowed: bool, wait: float | None = None) -> bool:
        policy = self.settings.retry
        return allowed and attempts.made < policy.retries and (wait or 0.0) <= policy.longest_retry_after

    async def _pause(self, attempts: Attempts, wait: float | None) -> None:
        seconds = self.settings.retry.wait(attempts.made, wait)
        attempts.made += 1
        await runtime.sleep(seconds)


class Attempts:
    """How often a call was repeated, and whether an attempt may have taken effect without a response."""

    def __init__(self) -> None:
        self.made = 0
        self.uncertain = False


class RequestBuilder:
    """Builds the same request for every attempt."""

    def __init__(self, http: httpx.AsyncClient, call: Call, base_url: str, headers: dict[str, str]) -> None:
        self._http = http
        self._call = call
        self._url = f"{base_url}{call.path}"
        self._headers = headers

    def __call__(self) -> httpx.Request:
        call = self._call
        form = {name: str(value) for name, value in (call.body or {}).items()} if call.files else None  # type: ignore[union-attr]
        return self._http.build_request(
            call.method,
            self._url,
            params=call.parameters() or None,
            headers=self._headers,
            json=call.json(),
            data=form,
            files=call.files,
        )


async def _parsed_events(response: httpx.Response) -> AsyncIterator[ServerEvent]:
    parser = EventParser()
    async for line in response.aiter_lines():
        event = parser.feed(line)
        if event is not None:
            yield event


def is_truncated(response: httpx.Response) -> bool:
    """Whether a JSON body does not parse, as when a proxy ended it early."""
    if response.status_code == 204 or not response.headers.get("content-type", "").startswith("application/json"):
        return False
    try:
        json.loads(response.content)
    except ValueError:
        return True
    return False


def error_of(response: httpx.Response) -> ApiError | UnexpectedResponseError:
    """The typed error of a response."""
    body: Any = None
    if response.is_error:
        try:
            body = json.loads(response.content)
        except ValueError:
            body = None
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict) and isinstance(error.get("code"), str):
        return api_error(
            error,
            status=response.status_code,
            request_id=response.headers.get("x-request-id"),
            retry_after=retry_after_seconds(response.headers.get("retry-after")),
        )
    return UnexpectedResponseError(f"a response with status {response.status_code} that is not Cutroom's")


def reason_of(failure: Exception) -> str:
    """A failure in words, also where the library gives none."""
    return str(failure) or type(failure).__name__
