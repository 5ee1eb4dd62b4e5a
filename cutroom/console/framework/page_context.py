"""Request pipeline of the console: session, CSRF check, rate limits, transaction, handler, error page."""

import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from urllib.parse import urlencode

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from cutroom.accounts.passkeys.rules import PasskeySite
from cutroom.accounts.principals import Principal, PrincipalKind
from cutroom.accounts.sessions import (
    ActiveSession,
    AuthenticatedUser,
    LibraryChoice,
    SessionClient,
    SessionService,
)
from cutroom.audit import service as audit
from cutroom.audit.rules import target_ids
from cutroom.audit.service import AuditActor, AuditEvent
from cutroom.console.framework.forms import Form, read_form, wait_for_turn
from cutroom.console.framework.guest_cookies import guest_sessions, guest_token
from cutroom.console.framework.rendering import render
from cutroom.console.framework.security import (
    BROWSER_ID_SECONDS,
    CSRF_FIELD,
    CSRF_HEADER,
    check_csrf,
    check_origin,
    cookie_name,
    csrf_token,
    harden,
    new_browser_id,
    set_cookie,
)
from cutroom.errors import Code, CutroomError, invalid_fields, not_found
from cutroom.platform import moved
from cutroom.platform.db import Connection, enter_library
from cutroom.platform.moved import has_moved
from cutroom.retention.revocations.log import log_revocations
from cutroom.reviews.guests import Guest
from cutroom.reviews.rules import GuestRole
from cutroom.web.error_responses import error_response
from cutroom.web.middleware import RequestCall, origin_of
from cutroom.web.operation import Access, operation_of
from cutroom.web.revisions import ETAG
from cutroom.web.runtime import Runtime

Result = TypeVar("Result")
Model = TypeVar("Model", bound=BaseModel)
_log = logging.getLogger(__name__)
_OPEN_WHILE_SUSPENDED = ("/account", "/sign-out", "/switch")
_CLOSED_TO_GUESTS = "This review is not available now. Ask the sender of the link."
_SUSPENDED = "This library is suspended. Switch to another one on your account page, or contact support."


@dataclass(frozen=True, slots=True)
class PageContext:
    """Everything a page handler needs: the request, the form, and the session if the user is signed in.

    On pages for guests, `guest` is set instead for a person who opened a review link of the video.
    """

    request: Request
    runtime: Runtime
    cookie: str  # the CSRF token is derived from it
    form: Form = field(default_factory=Form)
    signed_in: ActiveSession | None = None
    guest: Guest | None = None
    libraries: tuple[LibraryChoice, ...] = ()
    connection: "Connection | None" = None
    events: list[AuditEvent] = field(default_factory=list)  # appended to the audit log at the end of the transaction

    @property
    def csrf(self) -> str:
        return csrf_token(self.runtime.secret_box, self.cookie)

    @property
    def me(self) -> ActiveSession:
        assert self.signed_in is not None  # guaranteed on pages that are neither public nor for guests
        return self.signed_in

    @property
    def caller(self) -> Principal | None:
        """The principal of the member or guest; None if the user is signed out."""
        if self.guest is not None:
            return self.guest.principal
        return self.signed_in.principal if self.signed_in is not None else None

    @property
    def principal(self) -> Principal:
        found = self.caller
        assert found is not None  # guaranteed on pages that are not public
        return found

    @property
    def author_name(self) -> str:
        """The name of the member, or the one that the guest has entered."""
        return self.guest.name if self.guest is not None else self.me.name

    @property
    def personal_library_id(self) -> str:
        """Where the sessions and credentials of a user are logged: they belong to no workspace."""
        return next(each.id for each in self.libraries if not each.is_workspace)

    @asynccontextmanager
    async def personal_library(self) -> AsyncIterator[Connection]:
        """The page's connection, confined to the user's personal library within the block."""
        connection = self.call.connection
        async with connection.transaction():
            await enter_library(connection, self.personal_library_id)
            yield connection
            await enter_library(connection, self.me.principal.library_id)  # the page's transaction may go on

    @property
    def session_client(self) -> SessionClient:
        """Where the request comes from, for the user's list of sessions."""
        return SessionClient(origin_of(self.request).client_address, self.request.headers.get("user-agent"))

    @property
    def call(self) -> RequestCall:
        """The call object that API operations take."""
        assert self.connection is not None
        now = self.runtime.clock()
        return RequestCall(principal=self.principal, connection=self.connection, runtime=self.runtime, now=now)

    @property
    def session_service(self) -> SessionService:
        authenticator = self.runtime.authenticator
        return SessionService(
            secret_box=self.runtime.secret_box,
            plans=authenticator.plans,
            refuses_drafts=authenticator.refuses_drafts,
        )

    async def call_operation(self, endpoint: Callable[..., Awaitable[Result]], *arguments: Any, **named: Any) -> Result:  # noqa: ANN401
        """Calls an API operation in process, after the same authorization checks as over HTTP."""
        declared, call = operation_of(endpoint), self.call
        declared.authorize(self.principal)
        if declared.free_work:
            await self.count_free_work()
        result = await endpoint(call, *arguments, **named)
        if declared.access is not Access.READ:
            given = inspect.signature(endpoint).bind(call, *arguments, **named).arguments
            document = result.model_dump(mode="json", by_alias=True) if isinstance(result, BaseModel) else {}
            self.record(
                to_camel(endpoint.__name__),
                targets=target_ids({**document, **given}),
                before=call.changes.before,
                after=call.changes.after,
            )
        return result

    async def count_free_work(self) -> None:
        """Counts work that may cost nothing; raises RATE_LIMITED if the library or the account has used up its day."""
        await self.runtime.limits.count_free_work(self.principal)

    def record(
        self,
        action: str,
        *,
        targets: Mapping[str, Any] | None = None,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
    ) -> None:
        """Adds an entry to the library's audit log, in the page's transaction."""
        self.events.append(self.audit_event(action, targets=targets, before=before, after=after))

    def audit_event(
        self,
        action: str,
        *,
        user: AuthenticatedUser | None = None,
        library_id: str | None = None,
        targets: Mapping[str, Any] | None = None,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
    ) -> AuditEvent:
        """An entry of the signed-in user, or of a user who is signing in; in the selected library by default."""
        if user is not None:
            actor, selected = AuditActor(PrincipalKind.PERSON, user.user_id, user.user_id), user.library_id
        else:
            actor, selected = audit.actor_of(self.principal), self.principal.library_id
        return AuditEvent(
            library_id=library_id or selected,
            action=action,
            actor=actor,
            at=self.runtime.clock(),
            origin=origin_of(self.request),
            targets=targets or {},
            before=before,
            after=after,
        )

    async def append_event(self, connection: Connection, event: AuditEvent) -> None:
        """Appends an entry in a transaction of the page's own."""
        await audit.append(connection, event, secret_box=self.runtime.secret_box)

    async def call_revised(self, endpoint: Callable[..., Awaitable[Result]], *arguments: Any) -> tuple[Result, str]:  # noqa: ANN401
        """Calls an API operation whose resource has revisions; returns the resource and its ETag."""
        operation_of(endpoint).authorize(self.principal)
        call = self.call
        return await endpoint(call, *arguments), call.response_headers.get(ETAG, "")

    @property
    def is_fragment(self) -> bool:
        """Whether a script requests a section of a page."""
        return self.request.headers.get("hx-request") is not None

    def page(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:  # noqa: ANN401
        variables = {
            "context": self,
            "path": self.request.url.path,
            "notice": self.request.query_params.get("notice", ""),
            "sign_up_open": self.runtime.settings.sign_up == "open",
            "sends_mail": self.runtime.settings.sends_mail,
            "has_passkeys": PasskeySite.of(self.runtime.settings.base_url) is not None,
            "error": None,
            "now": self.runtime.clock(),
            **values,
        }
        return HTMLResponse(render(template, **variables), status_code=status)


Handler = Callable[[PageContext], Awaitable[Response]]


def page(
    path: str,
    handler: Handler,
    *,
    method: str = "GET",
    is_public: bool = False,
    accepts_files: bool = False,
    in_transaction: bool = True,
    guests: GuestRole | None = None,
) -> Route:
    """A console route. Pages that are not public redirect to sign-in without a session.

    `guests` opens a page of one video, whose path has a `video_id`, to those who opened a review link of this video
    with at least this role. To every other page a guest is signed out.
    Forms that wait for something else than the database open their own transactions.
    """

    async def endpoint(request: Request) -> Response:
        runtime: Runtime = request.app.state.runtime
        request.scope["route"] = route  # for the access log and the metrics
        try:
            pipeline = PagePipeline(
                request,
                runtime,
                handler,
                is_public=is_public,
                accepts_files=accepts_files,
                in_transaction=in_transaction,
                guests=guests,
            )
            response = await pipeline.run()
        except Exception as error:  # noqa: BLE001 (every error is rendered as a page)
            response = error_page(request, error)
        harden(response, runtime.settings)
        return response

    route = Route(path, endpoint, methods=[method], name=f"{handler.__module__}.{handler.__qualname__}")
    return route


class PagePipeline:
    """Runs one page request: session, CSRF check, rate limits, handler."""

    def __init__(
        self,
        request: Request,
        runtime: Runtime,
        handler: Handler,
        *,
        is_public: bool,
        accepts_files: bool,
        in_transaction: bool,
        guests: GuestRole | None = None,
    ) -> None:
        self.request = request
        self.runtime = runtime
        self.handler = handler
        self.is_public = is_public
        self.accepts_files = accepts_files
        self.in_transaction = in_transaction
        self.guests = guests

    async def run(self) -> Response:
        token = self.request.cookies.get(cookie_name(self.runtime.settings, "session"), "")
        if any("\x00" in value for value in self.request.path_params.values()):
            raise not_found()
        if not token and self.is_public and self.request.method == "POST":
            return await self._write(self._anonymous())  # without a database connection
        async with self.runtime.database.connection() as connection:
            context = await self._identify(connection, token)
            if context.caller is None and not self.is_public:
                return _redirect_to_sign_in(self.request)
            if self.request.method in {"GET", "HEAD"}:
                return await self._handle(replace(context, connection=connection))
        return await self._write(context)

    async def _identify(self, connection: Connection, token: str) -> PageContext:
        context = PageContext(self.request, self.runtime, cookie=token)
        guest = await self._guest(connection)
        signed_in = await context.session_service.load(connection, token, now=self.runtime.clock()) if token else None
        if guest is not None and (signed_in is None or signed_in.principal.library_id != guest.principal.library_id):
            # The connection is scoped to the library that was loaded last.
            return guest if signed_in is None else await self._guest(connection) or self._anonymous()
        if signed_in is None:
            return self._anonymous()
        self.request.scope["cutroom.principal"] = signed_in.principal
        libraries = await context.session_service.list_libraries(connection, signed_in.user_id)
        return replace(context, signed_in=signed_in, libraries=tuple(libraries))

    async def _guest(self, connection: Connection) -> PageContext | None:
        """The context of a person who opened a review link that allows this page."""
        if self.guests is None:
            return None
        video_id = self.request.path_params["video_id"]
        token = guest_token(self.request, self.runtime.settings, video_id)
        if not token:
            return None
        guest = await guest_sessions(self.runtime).load(connection, token, video_id, now=self.runtime.clock())
        if guest is None or not guest.role.includes(self.guests):
            return None
        self.request.scope["cutroom.principal"] = guest.principal
        return PageContext(self.request, self.runtime, cookie=token, guest=guest)

    def _anonymous(self) -> PageContext:
        known = self.request.cookies.get(cookie_name(self.runtime.settings, "browser"), "")
        return PageContext(self.request, self.runtime, cookie=known or new_browser_id())

    async def _write(self, context: PageContext) -> Response:
        check_origin(self.request, self.runtime.settings)
        if context.caller is None:
            await wait_for_turn(self.request)
        async with read_form(self.request, accepts_files=self.accepts_files) as form:
            given = self.request.headers.get(CSRF_HEADER) or form.text(CSRF_FIELD)
            check_csrf(self.runtime.secret_box, context.cookie, given)
            return await self._run_in_transaction(replace(context, form=form))

    async def _run_in_transaction(self, context: PageContext) -> Response:
        if context.caller is None or not self.in_transaction:
            return await self._handle(context)
        async with self.runtime.database.transaction(context.principal.library_id) as connection:
            response = await self._handle(replace(context, connection=connection))
            for event in context.events:
                await context.append_event(connection, event)
            await log_revocations(self.runtime.settings, context.events)
            return response

    async def _handle(self, context: PageContext) -> Response:
        if context.caller is None:
            response = await self.handler(context)
            set_cookie(response, self.runtime.settings, "browser", value=context.cookie, seconds=BROWSER_ID_SECONDS)
            return response
        admission = await self.runtime.limits.acquire(context.principal)
        try:
            if not self.is_public:
                _check_suspension(context)
            return await self.handler(context)
        finally:
            self.runtime.limits.release(admission)


def _check_suspension(context: PageContext) -> None:
    """In a suspended library, users can only manage their account, switch to another library, and sign out."""
    is_open = context.request.url.path.startswith(_OPEN_WHILE_SUSPENDED)
    if context.principal.suspended and not is_open:
        message = _SUSPENDED if context.guest is None else _CLOSED_TO_GUESTS
        raise CutroomError(Code.PERMISSION_DENIED, message=message, details={"reason": "suspended"})


def _redirect_to_sign_in(request: Request) -> Response:
    if request.headers.get("hx-request"):  # redirect the whole page, not the fragment
        return Response(status_code=204, headers={"HX-Redirect": "/sign-in"})
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    query = urlencode({"next": target}) if request.method in {"GET", "HEAD"} and target != "/" else ""
    return RedirectResponse(f"/sign-in?{query}" if query else "/sign-in", status_code=303)


def parse(model: type[Model], document: Mapping[str, Any]) -> Model:
    """Validates form data with the schema of the corresponding API body."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        fields = [
            (".".join(str(part) for part in each["loc"]) or "form", each["msg"].removeprefix("Value error, "))
            for each in error.errors()
        ]
        raise invalid_fields(fields) from error


_MOVING = "Your library is being moved. Try again in a moment."
_TOO_MANY = "Too many attempts. Wait a minute, then try again."
_LIMITS = {
    "unfinished_jobs": "Too many jobs are unfinished. Try again when some of them are ready.",
    "failed_jobs": "Too many jobs have failed today. Try again tomorrow.",
    "free_work": "Too much free work was started today. Try again tomorrow.",
}


def error_text(error: CutroomError) -> str:
    """The message shown to the user: the field messages if there are any. That of a limit speaks of API keys."""
    if error.code is Code.RATE_LIMITED:
        return _LIMITS.get(error.details.get("limit", ""), _TOO_MANY)
    fields = error.details.get("fields", []) if error.code is Code.INVALID_ARGUMENT else []
    return " ".join(dict.fromkeys(field["message"] for field in fields)) or error.message


def error_page(request: Request, error: Exception) -> Response:
    known = error if isinstance(error, CutroomError) else None
    if has_moved(error):
        known = CutroomError(Code.INTERNAL, headers=dict(moved.HEADERS), message=_MOVING)
    if known is None and not isinstance(error, HTTPException):
        _log.error("page failed", exc_info=error)
    problem = error_response(known or error) if known is not None or isinstance(error, HTTPException) else None
    status = problem.status_code if problem is not None else 500
    code = problem.code if problem is not None else Code.INTERNAL
    message = error_text(known) if known else "Something went wrong on our side. The error has been logged."
    request.scope["cutroom.code"] = code
    headers = dict(known.headers) if known else {}
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"code": code.value, "message": message}, status_code=status, headers=headers)
    html = render("error.html", status=status, code=code.value, message=message)
    return HTMLResponse(html, status_code=status, headers=headers)


def redirect(path: str, **query: str) -> Response:
    """Redirects with 303 after a form submission."""
    return RedirectResponse(f"{path}?{urlencode(query)}" if query else path, status_code=303)
