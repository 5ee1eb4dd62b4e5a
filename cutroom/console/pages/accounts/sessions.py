"""The sessions page: where the user is signed in; ends other sessions."""

from starlette.responses import Response

from cutroom.console.framework.browsers import describe_browser
from cutroom.console.framework.page_context import PageContext, page, redirect
from cutroom.errors import not_found
from cutroom.platform.db import enter_library


async def show_sessions(context: PageContext) -> Response:
    call = context.call
    sessions = await context.session_service.list_sessions(call.connection, context.cookie, now=call.now)
    described = [(each, describe_browser(each.client.user_agent)) for each in sessions]
    return context.page("sessions.html", sessions=described)


async def end(context: PageContext) -> Response:
    session_id = context.request.path_params["session_id"]
    ended = await context.session_service.end_others(context.call.connection, context.cookie, only=session_id)
    if not ended:
        raise not_found()
    await _log(context, ended)
    return redirect("/account/sessions", notice="ended")


async def end_others(context: PageContext) -> Response:
    ended = await context.session_service.end_others(context.call.connection, context.cookie)
    if ended:
        await _log(context, ended)
    return redirect("/account/sessions", notice="ended")


async def _log(context: PageContext, ended: list[str]) -> None:
    connection, personal = context.call.connection, context.personal_library_id
    await enter_library(connection, personal)
    event = context.audit_event("session.end", library_id=personal, targets={"sessionIds": ended})
    await context.append_event(connection, event)


ROUTES = [
    page("/account/sessions", show_sessions),
    page("/account/sessions/end-others", end_others, method="POST"),
    page("/account/sessions/{session_id}/end", end, method="POST"),
]
