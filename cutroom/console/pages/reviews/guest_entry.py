"""Opens a review link: asks for a name, and starts a guest session for the video of the link."""

from starlette.responses import Response

from cutroom.audit import service as audit
from cutroom.audit.service import AuditEvent
from cutroom.console.framework.guest_cookies import guest_sessions, set_guest_cookie
from cutroom.console.framework.page_context import PageContext, page, redirect
from cutroom.errors import Code, CutroomError, not_found
from cutroom.reviews.links import OpenReviewLink, find_open_link, hash_of
from cutroom.reviews.rules import MAX_GUEST_NAME, guest_name
from cutroom.web.limits import RateLimit, client_network
from cutroom.web.middleware import origin_of

ATTEMPTS_PER_ADDRESS = RateLimit(30)
_UNNAMED = f"Enter a name of at most {MAX_GUEST_NAME} letters."


async def show_entry(context: PageContext) -> Response:
    link = await _open_link(context)
    if context.signed_in is not None and context.principal.library_id == link.library_id:
        return redirect(studio_of(link.video_id))
    return _entry_page(context, link)


async def enter(context: PageContext) -> Response:
    """Starts the session of a guest, and logs that the link was opened; the name is in no log."""
    link, secret = await _open_link(context), context.request.path_params["secret"]
    name = guest_name(context.form.text("name"))
    if name is None:
        return _entry_page(context, link, error=_UNNAMED, status=400)
    runtime, now = context.runtime, context.runtime.clock()
    sessions = guest_sessions(runtime)
    token = sessions.token(link, secret, name=name)
    async with runtime.database.transaction(link.library_id) as connection:
        guest = await sessions.load(connection, token, link.video_id, now=now)
        if guest is None:  # revoked in the meantime
            raise not_found()
        event = AuditEvent(
            library_id=link.library_id,
            action="reviewLink.open",
            actor=audit.actor_of(guest.principal),
            at=now,
            origin=origin_of(context.request),
            targets={"videoId": link.video_id, "linkId": link.id},
        )
        await context.append_event(connection, event)
    response = redirect(studio_of(link.video_id))
    set_guest_cookie(
        context.request,
        response,
        runtime.settings,
        link.video_id,
        token=token,
        expires_at=link.expires_at,
        now=now,
    )
    return response


def _entry_page(context: PageContext, link: OpenReviewLink, *, error: str | None = None, status: int = 200) -> Response:
    values = {"link": link, "secret": context.request.path_params["secret"], "error": error}
    return context.page("reviews/entry.html", status=status, max_name=MAX_GUEST_NAME, **values)


async def _open_link(context: PageContext) -> OpenReviewLink:
    """The link of the secret in the path. Attempts are counted, as those to sign in."""
    runtime, client = context.runtime, context.request.client
    network = client_network(client.host) if client else "unknown"
    await runtime.limits.count(f"review:{network}", ATTEMPTS_PER_ADDRESS)
    hashed = hash_of(context.request.path_params["secret"], runtime.secret_box)
    async with runtime.database.connection() as connection:
        link = await find_open_link(connection, hashed, now=runtime.clock())
    if link is None:
        message = "This link has expired or was revoked. Ask its sender for a new one."
        raise CutroomError(Code.NOT_FOUND, message=message)
    return link


def studio_of(video_id: str) -> str:
    return f"/videos/{video_id}/studio"


ROUTES = [
    page("/review/{secret}", show_entry, is_public=True),
    page("/review/{secret}", enter, method="POST", is_public=True, in_transaction=False),
]
