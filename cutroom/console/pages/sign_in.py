"""Sign-in, sign-up, sign-out, password change, and switching libraries."""

from starlette.responses import Response

from cutroom.accounts.plans import PlanName
from cutroom.accounts.sessions import (
    AuthenticatedUser,
    check_sign_up,
    hash_new_password,
    normalize_email,
    sign_up,
    store_password,
)
from cutroom.console.framework.page_context import PageContext, error_text, page, redirect
from cutroom.console.framework.security import SESSION_SECONDS, delete_cookie, set_cookie
from cutroom.console.framework.sign_in_throttle import throttle
from cutroom.errors import Code, CutroomError, not_found
from cutroom.platform.db import enter_library

MAX_NEXT = 2_000
HOME = "/library"
_WRONG = "Wrong email address or password."
_TOO_MANY = "Too many attempts. Wait a minute, then try again."


def safe_next(target: str) -> str:
    """Returns the target if it is a path on this host, else the home page; prevents open redirects."""
    is_local = target.startswith("/") and not target.startswith(("//", "/\\")) and len(target) <= MAX_NEXT
    return target if is_local and target.isprintable() and "\\" not in target else HOME


async def show_sign_in(context: PageContext) -> Response:
    target = safe_next(context.request.query_params.get("next", HOME))
    if context.signed_in is not None:
        return redirect(target)
    return context.page("sign_in.html", next=target, email="")


async def do_sign_in(context: PageContext) -> Response:
    email, target = normalize_email(context.form.text("email")), safe_next(context.form.text("next"))
    try:
        known = await _authenticate(context, email, context.form.secret("password"))
        if known is not None:
            return await _start_session(context, known, target)
        message, status, headers = _WRONG, 401, {}
    except CutroomError as error:
        if error.code is not Code.RATE_LIMITED:
            raise
        message, status, headers = _TOO_MANY, error.status, dict(error.headers)
    response = context.page("sign_in.html", status=status, next=target, email=email, error=message)
    response.headers.update(headers)
    return response


async def _authenticate(context: PageContext, email: str, password: str) -> AuthenticatedUser | None:
    runtime = context.runtime
    await throttle(runtime, context.request, email)
    return await context.session_service.authenticate(runtime.database, email, password)


async def _start_session(context: PageContext, known: AuthenticatedUser, target: str) -> Response:
    """Always creates a new session, to prevent session fixation."""
    async with context.runtime.database.transaction(known.library_id) as connection:
        token = await context.session_service.create(connection, known, now=context.runtime.clock())
        await context.append_event(connection, context.audit_event("session.create", user=known))
    response = redirect(target)
    set_cookie(response, context.runtime.settings, "session", value=token, seconds=SESSION_SECONDS)
    return response


async def show_sign_up(context: PageContext) -> Response:
    _check_open(context)
    target = safe_next(context.request.query_params.get("next", HOME))
    return redirect(target) if context.signed_in else context.page("sign_up.html", next=target, email="", name="")


async def do_sign_up(context: PageContext) -> Response:
    _check_open(context)
    form, target = context.form, safe_next(context.form.text("next"))
    try:
        await throttle(context.runtime, context.request, normalize_email(form.text("email")))
        checked = await check_sign_up(form.text("email"), name=form.text("name"), password=form.secret("password"))
        plan = PlanName(context.runtime.settings.new_library_plan)
        async with context.runtime.database.connection() as connection, connection.transaction():
            known = await sign_up(connection, checked, plan=plan, now=context.runtime.clock())
            await enter_library(connection, known.library_id)
            event = context.audit_event("user.create", user=known, targets={"userId": known.user_id})
            await context.append_event(connection, event)
    except CutroomError as error:
        shown = {"next": target, "email": form.text("email"), "name": form.text("name"), "error": error_text(error)}
        response = context.page("sign_up.html", status=error.status, **shown)
        response.headers.update(error.headers)
        return response
    return await _start_session(context, known, target)


def _check_open(context: PageContext) -> None:
    if context.runtime.settings.sign_up != "open":
        raise not_found()


async def sign_out(context: PageContext) -> Response:
    personal = _personal_library(context)
    connection = context.call.connection
    await context.session_service.end(connection, context.cookie)
    await enter_library(connection, personal)
    await context.append_event(connection, context.audit_event("session.end", library_id=personal))
    response = redirect("/sign-in")
    delete_cookie(response, context.runtime.settings, "session")
    return response


def _personal_library(context: PageContext) -> str:
    """Where the sessions and passwords of a user are logged: they belong to no workspace."""
    return next(each.id for each in context.libraries if not each.is_workspace)


async def show_account(context: PageContext) -> Response:
    return context.page("account.html")


async def do_change_password(context: PageContext) -> Response:
    form, me = context.form, context.me
    try:
        known = await _authenticate(context, me.email, form.secret("current"))
        if known is None:
            return context.page("account.html", status=403, error="The current password is wrong.")
        hashed = await hash_new_password(form.secret("password"))
    except CutroomError as error:
        response: Response = context.page("account.html", status=error.status, error=error_text(error))
        response.headers.update(error.headers)
        return response
    now = context.runtime.clock()
    async with context.runtime.database.transaction(known.library_id) as connection:
        await store_password(connection, me.user_id, hashed, now=now)
        token = await context.session_service.create(connection, known, now=now)
        event = context.audit_event("password.change", library_id=known.library_id)
        await context.append_event(connection, event)
    response = redirect("/account", notice="password")
    set_cookie(response, context.runtime.settings, "session", value=token, seconds=SESSION_SECONDS)
    return response


async def switch_library(context: PageContext) -> Response:
    chosen = context.form.text("library")
    if not await context.session_service.switch_library(context.call.connection, context.cookie, chosen):
        raise not_found()
    return redirect(HOME)


ROUTES = [
    page("/sign-in", show_sign_in, is_public=True),
    page("/sign-in", do_sign_in, method="POST", is_public=True),
    page("/sign-up", show_sign_up, is_public=True),
    page("/sign-up", do_sign_up, method="POST", is_public=True),
    page("/sign-out", sign_out, method="POST"),
    page("/account", show_account),
    page("/account/password", do_change_password, method="POST", in_transaction=False),
    page("/switch", switch_library, method="POST"),
]
