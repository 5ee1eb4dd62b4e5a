"""Runs failed and canceled jobs again under their ids, at the current price."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from cutroom.accounts.principals import Principal
from cutroom.accounts.scopes import Scope
from cutroom.credits.escrow import price_items
from cutroom.credits.pricing import PriceList
from cutroom.credits.reserved_lines import get_milliseconds
from cutroom.credits.rules import Charge
from cutroom.credits.service import is_subscriber
from cutroom.errors import Code, CutroomError
from cutroom.jobs.cancellation import EndedJob, already_ended, lock_job, public_job_key
from cutroom.jobs.ids import JobKey, JobKind, JobType, parse_job_id
from cutroom.jobs.lifecycle import update_video_stage
from cutroom.jobs.schemas import Job
from cutroom.jobs.service import NewJob, get_job, request_jobs
from cutroom.jobs.states import JobState
from cutroom.library.service import get_video
from cutroom.platform.db import Connection
from cutroom.web.products import JobHooks

# The scope that creates jobs of a type; to retry one, a key needs it too.
CREATION_SCOPES: Mapping[JobKind, Scope] = {
    JobType.IMPORT: Scope.VIDEOS_WRITE,
    JobType.TRANSCRIPT: Scope.VIDEOS_WRITE,
    JobType.DUB: Scope.DUBS_WRITE,
    JobType.CAPTIONS: Scope.DUBS_WRITE,
    JobType.SHORTS: Scope.SHORTS_WRITE,
    JobType.THUMBNAIL: Scope.THUMBNAILS_WRITE,
    JobType.PACKAGING: Scope.PACKAGING_WRITE,
    JobType.DOWNLOAD: Scope.DOWNLOADS_WRITE,
}
# Charged once the language of the video shows that they can be made.
TRANSLATED = frozenset({JobType.DUB, JobType.CAPTIONS})


async def retry_job(
    connection: Connection, principal: Principal, job_id: str, *, hooks: JobHooks, prices: PriceList, now: datetime
) -> Job:
    """Run a failed job again as its next attempt; an unfinished job is returned unchanged and uncharged."""
    library_id, key = principal.library_id, public_job_key(job_id)
    row = await lock_job(connection, library_id, key.id)
    _authorize(principal, key.type)
    if row["output_deleted_at"] is not None:
        raise _output_deleted(key.id)
    if row["status"] == JobState.READY:
        raise already_ended(key.id, row["status"])
    if row["status"] != JobState.FAILED:
        return await get_job(connection, library_id, key.id)
    if row["video_id"] is not None:
        await get_video(connection, principal, row["video_id"])
    _require_files(row["depends_on"])
    job = EndedJob(library_id, key, row["video_id"], row["plan"])
    for hook in (hooks.before_retry.get(key.type), hooks.discard.get(key.type)):
        if hook is not None:
            await hook(connection, job)
    new_job = NewJob(
        key,
        row["video_id"],
        plan=row["plan"],
        depends_on=row["depends_on"],
        charge=_new_charge(key, row["charge"], principal),
        needs_language=key.type in TRANSLATED,
    )
    ((created, _),) = await request_jobs(connection, principal, [new_job], prices=prices, now=now)
    await update_video_stage(connection, library_id, key, row["video_id"], state="queued")
    return created


async def price_retry(connection: Connection, principal: Principal, job_id: str, *, prices: PriceList) -> int | None:
    """What retrying the job would cost now in millicredits; None while the duration of the video is not known."""
    key = public_job_key(job_id)
    row = await connection.fetchrow(
        "SELECT charge, video_id FROM jobs WHERE library_id = $1 AND id = $2", principal.library_id, key.id
    )
    charge = _new_charge(key, row["charge"], principal) if row is not None else None
    if row is None or charge is None:
        return 0
    duration = await get_milliseconds(connection, principal.library_id, row["video_id"])
    if duration is None:
        return None
    priced = price_items(charge.items, prices=prices, duration=duration, is_subscriber=charge.is_subscriber)
    return sum(millicredits for _, millicredits in priced)


def _authorize(principal: Principal, job_type: JobKind) -> None:
    """Retrying starts a product, so it needs what creating it needs."""
    scope = CREATION_SCOPES[job_type]
    if scope not in principal.scopes:
        raise CutroomError(Code.INSUFFICIENT_SCOPE, details={"required": [scope.value]})
    if principal.suspended:
        raise CutroomError(Code.PERMISSION_DENIED, details={"reason": "suspended"})


def _output_deleted(job_id: str) -> CutroomError:
    message = "The output of this job was deleted. Request it again."
    return CutroomError(Code.FAILED_PRECONDITION, message=message, details={"jobId": job_id, "reason": "deleted"})


def _require_files(depends_on: Sequence[str]) -> None:
    if any(parse_job_id(each) is None for each in depends_on):  # an upload, whose session has ended with the import
        message = "The file of this video was not received. Create another video."
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": "missing_input"})


def _new_charge(key: JobKey, stored: Mapping[str, Any] | None, principal: Principal) -> Charge | None:
    """The same items, charged to the balance: the reservation was settled with the first attempt.

    The transcript of an import is charged only to a line that was reserved for it, which it claims when it ends.
    """
    if stored is None or (key.type is JobType.TRANSCRIPT and key.revision is None):
        return None
    charge = Charge.from_json(stored)
    return replace(charge, is_subscriber=is_subscriber(principal), reservation_id=None, line_ids=(), limit=None)
