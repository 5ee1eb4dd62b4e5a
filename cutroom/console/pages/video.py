"""One video: the picture, what was said, what was made of it, and what is under way."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from starlette.responses import Response, StreamingResponse

from cutroom.capabilities import service as capabilities
from cutroom.console.framework.forms import Form
from cutroom.console.framework.page_context import PageContext, go, page, parse, sentence
from cutroom.console.framework.recipes import (
    bundle_of,
    languages_in,
    may_produce,
    product_in,
    shorts_in,
)
from cutroom.console.framework.security import policy
from cutroom.console.framework.timeline import DubLane, dub_lane, speech_lane
from cutroom.console.pages.publishing import publishing_of
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

MAX_DUBS = 12  # with their reports on one page
MAX_REQUESTS = 6
_RUNNING = frozenset({JobState.QUEUED, JobState.PROCESSING})
_BODIES: dict[str, type[NewShorts] | type[NewPromo] | type[NewClips]] = {
    "shorts": NewShorts,
    "promo": NewPromo,
    "clips": NewClips,
}


@dataclass(frozen=True, slots=True)
class ShownDub:
    """A dub with its lane."""

    item: DubItem
    dub: Dub
    lane: DubLane
    is_streamed: bool  # in the stream itself, which carries one dub of a language


@dataclass(frozen=True, slots=True)
class ShownShorts:
    """A request with what came of it, or why nothing did."""

    item: ShortsItem
    request: ShortsRequest | None
    fault: str | None


async def show_video(visit: PageContext) -> Response:
    video_id = visit.request.path_params["video_id"]
    video = await visit.perform(routes.get_video, video_id)
    transcript = await visit.perform(transcripts.get_transcript, video_id)
    shown = {**await _live(visit, video, transcript), "may_make": may_produce(visit.me.principal)}
    if visit.request.headers.get("hx-request"):
        response = visit.page("video_live.html", **shown)
        if visit.request.query_params.get("seen") != shown["seen"]:  # picture or words have come: the whole page anew
            response.headers["HX-Refresh"] = "true"
        return response
    source = transcript.language if transcript.status == "ready" else None
    response = visit.page(
        "video.html",
        **shown,
        media_url=await _media_url(visit, video),
        start=visit.request.query_params.get("t", ""),
        folders=(await visit.perform(routes.list_folders)).folders,
        may_arrange=visit.me.principal.may_write,
        dub_choices=await capabilities.dub_languages(visit.call.connection, source=source, now=visit.call.now),
        caption_choices=await capabilities.caption_languages(visit.call.connection, source=source, now=visit.call.now),
        brands=(await visit.perform(routes.list_brand_voices)).brand_voices,
        figures=[each for each in (await visit.perform(routes.list_characters)).characters if each.reference_images],
        title_styles=list(TitleStyle),
        description_kinds=list(DescriptionKind),
    )
    if video.url:  # a host elsewhere plays from its own address
        rules = policy(visit.runtime.settings, media=(video.url,))
        response.headers["Content-Security-Policy"] = rules
    return response


async def _live(visit: PageContext, video: Video, transcript: Transcript) -> dict[str, Any]:
    """Everything that changes while jobs run."""
    found = (await visit.perform(jobs.list_video_jobs, video.id)).jobs
    return {
        "video": video,
        "seen": f"{video.status}-{transcript.status}",
        "transcript": transcript,
        "labels": {each.id: each.label for each in transcript.speakers or []},
        "speech": speech_lane(transcript.segments or []),
        "jobs": found,
        "busy": any(job.status in _RUNNING for job in found) or await _stream_is_coming(visit, video),
        "manifest": None if visit.me.principal.suspended else video.url,
        "streamed": list(video.url_multi or []),
        "dubs": await _dubs(visit, video),
        "shorts": await _shorts(visit, video.id),
        "subtitles": _subtitles(transcript, found),
        "publishing": await publishing_of(visit, video.id, found),
        "span": max(video.duration or 0.0, 1.0),
    }


def _subtitles(transcript: Transcript, found: list[Job]) -> list[str]:
    """Languages that captions can be switched to."""
    spoken = [transcript.language] if transcript.status == "ready" and transcript.language else []
    made = [job.language for job in found if job.type is JobType.CAPTIONS and job.status is JobState.READY]
    return [*spoken, *(code for code in made if code)]


async def _stream_is_coming(visit: PageContext, video: Video) -> bool:
    call = visit.call
    return await is_updating(call.connection, call.principal.library_id, video.id, now=call.now)


async def _dubs(visit: PageContext, video: Video) -> list[ShownDub]:
    listed = (await visit.perform(dubs.list_dubs, video.id)).dubs[:MAX_DUBS]
    cloned = {each.language for each in listed if each.product == DubProduct.PREMIUM and each.status == "ready"}
    made = []
    for item in listed:
        dub = await visit.perform(dubs.get_dub, video.id, item.language, DubProduct(item.product))
        is_first = item.product == DubProduct.PREMIUM or item.language not in cloned
        is_streamed = is_first and item.language in (video.url_multi or {})
        made.append(ShownDub(item, dub, dub_lane(dub.sync), is_streamed))
    return made


async def _shorts(visit: PageContext, video_id: str) -> list[ShownShorts]:
    listed = (await visit.perform(shorts.list_shorts, video_id)).requests[:MAX_REQUESTS]
    made = []
    for item in listed:
        try:
            made.append(ShownShorts(item, await visit.perform(shorts.get_shorts, item.id), None))
        except CutroomError as error:  # a request that failed answers with its error
            made.append(ShownShorts(item, None, error.message))
    return made


async def _media_url(visit: PageContext, video: Video) -> str | None:
    """The file as it came in: what is played until there is something better. A suspended library plays nothing."""
    if visit.me.principal.suspended or video.status != "ready":
        return None
    return await visit.runtime.storage.read_url(source_path(visit.me.principal.library_id, video.id))


async def show_subtitles(visit: PageContext) -> Response:
    """WebVTT from our own address: browsers take captions of a player from nowhere else."""
    places = visit.request.path_params
    video_id, code = places["video_id"], places["language"]
    if not is_language(code):
        raise not_found()
    found = await visit.perform(transcripts.get_subtitles, video_id, code, "vtt")
    if found.status != "ready":
        raise not_found()
    path = subtitle_path(
        visit.me.principal.library_id, video_id, language=found.language or canonical_language(code), format_="vtt"
    )
    return StreamingResponse(visit.runtime.storage.read(path), media_type="text/vtt")


async def show_price(visit: PageContext) -> Response:
    """The button of a product, with its exact price on it and what is left after."""
    form = Form(tuple(visit.request.query_params.multi_items()))
    kind = form.text("kind")
    named = languages_in(form, "dub") or languages_in(form, "captions") or shorts_in(form) or kind == "thumbnail"
    if not named:
        return visit.page("make_button.html", quote=None, words="", kind=kind)
    try:
        quote = await visit.perform(credit.quote, visit.request.path_params["video_id"], bundle_of(form))
    except CutroomError as error:
        return visit.page("make_button.html", quote=None, words="", kind=kind, fault=sentence(error))
    return visit.page(
        "make_button.html",
        quote=quote,
        kind=kind,
        codes=languages_in(form, kind) if kind in {"dub", "captions"} else [],
    )


async def make(visit: PageContext) -> Response:
    """Ask for a product, as the API would be asked."""
    video_id, form = visit.request.path_params["video_id"], visit.form
    match form.text("kind"):
        case "dub":
            document = {"languages": languages_in(form, "dub"), "product": product_in(form)}
            await visit.perform(dubs.create_dubs, video_id, parse(NewDubs, document))
        case "captions":
            wanted = parse(NewCaptions, {"languages": languages_in(form, "captions")})
            await visit.perform(captions.create_captions, video_id, wanted)
        case "shorts":
            asked = shorts_in(form)
            if asked is None:
                raise invalid_field("shorts", "Choose shorts, a promo or clips.")
            model: type[BaseModel] = _BODIES[asked["kind"]]
            body = parse(model, {**asked, "captionStyle": form.text("style") or "default"})
            await visit.perform(shorts.create_shorts, video_id, body)
        case _:
            raise invalid_field("kind", "There is no such product.")
    return go(f"/videos/{video_id}")


ROUTES = [
    page("/videos/{video_id}", show_video),
    page("/videos/{video_id}/price", show_price),
    page("/videos/{video_id}/subtitles/{language}.vtt", show_subtitles),
    page("/videos/{video_id}/make", make, method="POST"),
]
