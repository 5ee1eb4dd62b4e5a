"""Actions on the videos that are selected in the library: labels, downloads, deletion. Moving is in `folders`."""

from dataclasses import dataclass

from starlette.responses import Response

from cutroom.console.framework.forms import Form
from cutroom.console.framework.page_context import PageContext, page, redirect
from cutroom.console.framework.states import StateLabel, job_label
from cutroom.console.pages.folders import MAX_MOVED
from cutroom.console.pages.video_editing import change_labels
from cutroom.errors import invalid_field
from cutroom.jobs import routes as jobs
from cutroom.jobs.ids import JobKey, JobType, parse_job_id
from cutroom.jobs.schemas import Job
from cutroom.jobs.states import JobState
from cutroom.library import routes
from cutroom.products.downloads import routes as downloads
from cutroom.products.downloads.rules import Artifact
from cutroom.products.downloads.schemas import Download, NewDownload
from cutroom.retention.trash import routes as trash
from cutroom.retention.trash.rules import TRASH_DAYS
from cutroom.retention.trash.service import delete_videos
from cutroom.web.operation import operation_of

MAX_DOWNLOADS = 24  # a page of the grid
MAX_NAMED = 10  # titles in the confirmation of a deletion
_FILTERS = ("q", "folder", "label")


@dataclass(frozen=True, slots=True)
class SelectedDownload:
    """The download of a selected video."""

    title: str
    video_id: str
    state: StateLabel
    download: Download


async def change_selected_labels(context: PageContext) -> Response:
    """Adds a label to all selected videos or removes it; all are changed, or none."""
    operation_of(routes.update_video).authorize(context.me.principal)
    label = context.form.text("label")
    if not label:
        raise invalid_field("label", "Enter a label.")
    is_removal = context.form.text("change") == "remove"
    for video_id in _selected(context.form, maximum=MAX_MOVED):
        if is_removal:
            await change_labels(context, video_id, removed=label)
        else:
            await change_labels(context, video_id, added=label)
    return redirect("/library", notice="labeled", **_filters(context.form))


def _filters(form: Form) -> dict[str, str]:
    """The filters of the library in which the videos were selected."""
    filters = {name: form.text(f"in_{name}") for name in _FILTERS}
    return {name: value for name, value in filters.items() if value}


def _selected(form: Form, *, maximum: int) -> list[str]:
    """The selected videos, sorted, so that concurrent changes lock them in the same order."""
    selected = sorted(set(form.all("video")))
    if not 1 <= len(selected) <= maximum:
        raise invalid_field("video", f"Select 1 to {maximum} videos.")
    return selected


async def prepare_downloads(context: PageContext) -> Response:
    """Prepares the original file of each selected video, unless it has been prepared before."""
    operation_of(downloads.create_download).authorize(context.me.principal)
    ids = []
    for video_id in _selected(context.form, maximum=MAX_DOWNLOADS):
        found = (await context.call_operation(jobs.list_video_jobs, video_id)).jobs
        request_id = await _prepared(context, found)
        if request_id is None:
            asked = NewDownload(artifact=Artifact.SOURCE)
            created = await context.call_operation(downloads.create_download, video_id, asked)
            request_id = created.download_request_id
        ids.append(request_id)
    return redirect("/library/downloads", ids=",".join(ids))


async def _prepared(context: PageContext, found: list[Job]) -> str | None:
    """A whole original file that is ready; samples are prepared again, because the plan may have changed."""
    for job in found:
        is_file = job.type is JobType.DOWNLOAD and job.status is JobState.READY
        key = parse_job_id(job.id)
        if key is None or not is_file or (job.result or {}).get("artifact") != Artifact.SOURCE:
            continue
        download = await context.call_operation(downloads.get_download, key.subject)
        if not download.truncated and download.url is not None:
            return key.subject
    return None


async def show_downloads(context: PageContext) -> Response:
    """The prepared files; the list reloads as a fragment."""
    ids = context.request.query_params.get("ids", "").split(",")[:MAX_DOWNLOADS]
    found = [await _load(context, request_id) for request_id in ids]
    template = "downloads_list.html" if context.is_fragment else "downloads.html"
    return context.page(template, downloads=found, ids=",".join(ids))


async def _load(context: PageContext, request_id: str) -> SelectedDownload:
    download = await context.call_operation(downloads.get_download, request_id)
    job = await context.call_operation(jobs.get_job, JobKey(JobType.DOWNLOAD, request_id).id)
    assert isinstance(job, Job)  # it does not wait
    assert job.video_id is not None
    video = await context.call_operation(routes.get_video, job.video_id)
    return SelectedDownload(video.title or "Untitled", video.id, job_label(job, context.call.now), download)


async def delete_selected(context: PageContext) -> Response:
    """Asks for confirmation, then moves all selected videos to the trash, or none."""
    operation_of(trash.delete_video).authorize(context.me.principal)
    selected, filters = _selected(context.form, maximum=MAX_MOVED), _filters(context.form)
    if not context.form.has("confirmed"):
        named = [await context.call_operation(routes.get_video, video_id) for video_id in selected[:MAX_NAMED]]
        return context.page("selection_deletion.html", selected=selected, named=named, filters=filters, days=TRASH_DAYS)
    call, library_id = context.call, context.me.principal.library_id
    await delete_videos(call.connection, library_id, selected, hooks=call.runtime.job_hooks, now=call.now)
    for video_id in selected:  # as one call of the operation for each
        context.record("deleteVideo", targets={"videoId": video_id}, after={"permanently": False})
    return redirect("/library", notice="all-trashed", count=str(len(selected)), **filters)


ROUTES = [
    page("/library/delete", delete_selected, method="POST"),
    page("/library/labels", change_selected_labels, method="POST"),
    page("/library/downloads", prepare_downloads, method="POST"),
    page("/library/downloads", show_downloads),
]
