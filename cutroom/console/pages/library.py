"""The library page: video grid, search, uploads and imports."""

from dataclasses import dataclass, replace
from typing import Any

from starlette.responses import JSONResponse, Response

from cutroom.capabilities.service import dub_languages
from cutroom.console.framework.forms import Form
from cutroom.console.framework.page_context import PageContext, error_text, page, parse, redirect
from cutroom.console.framework.recipes import may_produce, parse_bundle, parse_recipes
from cutroom.console.framework.states import StateLabel, video_labels
from cutroom.console.pages.folders import load_folder_editor
from cutroom.console.pages.trash import load_trashed
from cutroom.credits.pricing import load_prices
from cutroom.credits.service import estimate
from cutroom.errors import Code, CutroomError
from cutroom.jobs import routes as jobs
from cutroom.library import routes
from cutroom.library.rules import MAX_LABEL
from cutroom.library.schemas import Video
from cutroom.library.search import MAX_TEXT, VideoQuery, find_videos, list_labels
from cutroom.products.ingest import routes as ingest
from cutroom.products.ingest.rules import SourceType, source_url_error
from cutroom.products.ingest.schemas import NewUploadSession, NewVideo
from cutroom.products.transcripts.search import TranscriptMatch, search_transcripts
from cutroom.products.uploads import routes as uploads
from cutroom.retention.trash.schemas import TrashedVideo
from cutroom.web.operation import operation_of

PAGE_SIZE = 24
MAX_MATCHES = 200  # videos whose transcript matches the search
_LISTING = "console-library"
_PROVIDERS = (SourceType.YOUTUBE, SourceType.DROPBOX, SourceType.GOOGLE_DRIVE)


@dataclass(frozen=True, slots=True)
class Tile:
    """A video in the grid."""

    video: Video
    states: list[StateLabel]
    match: TranscriptMatch | None


async def show_library(context: PageContext) -> Response:
    query = context.request.query_params
    text = query.get("q", "")[:MAX_TEXT].strip()
    folder_id, label = query.get("folder", "") or None, query.get("label", "")[:MAX_LABEL].strip() or None
    asked = VideoQuery(folder_id=folder_id, label=label, text=text or None)
    tiles, more = await _tiles(context, asked, token=query.get("page"))
    folders = (await context.call_operation(routes.list_folders)).folders
    may_edit = context.me.principal.may_write
    path, query_string = context.request.url.path, context.request.url.query
    shown: dict[str, Any] = {
        "tiles": tiles,
        "more": more,
        "q": text,
        "folder": folder_id,
        "folders": folders,
        "label": label,
        "may_add": may_produce(context.me.principal),
        "may_edit": may_edit,
        "here": f"{path}?{query_string}" if query_string else path,
    }
    if context.is_fragment:
        return context.page("library_grid.html", **shown)
    languages = await dub_languages(context.call.connection, source=None, now=context.call.now)
    return context.page(
        "library.html",
        **shown,
        folder_editor=await load_folder_editor(context, folder_id) if folder_id and may_edit else None,
        labels=await list_labels(context.call.connection, context.me.principal),
        max_label=MAX_LABEL,
        languages=languages,
        base_url=context.runtime.settings.base_url,
        trashed=await _load_named_in_notice(context) if may_edit else None,
        count=query.get("count", "") if query.get("count", "").isdecimal() else "",
    )


async def _load_named_in_notice(context: PageContext) -> TrashedVideo | None:
    """The video that was deleted, or whose source was imported again; None once it has been restored."""
    query = context.request.query_params
    if query.get("notice") not in {"trashed", "in-trash"}:
        return None
    return await load_trashed(context, query.get("video", ""))


async def _tiles(context: PageContext, asked: VideoQuery, *, token: str | None) -> tuple[list[Tile], str | None]:
    call, library_id = context.call, context.me.principal.library_id
    operation_of(routes.list_videos).authorize(call.principal)
    tokens = context.runtime.page_tokens
    before = tokens.read(token, listing=_LISTING, library_id=library_id) if token else None
    matches = (
        await search_transcripts(call.connection, call.principal, asked.text, limit=MAX_MATCHES) if asked.text else []
    )
    by_video = {each.video_id: each for each in matches}
    video_query = replace(asked, matching_ids=list(by_video))
    videos, more = await find_videos(
        call.connection, call.principal, video_query, before=before, limit=PAGE_SIZE, storage=context.runtime.storage
    )
    tiles = [Tile(video, await _states(context, video), by_video.get(video.id)) for video in videos]
    return tiles, tokens.after(videos[-1].id, listing=_LISTING, library_id=library_id) if more else None


def _transcript_status(video: Video) -> str:
    return video.transcript.status if video.transcript else "ready"


async def _states(context: PageContext, video: Video) -> list[StateLabel]:
    """A ready video with its transcript needs no query."""
    is_complete = video.status == "ready" and _transcript_status(video) == "ready"
    found = [] if is_complete else (await context.call_operation(jobs.list_video_jobs, video.id)).jobs
    return video_labels(video, found, context.call.now)


async def show_price(context: PageContext) -> Response:
    """Fragment with the price of the selected recipes; per minute if the duration is not known yet."""
    form = Form(tuple(context.request.query_params.multi_items()))
    bundle = parse_bundle(form)
    prices = load_prices(context.runtime.settings.prices_file)
    by_minute = False
    if bundle.duration_seconds is None and bundle.dubs:
        bundle, by_minute = bundle.model_copy(update={"duration_seconds": 60.0}), True
    try:
        quote = await estimate(context.call.connection, context.me.principal, bundle=bundle, prices=prices)
    except CutroomError as error:
        return context.page("price.html", error=error_text(error), quote=None, by_minute=False)
    return context.page("price.html", quote=quote, by_minute=by_minute)


async def begin_upload(context: PageContext) -> Response:
    """Creates the video and an upload session; the browser then uploads with the resumable protocol."""
    form = context.form
    source = {"type": "upload", "fileName": form.text("name"), "contentType": form.text("type") or None}
    created = await context.call_operation(ingest.create_video, _new_video(form, source))
    new_session = parse(NewUploadSession, {"fileName": form.text("name"), "contentType": form.text("type") or None})
    session = await context.call_operation(uploads.create_upload, created.video_id, new_session)
    return JSONResponse({"videoId": created.video_id, "url": session.url})


async def begin_import(context: PageContext) -> Response:
    url = context.form.text("url")
    source = {"type": _source_type(url).value, "url": url}
    try:
        created = await context.call_operation(ingest.create_video, _new_video(context.form, source))
    except CutroomError as error:
        if error.code is Code.ALREADY_EXISTS and error.details.get("inTrash"):
            folder = {"folder": context.form.text("folder")} if context.form.text("folder") else {}
            return redirect("/library", notice="in-trash", video=error.details["videoId"], **folder)
        if error.code is Code.ALREADY_EXISTS and error.details.get("videoId"):
            return redirect(f"/videos/{error.details['videoId']}", notice="exists")
        raise
    return redirect(f"/videos/{created.video_id}")


def _new_video(form: Form, source: dict[str, Any]) -> NewVideo:
    cleaned = {name: value for name, value in source.items() if value is not None}
    document = {"source": cleaned, "folderId": form.text("folder") or None, "products": parse_recipes(form)}
    return parse(NewVideo, {name: value for name, value in document.items() if value is not None})


def _source_type(url: str) -> SourceType:
    """Detects the provider from the URL."""
    return next((each for each in _PROVIDERS if source_url_error(each, url) is None), SourceType.HTTPS)


ROUTES = [
    page("/library", show_library),
    page("/library/price", show_price),
    page("/library/uploads", begin_upload, method="POST"),
    page("/library/imports", begin_import, method="POST"),
]
