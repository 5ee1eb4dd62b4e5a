"""Password reset by mail."""

from contextlib import suppress

from starlette.responses import Response

from cutroom.accounts.email_verification import mark_verified
from cutroom.accounts.mails.rules import MailKind
from cutroom.accounts.mails.service import find_account, use_link
from cutroom.accounts.sessions import AuthenticatedUser, hash_new_password, normalize_email, store_password
from cutroom.console.framework.page_context import PageContext, error_text, page, redirect
from cutroom.console.framework.security import delete_cookie
from cutroom.console.framework.sign_in_throttle import throttle
from cutroom.console.framework.signing_in import check_mail, opened_link, queue_account_mail
from cutroom.errors import Code, CutroomError
from cutroom.platform.ids import new_id

_SENT = "If there is an account with this address, we have sent it a link. It is valid for an hour."


class _NoAccountError(Exception):
    """Rolls the transaction back."""


async def show_request(context: PageContext) -> Response:
    check_mail(context)
    return context.page("forgot_password.html", email="")


async def request_reset(context: PageContext) -> Response:
    """The same work and the same response, whether there is an account or not."""
    check_mail(context)
    email = normalize_email(context.form.text("email"))
    try:
        await throttle(context.runtime, context.request, email)
    except CutroomError as error:
        if error.code is not Code.RATE_LIMITED:
            raise
        response: Response = context.page(
            "forgot_password.html", status=error.status, email=email, error=error_text(error)
        )
        response.headers.update(error.headers)
        return response
    async with context.runtime.database.connection() as connection:
        account = await find_account(connection, email)
    with suppress(_NoAccountError):
        await _send_link(context, account, email)
    return context.page("mail_sent.html", message=_SENT)


async def _send_link(context: PageContext, account: AuthenticatedUser | None, email: str) -> None:
    """Without an account, the mail is written for one that does not exist, and rolled back."""
    user = account or AuthenticatedUser(new_id(), new_id())
    async with context.runtime.database.transaction(user.library_id) as connection:
        if await queue_account_mail(context, connection, user, MailKind.RESET_PASSWORD, email=email):
            await context.append_event(connection, context.audit_event("password.requestReset", user=user))
        if account is None:
            raise _NoAccountError


async def show_reset(context: PageContext) -> Response:
    """The link is not used yet: programs that scan mails open links too."""
    await opened_link(context, MailKind.RESET_PASSWORD)
    return context.page("reset_password.html", secret=context.request.path_params["secret"])


async def reset(context: PageContext) -> Response:
    """Sets the password and ends all sessions. The user signs in afterwards, with a second factor if there is one."""
    link, secret = await opened_link(context, MailKind.RESET_PASSWORD), context.request.path_params["secret"]
    try:
        await throttle(context.runtime, context.request, link.email)
        hashed = await hash_new_password(context.form.secret("password"))
    except CutroomError as error:
        shown = error_text(error)
        response: Response = context.page("reset_password.html", status=error.status, secret=secret, error=shown)
        response.headers.update(error.headers)
        return response
    user, now = link.user, context.runtime.clock()
    async with context.runtime.database.transaction(user.library_id) as connection:
        await use_link(connection, link, MailKind.RESET_PASSWORD, now=now)
        await store_password(connection, user.user_id, hashed, now=now)
        await mark_verified(connection, user.library_id, now=now)
        await queue_account_mail(context, connection, user, MailKind.PASSWORD_CHANGED, email=link.email)
        await context.append_event(connection, context.audit_event("password.reset", user=user))
    response = redirect("/sign-in", notice="password")
    delete_cookie(response, context.runtime.settings, "session")
    return response


ROUTES = [
    page("/forgot-password", show_request, is_public=True),
    page("/forgot-password", request_reset, method="POST", is_public=True, in_transaction=False),
    page("/reset-password/{secret}", show_reset, is_public=True),
    page("/reset-password/{secret}", reset, method="POST", is_public=True, in_transaction=False),
]
