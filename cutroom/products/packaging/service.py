"""Creates and reads packaging runs, records reviews, and stores titles and descriptions."""

from collections.abc import Mapping
from datetime import datetime

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import PriceList
from cutroom.credits.schemas import CreditBundle
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.jobs.ids import AutomationType, JobKey, JobType, workflow_id
from cutroom.jobs.schemas import JobError
from cutroom.jobs.service import NewJob, request_jobs
from cutroom.jobs.states import JobState
from cutroom.library.branding import require_brand_voice
from cutroom.library.service import get_video
from cutroom.library.videos import TextField
from cutroom.platform.db import Connection
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.platform.storage.objects import Storage
from cutroom.products.packaging.rules import SKIPPED, AutomationRun, OverwriteMode, enabled_runs, run_status
from cutroom.products.packaging.schemas import (
    AutomationState,
    DetectedImage,
    NewPackaging,
    PackagedThumbnail,
    PackagingCreated,
    PackagingState,
    ReviewDecision,
)
from cutroom.products.thumbnails import service as thumbnails
from cutroom.products.thumbnails.rules import parse_options
from cutroom.products.transcripts.service import require_transcript

UNFINISHED = frozenset({JobState.QUEUED, JobState.PROCESSING})
VIDEO_FIELD: Mapping[AutomationType, TextField] = {
    AutomationType.TITLE: "title",
    AutomationType.DESCRIPTION: "description",
}
_RUNS = """SELECT id, status, automation_type, plan, result, error_code, error_message, error_details FROM jobs
    WHERE library_id = $1 AND id = ANY($2) AND output_deleted_at IS NULL"""


async def create_packaging(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    body: NewPackaging,
    prices: PriceList,
    now: datetime,
) -> PackagingCreated:
    """Creates a job for each enabled automation that is not already pending."""
    await get_video(connection, principal, video_id)
    runs = _runs_of(body)
    previous = {row["automation_type"]: row for row in await _runs(connection, principal.library_id, video_id)}
    at = "" if body.automation_options is None else "automationOptions."
    for run in runs:
        await _validate(connection, principal, run, at=f"{at}{run.type.value}.")
    jobs = []
    for run in runs:
        if run.type is AutomationType.THUMBNAIL:
            job = await thumbnails.zero_prompt_job(
                connection,
                principal,
                video_id,
                plan=run.plan,
                at=f"{at}{run.type.value}.",
                reservation_id=body.reservation_id,
                now=now,
            )
        else:
            job = await _text_job(connection, principal, video_id, run=run, previous=previous.get(run.type))
        jobs.append(job)
    created = await request_jobs(connection, principal, jobs, prices=prices, now=now)
    for job, (_, is_new) in zip(jobs, created, strict=True):
        if is_new and job.key.automation is AutomationType.THUMBNAIL:
            await thumbnails.store_request(connection, principal.library_id, job, now=now)
    new = [job for job, is_new in created if is_new]
    pending = [
        run.type for run, (job, is_new) in zip(runs, created, strict=True) if not is_new and job.status in UNFINISHED
    ]
    return PackagingCreated(registered=bool(new), already_pending=pending, jobs=new)


def _runs_of(body: NewPackaging) -> list[AutomationRun]:
    exclude = {"automation_options", "reservation_id"}
    return enabled_runs(body.options.model_dump(mode="json", by_alias=True, exclude=exclude))


def credit_bundle(body: NewPackaging) -> CreditBundle:
    """Returns the bundle that quotes, reserves and charges this request: titles and descriptions are free."""
    plans = [run.plan for run in _runs_of(body) if run.type is AutomationType.THUMBNAIL]
    return thumbnails.credit_bundle(plans[0]) if plans else CreditBundle()


async def _validate(connection: Connection, principal: Principal, run: AutomationRun, *, at: str) -> None:
    if run.type is AutomationType.THUMBNAIL:
        await thumbnails.validate_plan(connection, principal, {**run.plan, "mode": "zero_prompt"}, at=at)
    elif run.plan.get("brandVoiceId") is not None:
        await require_brand_voice(connection, principal.library_id, run.plan["brandVoiceId"])


async def _text_job(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    run: AutomationRun,
    previous: asyncpg.Record | None,
) -> NewJob:
    """A free job that writes a title or description. Skipped runs, and those that may overwrite, run again."""
    transcript, source = await require_transcript(connection, principal, video_id)
    was_skipped = previous is not None and SKIPPED in (previous["result"] or {})
    return NewJob(
        JobKey(JobType.PACKAGING, video_id, automation=run.type),
        video_id,
        plan=run.plan,
        depends_on=[] if source is not None else [transcript.id],
        rerun=was_skipped or run.overwrite is OverwriteMode.ALWAYS,
    )


async def _runs(connection: Connection, library_id: str, video_id: str) -> list[asyncpg.Record]:
    ids = [JobKey(JobType.PACKAGING, video_id, automation=each).id for each in AutomationType]
    rows: list[asyncpg.Record] = await connection.fetch(_RUNS, library_id, ids)
    return sorted(rows, key=lambda row: ids.index(row["id"]))


async def get_packaging(
    connection: Connection, principal: Principal, video_id: str, *, storage: Storage
) -> PackagingState:
    """The runs of a video, and its current title, description and thumbnail."""
    video = await get_video(connection, principal, video_id)
    library_id = principal.library_id
    rows = await _runs(connection, library_id, video_id)
    thumbnail_row = next((row for row in rows if row["automation_type"] == AutomationType.THUMBNAIL), None)
    thumbnail, in_review = None, False
    if thumbnail_row is not None:
        thumbnail, in_review = await _thumbnail(connection, principal, thumbnail_row, storage=storage)
    return PackagingState(
        video_id=video_id,
        automations=[_automation(row, in_review=in_review and row is thumbnail_row) for row in rows],
        title=video.title,
        description=video.description,
        thumbnail=thumbnail,
    )


async def _thumbnail(
    connection: Connection, principal: Principal, row: asyncpg.Record, *, storage: Storage
) -> tuple[PackagedThumbnail | None, bool]:
    """The thumbnail request of a run, and whether its detections await approval."""
    request_id = await thumbnails.find_request_id(connection, principal.library_id, row["id"])
    if request_id is None:
        return None, False
    request = await thumbnails.get_request(connection, principal, request_id, storage=storage)
    found, decision = await thumbnails.load_detections(connection, principal.library_id, request_id)
    detected = [
        DetectedImage(id=each["id"], kind=each["kind"], url=storage.read_url(each["path"]), time=each.get("seconds"))
        for each in found
    ]
    thumbnail = PackagedThumbnail(
        thumbnail_request_id=request_id, output_image_urls=request.output_image_urls, detected=detected or None
    )
    in_review = parse_options(row["plan"]).needs_review and bool(found) and decision is None
    return thumbnail, in_review


def _automation(row: asyncpg.Record, *, in_review: bool) -> AutomationState:
    error = None
    if row["error_code"] is not None:
        error = JobError(code=row["error_code"], message=row["error_message"], details=row["error_details"] or {})
    has_mode = row["automation_type"] != AutomationType.THUMBNAIL
    return AutomationState.model_validate(
        {
            "type": row["automation_type"],
            "status": run_status(row["status"], row["result"], in_review=in_review),
            "job_id": row["id"],
            "overwrite_mode": AutomationRun(row["automation_type"], row["plan"]).overwrite if has_mode else None,
            "error": error,
        }
    )


async def record_review(
    connection: Connection, principal: Principal, video_id: str, *, decision: ReviewDecision, now: datetime
) -> None:
    """Stores the decision and signals the waiting workflow."""
    await get_video(connection, principal, video_id)
    library_id = principal.library_id
    job_id = JobKey(JobType.PACKAGING, video_id, automation=AutomationType.THUMBNAIL).id
    row = await thumbnails.lock_reviewed_request(connection, library_id, job_id)
    if row is None:
        raise not_found()
    is_open = row["status"] == JobState.PROCESSING and row["detected"] and row["decision"] is None
    if not is_open or not parse_options(row["plan"]).needs_review:
        raise CutroomError(Code.CONFLICT, message="No review is pending for this video.", details={"jobId": job_id})
    unknown = set(decision.detected_ids or ()) - {each["id"] for each in row["detected"]}
    if unknown:
        raise invalid_field("detectedIds", "These were not detected in this video.")
    review = {"approved": decision.approved, "ids": decision.detected_ids, "by": principal.id, "at": now.isoformat()}
    await thumbnails.save_decision(connection, library_id, row["id"], decision=review)
    target = workflow_id(job_id, row["attempt"])
    await enqueue(
        connection,
        WorkflowStart(
            library_id, "resume-packaging", f"resume_{workflow_id(row['id'], row['attempt'])}", {"workflow_id": target}
        ),
    )
