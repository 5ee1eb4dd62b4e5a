"""The request envelope: what every operation passes through, in one order, before and after its own work."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.datastructures import FormData, Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as ASGIScope

from cutroom.accounts.principals import Principal, UnknownCredentialError
from cutroom.errors import Code, CutroomError, not_found
from cutroom.platform.db import Connection
from cutroom.web.body import Body, is_form, read_body, read_form
from cutroom.web.error_responses import problem_of
from cutroom.web.idempotency import REPLAYED, IdempotentRequest, canonical_path, is_retained, key_of
from cutroom.web.openapi import describe
from cutroom.web.operation import Operation, operation_of
from cutroom.web.runtime import Runtime

TWIN_WAIT_SECONDS = 5.0  # how long a duplicate waits for the first request to finish
TWIN_POLL_SECONDS = 0.05
CALL = "cutroom.call"

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


@dataclass(frozen=True, slots=True)
class RequestCall:
    """What a handler gets: who calls, a connection confined to their library, the parts."""

    principal: Principal
    connection: Connection
    runtime: Runtime
    now: datetime


async def _current_call(request: Request) -> RequestCall:
    call: RequestCall = request.scope[CALL]
    return call


CurrentCall = Annotated[RequestCall, Depends(_current_call)]


class DocumentRequest(Request):
    """A request whose body has been read and parsed, once, by us."""

    def __init__(self, request: Request, document: Any) -> None:  # noqa: ANN401 (any JSON value)
        super().__init__(request.scope, request.receive)
        self._body = b"" if document is None else b"{}"  # only asked whether there is one
        self._json = document


class FormRequest(Request):
    """A request whose form has been read, once, by us."""

    def __init__(self, request: Request, form: FormData) -> None:
        super().__init__(request.scope, request.receive)
        self._form = form


class OperationRoute(APIRoute):
    """A route of the API: the envelope around FastAPI's validation and the handler."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401
        self.operation = operation_of(endpoint)
        describe(self.operation, path, options)
        super().__init__(path, endpoint, **options)
        if direct_handler(self) is not None:  # then FastAPI's own frame around a request has nothing to hold
            self.app = _respond(self.get_route_handler())

    def get_route_handler(self) -> Handler:
        work = direct_handler(self) or super().get_route_handler()
        declared = self.operation

        async def answer(request: Request) -> Response:
            try:
                return await OperationPipeline(request, declared, work).answer()
            except Exception as error:  # noqa: BLE001 (whatever it was, the caller gets the envelope)
                return problem_of(error)

        return answer


def _respond(answer: Handler) -> ASGIApp:
    async def app(scope: ASGIScope, receive: Receive, send: Send) -> None:
        response = await answer(Request(scope, receive, send))
        await response(scope, receive, send)

    return app


def direct_handler(route: APIRoute) -> Handler | None:
    """For an endpoint that takes its call and ids from the path, and nothing else: call it, and say what it said.

    FastAPI's handler would solve its dependencies anew for every request, at a tenth of the whole request's cost.
    """
    needs = route.dependant
    others = (needs.query_params, needs.header_params, needs.cookie_params, needs.body_params, needs.request_param_name)
    if any(others) or route.response_field is None or len(needs.dependencies) != 1:
        return None
    names = [(field.alias, field.name) for field in needs.path_params]
    status, endpoint, call_name = route.status_code or 200, route.endpoint, needs.dependencies[0].name
    if needs.dependencies[0].call is not _current_call or call_name is None:
        return None
    serialize = TypeAdapter(route.response_model).dump_json

    async def work(request: Request) -> Response:
        arguments = {name: request.path_params[alias] for alias, name in names}
        arguments[call_name] = request.scope[CALL]
        body = serialize(await endpoint(**arguments), by_alias=True)
        return Response(body, status_code=status, media_type="application/json")

    return work


class OperationPipeline:
    """One request on its way through: authentication, limits, scope, replay, validation, work."""

    def __init__(self, request: Request, declared: Operation, work: Handler) -> None:
        self.request = request
        self.operation = declared
        self.work = work
        self.runtime: Runtime = request.app.state.runtime
        self.now = self.runtime.clock()

    async def answer(self) -> Response:
        credential = credential_of(self.request.headers, speech=self.operation.speech)
        async with self.runtime.database.connection() as connection:
            principal = await self._identify(connection, credential)
            if self.request.method == "GET":
                return await self._admitted(principal, lambda: self._read(principal, connection))
        # The connection is given back first: a write may wait for its twin, and must not hold one meanwhile.
        return await self._admitted(principal, lambda: self._write(principal))

    async def _identify(self, connection: Connection, credential: str) -> Principal:
        runtime = self.runtime
        try:
            principal = await runtime.doorkeeper.admit(
                connection, credential, now=self.now, speech=self.operation.speech
            )
        except UnknownCredentialError:
            client = self.request.client
            await runtime.limits.count_failure(client.host if client else "unknown")
            raise
        runtime.last_use.note(principal.id, self.now)
        self.request.scope["cutroom.principal"] = principal
        return principal

    async def _admitted(self, principal: Principal, answer: Callable[[], Awaitable[Response]]) -> Response:
        admission = await self.runtime.limits.take(principal)
        try:
            self.operation.authorize(principal)
            response = await answer()
        except Exception as error:  # noqa: BLE001 (an error answer carries the limits' headers too)
            response = problem_of(error)
        finally:
            self.runtime.limits.give_back(admission)
        response.headers.update(admission.headers)
        return response

    async def _read(self, principal: Principal, connection: Connection) -> Response:
        return await self._work(self.request, principal, connection)

    async def _write(self, principal: Principal) -> Response:
        if self.request.method != "POST":
            async with self.runtime.database.transaction(principal.library_id) as connection:
                return await self._work(self.request, principal, connection)
        if self.operation.takes_form and is_form(self.request):
            return await self._form_work(principal)
        key = key_of(self.request) if not self.operation.speech else None
        body = await read_body(self.request)
        if key is None:
            async with self.runtime.database.transaction(principal.library_id) as connection:
                return await self._document_work(principal, connection, body)
        path = canonical_path(self.request.url.path)
        asked = IdempotentRequest(principal=principal, key=key, path=path, body_hash=body.hash, now=self.now)
        return await self._once(asked, body)

    async def _once(self, asked: IdempotentRequest, body: Body) -> Response:
        """Do the work once for this key, or answer as the first time; wait a little for a twin at work."""
        deadline = time.monotonic() + TWIN_WAIT_SECONDS
        while True:
            async with self.runtime.database.transaction(asked.principal.library_id) as connection:
                if await self.runtime.replays.claim(connection, asked):
                    return await self._recall_or_work(connection, asked, body)
            if time.monotonic() >= deadline:
                raise CutroomError(Code.CONFLICT, headers={"Retry-After": "1"})
            await asyncio.sleep(TWIN_POLL_SECONDS)

    async def _recall_or_work(self, connection: Connection, asked: IdempotentRequest, body: Body) -> Response:
        """Inside the claim's transaction: the work, or its undoing, and its answer are committed together."""
        replays = self.runtime.replays
        recalled = await replays.recall(connection, asked)
        if recalled is not None:
            self.request.scope[REPLAYED] = True
            return recalled
        try:
            async with connection.transaction():
                response = await self._document_work(asked.principal, connection, body)
        except Exception as error:  # noqa: BLE001 (an error is an answer too, and is retained)
            response = problem_of(error)
        if is_retained(response):
            await replays.retain(connection, asked, response)
        return response

    async def _document_work(self, principal: Principal, connection: Connection, body: Body) -> Response:
        if body.fault is not None:
            raise body.fault
        return await self._work(DocumentRequest(self.request, body.document), principal, connection)

    async def _form_work(self, principal: Principal) -> Response:
        form = await read_form(self.request)  # before the transaction: whoever sends slowly must not hold one
        try:
            async with self.runtime.database.transaction(principal.library_id) as connection:
                return await self._work(FormRequest(self.request, form), principal, connection)
        finally:
            await form.close()

    async def _work(self, request: Request, principal: Principal, connection: Connection) -> Response:
        if any("\x00" in piece for piece in request.path_params.values()):  # no text in PostgreSQL holds it
            raise not_found()
        request.scope[CALL] = RequestCall(
            principal=principal, connection=connection, runtime=self.runtime, now=self.now
        )
        return await self.work(request)


def credential_of(headers: Headers, *, speech: bool) -> str:
    """The caller's credential from the first header that carries one."""
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and bearer.strip():
        return bearer.strip()
    found = headers.get("x-api-key") or (headers.get("xi-api-key") if speech else None)
    if not found:
        raise CutroomError(Code.UNAUTHENTICATED)
    return found
