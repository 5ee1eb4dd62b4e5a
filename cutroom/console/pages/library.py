"""The library: what is in it, finding it, and putting more in."""

from dataclasses import dataclass
from typing import Any

from starlette.responses import JSONResponse, Response

from cutroom.capabilities.service import dub_languages
from cutroom.console.framework.forms import Form
from cutroom.console.framework.page_context import PageContext, go, page, parse, sentence
from cutroom.console.framework.recipes import bundle_of, may_produce, recipes_of
from cutroom.credits.pricing import load_prices
from cutroom.credits.service import estimate
from cutroom.errors import Code, CutroomError
from cutroom.jobs import routes as jobs
from cutroom.jobs.schemas import Job
from cutroom.jobs.states import JobState
from cutroom.library import routes
from cutroom.library.schemas import Video
from cutroom.library.search import MAX_TEXT, VideoQuery, find_videos
from cutroom.products.ingest import routes as ingest
from cutroom.products.ingest.rules import SourceType, fault_in_source
from cutroom.products.ingest.schemas import NewUploadSession, NewVideo
from cutroom.products.transcripts.search import TranscriptMatch, search_transcripts
from cutroom.products.uploads import routes as uploads
from cutroom.web.operation import operation_of

PAGE = 24
MAX_FOUND = 200  # videos in which the words are said
_LISTING = "console-library"
_PROVIDERS = (SourceType.YOUTUBE, SourceType.DROPBOX, SourceType.GOOGLE_DRIVE)


@dataclass(frozen=True, slots=True)
class Tile:
    """A video as the grid shows it."""

    video: Video
    job: Job | None  # what it is busy with
    said: TranscriptMatch | None


async def show_library(visit: PageContext) -> Response:
    query = visit.request.query_params
    text, folder_id = query.get("q", "")[:MAX_TEXT].strip(), query.get("folder", "") or None
    tiles, more = await _tiles(visit, text=text, folder_id=folder_id, token=query.get("page"))
    folders = (await visit.perform(routes.list_folders)).folders
    path, asked = visit.request.url.path, visit.request.url.query
    shown: dict[str, Any] = {
        "tiles": tiles,
        "more": more,
        "q": text,
        "folder": folder_id,
        "may_add": may_produce(visit.me.principal),
        "may_arrange": visit.me.principal.may_write,
        "busy": any(tile.video.status in {"queued", "processing"} or tile.job for tile in tiles),
        "here": f"{path}?{asked}" if asked else path,
    }
    if visit.request.headers.get("hx-request"):
        return visit.page("library_grid.html", **shown)
    languages = await dub_languages(visit.call.connection, source=None, now=visit.call.now)
    return visit.page(
        "library.html",
        **shown,
        folders=folders,
        languages=languages,
        base_url=visit.runtime.settings.base_url,
    )


async def _tiles(
    visit: PageContext, *, text: str, folder_id: str | None, token: str | None
) -> tuple[list[Tile], str | None]:
    call, library_id = visit.call, visit.me.principal.library_id
    operation_of(routes.list_videos).authorize(call.principal)
    tokens = visit.runtime.page_tokens
    before = tokens.read(token, listing=_LISTING, library_id=library_id) if token else None
    said = await search_transcripts(call.connection, call.principal, text, limit=MAX_FOUND) if text else []
    places = {each.video_id: each for each in said}
    wanted = VideoQuery(folder_id=folder_id, text=text or None, matching_ids=list(places))
    videos, more = await find_videos(
        call.connection, call.principal, wanted, before=before, limit=PAGE, storage=visit.runtime.storage
    )
    tiles = [Tile(video, await _busy_with(visit, video), places.get(video.id)) for video in videos]
    return tiles, tokens.after(videos[-1].id, listing=_LISTING, library_id=library_id) if more else None


async def _busy_with(visit: PageContext, video: Video) -> Job | None:
    """The job that is furthest on its way; of a video that is at rest nothing is asked."""
    transcript = video.transcript.status if video.transcript else "ready"
    if video.status in {"ready", "failed"} and transcript in {"ready", "failed"}:
        return None
    found = (await visit.perform(jobs.list_video_jobs, video.id)).jobs
    running = [job for job in found if job.status is JobState.PROCESSING]
    return running[0] if running else None


async def show_price(visit: PageContext) -> Response:
    """What the chosen recipes cost, as far as that can be known; the part of a form that follows its choices."""
    form = Form(tuple(visit.request.query_params.multi_items()))
    bundle = bundle_of(form)
    prices = load_prices(visit.runtime.settings.prices_file)
    by_minute = False
    if bundle.duration_seconds is None and bundle.dubs:
        bundle, by_minute = bundle.model_copy(update={"duration_seconds": 60.0}), True
    try:
        quote = await estimate(visit.call.connection, visit.me.principal, bundle=bundle, prices=prices)
    except CutroomError as error:
        return visit.page("price.html", fault=sentence(error), quote=None, by_minute=False)
    return visit.page("price.html", quote=quote, by_minute=by_minute)


async def begin_upload(visit: PageContext) -> Response:
    """Reserve the video and open its session; the browser then sends the bytes by the resumable protocol."""
    form = visit.form
    source = {"type": "upload", "fileName": form.text("name"), "contentType": form.text("type") or None}
    made = await visit.perform(ingest.create_video, _new_video(form, source))
    wanted = parse(NewUploadSession, {"fileName": form.text("name"), "contentType": form.text("type") or None})
    session = await visit.perform(uploads.create_upload, made.video_id, wanted)
    return JSONResponse({"videoId": made.video_id, "url": session.url})


async def begin_import(visit: PageContext) -> Response:
    url = visit.form.text("url")
    source = {"type": _source_type(url).value, "url": url}
    try:
        made = await visit.perform(ingest.create_video, _new_video(visit.form, source))
    except CutroomError as error:
        if error.code is Code.ALREADY_EXISTS and error.details.get("videoId"):
            return go(f"/videos/{error.details['videoId']}", said="known")
        raise
    return go(f"/videos/{made.video_id}")


def _new_video(form: Form, source: dict[str, Any]) -> NewVideo:
    cleaned = {name: value for name, value in source.items() if value is not None}
    document = {"source": cleaned, "folderId": form.text("folder") or None, "products": recipes_of(form)}
    return parse(NewVideo, {name: value for name, value in document.items() if value is not None})


def _source_type(url: str) -> SourceType:
    """Whoever pastes a link need not say whose it is."""
    return next((each for each in _PROVIDERS if fault_in_source(each, url) is None), SourceType.HTTPS)


ROUTES = [
    page("/library", show_library),
    page("/library/price", show_price),
    page("/library/uploads", begin_upload, method="POST"),
    page("/library/imports", begin_import, method="POST"),
]
