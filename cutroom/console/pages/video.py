"""The video page: player and tabs. A tab is a URL of its own, which scripts swap in without stopping the player."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from cutroom.capabilities import service as capabilities
from cutroom.console.framework.page_context import PageContext, page
from cutroom.console.framework.recipes import may_produce
from cutroom.console.framework.security import policy
from cutroom.console.framework.states import video_labels
from cutroom.console.pages.job_actions import load_retry_prices
from cutroom.console.pages.orders import PANELS, load_offers
from cutroom.console.pages.video_editing import load_heading
from cutroom.console.pages.video_tabs import LOADERS, VideoView, load_dubs
from cutroom.engines.writing.port import DescriptionKind, TitleStyle
from cutroom.errors import not_found
from cutroom.jobs import routes as jobs
from cutroom.library import routes
from cutroom.library.rules import source_path
from cutroom.library.schemas import Video
from cutroom.products.declaration import VideoTab
from cutroom.products.playback import routes as playback
from cutroom.products.transcripts import routes as transcripts


async def show_video(context: PageContext) -> Response:
    """The whole page, one tab of it, or the part of a tab that reloads when something has changed."""
    tab = _parse_tab(context.request.query_params.get("tab", VideoTab.OVERVIEW))
    view = await _load_view(context)
    shown = {**await _live(context, view), **await LOADERS[tab](context, view), "tab": tab}
    match context.request.headers.get("hx-target"):
        case "live":
            response: Response = context.page("video/live.html", **shown, is_reloaded=True)
            if context.request.query_params.get("version") != shown["version"]:
                response.headers["HX-Refresh"] = "true"  # media or transcript became ready
            return response
        case "tab":
            return context.page("video/tab.html", **shown, **await _forms(context, view, tab), is_reloaded=False)
        case _:
            return await _whole_page(context, view, {**shown, **await _forms(context, view, tab)})


def _parse_tab(name: str) -> VideoTab:
    if name not in set(VideoTab):
        raise not_found()
    return VideoTab(name)


async def _load_view(context: PageContext) -> VideoView:
    video_id = context.request.path_params["video_id"]
    video, revision = await context.call_revised(routes.get_video, video_id)
    found = (await context.call_operation(jobs.list_video_jobs, video_id)).jobs
    return VideoView(
        video=video,
        revision=revision,
        transcript=await context.call_operation(transcripts.get_transcript, video_id),
        jobs=[job for job in found if job.output_deleted_at is None],
        history=found,
        dubs=await load_dubs(context, video, found),
    )


async def _live(context: PageContext, view: VideoView) -> dict[str, Any]:
    """Template variables of every tab."""
    video = view.video
    return {
        "video": video,
        "version": f"{video.status}-{view.transcript.status}",
        "transcript": view.transcript,
        "jobs": view.jobs,
        "dubs": view.dubs,
        "subtitles": view.subtitles,
        "states": video_labels(video, view.jobs, context.call.now),
        "manifest": await _manifest(context, video),
        "streamed": list(video.url_multi or []),
        "duration": max(video.duration or 0.0, 1.0),
        "tabs": list(VideoTab),
        "may_create": may_produce(context.me.principal),
        "may_delete": context.me.principal.may_write,
        "retry_prices": await load_retry_prices(context, video, view.jobs),
    }


async def _manifest(context: PageContext, video: Video) -> str | None:
    """The stream. If words are cut out of it, the original file is played: the page has the times of the recording."""
    if context.me.principal.suspended or video.url is None:
        return None
    stream = await context.call_operation(playback.get_playback, video.id)
    return video.url if stream.kept is None or video.original_deleted_at is not None else None


async def _forms(context: PageContext, view: VideoView, tab: VideoTab) -> dict[str, Any]:
    """The forms of a tab; the overview offers those of all tabs."""
    if not may_produce(context.me.principal) or view.video.status == "failed":
        return {"offers": []}
    panels = [each for each in PANELS if (each.order is not None if tab is VideoTab.OVERVIEW else each.tab is tab)]
    choices = await _choices(context, view)
    return {
        "offers": await load_offers(context, view.video, panels, choices=choices),
        "choices": choices,
        "brand_voices": (await context.call_operation(routes.list_brand_voices)).brand_voices,
        "characters": [
            each for each in (await context.call_operation(routes.list_characters)).characters if each.reference_images
        ],
        "title_styles": list(TitleStyle),
        "description_kinds": list(DescriptionKind),
    }


async def _choices(context: PageContext, view: VideoView) -> Mapping[str, Sequence[str]]:
    """Languages that can be ordered, by the field that orders them."""
    source = view.transcript.language if view.transcript.status == "ready" else None
    connection, now = context.call.connection, context.call.now
    return {
        "dub": await capabilities.dub_languages(connection, source=source, now=now),
        "captions": await capabilities.caption_languages(connection, source=source, now=now),
    }


async def _whole_page(context: PageContext, view: VideoView, shown: Mapping[str, Any]) -> Response:
    video = view.video
    response = context.page(
        "video/page.html",
        **{**shown, **await load_heading(context, video)},
        is_reloaded=False,
        media_url=media_url(context, video),
        start=context.request.query_params.get("t", ""),
        starts=[each.start for each in view.transcript.segments or [] if not each.deleted],
    )
    if video.url:  # an external host serves from its own origin
        rules = policy(context.runtime.settings, media=(video.url,))
        response.headers["Content-Security-Policy"] = rules
    return response


def media_url(context: PageContext, video: Video) -> str | None:
    """URL of the original file, played until the stream is ready; None if it is deleted or the library suspended."""
    if context.principal.suspended or video.status != "ready":
        return None
    if video.original_deleted_at is not None and video.url is None:
        return None
    return context.runtime.storage.read_url(source_path(context.principal.library_id, video.id))


ROUTES = [
    page("/videos/{video_id}", show_video),
]
