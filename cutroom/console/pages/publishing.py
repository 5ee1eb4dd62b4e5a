"""What goes with a video when it is published: titles, descriptions, thumbnails, downloads, hosting."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, go, page, parse
from cutroom.console.framework.recipes import figures_in, languages_in
from cutroom.errors import CutroomError, invalid_field
from cutroom.jobs.ids import JobType, parse_job_id
from cutroom.jobs.schemas import Job
from cutroom.products.downloads import routes as downloads
from cutroom.products.downloads.schemas import Download, NewDownload
from cutroom.products.hosting import routes as hosting
from cutroom.products.hosting.schemas import Hosting
from cutroom.products.packaging import routes as packaging
from cutroom.products.packaging.schemas import NewPackaging, PackagingState, ReviewDecision
from cutroom.products.thumbnails import routes as thumbnails
from cutroom.products.thumbnails.posters import ThumbnailImage, list_images, set_primary
from cutroom.web.operation import operation_of

MAX_DOWNLOADS = 5  # the newest, with their links


@dataclass(frozen=True, slots=True)
class Publishing:
    """Everything that is made to publish a video, as it stands."""

    packaging: PackagingState
    pictures: list[ThumbnailImage]
    downloads: list[Download]
    hosting: Hosting

    @property
    def in_review(self) -> bool:
        return any(each.status == "review" for each in self.packaging.automations)


async def publishing_of(visit: PageContext, video_id: str, found: list[Job]) -> Publishing:
    return Publishing(
        packaging=await visit.perform(packaging.get_packaging, video_id),
        pictures=await _pictures(visit, video_id),
        downloads=await _downloads(visit, found),
        hosting=await visit.perform(hosting.get_hosting, video_id),
    )


async def _pictures(visit: PageContext, video_id: str) -> list[ThumbnailImage]:
    operation_of(thumbnails.list_thumbnails).authorize(visit.me.principal)
    return await list_images(visit.call.connection, visit.me.principal, video_id, storage=visit.runtime.storage)


async def _downloads(visit: PageContext, found: list[Job]) -> list[Download]:
    keys = [parse_job_id(job.id) for job in found if job.type is JobType.DOWNLOAD]
    wanted = [key.subject for key in keys if key is not None][:MAX_DOWNLOADS]
    made = []
    for request_id in wanted:
        try:
            made.append(await visit.perform(downloads.get_download, request_id))
        except CutroomError:  # a viewer may follow the job, but not fetch what it made
            continue
    return made


async def _write_title(visit: PageContext, video_id: str) -> None:
    title = {"enabled": True, "titleType": visit.form.text("style"), "overwriteMode": "always"}
    await _package(visit, video_id, {"generateTitle": title})


async def _write_description(visit: PageContext, video_id: str) -> None:
    text = {"enabled": True, "descriptionType": visit.form.text("style"), "overwriteMode": "always"}
    await _package(visit, video_id, {"generateDescription": {**text, **_brand(visit)}})


async def _draw_thumbnail(visit: PageContext, video_id: str) -> None:
    """Without a prompt; whoever ticks it looks at the found pictures before anything is drawn."""
    drawn: dict[str, Any] = {"enabled": True, "promoteToPrimary": visit.form.has("poster"), **_brand(visit)}
    if figures := figures_in(visit.form):
        drawn |= {"characterCount": len(figures), "characters": [{"characterId": each} for each in figures]}
    if visit.form.has("review"):
        precise = {"pipelineMode": "thumbnail-precision", "referenceSchemaVersion": 2}  # who finds, works with plates
        drawn |= {**precise, "autoDetectContentReferences": True, "contentDetectApprovalMode": "review"}
    await _package(visit, video_id, {"zeroPromptThumbnail": drawn})


def _brand(visit: PageContext) -> dict[str, str]:
    """The brand voice that was chosen, if one was; one of another library is not found."""
    chosen = visit.form.text("brand")
    return {"brandVoiceId": chosen} if chosen else {}


async def _package(visit: PageContext, video_id: str, options: Mapping[str, Any]) -> None:
    wanted = parse(NewPackaging, {"automationOptions": options})
    await visit.perform(packaging.create_packaging, video_id, wanted)


async def _prepare_download(visit: PageContext, video_id: str) -> None:
    languages = languages_in(visit.form, "language")
    artifact = visit.form.text("artifact")
    document = {
        "artifact": artifact,
        **({"language": languages[0]} if languages and artifact == "language_video" else {}),
    }
    await visit.perform(downloads.create_download, video_id, parse(NewDownload, document))


async def _host(visit: PageContext, video_id: str) -> None:
    await visit.perform(hosting.activate_hosting, Response(), video_id)


_KINDS: Mapping[str, Callable[[PageContext, str], Awaitable[None]]] = {
    "title": _write_title,
    "description": _write_description,
    "thumbnail": _draw_thumbnail,
    "download": _prepare_download,
    "hosting": _host,
}


async def publish(visit: PageContext) -> Response:
    """Ask for one of them."""
    video_id = visit.request.path_params["video_id"]
    act = _KINDS.get(visit.form.text("kind"))
    if act is None:
        raise invalid_field("kind", "There is no such product.")
    await act(visit, video_id)
    return go(f"/videos/{video_id}")


async def review(visit: PageContext) -> Response:
    """Approve what was found, or some of it, or reject it."""
    video_id = visit.request.path_params["video_id"]
    chosen = visit.form.all("detected")
    document: dict[str, Any] = {"approved": visit.form.text("answer") == "approve"}
    if chosen:
        document["detectedIds"] = chosen
    await visit.perform(packaging.review_packaging, video_id, parse(ReviewDecision, document))
    return go(f"/videos/{video_id}")


async def choose_poster(visit: PageContext) -> Response:
    """Whoever may have thumbnails drawn may say which of them stands for the video."""
    operation_of(thumbnails.create_thumbnail).authorize(visit.me.principal)
    video_id = visit.request.path_params["video_id"]
    chosen = visit.form.text("thumbnail")
    await set_primary(visit.call.connection, visit.me.principal, video_id, thumbnail_id=chosen)
    return go(f"/videos/{video_id}", said="poster")


ROUTES = [
    page("/videos/{video_id}/publish", publish, method="POST"),
    page("/videos/{video_id}/review", review, method="POST"),
    page("/videos/{video_id}/poster", choose_poster, method="POST"),
]
