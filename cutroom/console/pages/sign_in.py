"""Signing in, signing up, signing out, and changing a password."""

from starlette.responses import Response

from cutroom.accounts.plans import PlanName
from cutroom.accounts.sessions import AuthenticatedUser, change_password, normalize_email, sign_up
from cutroom.console.framework.page_context import PageContext, go, page, sentence
from cutroom.console.framework.security import SESSION_SECONDS, drop_cookie, put_cookie
from cutroom.errors import Code, CutroomError, not_found
from cutroom.web.limits import RateLimit

ATTEMPTS_PER_ADDRESS = RateLimit(30)
ATTEMPTS_PER_EMAIL = RateLimit(10)
MAX_NEXT = 2_000
HOME = "/library"
_WRONG = "E-mail address or password are not right."


def safe_next(target: str) -> str:
    """Where to go after signing in: a path of ours, and nothing that a browser takes for another host."""
    inside = target.startswith("/") and not target.startswith(("//", "/\\")) and len(target) <= MAX_NEXT
    return target if inside and target.isprintable() and "\\" not in target else HOME


async def show_sign_in(visit: PageContext) -> Response:
    target = safe_next(visit.request.query_params.get("next", HOME))
    if visit.signed_in is not None:
        return go(target)
    return visit.page("sign_in.html", next=target, email="")


async def do_sign_in(visit: PageContext) -> Response:
    email, target = normalize_email(visit.form.text("email")), safe_next(visit.form.text("next"))
    try:
        await _count(visit, email)
        async with visit.runtime.database.connection() as connection:
            known = await visit.session_service.authenticate(connection, email, visit.form.secret("password"))
        if known is not None:
            return await _let_in(visit, known, target)
        words, status = _WRONG, 401
    except CutroomError as error:
        if error.code is not Code.RATE_LIMITED:
            raise
        words, status = "Too many attempts. Wait a minute, then try again.", error.status
    return visit.page("sign_in.html", status=status, next=target, email=email, fault=words)


async def _count(visit: PageContext, email: str) -> None:
    """Every attempt counts, not only wrong ones: whoever guesses right at the end has guessed too fast as well."""
    client = visit.request.client
    await visit.runtime.limits.count(f"sign-in:{client.host if client else 'unknown'}", ATTEMPTS_PER_ADDRESS)
    await visit.runtime.limits.count(f"sign-in:{email[:254]}", ATTEMPTS_PER_EMAIL)


async def _let_in(visit: PageContext, known: AuthenticatedUser, target: str) -> Response:
    """A new session each time, so that nobody can have planted one."""
    async with visit.runtime.database.connection() as connection:
        token = await visit.session_service.create(connection, known, now=visit.runtime.clock())
    response = go(target)
    put_cookie(response, visit.runtime.settings, "session", value=token, seconds=SESSION_SECONDS)
    return response


async def show_sign_up(visit: PageContext) -> Response:
    _check_open(visit)
    target = safe_next(visit.request.query_params.get("next", HOME))
    return go(target) if visit.signed_in else visit.page("sign_up.html", next=target, email="", name="")


async def do_sign_up(visit: PageContext) -> Response:
    _check_open(visit)
    form, target = visit.form, safe_next(visit.form.text("next"))
    try:
        await _count(visit, normalize_email(form.text("email")))
        async with visit.runtime.database.connection() as connection:
            known = await sign_up(
                connection,
                form.text("email"),
                name=form.text("name"),
                password=form.secret("password"),
                plan=PlanName(visit.runtime.settings.new_library_plan),
                now=visit.runtime.clock(),
            )
    except CutroomError as error:
        shown = {"next": target, "email": form.text("email"), "name": form.text("name"), "fault": sentence(error)}
        return visit.page("sign_up.html", status=error.status, **shown)
    return await _let_in(visit, known, target)


def _check_open(visit: PageContext) -> None:
    if visit.runtime.settings.sign_up != "open":
        raise not_found()


async def sign_out(visit: PageContext) -> Response:
    await visit.session_service.end(visit.call.connection, visit.cookie)
    response = go("/sign-in")
    drop_cookie(response, visit.runtime.settings, "session")
    return response


async def show_account(visit: PageContext) -> Response:
    return visit.page("account.html")


async def do_change_password(visit: PageContext) -> Response:
    form, me = visit.form, visit.me
    try:
        await _count(visit, me.email)
        known = await visit.session_service.authenticate(visit.call.connection, me.email, form.secret("current"))
        if known is None:
            return visit.page("account.html", status=403, fault="The current password is not right.")
        await change_password(visit.call.connection, me.user_id, form.secret("password"), now=visit.call.now)
    except CutroomError as error:
        return visit.page("account.html", status=error.status, fault=sentence(error))
    token = await visit.session_service.create(visit.call.connection, known, now=visit.call.now)
    response = go("/account", said="password")
    put_cookie(response, visit.runtime.settings, "session", value=token, seconds=SESSION_SECONDS)
    return response


async def switch_library(visit: PageContext) -> Response:
    chosen = visit.form.text("library")
    if not await visit.session_service.switch_library(visit.call.connection, visit.cookie, chosen):
        raise not_found()
    return go(HOME)


ROUTES = [
    page("/sign-in", show_sign_in, is_open=True),
    page("/sign-in", do_sign_in, method="POST", is_open=True),
    page("/sign-up", show_sign_up, is_open=True),
    page("/sign-up", do_sign_up, method="POST", is_open=True),
    page("/sign-out", sign_out, method="POST"),
    page("/account", show_account),
    page("/account/password", do_change_password, method="POST"),
    page("/switch", switch_library, method="POST"),
]
