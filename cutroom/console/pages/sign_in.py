"""Sign-in, sign-up, sign-out, and switching libraries."""

from starlette.responses import Response

from cutroom.accounts.email_verification import require_verification
from cutroom.accounts.mails.rules import MailKind
from cutroom.accounts.mails.service import find_account
from cutroom.accounts.plans import PlanName
from cutroom.accounts.sessions import AuthenticatedUser, CheckedSignUp, check_sign_up, normalize_email, sign_up
from cutroom.console.framework.page_context import PageContext, error_text, page, redirect
from cutroom.console.framework.security import delete_cookie
from cutroom.console.framework.sign_in_throttle import throttle
from cutroom.console.framework.signing_in import (
    HOME,
    check_password_of,
    finish_sign_in,
    queue_account_mail,
    safe_next,
    start_session,
)
from cutroom.errors import Code, CutroomError, not_found
from cutroom.platform.db import enter_library

_WRONG = "Wrong email address or password."
_CONFIRM = "We have sent a link to {email}. Open it to finish."


async def show_sign_in(context: PageContext) -> Response:
    target = safe_next(context.request.query_params.get("next", HOME))
    if context.signed_in is not None:
        return redirect(target)
    return context.page("sign_in.html", next=target, email="")


async def do_sign_in(context: PageContext) -> Response:
    email, target = normalize_email(context.form.text("email")), safe_next(context.form.text("next"))
    try:
        known = await check_password_of(context, email, context.form.secret("password"))
        if known is not None:
            return await finish_sign_in(context, known, email=email, target=target)
        message, status, headers = _WRONG, 401, {}
    except CutroomError as error:
        if error.code is not Code.RATE_LIMITED:
            raise
        message, status, headers = error_text(error), error.status, dict(error.headers)
    response = context.page("sign_in.html", status=status, next=target, email=email, error=message)
    response.headers.update(headers)
    return response


async def show_sign_up(context: PageContext) -> Response:
    _check_open(context)
    target = safe_next(context.request.query_params.get("next", HOME))
    return redirect(target) if context.signed_in else context.page("sign_up.html", next=target, email="", name="")


async def do_sign_up(context: PageContext) -> Response:
    """With a mail server, the response is the same if there is an account already: the mail says it."""
    _check_open(context)
    form, target, sends_mail = context.form, safe_next(context.form.text("next")), context.runtime.settings.sends_mail
    known: AuthenticatedUser | None = None
    try:
        await throttle(context.runtime, context.request, normalize_email(form.text("email")))
        checked = await check_sign_up(form.text("email"), name=form.text("name"), password=form.secret("password"))
        try:
            known = await _create_account(context, checked)
        except CutroomError as error:
            if error.code is not Code.ALREADY_EXISTS or not sends_mail:
                raise
            await _mail_existing_account(context, checked.email)
    except CutroomError as error:
        shown = {"next": target, "email": form.text("email"), "name": form.text("name"), "error": error_text(error)}
        response = context.page("sign_up.html", status=error.status, **shown)
        response.headers.update(error.headers)
        return response
    if known is None or sends_mail:
        return context.page("mail_sent.html", message=_CONFIRM.format(email=checked.email))
    return await start_session(context, known, target)


async def _create_account(context: PageContext, checked: CheckedSignUp) -> AuthenticatedUser:
    plan = PlanName(context.runtime.settings.new_library_plan)
    async with context.runtime.database.connection() as connection, connection.transaction():
        known = await sign_up(connection, checked, plan=plan, now=context.runtime.clock())
        await enter_library(connection, known.library_id)
        if await queue_account_mail(context, connection, known, MailKind.VERIFY_EMAIL, email=checked.email):
            await require_verification(connection, known.library_id)
        event = context.audit_event("user.create", user=known, targets={"userId": known.user_id})
        await context.append_event(connection, event)
    return known


async def _mail_existing_account(context: PageContext, email: str) -> None:
    async with context.runtime.database.connection() as connection, connection.transaction():
        account = await find_account(connection, email)
        if account is not None:
            await enter_library(connection, account.library_id)
            await queue_account_mail(context, connection, account, MailKind.ACCOUNT_EXISTS, email=email)


def _check_open(context: PageContext) -> None:
    if context.runtime.settings.sign_up != "open":
        raise not_found()


async def sign_out(context: PageContext) -> Response:
    personal = context.personal_library_id
    connection = context.call.connection
    await context.session_service.end(connection, context.cookie)
    await enter_library(connection, personal)
    await context.append_event(connection, context.audit_event("session.end", library_id=personal))
    response = redirect("/sign-in")
    delete_cookie(response, context.runtime.settings, "session")
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
    page("/switch", switch_library, method="POST"),
]
