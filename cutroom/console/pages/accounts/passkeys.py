"""Passkeys: the account page that registers them, and signing in with one."""

from starlette.responses import JSONResponse, Response

from cutroom.accounts.mails.rules import MailKind
from cutroom.accounts.passkeys import service
from cutroom.accounts.passkeys.rules import PasskeySite
from cutroom.accounts.passkeys.service import PasskeyRequest, PasskeyService
from cutroom.accounts.sessions import AuthenticatedUser
from cutroom.console.framework.page_context import PageContext, error_text, page, redirect
from cutroom.console.framework.sign_in_throttle import throttle
from cutroom.console.framework.signing_in import (
    check_password_of,
    queue_account_mail,
    safe_next,
    start_session,
)
from cutroom.errors import Code, CutroomError, not_found
from cutroom.platform.db import Connection

_WRONG = "This passkey was not accepted. Try again, or sign in with your password."


def _service(context: PageContext) -> PasskeyService:
    """Not found where browsers refuse passkeys."""
    site = PasskeySite.of(context.runtime.settings.base_url)
    if site is None:
        raise not_found()
    return PasskeyService(context.runtime.secret_box, site)


def _json(request: PasskeyRequest) -> Response:
    return JSONResponse({"options": request.options, "state": request.state})


async def sign_in_options(context: PageContext) -> Response:
    """What the browser asks its authenticator to sign; the same for everybody, and nothing is stored."""
    return _json(_service(context).sign_in_request(cookie=context.cookie, now=context.runtime.clock()))


async def do_sign_in(context: PageContext) -> Response:
    """A passkey that verifies the person is two factors by itself: no code is asked for."""
    target, runtime, passkeys = safe_next(context.form.text("next")), context.runtime, _service(context)
    credential, state = context.form.text("credential"), context.form.text("state")
    try:
        async with runtime.database.connection() as connection:
            owner = await service.find_owner(connection, credential)
        await throttle(runtime, context.request, f"passkey:{owner.passkey_id if owner else 'unknown'}")
    except CutroomError as error:
        if error.code is not Code.RATE_LIMITED:
            raise
        response: Response = context.page(
            "sign_in.html", status=error.status, next=target, email="", error=error_text(error)
        )
        response.headers.update(error.headers)
        return response
    is_verified = False
    if owner is not None:
        async with runtime.database.transaction(owner.user.library_id) as connection:
            is_verified = await passkeys.verify(
                connection, owner, credential=credential, state=state, cookie=context.cookie, now=runtime.clock()
            )
            if is_verified:
                event = context.audit_event("passkey.use", user=owner.user, targets={"passkeyId": owner.passkey_id})
                await context.append_event(connection, event)
    if owner is None or not is_verified:
        return context.page("sign_in.html", status=401, next=target, email="", error=_WRONG)
    return await start_session(context, owner.user, target)


async def _page(
    context: PageContext, connection: Connection, *, error: str | None = None, status: int = 200
) -> Response:
    passkeys = await service.list_passkeys(connection, context.personal_library_id)
    return context.page("passkeys.html", status=status, error=error, passkeys=passkeys)


async def show_passkeys(context: PageContext) -> Response:
    _service(context)
    async with context.personal_library() as connection:
        return await _page(context, connection)


async def registration_options(context: PageContext) -> Response:
    """After the password: a stolen session is not enough to add a way in."""
    passkeys, user = _service(context), _user(context)
    if await check_password_of(context, context.me.email, context.form.secret("password")) is None:
        raise CutroomError(Code.PERMISSION_DENIED, message="The password is wrong.")
    async with context.runtime.database.transaction(user.library_id) as connection:
        request = await passkeys.registration_request(
            connection, user, email=context.me.email, cookie=context.cookie, now=context.runtime.clock()
        )
    return _json(request)


async def register(context: PageContext) -> Response:
    passkeys, user, form = _service(context), _user(context), context.form
    try:
        async with context.personal_library() as connection:
            passkey_id = await passkeys.register(
                connection,
                user,
                credential=form.text("credential"),
                state=form.text("state"),
                name=form.text("name"),
                cookie=context.cookie,
                now=context.runtime.clock(),
            )
            await queue_account_mail(context, connection, user, MailKind.PASSKEY_ADDED, email=context.me.email)
            event = context.audit_event("passkey.create", library_id=user.library_id, targets={"passkeyId": passkey_id})
            await context.append_event(connection, event)
    except CutroomError as error:
        async with context.personal_library() as connection:
            return await _page(context, connection, error=error_text(error), status=error.status)
    return redirect("/account/passkeys", notice="added")


async def delete(context: PageContext) -> Response:
    _service(context)
    passkey_id, personal = context.request.path_params["passkey_id"], context.personal_library_id
    async with context.personal_library() as connection:
        await service.delete_passkey(connection, personal, passkey_id)
        event = context.audit_event("passkey.delete", library_id=personal, targets={"passkeyId": passkey_id})
        await context.append_event(connection, event)
    return redirect("/account/passkeys", notice="deleted")


def _user(context: PageContext) -> AuthenticatedUser:
    return AuthenticatedUser(context.me.user_id, context.personal_library_id)


ROUTES = [
    page("/sign-in/passkey/options", sign_in_options, method="POST", is_public=True, in_transaction=False),
    page("/sign-in/passkey", do_sign_in, method="POST", is_public=True, in_transaction=False),
    page("/account/passkeys", show_passkeys),
    page("/account/passkeys/options", registration_options, method="POST", in_transaction=False),
    page("/account/passkeys", register, method="POST"),
    page("/account/passkeys/{passkey_id}/delete", delete, method="POST"),
]
