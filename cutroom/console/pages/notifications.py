"""The notifications page of a person, and the page behind the unsubscribe links in mails."""

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from cutroom.accounts.principals import PrincipalKind
from cutroom.audit import service as audit
from cutroom.audit.service import AuditActor, AuditEvent
from cutroom.console.framework.browsers import describe_browser
from cutroom.console.framework.page_context import PageContext, error_page, error_text, page, redirect
from cutroom.console.framework.rendering import STATIC, render
from cutroom.console.framework.security import harden
from cutroom.errors import CutroomError, invalid_field, not_found
from cutroom.notifications.messages import KIND_NAMES
from cutroom.notifications.push import VapidKey
from cutroom.notifications.rules import FREQUENCIES, Channel, Frequency, NotificationKind
from cutroom.notifications.service import Preferences, get_preferences, set_preferences
from cutroom.notifications.subscriptions import Browser, add_browser, list_browsers, remove_browser
from cutroom.notifications.unsubscribing import ALL_KINDS, PATH, Unsubscription, unsubscribe
from cutroom.platform.db import Connection
from cutroom.web.middleware import origin_of
from cutroom.web.runtime import Runtime

FREQUENCY_NAMES = {
    Frequency.IMMEDIATELY: "At once",
    Frequency.HOURLY: "Hourly digest",
    Frequency.DAILY: "Daily digest",
    Frequency.NEVER: "Never",
}
_LINK = PATH + "/{library_id}/{user_id}/{kind}/{signature}"


async def show_preferences(context: PageContext) -> Response:
    return await _page(context)


async def _page(context: PageContext, *, error: CutroomError | None = None) -> Response:
    call = context.call
    preferences = await get_preferences(call.connection, call.principal)
    return context.page(
        "notifications.html",
        status=200 if error is None else error.status,
        error=None if error is None else error_text(error),
        browsers=await list_browsers(call.connection, call.principal),
        push_key=VapidKey.of(context.runtime.secret_box).public,
        preferences=preferences,
        kinds=KIND_NAMES,
        channels=list(Channel),
        frequencies=FREQUENCIES,
        frequency_names=FREQUENCY_NAMES,
    )


async def change_preferences(context: PageContext) -> Response:
    call, chosen = context.call, _chosen(context)
    await set_preferences(call.connection, call.principal.library_id, call.principal.user_id, chosen, now=call.now)
    after = {f"{kind.value}.{channel.value}": frequency.value for (kind, channel), frequency in chosen.items()}
    context.record("notifications.change", targets={"userId": call.principal.user_id}, after=after)
    return redirect("/notifications", notice="changed")


def _chosen(context: PageContext) -> Preferences:
    """The fields that the form has; those of a channel that is not offered are left out."""
    chosen: Preferences = {}
    for kind in NotificationKind:
        for channel, offered in FREQUENCIES.items():
            name = f"{kind.value}.{channel.value}"
            if not (text := context.form.text(name)):
                continue
            if text not in offered:
                raise invalid_field(name, "Choose one of the listed frequencies.")
            chosen[kind, channel] = Frequency(text)
    if not chosen:
        raise invalid_field("form", "Choose a frequency.")
    return chosen


async def add(context: PageContext) -> Response:
    """Adds the browser that the form comes from."""
    call, form = context.call, context.form
    try:
        browser = Browser.parse(form.text("endpoint"), p256dh=form.text("p256dh"), auth=form.text("auth"))
        await add_browser(
            call.connection,
            call.principal,
            browser,
            device=describe_browser(context.request.headers.get("user-agent")),
            secret_box=context.runtime.secret_box,
            now=call.now,
        )
    except CutroomError as error:
        return await _page(context, error=error)
    context.record("notifications.addBrowser", targets={"userId": call.principal.user_id})
    return redirect("/notifications", notice="added")


async def remove(context: PageContext) -> Response:
    call = context.call
    await remove_browser(call.connection, call.principal, context.request.path_params["subscription_id"])
    context.record("notifications.removeBrowser", targets={"userId": call.principal.user_id})
    return redirect("/notifications", notice="removed")


async def service_worker(request: Request) -> Response:
    """The script that shows notifications; it has no content hash, because browsers look for updates at its URL."""
    response: Response = FileResponse(STATIC / "notifications-worker.js", media_type="text/javascript")
    harden(response, request.app.state.runtime.settings)
    return response


async def show_unsubscribe(context: PageContext) -> Response:
    """Nothing is changed yet: programs that scan mails open links too."""
    link = _verified_link(context.request)
    return context.page("unsubscribe.html", kinds=_names(link), is_done=False)


async def post_unsubscribe(request: Request) -> Response:
    """One click in a mail program or on the page: the signature of the link is all that it needs (RFC 8058)."""
    runtime: Runtime = request.app.state.runtime
    request.scope["route"] = POST_UNSUBSCRIBE
    try:
        link = _verified_link(request)
        async with runtime.database.transaction(link.library_id) as connection:
            if await unsubscribe(connection, link, now=runtime.clock()):
                await _append_unsubscription(request, connection, link)
        response: Response = HTMLResponse(render("unsubscribe.html", kinds=_names(link), is_done=True, path=""))
    except Exception as error:  # noqa: BLE001 (every error is rendered as a page)
        response = error_page(request, error)
    harden(response, runtime.settings)
    return response


async def _append_unsubscription(request: Request, connection: Connection, link: Unsubscription) -> None:
    runtime: Runtime = request.app.state.runtime
    event = AuditEvent(
        library_id=link.library_id,
        action="notifications.change",
        actor=AuditActor(PrincipalKind.PERSON, link.user_id, link.user_id),
        at=runtime.clock(),
        origin=origin_of(request),
        targets={"userId": link.user_id},
        after={f"{kind.value}.{Channel.MAIL.value}": Frequency.NEVER.value for kind in link.kinds},
    )
    await audit.append(connection, event, secret_box=runtime.secret_box)


def _verified_link(request: Request) -> Unsubscription:
    params, runtime = request.path_params, request.app.state.runtime
    if params["kind"] != ALL_KINDS and params["kind"] not in set(NotificationKind):
        raise not_found()
    link = Unsubscription(params["library_id"], params["user_id"], params["kind"])
    link.verify(params["signature"], runtime.secret_box)
    return link


def _names(link: Unsubscription) -> list[str]:
    return [KIND_NAMES[kind] for kind in link.kinds]


POST_UNSUBSCRIBE = Route(_LINK, post_unsubscribe, methods=["POST"], name=f"{__name__}.post_unsubscribe")
ROUTES = [
    page("/notifications", show_preferences),
    page("/notifications", change_preferences, method="POST"),
    page("/notifications/browsers", add, method="POST"),
    page("/notifications/browsers/{subscription_id}/delete", remove, method="POST"),
    Route("/notifications/worker.js", service_worker, name=f"{__name__}.service_worker"),
    page(_LINK, show_unsubscribe, is_public=True),
    POST_UNSUBSCRIBE,
]
