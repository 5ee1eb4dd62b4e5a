"""Responses that wait for something to happen: waiting, they hold nothing that other requests need.

An operation returns a WaitingResponse in place of its result. It is called when the request's database connection and
its lease of the ordinary limits have been released; it then releases the admission slot. Waits have a limit of their
own for each library, in all processes together, and count as one request when they begin.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError
from cutroom.platform.slots import SlotLimit, SlotsFullError
from cutroom.web.admission.admission import SLOT
from cutroom.web.error_responses import error_response
from cutroom.web.head_requests import IS_HEAD
from cutroom.web.runtime import Runtime

MAX_WAIT_SECONDS = 60
RETRY_SECONDS = 5
ABORT = "cutroom.abort"  # ASGI scope key: closes the connection at once
WAITED_SECONDS = "cutroom.waited_seconds"  # ASGI scope key: time that does not count as the duration of the request


class WaitingResponse(Response):
    """Sends what `respond` returns, unless the client disconnects before; a HEAD request does not wait."""

    def __init__(self, respond: Callable[[], Awaitable[Response]], *, at_once: Response) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._respond = respond
        self._at_once = at_once

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        release_slot(scope)
        started = time.perf_counter()
        response = None if IS_HEAD in scope else await unless_disconnected(receive, self._run())
        scope[WAITED_SECONDS] = time.perf_counter() - started
        response = response or self._at_once
        response.headers.update(self.headers)
        await response(scope, receive, send)

    async def _run(self) -> Response:
        try:
            return await self._respond()
        except Exception as error:  # noqa: BLE001 (every error becomes an error response)
            return error_response(error)


def release_slot(scope: Scope) -> None:
    """Let another request start in place of this one."""
    if (slot := scope.get(SLOT)) is not None:
        slot.release()


@asynccontextmanager
async def wait_limit(runtime: Runtime, principal: Principal) -> AsyncIterator[None]:
    """Counts one wait of the library inside the block; raises RATE_LIMITED if it has too many."""
    limit = SlotLimit(f"waits:{principal.library_id}", principal.plan.library_waits)
    try:
        async with runtime.slots.hold([limit]):
            yield
    except SlotsFullError as error:
        details, headers = {"limit": "waits", "per": "library"}, {"Retry-After": str(RETRY_SECONDS)}
        raise CutroomError(Code.RATE_LIMITED, details=details, headers=headers) from error


async def unless_disconnected(receive: Receive, work: Awaitable[Response]) -> Response | None:
    """The result; None, and the work is cancelled, if the client disconnects before."""
    working = asyncio.ensure_future(work)
    watching = asyncio.create_task(disconnected(receive))
    try:
        await asyncio.wait((working, watching), return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        for task in (working, watching):
            task.cancel()
        await asyncio.gather(working, watching, return_exceptions=True)


async def disconnected(receive: Receive) -> None:
    """Returns when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
