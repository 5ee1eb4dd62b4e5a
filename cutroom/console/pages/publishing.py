"""Publishing on the video page: titles, descriptions, thumbnails, downloads, hosting."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, page, parse, redirect
from cutroom.console.framework.recipes import parse_languages, parse_thumbnail
from cutroom.console.pages.orders import tab_of
from cutroom.errors import CutroomError, invalid_field
from cutroom.jobs.ids import AutomationType, JobType, parse_job_id
from cutroom.jobs.schemas import Job
from cutroom.jobs.states import JobState
from cutroom.library import routes as library
from cutroom.library.schemas import Video
from cutroom.library.search import VideoQuery, find_videos
from cutroom.products.declaration import VideoTab
from cutroom.products.downloads import routes as downloads
from cutroom.products.downloads.schemas import Download, NewDownload
from cutroom.products.hosting import routes as hosting
from cutroom.products.packaging import routes as packaging
from cutroom.products.packaging.schemas import NewPackaging, PackagingState, ReviewDecision
from cutroom.products.thumbnails import routes as thumbnails
from cutroom.products.thumbnails.posters import ThumbnailImage, list_images, set_primary
from cutroom.web.operation import operation_of

MAX_DOWNLOADS = 5  # the newest
PREVIEWED, NEIGHBORS = 3, 3  # thumbnails that are shown as in a list, and other videos beside each


@dataclass(frozen=True, slots=True)
class DownloadView:
    """A download with its job."""

    download: Download
    job: Job


async def is_in_review(context: PageContext, video_id: str) -> bool:
    """Whether detected images wait for approval."""
    return _in_review(await context.call_operation(packaging.get_packaging, video_id))


def _in_review(state: PackagingState) -> bool:
    return any(each.status == "review" for each in state.automations)


async def load_thumbnails(context: PageContext, video_id: str, jobs: list[Job]) -> dict[str, Any]:
    state = await context.call_operation(packaging.get_packaging, video_id)
    types = {JobType.THUMBNAIL, AutomationType.THUMBNAIL}
    images = await _thumbnails(context, video_id)
    return {
        "in_review": _in_review(state),
        "detected": (state.thumbnail.detected if state.thumbnail else None) or [],
        "thumbnails": images,
        "previewed": images[:PREVIEWED],
        "neighbors": await _neighbors(context, video_id) if images else [],
        "current": [job for job in jobs if {job.type, job.automation_type} & types and job.status != JobState.READY],
    }


async def load_publishing(context: PageContext, video_id: str, jobs: list[Job]) -> dict[str, Any]:
    types = {AutomationType.TITLE, AutomationType.DESCRIPTION}
    return {
        "downloads": await _downloads(context, jobs),
        "hosting": await context.call_operation(hosting.get_hosting, video_id),
        "current": [job for job in jobs if job.automation_type in types and job.status != JobState.READY],
    }


async def _thumbnails(context: PageContext, video_id: str) -> list[ThumbnailImage]:
    operation_of(thumbnails.list_thumbnails).authorize(context.me.principal)
    return await list_images(context.call.connection, context.me.principal, video_id, storage=context.runtime.storage)


async def _neighbors(context: PageContext, video_id: str) -> list[Video | None]:
    """The newest other videos that have a picture; none where there are fewer."""
    operation_of(library.list_videos).authorize(context.me.principal)
    newest, _ = await find_videos(
        context.call.connection,
        context.me.principal,
        VideoQuery(),
        before=None,
        limit=2 * NEIGHBORS + 1,
        storage=context.runtime.storage,
    )
    found = [each for each in newest if each.id != video_id and each.poster_url][:NEIGHBORS]
    return [*found, *[None] * (NEIGHBORS - len(found))]


async def _downloads(context: PageContext, jobs: list[Job]) -> list[DownloadView]:
    made = []
    for job in [each for each in jobs if each.type is JobType.DOWNLOAD][:MAX_DOWNLOADS]:
        key = parse_job_id(job.id)
        assert key is not None
        try:
            download = await context.call_operation(downloads.get_download, key.subject)
        except CutroomError:  # viewers can see the job but not download the file
            continue
        if download.url is not None or job.status is not JobState.READY:  # a prepared file expires
            made.append(DownloadView(download, job))
    return made


async def _generate_title(context: PageContext, video_id: str) -> None:
    title = {"enabled": True, "titleType": context.form.text("style"), "overwriteMode": "always"}
    await _create_packaging(context, video_id, {"generateTitle": title})


async def _generate_description(context: PageContext, video_id: str) -> None:
    text = {"enabled": True, "descriptionType": context.form.text("style"), "overwriteMode": "always"}
    await _create_packaging(context, video_id, {"generateDescription": {**text, **_brand(context)}})


async def _generate_thumbnail(context: PageContext, video_id: str) -> None:
    thumbnail = {"enabled": True, "promoteToPrimary": context.form.has("poster"), **_brand(context)}
    thumbnail |= parse_thumbnail(context.form)
    await _create_packaging(context, video_id, {"zeroPromptThumbnail": thumbnail})


def _brand(context: PageContext) -> dict[str, str]:
    """The selected brand voice, if any."""
    chosen = context.form.text("brand")
    return {"brandVoiceId": chosen} if chosen else {}


async def _create_packaging(context: PageContext, video_id: str, options: Mapping[str, Any]) -> None:
    body = parse(NewPackaging, {"automationOptions": options})
    await context.call_operation(packaging.create_packaging, video_id, body)


async def _prepare_download(context: PageContext, video_id: str) -> None:
    languages = parse_languages(context.form, "language")
    artifact = context.form.text("artifact")
    document = {
        "artifact": artifact,
        **({"language": languages[0]} if languages and artifact == "language_video" else {}),
    }
    await context.call_operation(downloads.create_download, video_id, parse(NewDownload, document))


async def _activate_hosting(context: PageContext, video_id: str) -> None:
    await context.call_operation(hosting.activate_hosting, Response(), video_id)


_HANDLERS: Mapping[str, Callable[[PageContext, str], Awaitable[None]]] = {
    "title": _generate_title,
    "description": _generate_description,
    "thumbnail": _generate_thumbnail,
    "download": _prepare_download,
    "hosting": _activate_hosting,
}


async def publish(context: PageContext) -> Response:
    """Creates one of the publishing products."""
    video_id = context.request.path_params["video_id"]
    handler = _HANDLERS.get(context.form.text("kind"))
    if handler is None:
        raise invalid_field("kind", "Unknown product.")
    await handler(context, video_id)
    return redirect(f"/videos/{video_id}", tab=tab_of(context.form.text("kind")))


async def review(context: PageContext) -> Response:
    """Approves all or some of the detected references, or rejects them."""
    video_id = context.request.path_params["video_id"]
    chosen = context.form.all("detected")
    document: dict[str, Any] = {"approved": context.form.text("answer") == "approve"}
    if chosen:
        document["detectedIds"] = chosen
    await context.call_operation(packaging.review_packaging, video_id, parse(ReviewDecision, document))
    return redirect(f"/videos/{video_id}", tab=VideoTab.THUMBNAILS)


async def set_thumbnail(context: PageContext) -> Response:
    """Sets the video's thumbnail; requires the scope for generating thumbnails."""
    operation_of(thumbnails.create_thumbnail).authorize(context.me.principal)
    video_id = context.request.path_params["video_id"]
    thumbnail_id = context.form.text("thumbnail")
    await set_primary(
        context.call.connection, context.me.principal, video_id, thumbnail_id=thumbnail_id, now=context.call.now
    )
    context.record("thumbnail.select", targets={"videoId": video_id, "thumbnailId": thumbnail_id})
    return redirect(f"/videos/{video_id}", tab=VideoTab.THUMBNAILS, notice="thumbnail")


ROUTES = [
    page("/videos/{video_id}/publish", publish, method="POST"),
    page("/videos/{video_id}/review", review, method="POST"),
    page("/videos/{video_id}/thumbnail", set_thumbnail, method="POST"),
]
