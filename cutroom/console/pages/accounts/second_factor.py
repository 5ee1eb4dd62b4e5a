"""Two-step sign-in: the code after the password, enrollment, recovery codes, and turning it off."""

import segno
from starlette.responses import Response

from cutroom.accounts.mails.rules import MailKind
from cutroom.accounts.second_factor import service
from cutroom.accounts.second_factor.rules import CodeResult, encoded_secret, provisioning_uri
from cutroom.accounts.sessions import AuthenticatedUser
from cutroom.audit.service import AuditEvent
from cutroom.console.framework.page_context import PageContext, error_text, page, redirect
from cutroom.console.framework.pending_sign_in import PendingSignIn, unseal_pending
from cutroom.console.framework.sign_in_throttle import throttle
from cutroom.console.framework.signing_in import check_password_of, queue_account_mail, start_session
from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Connection
from cutroom.web.limits import RateLimit

ISSUER = "Cutroom"
CODES_PER_ACCOUNT = RateLimit(5)  # attempts need the password, so that only its thief can lock the owner out
_MESSAGES = {
    CodeResult.WRONG: "The code is wrong, or was used before. Wait for the next one.",
    CodeResult.BLOCKED: "Too many wrong codes. Use a recovery code, or try again in an hour.",
}


async def enter_code(context: PageContext) -> Response:
    """The second step of signing in."""
    runtime, text = context.runtime, context.form.text("pending")
    pending = unseal_pending(text, runtime.secret_box, cookie=context.cookie, now=runtime.clock())
    if pending is None or not await _is_current(context, pending):
        return redirect("/sign-in", notice="expired")
    try:
        await _count_attempt(context, pending.user, pending.email)
        result = await _check(context, pending.user, pending.email, context.form.text("code"))
    except CutroomError as error:
        response: Response = context.page(
            "sign_in_code.html", status=error.status, pending=text, error=error_text(error)
        )
        response.headers.update(error.headers)
        return response
    if not result.is_accepted:
        return context.page("sign_in_code.html", status=401, pending=text, error=_MESSAGES[result])
    return await start_session(context, pending.user, pending.target)


async def _is_current(context: PageContext, pending: PendingSignIn) -> bool:
    fingerprint = await context.session_service.password_fingerprint(context.runtime.database, pending.email)
    return fingerprint == pending.password_fingerprint


async def _count_attempt(context: PageContext, user: AuthenticatedUser, email: str) -> None:
    await throttle(context.runtime, context.request, email)
    await context.runtime.limits.count(f"second-factor:{user.user_id}", CODES_PER_ACCOUNT)


async def _check(context: PageContext, user: AuthenticatedUser, email: str, code: str) -> CodeResult:
    """Commits the result, so that wrong codes are counted."""
    runtime = context.runtime
    async with runtime.database.transaction(user.library_id) as connection:
        result = await service.check_code(
            connection, user.library_id, code, secret_box=runtime.secret_box, now=runtime.clock()
        )
        if result is CodeResult.RECOVERY:
            await queue_account_mail(context, connection, user, MailKind.RECOVERY_CODE_USED, email=email)
            await context.append_event(connection, context.audit_event("recoveryCode.use", user=user))
    return result


async def _page(
    context: PageContext, connection: Connection, *, error: str | None = None, status: int = 200
) -> Response:
    second_factor = await service.load_second_factor(connection, context.personal_library_id)
    return context.page("second_factor.html", status=status, error=error, second_factor=second_factor)


async def show_second_factor(context: PageContext) -> Response:
    async with context.personal_library() as connection:
        return await _page(context, connection)


async def _show_error(context: PageContext, message: str, *, status: int) -> Response:
    async with context.runtime.database.transaction(context.personal_library_id) as connection:
        return await _page(context, connection, error=message, status=status)


async def set_up(context: PageContext) -> Response:
    """Shows a new secret, after the password: a stolen session is not enough to lock the owner out."""
    try:
        if await check_password_of(context, context.me.email, context.form.secret("password")) is None:
            return await _show_error(context, "The password is wrong.", status=403)
        async with context.runtime.database.transaction(context.personal_library_id) as connection:
            secret = await service.begin_enrollment(
                connection, context.personal_library_id, secret_box=context.runtime.secret_box
            )
            await context.append_event(connection, _event(context, "secondFactor.setUp"))
    except CutroomError as error:
        return await _refused(context, error)
    return _enrollment(context, secret)


def _enrollment(context: PageContext, secret: bytes, *, error: str | None = None, status: int = 200) -> Response:
    uri = provisioning_uri(secret, account=context.me.email, issuer=ISSUER)
    text = encoded_secret(secret)
    return context.page(
        "second_factor_setup.html",
        status=status,
        error=error,
        picture=segno.make(uri, error="m").svg_data_uri(scale=4, light="white"),
        secret=" ".join(text[start : start + 4] for start in range(0, len(text), 4)),
    )


async def enable(context: PageContext) -> Response:
    """Turns it on with a code of the new secret, ends all other sessions, and shows the recovery codes once."""
    runtime, user = context.runtime, _user(context)
    try:
        await _count_attempt(context, user, context.me.email)
    except CutroomError as error:
        return await _refused(context, error)
    async with runtime.database.transaction(user.library_id) as connection:
        secret = await service.pending_secret(connection, user.library_id, secret_box=runtime.secret_box)
        codes = await service.enable(
            connection,
            user.library_id,
            context.form.text("code"),
            secret_box=runtime.secret_box,
            now=runtime.clock(),
        )
        if codes is not None:
            await context.session_service.end_others(connection, context.cookie)
            await queue_account_mail(context, connection, user, MailKind.SECOND_FACTOR_ON, email=context.me.email)
            await context.append_event(connection, _event(context, "secondFactor.enable"))
    if codes is not None:
        return context.page("recovery_codes.html", codes=codes)
    if secret is None:
        return redirect("/account/second-factor")
    return _enrollment(context, secret, error="The code is wrong. Check the clock of your device.", status=400)


async def renew_codes(context: PageContext) -> Response:
    """Replaces the recovery codes, and shows the new ones once."""
    try:
        await _confirm(context)
        async with context.runtime.database.transaction(context.personal_library_id) as connection:
            codes = await service.renew_recovery_codes(
                connection, context.personal_library_id, secret_box=context.runtime.secret_box
            )
            await context.append_event(connection, _event(context, "recoveryCodes.create"))
    except CutroomError as error:
        return await _refused(context, error)
    return context.page("recovery_codes.html", codes=codes)


async def turn_off(context: PageContext) -> Response:
    user = _user(context)
    try:
        await _confirm(context)
        async with context.runtime.database.transaction(user.library_id) as connection:
            await service.disable(connection, user.library_id)
            await queue_account_mail(context, connection, user, MailKind.SECOND_FACTOR_OFF, email=context.me.email)
            await context.append_event(connection, _event(context, "secondFactor.disable"))
    except CutroomError as error:
        return await _refused(context, error)
    return redirect("/account/second-factor", notice="off")


async def _confirm(context: PageContext) -> None:
    """Requires the password and a code: neither a stolen session nor a stolen password is enough."""
    user = _user(context)
    if await check_password_of(context, context.me.email, context.form.secret("password")) is None:
        raise CutroomError(Code.PERMISSION_DENIED, message="The password is wrong.")
    await context.runtime.limits.count(f"second-factor:{user.user_id}", CODES_PER_ACCOUNT)
    result = await _check(context, user, context.me.email, context.form.text("code"))
    if not result.is_accepted:
        raise CutroomError(Code.PERMISSION_DENIED, message=_MESSAGES[result])


async def _refused(context: PageContext, error: CutroomError) -> Response:
    response = await _show_error(context, error_text(error), status=error.status)
    response.headers.update(error.headers)
    return response


def _user(context: PageContext) -> AuthenticatedUser:
    return AuthenticatedUser(context.me.user_id, context.personal_library_id)


def _event(context: PageContext, action: str) -> AuditEvent:
    return context.audit_event(action, library_id=context.personal_library_id)


ROUTES = [
    page("/sign-in/code", enter_code, method="POST", is_public=True, in_transaction=False),
    page("/account/second-factor", show_second_factor),
    page("/account/second-factor/setup", set_up, method="POST", in_transaction=False),
    page("/account/second-factor/enable", enable, method="POST", in_transaction=False),
    page("/account/second-factor/recovery-codes", renew_codes, method="POST", in_transaction=False),
    page("/account/second-factor/disable", turn_off, method="POST", in_transaction=False),
]
