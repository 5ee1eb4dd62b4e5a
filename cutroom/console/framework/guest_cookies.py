"""Cookies of guests: one for each video whose review link was opened in this browser."""

from datetime import datetime

from starlette.requests import Request
from starlette.responses import Response

from cutroom.console.framework.security import cookie_name, delete_cookie, set_cookie
from cutroom.platform.ids import is_id
from cutroom.platform.settings import Settings
from cutroom.reviews.guests import GuestSessions
from cutroom.web.runtime import Runtime

MAX_COOKIES = 10  # in one browser, because every request carries all of them
_KIND = "guest-"


def guest_sessions(runtime: Runtime) -> GuestSessions:
    authenticator = runtime.authenticator
    return GuestSessions(
        secret_box=runtime.secret_box, plans=authenticator.plans, refuses_drafts=authenticator.refuses_drafts
    )


def guest_token(request: Request, settings: Settings, video_id: str) -> str:
    """The token of a guest of this video; empty without one."""
    return request.cookies.get(cookie_name(settings, f"{_KIND}{video_id}"), "") if is_id(video_id) else ""


def set_guest_cookie(
    request: Request,
    response: Response,
    settings: Settings,
    video_id: str,
    *,
    token: str,
    expires_at: datetime,
    now: datetime,
) -> None:
    """Keeps the guest signed in for as long as the link works. Further videos replace the first ones."""
    prefix = cookie_name(settings, _KIND)
    others = [name.removeprefix(prefix) for name in request.cookies if name.startswith(prefix)]
    others = [each for each in others if is_id(each) and each != video_id]
    for each in others[: max(0, len(others) - MAX_COOKIES + 1)]:
        delete_cookie(response, settings, f"{_KIND}{each}")
    seconds = max(1, int((expires_at - now).total_seconds()))
    set_cookie(response, settings, f"{_KIND}{video_id}", value=token, seconds=seconds)
