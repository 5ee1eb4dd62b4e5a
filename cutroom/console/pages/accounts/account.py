"""The account page: the email address and the password."""

from starlette.responses import Response

from cutroom.accounts.email_verification import load_verification, mark_verified
from cutroom.accounts.mails.rules import MailKind
from cutroom.accounts.mails.service import use_link
from cutroom.accounts.passkeys.service import list_passkeys
from cutroom.accounts.second_factor.service import load_second_factor
from cutroom.accounts.sessions import AuthenticatedUser, hash_new_password, store_password
from cutroom.console.framework.page_context import PageContext, error_text, page, redirect
from cutroom.console.framework.security import SESSION_SECONDS, set_cookie
from cutroom.console.framework.signing_in import (
    HOME,
    check_mail,
    check_password_of,
    finish_sign_in,
    opened_link,
    queue_account_mail,
)
from cutroom.errors import CutroomError
from cutroom.platform.db import Connection

_SENT = "We have sent a link to {email}. Open it, and enter your password there."
_ENOUGH = "We have sent several links already. Wait an hour, then try again."


async def _page(
    context: PageContext, connection: Connection, *, error: str | None = None, status: int = 200
) -> Response:
    personal = context.personal_library_id
    return context.page(
        "account.html",
        status=status,
        error=error,
        is_verified=(await load_verification(connection, personal)).verified_at is not None,
        second_factor=await load_second_factor(connection, personal),
        passkeys=len(await list_passkeys(connection, personal)),
    )


async def show_account(context: PageContext) -> Response:
    async with context.personal_library() as connection:
        return await _page(context, connection)


async def _show_error(context: PageContext, error: str, *, status: int) -> Response:
    async with context.runtime.database.transaction(context.personal_library_id) as connection:
        return await _page(context, connection, error=error, status=status)


async def do_change_password(context: PageContext) -> Response:
    form, me = context.form, context.me
    try:
        known = await check_password_of(context, me.email, form.secret("current"))
        if known is None:
            return await _show_error(context, "The current password is wrong.", status=403)
        hashed = await hash_new_password(form.secret("password"))
    except CutroomError as error:
        response = await _show_error(context, error_text(error), status=error.status)
        response.headers.update(error.headers)
        return response
    now = context.runtime.clock()
    async with context.runtime.database.transaction(known.library_id) as connection:
        await store_password(connection, me.user_id, hashed, now=now)
        token = await context.session_service.create(connection, known, now=now, client=context.session_client)
        await queue_account_mail(context, connection, known, MailKind.PASSWORD_CHANGED, email=me.email)
        event = context.audit_event("password.change", library_id=known.library_id)
        await context.append_event(connection, event)
    response = redirect("/account", notice="password")
    set_cookie(response, context.runtime.settings, "session", value=token, seconds=SESSION_SECONDS)
    return response


async def send_verification(context: PageContext) -> Response:
    """Sends a link to the account's address."""
    check_mail(context)
    user = AuthenticatedUser(context.me.user_id, context.personal_library_id)
    async with context.personal_library() as connection:
        is_sent = await queue_account_mail(context, connection, user, MailKind.VERIFY_EMAIL, email=context.me.email)
        event = context.audit_event("email.requestVerification", library_id=user.library_id)
        await context.append_event(connection, event)
    message = _SENT.format(email=context.me.email) if is_sent else _ENOUGH
    return context.page("mail_sent.html", message=message, status=200 if is_sent else 429)


async def show_verification(context: PageContext) -> Response:
    """Nothing is confirmed yet: programs that scan mails open links too."""
    link = await opened_link(context, MailKind.VERIFY_EMAIL)
    return context.page("verify_email.html", email=link.email, secret=context.request.path_params["secret"])


async def verify(context: PageContext) -> Response:
    """Confirms the address with the password of the account.

    Someone who created the account with an address that is not theirs cannot make its owner confirm it: the owner
    does not know the password.
    """
    link, secret = await opened_link(context, MailKind.VERIFY_EMAIL), context.request.path_params["secret"]
    try:
        known = await check_password_of(context, link.email, context.form.secret("password"))
    except CutroomError as error:
        response: Response = context.page(
            "verify_email.html", status=error.status, email=link.email, secret=secret, error=error_text(error)
        )
        response.headers.update(error.headers)
        return response
    if known is None or known != link.user:
        wrong = "The password is wrong."
        return context.page("verify_email.html", status=401, email=link.email, secret=secret, error=wrong)
    now = context.runtime.clock()
    async with context.runtime.database.transaction(known.library_id) as connection:
        await use_link(connection, link, MailKind.VERIFY_EMAIL, now=now)
        await mark_verified(connection, known.library_id, now=now)
        await context.append_event(connection, context.audit_event("email.verify", user=known))
    if context.signed_in is not None and context.me.user_id == known.user_id:
        return redirect("/account", notice="verified")
    return await finish_sign_in(context, known, email=link.email, target=HOME)


ROUTES = [
    page("/account", show_account),
    page("/account/password", do_change_password, method="POST", in_transaction=False),
    page("/account/verification", send_verification, method="POST"),
    page("/verify-email/{secret}", show_verification, is_public=True),
    page("/verify-email/{secret}", verify, method="POST", is_public=True, in_transaction=False),
]
