"""Jobs that are ready when they are created, because a request makes their output itself."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cutroom.accounts.principals import Principal
from cutroom.jobs.ids import JobKey
from cutroom.jobs.service import GET_JOB, job_from_row
from cutroom.platform.db import Connection
from cutroom.webhooks.publishing import publish_event

_RECORD = """
INSERT INTO jobs (library_id, id, type, status, video_id, language, product, principal_id, attempt, plan, depends_on,
    progress, result, created_at, updated_at, queued_at, requested_at, started_at, finished_at)
VALUES ($1, $2, $3, 'ready', $4, $5, $6, $7, 1, '{}', '{}', 100, $8, $9, $9, $9, $9, $9, $9)
ON CONFLICT (library_id, id) DO UPDATE SET
    earlier_attempts = with_attempt(jobs.earlier_attempts, jsonb_build_object(
        'attempt', jobs.attempt, 'status', jobs.status, 'requested_at', jobs.requested_at,
        'queued_at', jobs.queued_at, 'started_at', jobs.started_at, 'finished_at', jobs.finished_at,
        'error_code', jobs.error_code, 'error_message', jobs.error_message, 'steps', jobs.steps,
        'output_deleted_at', jobs.output_deleted_at)),
    attempt = jobs.attempt + 1, status = 'ready', principal_id = excluded.principal_id, plan = '{}', depends_on = '{}',
    charge = NULL, stage = NULL, steps = NULL, progress = 100, result = excluded.result, error_code = NULL,
    error_message = NULL, error_details = NULL, media_seconds = NULL, reached_seconds = NULL, expected_seconds = NULL,
    output_deleted_at = NULL, updated_at = excluded.updated_at, queued_at = excluded.queued_at,
    requested_at = excluded.requested_at, started_at = excluded.started_at, finished_at = excluded.finished_at
    WHERE jobs.status = 'failed' OR (jobs.status = 'ready' AND jobs.output_deleted_at IS NOT NULL)
RETURNING true
"""


async def record_finished_job(
    connection: Connection,
    principal: Principal,
    key: JobKey,
    video_id: str,
    *,
    result: Mapping[str, Any],
    now: datetime,
) -> bool:
    """Record a free job as ready, and publish `job.ready`; False if there is one that is running or ready.

    The caller holds `keep_video`.
    """
    recorded = await connection.fetchval(
        _RECORD,
        principal.library_id,
        key.id,
        key.type,
        video_id,
        key.language,
        key.product,
        principal.id,
        dict(result),
        now,
    )
    if recorded is None:
        return False
    row = await connection.fetchrow(GET_JOB, principal.library_id, key.id)
    assert row is not None
    data = job_from_row(row).model_dump(mode="json", by_alias=True)
    await publish_event(connection, principal.library_id, type="job.ready", data=data, now=now)
    return True
