"""Puts states into words, each with the color of its dot and, if something failed, the one thing to do about it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from urllib.parse import urlencode

from cutroom.capabilities.rules import LanguageFault
from cutroom.errors import Code
from cutroom.jobs.estimates import describe_remaining
from cutroom.jobs.ids import AutomationType, JobType
from cutroom.jobs.schemas import Job
from cutroom.jobs.states import CANCELLED, JobState
from cutroom.library.schemas import Video
from cutroom.products.catalog import PRODUCTS
from cutroom.products.declaration import VideoTab
from cutroom.retention.copies.rules import CopyStatus
from cutroom.retention.copies.schemas import OutputCopy
from cutroom.retention.exports.schemas import LibraryExport

Dot = Literal["queued", "processing", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class NextStep:
    """The one thing to do about a failure."""

    text: str
    href: str


@dataclass(frozen=True, slots=True)
class StateLabel:
    """A state in words."""

    dot: Dot
    text: str
    next_step: NextStep | None = None
    job_id: str | None = None  # the running job whose live progress replaces the text, after the prefix
    prefix: str = ""


_OUTPUT_NAMES = {
    AutomationType.TITLE: "Title",
    AutomationType.DESCRIPTION: "Description",
    AutomationType.THUMBNAIL: "Thumbnail",
}
_TABS = {job.job_type: product.panels[0].tab for product in PRODUCTS if product.panels for job in product.jobs}
_LANGUAGE_FIELDS = {JobType.DUB: "dub", JobType.CAPTIONS: "captions"}  # of their forms


def job_name(job: Job) -> str:
    return _OUTPUT_NAMES[job.automation_type] if job.automation_type else job.type.capitalize()


def job_label(job: Job, now: datetime) -> StateLabel:
    if job.output_deleted_at is not None:
        return StateLabel("queued", "Deleted")
    match job.status:
        case JobState.QUEUED:
            return StateLabel("queued", "Queued")
        case JobState.PROCESSING:
            text = progress_text(job.progress or 0, job.estimated_ready_at, now=now)
            return StateLabel("processing", text, job_id=job.id)
        case JobState.READY:
            return StateLabel("ready", "Ready")
        case JobState.FAILED:
            if job.error is not None and job.error.code == CANCELLED:
                return StateLabel("failed", "Canceled", next_step(job))
            reason = f"Failed: {job.error.message}" if job.error else "Failed"
            return StateLabel("failed", reason, next_step(job))


def progress_text(percent: int, ready_at: datetime | None, *, now: datetime) -> str:
    remaining = describe_remaining(ready_at, now=now)
    return " · ".join(part for part in (f"Processing {percent} %", remaining) if part)


def export_label(export: LibraryExport) -> StateLabel:
    if export.status is JobState.PROCESSING:
        return StateLabel("processing", f"Preparing {int(export.progress)} %")
    if export.status is JobState.FAILED and export.error is not None:
        return StateLabel("failed", f"Failed: {export.error['message']}")
    return plain_label(export.status)


def next_step(job: Job) -> NextStep | None:
    """Leads to the form with the same choices, so that the price is seen before it is paid again."""
    details = job.error.details if job.error else {}
    if job.error is not None and job.error.code == Code.INSUFFICIENT_CREDITS:
        return NextStep("See credits", "/credits")
    if job.type in {JobType.IMPORT, JobType.TRANSCRIPT} or details.get("reason") == "no_speech":
        return NextStep("Upload another file", "/library#add")
    tab = VideoTab.THUMBNAILS if job.automation_type is AutomationType.THUMBNAIL else _TABS.get(job.type)
    if tab is None:
        return None
    is_language_fault = details.get("reason") in set(LanguageFault)
    fields = {"tab": tab.value}
    if job.language is not None and not is_language_fault and job.type in _LANGUAGE_FIELDS:
        fields[_LANGUAGE_FIELDS[job.type]] = job.language
    if job.product is not None:
        fields["product"] = job.product.value
    text = "Choose another language" if is_language_fault else "Change options"
    return NextStep(text, f"/videos/{job.video_id}?{urlencode(fields)}")


def can_retry(job: Job, video: Video) -> bool:
    """Whether trying a failed job again, as it is, can help."""
    if job.status is not JobState.FAILED or job.error is None or job.output_deleted_at is not None:
        return False
    if job.type is JobType.IMPORT and video.provider == "upload":
        return video.duration is not None  # otherwise its file was not received, or is not a video
    return job.error.details.get("reason") not in {*LanguageFault, "no_speech"}


def video_labels(video: Video, jobs: Iterable[Job], now: datetime) -> list[StateLabel]:
    """The import, and the transcript unless it is ready: a video can be ready without one."""
    by_type = {job.type: job for job in jobs if job.type in {JobType.IMPORT, JobType.TRANSCRIPT}}
    labels = [_import_label(video, by_type.get(JobType.IMPORT), now)]
    if video.status == "ready" and video.transcript is not None and video.transcript.status != "ready":
        labels.append(_transcript_label(video.transcript.status, by_type.get(JobType.TRANSCRIPT), now))
    return labels


def _import_label(video: Video, job: Job | None, now: datetime) -> StateLabel:
    if video.status == "queued" and video.provider == "upload":
        return StateLabel("queued", "Waiting for the upload")
    if job is not None and job.status == video.status:
        return job_label(job, now)
    return plain_label(video.status)


def _transcript_label(status: str, job: Job | None, now: datetime) -> StateLabel:
    label = job_label(job, now) if job is not None and job.status == status else plain_label(status)
    prefix = "Transcript: "
    return replace(label, text=f"{prefix}{label.text}", prefix=prefix)


_PLAIN: dict[str, StateLabel] = {
    "queued": StateLabel("queued", "Queued"),
    "processing": StateLabel("processing", "Processing"),
    "ready": StateLabel("ready", "Ready"),
    "failed": StateLabel("failed", "Failed"),
}


def copy_label(copy: OutputCopy) -> StateLabel:
    match copy.status:
        case CopyStatus.PENDING:
            return StateLabel("processing", "Copying")
        case CopyStatus.COPIED:
            return StateLabel("ready", "Copied")
        case CopyStatus.FAILED:
            return StateLabel("failed", f"Failed: {copy.error}")


def plain_label(status: str) -> StateLabel:
    """A state of which nothing more is known than its name."""
    return _PLAIN[status]
