"""Routes that list the events of a library, wait for them, and stream them."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response

from cutroom.accounts.scopes import Scope
from cutroom.errors import Code, CutroomError, invalid_field
from cutroom.events.encoding import encode_page
from cutroom.events.rules import (
    EVENT_TYPES,
    PROGRESS_TYPE,
    EventType,
    InvalidCursorError,
    decode_cursor,
)
from cutroom.events.schemas import EventPage
from cutroom.events.service import LoggedEvent, read_bounds, read_events
from cutroom.events.streaming import MEDIA_TYPE, Authorize, EventStream
from cutroom.web.middleware import CurrentCall, OperationRoute, RequestCall, credential_of
from cutroom.web.operation import Access, operation, operation_of
from cutroom.web.paging import DEFAULT_PAGE, MAX_PAGE
from cutroom.web.waiting import MAX_WAIT_SECONDS, WaitingResponse, wait_limit

router = APIRouter(prefix="/v1", route_class=OperationRoute, tags=["Events"])

MAX_CURSOR = 100
MAX_TYPES = 1_000  # characters
_JSON = "application/json"
_EXPIRED = "Events after this cursor are no longer kept. Read the current state, then start without a cursor."
_AHEAD = "This cursor is newer than the log. Read the current state, then start without a cursor."
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events. The `id` of an event is its cursor, its data the event as in the list.",
        "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
    }
}

After = Annotated[
    str | None,
    Query(max_length=MAX_CURSOR, description="The `cursor` of the previous page; only events after it are returned."),
]
Types = Annotated[
    str | None,
    Query(max_length=MAX_TYPES, description="Only these types, separated by commas, such as `job.ready,job.failed`."),
]


@router.get("/events", summary="List events", response_model=EventPage)
@operation(
    scope=Scope.JOBS_READ,
    further_scopes=(Scope.VIDEOS_READ,),
    access=Access.READ,
    errors=(Code.INVALID_ARGUMENT, Code.GONE),
)
async def list_events(
    call: CurrentCall,
    after: After = None,
    types: Types = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE, description="Maximum number of events to return.")] = DEFAULT_PAGE,
    wait: Annotated[
        int,
        Query(
            ge=0,
            le=MAX_WAIT_SECONDS,
            description="Seconds to wait for an event if there is none; then none is returned.",
        ),
    ] = 0,
) -> Response:
    """Returns the events of the library, oldest first: without a cursor, from the oldest that is kept.

    Events are kept for 30 days. A later page never has an event that belongs before an earlier one. A cursor whose
    next events have been deleted is 410 `GONE`. A request that waits does not count as a concurrent request.
    """
    chosen, library_id = _types(types), call.principal.library_id
    position = await _position(call, after, name="after") or 0
    last = (await read_bounds(call.connection, library_id)).last
    found = await read_events(call.connection, library_id, after=position, limit=limit + 1, types=chosen)
    response = _page(library_id, found, limit=limit, position=max(position, last))
    if found or wait == 0:
        return response

    async def respond() -> Response:
        async with (
            wait_limit(call.runtime, call.principal),
            call.runtime.events.subscribe(library_id, after=max(position, last), types=chosen) as subscription,
        ):
            batch = await subscription.next(wait)
            return _page(library_id, batch.events, limit=limit, position=subscription.position)

    return WaitingResponse(respond, at_once=response)


@router.get("/events/stream", summary="Stream events", response_class=Response, responses=_STREAM)
@operation(
    scope=Scope.JOBS_READ,
    further_scopes=(Scope.VIDEOS_READ,),
    access=Access.READ,
    errors=(Code.INVALID_ARGUMENT, Code.GONE),
)
async def stream_events(
    call: CurrentCall,
    request: Request,
    after: After = None,
    types: Types = None,
    last_event_id: Annotated[
        str | None,
        Header(
            alias="Last-Event-ID", max_length=MAX_CURSOR, description="The `id` of the last event; overrides `after`."
        ),
    ] = None,
) -> Response:
    """Sends events as they happen, and those after the cursor first; without one, from now on.

    The progress of running jobs is sent too, as events of the type `job.progress` that have no id and are not kept.
    The connection ends after 15 minutes; connect again with the last id that you received.
    """
    named = last_event_id is not None
    position = await _position(call, last_event_id or after, name="Last-Event-ID" if named else "after")
    return EventStream(
        call.runtime,
        call.principal,
        authorize=_authorization(call, credential_of(request.headers, speech=False)),
        after=position,
        types=_types(types, or_progress=True),
        with_progress=types is None or PROGRESS_TYPE in types.split(","),
    )


def _authorization(call: RequestCall, credential: str) -> Authorize:
    runtime = call.runtime

    async def authorize() -> None:
        async with runtime.database.unauthenticated() as connection:
            principal = await runtime.authenticator.authenticate(
                connection, credential, now=runtime.clock(), speech=False
            )
        operation_of(stream_events).authorize(principal)

    return authorize


def _types(types: str | None, *, or_progress: bool = False) -> tuple[EventType, ...]:
    if types is None:
        return EVENT_TYPES
    named = types.split(",")
    known = {*EVENT_TYPES, PROGRESS_TYPE} if or_progress else set(EVENT_TYPES)
    if unknown := [each for each in named if each not in known]:
        raise invalid_field("types", f"There is no such type: {unknown[0][:50]!r}.")
    return tuple(each for each in EVENT_TYPES if each in named)


async def _position(call: RequestCall, cursor: str | None, *, name: str) -> int | None:
    """The position of a cursor; raises INVALID_ARGUMENT if it is not one of this library, and GONE if it is too old."""
    if cursor is None:
        return None
    library_id = call.principal.library_id
    try:
        position = decode_cursor(library_id, cursor)
    except InvalidCursorError as error:
        raise invalid_field(name, "This cursor was not issued for this library.") from error
    bounds = await read_bounds(call.connection, library_id)
    if position < bounds.deleted or position > bounds.last:
        raise CutroomError(Code.GONE, message=_EXPIRED if position < bounds.deleted else _AHEAD)
    return position


def _page(library_id: str, found: Sequence[LoggedEvent], *, limit: int, position: int) -> Response:
    """The first events of those that were found; without any, the cursor moves to the position."""
    has_more = len(found) > limit
    last = found[limit - 1].position if has_more else max(position, *(each.position for each in found[-1:]), 0)
    return Response(encode_page(library_id, found[:limit], position=last, has_more=has_more), media_type=_JSON)
