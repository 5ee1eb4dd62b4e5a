"""Changes a video from its page or the library: title, description and labels."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from cutroom.console.framework.editing import EditField, Editor, saved, show_editor, submit
from cutroom.console.framework.page_context import PageContext, page, parse
from cutroom.errors import Code, CutroomError
from cutroom.jobs import routes as jobs
from cutroom.jobs.ids import AutomationType
from cutroom.jobs.schemas import Job
from cutroom.jobs.states import JobState
from cutroom.library import routes
from cutroom.library.rules import MAX_DESCRIPTION, MAX_LABEL, MAX_TITLE
from cutroom.library.schemas import Video, VideoPatch
from cutroom.library.search import list_labels
from cutroom.products.declaration import VideoTab
from cutroom.web.operation import operation_of

MAX_ATTEMPTS = 5  # to change labels while others change the same video


@dataclass(frozen=True, slots=True)
class VideoText:
    """The title or description of a video, with the candidates of the job that wrote it."""

    editor: Editor
    kind: str
    label: str
    value: str | None
    candidates: list[str]


async def load_heading(context: PageContext, video: Video) -> dict[str, Any]:
    """Template variables of the part of the page that names the video."""
    return {
        "video": video,
        "folders": (await context.call_operation(routes.list_folders)).folders,
        "may_edit": context.me.principal.may_write,
    }


def load_texts(context: PageContext, video: Video, found: Iterable[Job], *, revision: str) -> dict[str, Any]:
    """Template variables of the title and description of the publish tab."""
    newest_first = [job for job in found if job.status is JobState.READY]
    return {
        "texts": [
            VideoText(
                _title_editor(video, revision),
                "title",
                "Title",
                video.title,
                _candidates(newest_first, AutomationType.TITLE),
            ),
            VideoText(
                _description_editor(video, revision),
                "description",
                "Description",
                video.description,
                _candidates(newest_first, AutomationType.DESCRIPTION),
            ),
        ],
        "may_edit": context.me.principal.may_write,
    }


def _candidates(newest_first: Iterable[Job], automation: AutomationType) -> list[str]:
    """The candidates of the newest job that wrote something; one that kept the text has none."""
    results = (job.result or {} for job in newest_first if job.automation_type is automation)
    return list(next((result["candidates"] for result in results if result.get("candidates")), []))


async def show_heading(context: PageContext) -> Response:
    video = await context.call_operation(routes.get_video, context.request.path_params["video_id"])
    return context.page("video/heading.html", **await load_heading(context, video))


async def show_texts(context: PageContext) -> Response:
    video_id = context.request.path_params["video_id"]
    video, revision = await context.call_revised(routes.get_video, video_id)
    found = (await context.call_operation(jobs.list_video_jobs, video_id)).jobs
    return context.page("video/texts.html", video=video, **load_texts(context, video, found, revision=revision))


def _title_editor(video: Video, revision: str) -> Editor:
    field = EditField("title", "Title", video.title or "", max_length=MAX_TITLE)
    return Editor("Rename video", f"/videos/{video.id}/title", f"/videos/{video.id}", (field,), revision)


def _description_editor(video: Video, revision: str) -> Editor:
    value = video.description or ""
    field = EditField("description", "Description", value, max_length=MAX_DESCRIPTION, rows=12, is_required=False)
    back = f"/videos/{video.id}?tab={VideoTab.PUBLISH}"
    return Editor("Edit description", f"/videos/{video.id}/description", back, (field,), revision)


async def _load_title(context: PageContext) -> Editor:
    return _title_editor(*await _load(context))


async def _load_description(context: PageContext) -> Editor:
    return _description_editor(*await _load(context))


async def _load(context: PageContext) -> tuple[Video, str]:
    operation_of(routes.update_video).authorize(context.me.principal)
    return await context.call_revised(routes.get_video, context.request.path_params["video_id"])


async def show_title(context: PageContext) -> Response:
    return show_editor(context, await _load_title(context))


async def show_description(context: PageContext) -> Response:
    return show_editor(context, await _load_description(context))


async def change_title(context: PageContext) -> Response:
    video_id = context.request.path_params["video_id"]

    async def save(revision: str | None) -> Video:
        patch = parse(VideoPatch, {"title": context.form.text("title")})
        return await context.call_operation(routes.update_video, video_id, patch, if_match=revision)

    rejected = await submit(context, lambda: _load_title(context), save)
    return rejected or saved(context, f"/videos/{video_id}", notice="saved")


async def change_description(context: PageContext) -> Response:
    video_id = context.request.path_params["video_id"]

    async def save(revision: str | None) -> Video:
        text = context.form.text("description").replace("\r\n", "\n")
        patch = parse(VideoPatch, {"description": text or None})
        return await context.call_operation(routes.update_video, video_id, patch, if_match=revision)

    rejected = await submit(context, lambda: _load_description(context), save)
    return rejected or saved(context, f"/videos/{video_id}", tab=VideoTab.PUBLISH, notice="saved")


async def _load_new_label(context: PageContext) -> Editor:
    video, _ = await _load(context)
    known = await list_labels(context.call.connection, context.me.principal)
    suggestions = tuple(each for each in known if each not in (video.labels or []))
    field = EditField("label", "Label", max_length=MAX_LABEL, suggestions=suggestions)
    action = f"/videos/{video.id}/labels"
    return Editor("Add label", action, f"/videos/{video.id}", (field,), button="Add label")


async def show_new_label(context: PageContext) -> Response:
    return show_editor(context, await _load_new_label(context))


async def add_label(context: PageContext) -> Response:
    """Adding and removing one label never conflicts with other changes, so the form's revision is not needed."""
    video_id = context.request.path_params["video_id"]

    async def save(_revision: str | None) -> None:
        await change_labels(context, video_id, added=context.form.text("label"))

    rejected = await submit(context, lambda: _load_new_label(context), save)
    return rejected or saved(context, f"/videos/{video_id}", notice="saved")


async def remove_label(context: PageContext) -> Response:
    video_id = context.request.path_params["video_id"]
    await change_labels(context, video_id, removed=context.form.text("label"))
    return saved(context, f"/videos/{video_id}", notice="saved")


async def change_labels(
    context: PageContext, video_id: str, *, added: str | None = None, removed: str | None = None
) -> None:
    """Adds or removes a label of the current labels, which the API replaces as a whole."""
    for attempt in range(1, MAX_ATTEMPTS + 1):
        video, revision = await context.call_revised(routes.get_video, video_id)
        labels = [each for each in video.labels or [] if each != removed]
        if added is not None and added not in labels:
            labels.append(added)
        try:
            patch = parse(VideoPatch, {"labels": labels})
            await context.call_operation(routes.update_video, video_id, patch, if_match=revision)
        except CutroomError as error:
            if error.code is not Code.CONFLICT or attempt == MAX_ATTEMPTS:
                raise
        else:
            return


ROUTES = [
    page("/videos/{video_id}/heading", show_heading),
    page("/videos/{video_id}/texts", show_texts),
    page("/videos/{video_id}/title", show_title),
    page("/videos/{video_id}/title", change_title, method="POST"),
    page("/videos/{video_id}/description", show_description),
    page("/videos/{video_id}/description", change_description, method="POST"),
    page("/videos/{video_id}/labels", show_new_label),
    page("/videos/{video_id}/labels", add_label, method="POST"),
    page("/videos/{video_id}/labels/remove", remove_label, method="POST"),
]
