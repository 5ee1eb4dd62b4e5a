"""The studio: the player, the transcript as a list that is edited in place, and a translation beside it."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse, Response

from cutroom.console.framework.page_context import PageContext, page
from cutroom.console.framework.security import policy
from cutroom.console.pages.studio.loading import StudioView, chosen, load_changes, load_view
from cutroom.console.pages.studio.tracks import StudioChoice, StudioTrackKind, choose, load_choices
from cutroom.console.pages.video import media_url
from cutroom.errors import Code, CutroomError, invalid_field
from cutroom.jobs.ids import DubProduct
from cutroom.library import routes
from cutroom.library.schemas import Video
from cutroom.products.dubs import routes as dubs
from cutroom.products.transcripts import routes as transcripts
from cutroom.reviews.rules import GuestRole

FIRST_ROWS = 60  # in the page itself, which is read without scripts too
PAGE_ROWS = 500  # of one JSON document


async def show_studio(context: PageContext) -> Response:
    video_id = context.request.path_params["video_id"]
    video = await context.call_operation(routes.get_video, video_id)
    choices = await load_choices(context, video_id)
    choice = choose(choices, context.request.query_params.get("lang", ""))
    view = await _view_or_none(context, video_id, choice)
    start = _number(context, "from")
    transcript = await context.call_operation(transcripts.get_transcript, video_id)
    response = context.page(
        "studio/page.html",
        video=video,
        language=transcript.language,
        choices=choices,
        choice=choice,
        view=view,
        labels=view.head()["speakers"] if view else {},
        rows=view.rows[start : start + FIRST_ROWS] if view else [],
        next_from=start + FIRST_ROWS if view and start + FIRST_ROWS < len(view.rows) else None,
        duration=max(video.duration or 0.0, 1.0),
        media_url=media_url(context, video),
        may_edit=context.principal.may_write,
        **await _sound(context, video, choices, choice),
    )
    if video.url:  # an external host serves from its own origin
        response.headers["Content-Security-Policy"] = policy(context.runtime.settings, media=(video.url,))
    return response


async def _view_or_none(context: PageContext, video_id: str, choice: StudioChoice | None) -> StudioView | None:
    """None without a finished transcript."""
    try:
        return await load_view(context, video_id, choice)
    except CutroomError as error:
        if error.code is not Code.FAILED_PRECONDITION:
            raise
        return None


async def _sound(
    context: PageContext, video: Video, choices: list[StudioChoice], choice: StudioChoice | None
) -> Mapping[str, Any]:
    """What the player can play: the stream with its languages, and the dub that is shown."""
    streamed = list(video.url_multi or [])
    sound: dict[str, Any] = {"manifest": video.url, "streamed": streamed, "dub_url": None, "is_streamed": False}
    if choice is None or not choice.kind.is_dub:
        return sound
    found = await context.call_operation(dubs.get_dub, video.id, choice.language, DubProduct(choice.kind.value))
    # The stream has one dub of a language: the one with cloned voices, if there is one.
    cloned = StudioChoice(choice.language, StudioTrackKind.PREMIUM)
    is_first = choice == cloned or cloned not in choices
    return {**sound, "dub_url": found.audio_url, "is_streamed": is_first and choice.language in streamed}


async def list_rows(context: PageContext) -> Response:
    """A page of rows. Pages belong together if they have the same revision."""
    video_id, start = context.request.path_params["video_id"], _number(context, "from")
    view = await load_view(context, video_id, await chosen(context, video_id))
    return JSONResponse({**view.head(), "from": start, "rows": view.rows[start : start + PAGE_ROWS]})


async def list_changes(context: PageContext) -> Response:
    """What has changed since the revision that a page shows, and the line that it wants to change."""
    video_id, query = context.request.path_params["video_id"], context.request.query_params
    choice, since = await chosen(context, video_id), _number(context, "since")
    return JSONResponse(
        await load_changes(context, video_id, choice, since=max(1, since), line_ids=query.getlist("line")[:1])
    )


def _number(context: PageContext, name: str) -> int:
    given = context.request.query_params.get(name, "0")
    if not given.isascii() or not given.isdecimal() or len(given) > 9:
        raise invalid_field(name, "This must be a whole number.")
    return int(given)


ROUTES = [
    page("/videos/{video_id}/studio", show_studio, guests=GuestRole.VIEW),
    page("/videos/{video_id}/studio/rows", list_rows, guests=GuestRole.VIEW),
    page("/videos/{video_id}/studio/changes", list_changes, guests=GuestRole.VIEW),
]
