"""The page envelope: what every page passes through, in one order, before and after its own work."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from urllib.parse import urlencode

from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from cutroom.accounts.sessions import ActiveSession, LibraryChoice, SessionService
from cutroom.console.framework.forms import Form, read_form
from cutroom.console.framework.rendering import render
from cutroom.console.framework.security import (
    CSRF_FIELD,
    CSRF_HEADER,
    VISIT_SECONDS,
    check_csrf,
    check_origin,
    cookie_name,
    csrf_token,
    harden,
    new_visit,
    put_cookie,
)
from cutroom.errors import Code, CutroomError, invalid_fields, not_found
from cutroom.platform.db import Connection
from cutroom.web.error_responses import error_response
from cutroom.web.middleware import RequestCall
from cutroom.web.operation import operation_of
from cutroom.web.runtime import Runtime

Made = TypeVar("Made")
Model = TypeVar("Model", bound=BaseModel)
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PageContext:
    """What a page gets: the request, and who looks, if anybody is signed in."""

    request: Request
    runtime: Runtime
    cookie: str  # what the page's token follows from
    form: Form = field(default_factory=Form)
    signed_in: ActiveSession | None = None
    libraries: tuple[LibraryChoice, ...] = ()
    connection: "Connection | None" = None

    @property
    def csrf(self) -> str:
        return csrf_token(self.runtime.secret_box, self.cookie)

    @property
    def me(self) -> ActiveSession:
        assert self.signed_in is not None  # a page that is not open is shown to nobody else
        return self.signed_in

    @property
    def call(self) -> RequestCall:
        """As an operation of the API gets it."""
        assert self.connection is not None
        now = self.runtime.clock()
        return RequestCall(principal=self.me.principal, connection=self.connection, runtime=self.runtime, now=now)

    @property
    def session_service(self) -> SessionService:
        return SessionService(secret_box=self.runtime.secret_box, plans=self.runtime.authenticator.plans)

    async def perform(self, endpoint: Callable[..., Awaitable[Made]], *arguments: Any, **named: Any) -> Made:  # noqa: ANN401
        """Do what an operation of the API does, after the same checks: what it would refuse is refused here."""
        operation_of(endpoint).authorize(self.me.principal)
        return await endpoint(self.call, *arguments, **named)

    def page(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:  # noqa: ANN401
        shown = {
            "visit": self,
            "path": self.request.url.path,
            "said": self.request.query_params.get("said", ""),
            "sign_up_open": self.runtime.settings.sign_up == "open",
            "fault": None,
            **values,
        }
        return HTMLResponse(render(template, **shown), status_code=status)


Handler = Callable[[PageContext], Awaitable[Response]]


def page(
    path: str, handler: Handler, *, method: str = "GET", is_open: bool = False, takes_files: bool = False
) -> Route:
    """A route of the console. An open one is shown to anybody; the others need a session."""

    async def answer(request: Request) -> Response:
        runtime: Runtime = request.app.state.runtime
        try:
            envelope = PageEnvelope(request, runtime, handler, is_open=is_open, takes_files=takes_files)
            response = await envelope.answer()
        except Exception as error:  # noqa: BLE001 (whatever it was, the person gets a page)
            response = fault_page(request, error)
        harden(response, runtime.settings)
        return response

    return Route(path, answer, methods=[method], name=f"{handler.__module__}.{handler.__qualname__}")


class PageEnvelope:
    """One request on its way through: session, limits, forgery, work."""

    def __init__(
        self, request: Request, runtime: Runtime, handler: Handler, *, is_open: bool, takes_files: bool
    ) -> None:
        self.request = request
        self.runtime = runtime
        self.handler = handler
        self.is_open = is_open
        self.takes_files = takes_files

    async def answer(self) -> Response:
        token = self.request.cookies.get(cookie_name(self.runtime.settings, "session"), "")
        if any("\x00" in piece for piece in self.request.path_params.values()):
            raise not_found()
        async with self.runtime.database.connection() as connection:
            visit = await self._identify(connection, token)
            if visit.signed_in is None and not self.is_open:
                return _to_sign_in(self.request)
            if self.request.method in {"GET", "HEAD"}:
                return await self._admitted(replace(visit, connection=connection))
        return await self._write(visit)

    async def _identify(self, connection: Connection, token: str) -> PageContext:
        settings = self.runtime.settings
        visit = PageContext(self.request, self.runtime, cookie=token)
        signed_in = await visit.session_service.load(connection, token, now=self.runtime.clock()) if token else None
        if signed_in is None:
            known = self.request.cookies.get(cookie_name(settings, "visit"), "")
            return replace(visit, cookie=known or new_visit())
        self.request.scope["cutroom.principal"] = signed_in.principal
        libraries = await visit.session_service.list_libraries(connection, signed_in.user_id)
        return replace(visit, signed_in=signed_in, libraries=tuple(libraries))

    async def _write(self, visit: PageContext) -> Response:
        check_origin(self.request, self.runtime.settings)
        async with read_form(self.request, takes_files=self.takes_files) as form:
            check_csrf(self.request.headers.get(CSRF_HEADER) or form.text(CSRF_FIELD), visit.csrf)
            return await self._written(replace(visit, form=form))

    async def _written(self, visit: PageContext) -> Response:
        if visit.signed_in is None:
            return await self._admitted(visit)
        async with self.runtime.database.transaction(visit.me.principal.library_id) as connection:
            return await self._admitted(replace(visit, connection=connection))

    async def _admitted(self, visit: PageContext) -> Response:
        if visit.signed_in is None:
            response = await self.handler(visit)
            put_cookie(response, self.runtime.settings, "visit", value=visit.cookie, seconds=VISIT_SECONDS)
            return response
        admission = await self.runtime.limits.acquire(visit.me.principal)
        try:
            return await self.handler(visit)
        finally:
            self.runtime.limits.release(admission)


def _to_sign_in(request: Request) -> Response:
    if request.headers.get("hx-request"):  # the whole page has to go there, not the part that asked
        return Response(status_code=204, headers={"HX-Redirect": "/sign-in"})
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    query = urlencode({"next": target}) if request.method == "GET" and target != "/" else ""
    return RedirectResponse(f"/sign-in?{query}" if query else "/sign-in", status_code=303)


def parse(model: type[Model], document: Mapping[str, Any]) -> Model:
    """What a form says, held to the same schema as the API's bodies."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        faults = [
            (".".join(str(piece) for piece in fault["loc"]) or "form", fault["msg"].removeprefix("Value error, "))
            for fault in error.errors()
        ]
        raise invalid_fields(faults) from error


def sentence(error: CutroomError) -> str:
    """What went wrong, for a person: the fields' own words where there are some."""
    fields = error.details.get("fields", []) if error.code is Code.INVALID_ARGUMENT else []
    return " ".join(dict.fromkeys(field["message"] for field in fields)) or error.message


def fault_page(request: Request, error: Exception) -> Response:
    known = error if isinstance(error, CutroomError) else None
    if known is None and not isinstance(error, HTTPException):
        _log.error("unexpected error on a page", exc_info=error)
    problem = error_response(error) if known is not None or isinstance(error, HTTPException) else None
    status = problem.status_code if problem is not None else 500
    code = problem.code if problem is not None else Code.INTERNAL
    words = sentence(known) if known else "Something broke on our side. It has been written down."
    request.scope["cutroom.code"] = code
    headers = dict(known.headers) if known else {}
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"code": code.value, "message": words}, status_code=status, headers=headers)
    html = render("fault.html", status=status, code=code.value, words=words)
    return HTMLResponse(html, status_code=status, headers=headers)


def go(path: str, **query: str) -> Response:
    """On to another page, after a form."""
    return RedirectResponse(f"{path}?{urlencode(query)}" if query else path, status_code=303)
