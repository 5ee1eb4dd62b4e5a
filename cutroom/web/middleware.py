"""Wraps every operation with authentication, limits, authorization, idempotency and a transaction."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, TypeVar

from fastapi import Depends
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter
from pydantic.alias_generators import to_camel
from starlette.datastructures import FormData, Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as ASGIScope

from cutroom.accounts.principals import Principal, UnknownCredentialError
from cutroom.audit import service as audit
from cutroom.audit.rules import target_ids
from cutroom.audit.service import AuditEvent, RequestOrigin, SettingChanges
from cutroom.errors import Code, CutroomError, not_found
from cutroom.platform.db import Connection
from cutroom.platform.telemetry import request_id
from cutroom.web.admission.admission import SLOT
from cutroom.web.body import Body, is_form, read_body, read_form
from cutroom.web.error_responses import error_response
from cutroom.web.head_requests import HeadAwareRoute
from cutroom.web.idempotency import REPLAYED, IdempotentRequest, canonical_path, idempotency_key, is_replayable
from cutroom.web.openapi import describe
from cutroom.web.operation import Access, Operation, operation_of
from cutroom.web.revisions import ETAG, Revised
from cutroom.web.runtime import Runtime
from cutroom.web.spending import spending_limit

DUPLICATE_WAIT_SECONDS = 5.0  # how long a concurrent duplicate waits for the first request
DUPLICATE_POLL_SECONDS = 0.05
CALL = "cutroom.call"

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
Resource = TypeVar("Resource")
METHODS_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


@dataclass(frozen=True, slots=True)
class RequestCall:
    """Passed to every handler: the principal, a connection scoped to their library, and the runtime."""

    principal: Principal
    connection: Connection
    runtime: Runtime
    now: datetime
    response_headers: dict[str, str] = field(default_factory=dict)  # added to the handler's response
    changes: SettingChanges = field(default_factory=SettingChanges)

    def record_change(self, *, before: Mapping[str, Any] | None = None, after: Mapping[str, Any] | None = None) -> None:
        """Adds settings to the operation's audit entry; never secrets or transcripts."""
        self.changes.before, self.changes.after = before, after

    def record_update(self, patch: BaseModel, *, before: BaseModel, after: BaseModel) -> None:
        """Adds the settings that a patch names to the audit entry, as they were and as they are."""
        names = patch.model_fields_set
        self.record_change(
            before=before.model_dump(mode="json", by_alias=True, include=names),
            after=after.model_dump(mode="json", by_alias=True, include=names),
        )

    def with_etag(self, revised: Revised[Resource]) -> Resource:
        """Send the revision of a resource as the response's ETag; return the resource."""
        self.response_headers[ETAG] = revised.etag
        return revised.resource


async def _current_call(request: Request) -> RequestCall:
    call: RequestCall = request.scope[CALL]
    return call


CurrentCall = Annotated[RequestCall, Depends(_current_call)]


class DocumentRequest(Request):
    """A request whose JSON body has already been parsed."""

    def __init__(self, request: Request, document: Any) -> None:  # noqa: ANN401 (any JSON value)
        super().__init__(request.scope, request.receive)
        self._body = b"" if document is None else b"{}"  # FastAPI only checks whether it is empty
        self._json = document


class FormRequest(Request):
    """A request whose form has already been parsed."""

    def __init__(self, request: Request, form: FormData) -> None:
        super().__init__(request.scope, request.receive)
        self._form = form


class OperationRoute(HeadAwareRoute):
    """An API route that runs FastAPI's validation and the handler inside OperationPipeline."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401
        self.operation = operation_of(endpoint)
        describe(self.operation, path, options)
        super().__init__(path, endpoint, **options)
        if direct_handler(self) is not None:  # FastAPI's per-request exit stack is not needed
            self.app = _asgi_app(self.get_route_handler())

    def get_route_handler(self) -> Handler:
        handler = direct_handler(self) or super().get_route_handler()
        declared = self.operation

        async def handle(request: Request) -> Response:
            try:
                return await OperationPipeline(request, declared, handler).handle()
            except Exception as error:  # noqa: BLE001 (every error becomes an error response)
                return error_response(error)

        return handle


def _asgi_app(handler: Handler) -> ASGIApp:
    async def app(scope: ASGIScope, receive: Receive, send: Send) -> None:
        response = await handler(Request(scope, receive, send))
        await response(scope, receive, send)

    return app


def direct_handler(route: APIRoute) -> Handler | None:
    """Return a fast handler for endpoints that take only the call and text from the path, else None.

    It skips FastAPI's dependency resolution, which costs about a tenth of a request.
    """
    dependant = route.dependant
    others = (
        dependant.query_params,
        dependant.header_params,
        dependant.cookie_params,
        dependant.body_params,
        dependant.request_param_name,
    )
    if any(field.field_info.annotation is int for field in dependant.path_params):
        return None  # numbers are validated
    if any(others) or route.response_field is None or len(dependant.dependencies) != 1:
        return None
    names = [(field.alias, field.name) for field in dependant.path_params]
    status, endpoint, call_name = route.status_code or 200, route.endpoint, dependant.dependencies[0].name
    if dependant.dependencies[0].call is not _current_call or call_name is None:
        return None
    serialize = TypeAdapter(route.response_model).dump_json

    async def handler(request: Request) -> Response:
        arguments = {name: request.path_params[alias] for alias, name in names}
        arguments[call_name] = request.scope[CALL]
        body = serialize(await endpoint(**arguments), by_alias=True)
        return Response(body, status_code=status, media_type="application/json")

    return handler


class OperationPipeline:
    """Processes one request: authentication, limits, authorization, idempotency, validation, handler."""

    def __init__(self, request: Request, declared: Operation, handler: Handler) -> None:
        self.request = request
        self.operation = declared
        self.handler = handler
        self.runtime: Runtime = request.app.state.runtime
        self.now = self.runtime.clock()

    async def handle(self) -> Response:
        credential = credential_of(self.request.headers, speech=self.operation.speech)
        async with self.runtime.database.unauthenticated() as connection:
            principal = await self._authenticate(connection, credential)
            if self.request.method == "GET":
                return await self._rate_limited(principal, lambda: self._read(principal, connection))
        # The connection is returned to the pool first: a write may wait for a concurrent duplicate.
        return await self._rate_limited(principal, lambda: self._write(principal))

    async def _authenticate(self, connection: Connection, credential: str) -> Principal:
        runtime = self.runtime
        try:
            principal = await runtime.authenticator.authenticate(
                connection, credential, now=self.now, speech=self.operation.speech
            )
        except UnknownCredentialError:
            client = self.request.client
            await runtime.limits.count_failure(client.host if client else "unknown")
            raise
        runtime.last_use.record(principal.id, self.now)
        self.request.scope["cutroom.principal"] = principal
        return principal

    async def _rate_limited(self, principal: Principal, run: Callable[[], Awaitable[Response]]) -> Response:
        lease = await self.runtime.limits.acquire(principal, free_work=self.operation.free_work)
        try:
            self.operation.authorize(principal)
            response = await run()
        except Exception as error:  # noqa: BLE001 (error responses carry the rate limit headers too)
            response = error_response(error)
        finally:
            self.runtime.limits.release(lease)
        response.headers.update(lease.headers)
        return response

    async def _read(self, principal: Principal, connection: Connection) -> Response:
        return await self._run(self.request, principal, connection)

    async def _write(self, principal: Principal) -> Response:
        if self.request.method not in METHODS_WITH_BODY:
            async with self.runtime.database.transaction(principal.library_id) as connection:
                return await self._run(self.request, principal, connection)
        if self.operation.priced:
            principal = replace(principal, spending_limit=spending_limit(self.request))
        if self.operation.accepts_form and is_form(self.request):
            return await self._run_form(principal)
        is_idempotent = self.request.method == "POST" and not self.operation.speech
        key = idempotency_key(self.request) if is_idempotent else None
        body = await read_body(self.request, library_id=principal.library_id, hashed=key is not None)
        if key is None:
            async with self.runtime.database.transaction(principal.library_id) as connection:
                return await self._run_json(principal, connection, body)
        path = canonical_path(self.request.url.path)
        idempotent = IdempotentRequest(principal=principal, key=key, path=path, body_hash=body.hash, now=self.now)
        return await self._run_once(idempotent, body)

    async def _run_once(self, idempotent: IdempotentRequest, body: Body) -> Response:
        """Run the handler once per key; replay the stored response, or wait briefly for a concurrent duplicate."""
        deadline = time.monotonic() + DUPLICATE_WAIT_SECONDS
        while True:
            async with self.runtime.database.transaction(idempotent.principal.library_id) as connection:
                if await self.runtime.idempotency.claim(connection, idempotent):
                    return await self._replay_or_run(connection, idempotent, body)
            if time.monotonic() >= deadline:
                raise CutroomError(Code.CONFLICT, headers={"Retry-After": "1"})
            if (slot := self.request.scope.get(SLOT)) is not None:
                slot.release()  # this request waits for another, which may need one
            await asyncio.sleep(DUPLICATE_POLL_SECONDS)

    async def _replay_or_run(self, connection: Connection, idempotent: IdempotentRequest, body: Body) -> Response:
        """Run in the claim's transaction: the handler's writes, or their rollback, commit with the stored response."""
        store = self.runtime.idempotency
        stored = await store.replay(connection, idempotent)
        if stored is not None:
            self.request.scope[REPLAYED] = True
            return stored
        try:
            async with connection.transaction():
                response = await self._run_json(idempotent.principal, connection, body)
        except Exception as error:  # noqa: BLE001 (error responses are stored too)
            response = error_response(error)
        if is_replayable(response):
            await store.save(connection, idempotent, response)
        return response

    async def _run_json(self, principal: Principal, connection: Connection, body: Body) -> Response:
        if body.error is not None:
            raise body.error
        return await self._run(DocumentRequest(self.request, body.document), principal, connection)

    async def _run_form(self, principal: Principal) -> Response:
        form = await read_form(self.request)  # before the transaction, so that slow clients do not hold one open
        try:
            async with self.runtime.database.transaction(principal.library_id) as connection:
                return await self._run(FormRequest(self.request, form), principal, connection)
        finally:
            await form.close()

    async def _run(self, request: Request, principal: Principal, connection: Connection) -> Response:
        if any("\x00" in value for value in request.path_params.values()):  # PostgreSQL text cannot store NUL
            raise not_found()
        call = RequestCall(principal=principal, connection=connection, runtime=self.runtime, now=self.now)
        request.scope[CALL] = call
        response = await self.handler(request)
        response.headers.update(call.response_headers)
        if self.operation.access is not Access.READ and response.status_code < 400:
            await self._append_audit_entry(call, response)
        return response

    async def _append_audit_entry(self, call: RequestCall, response: Response) -> None:
        event = AuditEvent(
            library_id=call.principal.library_id,
            action=to_camel(self.request.scope["route"].name),
            actor=audit.actor_of(call.principal),
            at=self.now,
            origin=origin_of(self.request),
            targets=target_ids({**_document(response), **self.request.path_params}),
            before=call.changes.before,
            after=call.changes.after,
        )
        await audit.append(call.connection, event, secret_box=self.runtime.secret_box)


def origin_of(request: Request) -> RequestOrigin:
    client = request.client
    return RequestOrigin(client_address=client.host if client else None, request_id=request_id.get())


def _document(response: Response) -> Mapping[str, Any]:
    """The body of a JSON response, for its ids."""
    body = getattr(response, "body", b"")
    if not body or response.media_type != "application/json":
        return {}
    document = json.loads(body)
    return document if isinstance(document, dict) else {}


def credential_of(headers: Headers, *, speech: bool) -> str:
    """Return the credential from the first header that carries one."""
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and bearer.strip():
        return bearer.strip()
    found = headers.get("x-api-key") or (headers.get("xi-api-key") if speech else None)
    if not found:
        raise CutroomError(Code.UNAUTHENTICATED)
    return found
