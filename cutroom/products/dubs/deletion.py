"""Deletes dubs. Audio that other dubs of the video may share stays until the video is deleted."""

from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.errors import not_found
from cutroom.jobs.cancellation import EndedJob
from cutroom.jobs.deletion import StoredObjects, being_made, delete_output, lock_output
from cutroom.jobs.ids import DubProduct, JobKey, JobType
from cutroom.library.service import get_video
from cutroom.platform.db import Connection
from cutroom.products.dubs.service import discard, dub_path

_REDUB = """SELECT status FROM jobs WHERE library_id = $1 AND type = 'redub' AND status IN ('queued', 'processing')
    AND plan ->> 'dubbed_video_id' = $2 AND plan ->> 'language' = $3 AND plan ->> 'product' = $4 LIMIT 1"""


async def delete_dubs(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    language: str,
    product: DubProduct | None,
    now: datetime,
) -> list[str]:
    """Delete the dub of a language and product, or all dubs of the language; return the deleted products."""
    await get_video(connection, principal, video_id)
    products = [product] if product is not None else sorted(DubProduct)  # jobs are locked in id order
    keys = [JobKey(JobType.DUB, video_id, language=language, product=each) for each in products]
    jobs = [await lock_output(connection, principal.library_id, key) for key in keys]
    found = [job for job in jobs if job is not None]
    if not found:
        raise not_found()
    for job in found:
        await _delete_dub(connection, job, now=now)
    return [str(job.key.product) for job in found]


async def _delete_dub(connection: Connection, job: EndedJob, *, now: datetime) -> None:
    await discard(connection, job)
    await _require_unedited(connection, job)  # after the row is locked, so that no edit can follow
    folder = f"{job.key.language}-{job.key.product}/"
    prefix = dub_path(job.library_id, str(job.video_id), folder)
    await delete_output(connection, job, objects=StoredObjects(prefixes=(prefix,)), now=now)


async def _require_unedited(connection: Connection, job: EndedJob) -> None:
    """Raise while a changed line is being spoken, which would store the dub again."""
    status = await connection.fetchval(
        _REDUB, job.library_id, job.video_id, str(job.key.language), str(job.key.product)
    )
    if status is not None:
        raise being_made(job.key.id, status)
