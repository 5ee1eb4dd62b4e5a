"""The router's ASGI application: sends each request to its cell, and holds those of a library that is moving."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from cutroom.accounts.subjects import Subject
from cutroom.cells.directory import Cell
from cutroom.cells.router.bodies import RequestBody
from cutroom.cells.router.cell_clients import CellClients
from cutroom.cells.router.headers import MOVED, to_caller, to_cell
from cutroom.cells.router.locating import Locator, MovingError, Resolution
from cutroom.cells.router.metrics import RouterMetrics
from cutroom.cells.router.rules import Destination, destination_of, is_routed, needs_form
from cutroom.errors import Code, CutroomError, not_found
from cutroom.web.error_responses import error_response
from cutroom.web.waiting import disconnected

HOLD_SECONDS = 20.0  # for the end of a move
HOLD_STEP_SECONDS = 0.05
MAX_HELD = 1_000
MAX_HELD_PER_LIBRARY = 200
EVENT_STREAM = "text/event-stream"
_log = logging.getLogger(__name__)


@dataclass
class HeldRequests:
    """Counts the requests that wait; more than the bound are refused at once."""

    total: int = 0
    by_subject: Counter[str] = field(default_factory=Counter)

    @asynccontextmanager
    async def one(self, subject: str) -> AsyncIterator[None]:
        if self.total >= MAX_HELD or self.by_subject[subject] >= MAX_HELD_PER_LIBRARY:
            raise _unavailable()
        self.total += 1
        self.by_subject[subject] += 1
        try:
            yield
        finally:
            self.total -= 1
            self.by_subject[subject] -= 1
            if not self.by_subject[subject]:
                del self.by_subject[subject]


class RouterApp:
    """One request after the other; see the module docstring."""

    def __init__(self, locator: Locator, clients: CellClients, metrics: RouterMetrics) -> None:
        self._locator = locator
        self._clients = clients
        self._metrics = metrics
        self._held = HeldRequests()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = _Exchange(scope, receive)
        try:
            response, cell = await self._respond(exchange)
        except ClientDisconnect:
            return
        except Exception as error:  # noqa: BLE001 (every error becomes an error response)
            refusal = error_response(error)
            self._metrics.requests.labels("none", refusal.status_code).inc()
            await refusal(scope, receive, send)
            return
        self._metrics.requests.labels(cell.name, response.status_code).inc()
        if response.headers.get("content-type", "").startswith(EVENT_STREAM):
            await _forward_stream(response, receive, send)
        else:
            await _forward(response, send)

    async def _respond(self, exchange: "_Exchange") -> tuple[httpx.Response, Cell]:
        if not is_routed(exchange.path):
            raise not_found()
        await exchange.body.read_ahead()
        destination = exchange.destination()
        started, deadline = time.monotonic(), time.monotonic() + HOLD_SECONDS
        answered = await self._attempt(exchange, destination)
        if answered is not None:
            return answered
        async with self._held.one(destination.value):
            while answered is None:
                if not exchange.body.is_replayable or time.monotonic() > deadline:
                    raise _unavailable()
                await asyncio.sleep(HOLD_STEP_SECONDS)
                answered = await self._attempt(exchange, destination)
        self._metrics.held_seconds.observe(time.monotonic() - started)
        return answered

    async def _attempt(self, exchange: "_Exchange", destination: Destination) -> tuple[httpx.Response, Cell] | None:
        """The response and its cell; None if the library is moving."""
        try:
            resolution = await self._locator.resolve(destination, address=exchange.address)
        except MovingError:
            return None
        response, cell = await self._send_in_turn(exchange, destination, resolution)
        if MOVED not in {name.lower() for name, _ in response.headers.raw}:
            if destination.subject is Subject.SESSION and exchange.method == "POST":
                self._locator.forget(destination)  # it may have selected another library
            return response, cell
        await response.aclose()
        self._locator.forget(destination)
        if resolution.library_id is not None:
            await self._locator.refresh_library(resolution.library_id)
        return None

    async def _send_in_turn(
        self, exchange: "_Exchange", destination: Destination, resolution: Resolution
    ) -> tuple[httpx.Response, Cell]:
        """Where nothing says whose a request is, each cell is tried until one knows it."""
        latest: tuple[httpx.Response, Cell] | None = None
        failure: Exception = _unavailable()
        for cell in resolution.cells:
            if latest is not None:
                if not exchange.body.is_replayable:
                    break
                await latest[0].aclose()
            try:
                latest = await self._send(exchange, cell), cell
            except CutroomError as error:
                failure = error
                if resolution.library_id is not None:
                    raise
                continue
            if not destination.everywhere and latest[0].status_code not in destination.unknown:
                break
        if latest is None:
            raise failure
        return latest

    async def _send(self, exchange: "_Exchange", cell: Cell) -> httpx.Response:
        try:
            return await self._clients.send(cell, exchange.request_to(cell))
        except httpx.HTTPError as error:
            _log.warning("cell unavailable", extra={"cell": cell.name, "error": repr(error)})
            self._metrics.failures.labels(cell.name).inc()
            raise _unavailable() from error


class _Exchange:
    """A caller's request."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self._scope = scope
        self.method: str = scope["method"]
        self.path: str = scope["path"].rstrip("/") or "/"
        client = scope.get("client")
        self.address: str = client[0] if client else "unknown"
        self.body = RequestBody(receive)

    def destination(self) -> Destination:
        headers: Mapping[str, str] = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in self._scope["headers"]
        }
        form = self.body.kept if needs_form(self.method, self.path) and self.body.is_short else None
        return destination_of(self.path, query=self._scope["query_string"], headers=headers, form=form)

    def request_to(self, cell: Cell) -> httpx.Request:
        query: bytes = self._scope["query_string"]
        target: bytes = self._scope["raw_path"] + (b"?" + query if query else b"")
        headers = to_cell(self._scope["headers"], address=self.address, scheme=self._scope["scheme"])
        has_body = any(name in {b"content-length", b"transfer-encoding"} for name, _ in self._scope["headers"])
        return httpx.Request(
            self.method,
            httpx.URL(cell.api_url).copy_with(raw_path=target),
            headers=headers,
            content=self.body.content() if has_body else None,
        )


async def _forward(response: httpx.Response, send: Send) -> None:
    try:
        await send(
            {"type": "http.response.start", "status": response.status_code, "headers": to_caller(response.headers.raw)}
        )
        async for chunk in response.aiter_raw():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        await response.aclose()


async def _forward_stream(response: httpx.Response, receive: Receive, send: Send) -> None:
    """Until one of both sides ends it; a stream may have nothing to send for a long time."""
    forwarding = asyncio.create_task(_forward(response, send))
    watching = asyncio.create_task(disconnected(receive))
    try:
        await asyncio.wait((forwarding, watching), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (forwarding, watching):
            task.cancel()
        await asyncio.gather(forwarding, watching, return_exceptions=True)


def _unavailable() -> CutroomError:
    return CutroomError(Code.INTERNAL, headers={"Retry-After": "1"})
