"""The video page: player, transcript, timeline, outputs, jobs, and the forms of the products."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from starlette.responses import Response, StreamingResponse

from cutroom.capabilities import service as capabilities
from cutroom.console.framework.forms import Form
from cutroom.console.framework.page_context import PageContext, error_text, page, parse, redirect
from cutroom.console.framework.recipes import (
    may_produce,
    parse_bundle,
    parse_dub_product,
    parse_languages,
    parse_shorts,
)
from cutroom.console.framework.security import policy
from cutroom.console.framework.timeline import DubTimeline, dub_timeline, speech_spans
from cutroom.console.pages.publishing import load_publishing
from cutroom.credits import routes as credit
from cutroom.engines.writing.port import DescriptionKind, TitleStyle
from cutroom.errors import CutroomError, invalid_field, not_found
from cutroom.jobs import routes as jobs
from cutroom.jobs.ids import DubProduct, JobType
from cutroom.jobs.schemas import Job
from cutroom.jobs.states import JobState
from cutroom.library import routes
from cutroom.library.schemas import Video
from cutroom.products.captions import routes as captions
from cutroom.products.captions.schemas import NewCaptions
from cutroom.products.catalog import PRODUCTS
from cutroom.products.dubs import routes as dubs
from cutroom.products.dubs.schemas import Dub, DubItem, NewDubs
from cutroom.products.ingest.service import source_path
from cutroom.products.playback.service import is_updating
from cutroom.products.shorts import routes as shorts
from cutroom.products.shorts.schemas import NewClips, NewPromo, NewShorts, ShortsItem, ShortsRequest
from cutroom.products.transcripts import routes as transcripts
from cutroom.products.transcripts.schemas import Transcript
from cutroom.products.transcripts.service import subtitle_path
from cutroom.text.language_tags import canonical_language, is_language

MAX_DUBS = 12  # shown with their sync reports
MAX_SHORTS_REQUESTS = 6
PANELS = tuple(panel for product in PRODUCTS for panel in product.panels)
_RUNNING = frozenset({JobState.QUEUED, JobState.PROCESSING})
_BODIES: dict[str, type[NewShorts] | type[NewPromo] | type[NewClips]] = {
    "shorts": NewShorts,
    "promo": NewPromo,
    "clips": NewClips,
}


@dataclass(frozen=True, slots=True)
class DubView:
    """A dub with its timeline."""

    item: DubItem
    dub: Dub
    timeline: DubTimeline
    is_streamed: bool  # an audio track of the stream, which has one dub per language


@dataclass(frozen=True, slots=True)
class ShortsView:
    """A shorts request with its outputs or its error."""

    item: ShortsItem
    request: ShortsRequest | None
    error: str | None


async def show_video(context: PageContext) -> Response:
    video_id = context.request.path_params["video_id"]
    video = await context.call_operation(routes.get_video, video_id)
    transcript = await context.call_operation(transcripts.get_transcript, video_id)
    shown = {**await _live(context, video, transcript), "may_create": may_produce(context.me.principal)}
    if context.request.headers.get("hx-request"):
        response = context.page("video_live.html", **shown)
        if (
            context.request.query_params.get("version") != shown["version"]
        ):  # media or transcript became ready: reload the page
            response.headers["HX-Refresh"] = "true"
        return response
    source = transcript.language if transcript.status == "ready" else None
    response = context.page(
        "video.html",
        **shown,
        media_url=await _media_url(context, video),
        start=context.request.query_params.get("t", ""),
        folders=(await context.call_operation(routes.list_folders)).folders,
        may_edit=context.me.principal.may_write,
        dub_choices=await capabilities.dub_languages(context.call.connection, source=source, now=context.call.now),
        caption_choices=await capabilities.caption_languages(
            context.call.connection, source=source, now=context.call.now
        ),
        brand_voices=(await context.call_operation(routes.list_brand_voices)).brand_voices,
        characters=[
            each for each in (await context.call_operation(routes.list_characters)).characters if each.reference_images
        ],
        title_styles=list(TitleStyle),
        description_kinds=list(DescriptionKind),
        panels=PANELS,
    )
    if video.url:  # an external host serves from its own origin
        rules = policy(context.runtime.settings, media=(video.url,))
        response.headers["Content-Security-Policy"] = rules
    return response


async def _live(context: PageContext, video: Video, transcript: Transcript) -> dict[str, Any]:
    """Template variables of the fragment that is polled while jobs run."""
    found = (await context.call_operation(jobs.list_video_jobs, video.id)).jobs
    return {
        "video": video,
        "version": f"{video.status}-{transcript.status}",
        "transcript": transcript,
        "labels": {each.id: each.label for each in transcript.speakers or []},
        "speech": speech_spans(transcript.segments or []),
        "jobs": found,
        "busy": any(job.status in _RUNNING for job in found) or await _is_stream_updating(context, video),
        "manifest": None if context.me.principal.suspended else video.url,
        "streamed": list(video.url_multi or []),
        "dubs": await _dubs(context, video),
        "shorts": await _shorts(context, video.id),
        "subtitles": _subtitles(transcript, found),
        "publishing": await load_publishing(context, video.id, found),
        "duration": max(video.duration or 0.0, 1.0),
    }


def _subtitles(transcript: Transcript, found: list[Job]) -> list[str]:
    """Languages with captions."""
    spoken = [transcript.language] if transcript.status == "ready" and transcript.language else []
    made = [job.language for job in found if job.type is JobType.CAPTIONS and job.status is JobState.READY]
    return [*spoken, *(code for code in made if code)]


async def _is_stream_updating(context: PageContext, video: Video) -> bool:
    call = context.call
    return await is_updating(call.connection, call.principal.library_id, video.id, now=call.now)


async def _dubs(context: PageContext, video: Video) -> list[DubView]:
    listed = (await context.call_operation(dubs.list_dubs, video.id)).dubs[:MAX_DUBS]
    cloned = {each.language for each in listed if each.product == DubProduct.PREMIUM and each.status == "ready"}
    made = []
    for item in listed:
        dub = await context.call_operation(dubs.get_dub, video.id, item.language, DubProduct(item.product))
        is_first = item.product == DubProduct.PREMIUM or item.language not in cloned
        is_streamed = is_first and item.language in (video.url_multi or {})
        made.append(DubView(item, dub, dub_timeline(dub.sync), is_streamed))
    return made


async def _shorts(context: PageContext, video_id: str) -> list[ShortsView]:
    listed = (await context.call_operation(shorts.list_shorts, video_id)).requests[:MAX_SHORTS_REQUESTS]
    made = []
    for item in listed:
        try:
            made.append(ShortsView(item, await context.call_operation(shorts.get_shorts, item.id), None))
        except CutroomError as error:  # a request that failed answers with its error
            made.append(ShortsView(item, None, error.message))
    return made


async def _media_url(context: PageContext, video: Video) -> str | None:
    """URL of the original file, played until the stream is ready; None for suspended libraries."""
    if context.me.principal.suspended or video.status != "ready":
        return None
    return await context.runtime.storage.read_url(source_path(context.me.principal.library_id, video.id))


async def show_subtitles(context: PageContext) -> Response:
    """Serves WebVTT from our origin, because browsers load text tracks from the same origin only."""
    params = context.request.path_params
    video_id, code = params["video_id"], params["language"]
    if not is_language(code):
        raise not_found()
    found = await context.call_operation(transcripts.get_subtitles, video_id, code, "vtt")
    if found.status != "ready":
        raise not_found()
    path = subtitle_path(
        context.me.principal.library_id, video_id, language=found.language or canonical_language(code), format_="vtt"
    )
    return StreamingResponse(context.runtime.storage.read(path), media_type="text/vtt")


async def show_price(context: PageContext) -> Response:
    """Fragment with a product's submit button, which shows the exact price."""
    form = Form(tuple(context.request.query_params.multi_items()))
    kind = form.text("kind")
    is_complete = (
        parse_languages(form, "dub") or parse_languages(form, "captions") or parse_shorts(form) or kind == "thumbnail"
    )
    if not is_complete:
        return context.page("price_button.html", quote=None, kind=kind)
    try:
        quote = await context.call_operation(credit.quote, context.request.path_params["video_id"], parse_bundle(form))
    except CutroomError as error:
        return context.page("price_button.html", quote=None, kind=kind, error=error_text(error))
    return context.page(
        "price_button.html",
        quote=quote,
        kind=kind,
        codes=parse_languages(form, kind) if kind in {"dub", "captions"} else [],
        clip_type=form.text("shorts"),
    )


async def create(context: PageContext) -> Response:
    """Creates a dub, captions or shorts through the API operation."""
    video_id, form = context.request.path_params["video_id"], context.form
    match form.text("kind"):
        case "dub":
            document = {"languages": parse_languages(form, "dub"), "product": parse_dub_product(form)}
            await context.call_operation(dubs.create_dubs, video_id, parse(NewDubs, document))
        case "captions":
            body = parse(NewCaptions, {"languages": parse_languages(form, "captions")})
            await context.call_operation(captions.create_captions, video_id, body)
        case "shorts":
            options = parse_shorts(form)
            if options is None:
                raise invalid_field("shorts", "Choose shorts, a promo or clips.")
            model: type[BaseModel] = _BODIES[options["kind"]]
            shorts_body = parse(model, {**options, "captionStyle": form.text("style") or "default"})
            await context.call_operation(shorts.create_shorts, video_id, shorts_body)
        case _:
            raise invalid_field("kind", "Unknown product.")
    return redirect(f"/videos/{video_id}")


ROUTES = [
    page("/videos/{video_id}", show_video),
    page("/videos/{video_id}/price", show_price),
    page("/videos/{video_id}/subtitles/{language}.vtt", show_subtitles),
    page("/videos/{video_id}/make", create, method="POST"),
]
