"""Steps that every way of signing in shares: the password, what an account still lacks, and the session."""

from starlette.responses import Response

from cutroom.accounts.email_verification import load_verification
from cutroom.accounts.mails.rules import MailKind
from cutroom.accounts.mails.service import MailLink, find_link, queue_mail
from cutroom.accounts.second_factor.service import load_second_factor
from cutroom.accounts.sessions import AuthenticatedUser
from cutroom.console.framework.page_context import PageContext, redirect
from cutroom.console.framework.pending_sign_in import LIFETIME, PendingSignIn
from cutroom.console.framework.security import SESSION_SECONDS, set_cookie
from cutroom.console.framework.sign_in_throttle import throttle
from cutroom.errors import not_found
from cutroom.platform.db import Connection

MAX_NEXT = 2_000
HOME = "/library"
VERIFY_FIRST = (
    "Confirm your email address first: we have sent you a link. If you cannot find it, look for it in your spam folder."
)


def safe_next(target: str) -> str:
    """Returns the target if it is a path on this host, else the home page; prevents open redirects."""
    is_local = target.startswith("/") and not target.startswith(("//", "/\\")) and len(target) <= MAX_NEXT
    return target if is_local and target.isprintable() and "\\" not in target else HOME


async def check_password_of(context: PageContext, email: str, password: str) -> AuthenticatedUser | None:
    """The user, if the password is right; counts the attempt first."""
    await throttle(context.runtime, context.request, email)
    return await context.session_service.authenticate(context.runtime.database, email, password)


async def finish_sign_in(context: PageContext, known: AuthenticatedUser, *, email: str, target: str) -> Response:
    """Starts a session after the password was verified, unless the account cannot be used yet."""
    async with context.runtime.database.transaction(known.library_id) as connection:
        is_blocked = context.runtime.settings.sends_mail and await _is_blocked(context, connection, known, email)
        second_factor = await load_second_factor(connection, known.library_id)
    if is_blocked:
        return context.page("mail_sent.html", status=403, message=VERIFY_FIRST)
    if second_factor.is_enabled:
        return await _request_code(context, known, email=email, target=target)
    return await start_session(context, known, target)


async def _request_code(context: PageContext, known: AuthenticatedUser, *, email: str, target: str) -> Response:
    runtime = context.runtime
    pending = PendingSignIn(
        user_id=known.user_id,
        library_id=known.library_id,
        email=email,
        target=target,
        password_fingerprint=await context.session_service.password_fingerprint(runtime.database, email),
        expires_at=(runtime.clock() + LIFETIME).timestamp(),
    )
    return context.page("sign_in_code.html", pending=pending.seal(runtime.secret_box, cookie=context.cookie))


async def _is_blocked(context: PageContext, connection: Connection, known: AuthenticatedUser, email: str) -> bool:
    """Whether the address must be confirmed first; then sends the link again."""
    if not (await load_verification(connection, known.library_id)).is_blocking:
        return False
    await queue_account_mail(context, connection, known, MailKind.VERIFY_EMAIL, email=email)
    return True


async def queue_account_mail(
    context: PageContext, connection: Connection, user: AuthenticatedUser, kind: MailKind, *, email: str
) -> bool:
    """Sends a mail if and when the transaction, which is in the user's personal library, commits."""
    runtime = context.runtime
    if not runtime.settings.sends_mail:
        return False
    return await queue_mail(
        connection, user.library_id, kind, recipient=email, secret_box=runtime.secret_box, now=runtime.clock()
    )


def check_mail(context: PageContext) -> None:
    """Pages that send mail do not exist without a mail server."""
    if not context.runtime.settings.sends_mail:
        raise not_found()


async def opened_link(context: PageContext, kind: MailKind) -> MailLink:
    """The mailed link that this page was opened with."""
    if context.connection is not None:
        return await _find_link(context, context.connection, kind)
    async with context.runtime.database.connection() as connection:
        return await _find_link(context, connection, kind)


async def _find_link(context: PageContext, connection: Connection, kind: MailKind) -> MailLink:
    secret, runtime = context.request.path_params["secret"], context.runtime
    return await find_link(connection, secret, kind, secret_box=runtime.secret_box, now=runtime.clock())


async def start_session(context: PageContext, known: AuthenticatedUser, target: str) -> Response:
    """Always creates a new session, to prevent session fixation."""
    async with context.runtime.database.transaction(known.library_id) as connection:
        token = await context.session_service.create(
            connection, known, now=context.runtime.clock(), client=context.session_client
        )
        await context.append_event(connection, context.audit_event("session.create", user=known))
    response = redirect(target)
    set_cookie(response, context.runtime.settings, "session", value=token, seconds=SESSION_SECONDS)
    return response
