"""Settings of the retention policy, its dry run, and its reports."""

from collections.abc import Collection
from datetime import datetime

import asyncpg

from cutroom.platform.db import Connection
from cutroom.retention.policy.rules import (
    DEFAULT_INTERMEDIATES_DAYS,
    INTERMEDIATES,
    ORIGINALS,
    OUTPUTS,
    Cutoffs,
    RetentionTimes,
    UsageKind,
)
from cutroom.retention.policy.schemas import (
    RetentionAmounts,
    RetentionPolicy,
    RetentionPolicyPatch,
    RetentionPreview,
    RetentionReport,
    StoredAmount,
    VideoAmount,
)
from cutroom.web.revisions import Revised, require_match
from cutroom.web.schema import changes_of

MAX_LISTED_VIDEOS = 20
_GROUPS = """coalesce(sum(bytes) FILTER (WHERE kind = 'original'), 0)::bigint AS originals_bytes,
    coalesce(sum(bytes) FILTER (WHERE kind IN ('intermediate', 'download')), 0)::bigint AS intermediates_bytes,
    coalesce(sum(bytes) FILTER (WHERE kind NOT IN ('original', 'intermediate', 'download')), 0)::bigint
        AS outputs_bytes"""
# Agrees with rules.expired_files, by whole days: $2 to $5 are the cutoffs, null for what is kept for ever.
_EXPIRED = """WITH newest AS (
        SELECT video_id, max(changed_on) AS changed_on FROM storage_usage
        WHERE library_id = $1 AND kind = 'output' GROUP BY video_id)
    SELECT u.video_id, u.kind, u.objects, u.bytes, v.title
    FROM storage_usage u JOIN videos v ON v.library_id = u.library_id AND v.id = u.video_id AND v.deleted_at IS NULL
        LEFT JOIN newest n ON n.video_id = u.video_id
    WHERE u.library_id = $1 AND CASE u.kind
        WHEN 'original' THEN v.created_at < $2
        WHEN 'intermediate' THEN u.changed_on < ($3::timestamptz AT TIME ZONE 'UTC')::date
        WHEN 'output' THEN v.created_at < $4 AND n.changed_on < ($4::timestamptz AT TIME ZONE 'UTC')::date
        WHEN 'download' THEN u.changed_on < ($5::timestamptz AT TIME ZONE 'UTC')::date
        ELSE false END"""
_DELETED = """SELECT d.video_id, d.kind, d.objects, d.bytes, v.title
    FROM retention_deletions d LEFT JOIN videos v ON v.library_id = d.library_id AND v.id = d.video_id
    WHERE d.library_id = $1 AND d.run_at = $2"""
_STORED = """SELECT u.video_id, u.kind, u.objects, u.bytes, v.title
    FROM storage_usage u JOIN videos v ON v.library_id = u.library_id AND v.id = u.video_id
    WHERE u.library_id = $1"""


async def get_policy(connection: Connection, library_id: str) -> Revised[RetentionPolicy]:
    row = await connection.fetchrow(
        """SELECT originals_days, intermediates_days, outputs_days, revision FROM retention_policies
           WHERE library_id = $1""",
        library_id,
    )
    if row is None:
        days = DEFAULT_INTERMEDIATES_DAYS
        return Revised(RetentionPolicy(originals_days=None, intermediates_days=days, outputs_days=None), 1)
    fields = {name: row[name] for name in RetentionPolicy.model_fields}
    return Revised(RetentionPolicy(**fields), row["revision"])


async def get_times(connection: Connection, library_id: str) -> RetentionTimes:
    return times_of((await get_policy(connection, library_id)).resource)


def times_of(policy: RetentionPolicy) -> RetentionTimes:
    return RetentionTimes(policy.originals_days, policy.intermediates_days, policy.outputs_days)


async def update_policy(
    connection: Connection, library_id: str, patch: RetentionPolicyPatch, *, if_match: str | None = None
) -> None:
    """Changes the fields that the caller sent; the first change stores the policy."""
    await connection.execute(
        "INSERT INTO retention_policies (library_id, intermediates_days) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        library_id,
        DEFAULT_INTERMEDIATES_DAYS,
    )
    revision = await connection.fetchval(
        "SELECT revision FROM retention_policies WHERE library_id = $1 FOR UPDATE", library_id
    )
    require_match(if_match, revision)
    policy = (await get_policy(connection, library_id)).resource.model_copy(update=changes_of(patch))
    await connection.execute(
        """UPDATE retention_policies SET originals_days = $2, intermediates_days = $3, outputs_days = $4
           WHERE library_id = $1""",
        library_id,
        policy.originals_days,
        policy.intermediates_days,
        policy.outputs_days,
    )


async def preview(connection: Connection, library_id: str, times: RetentionTimes, *, now: datetime) -> RetentionPreview:
    """What these times would delete now, as far as the last scan knows; unfinished jobs may still keep some of it."""
    cutoffs = Cutoffs.at(times, now)
    arguments = (library_id, cutoffs.originals, cutoffs.intermediates, cutoffs.outputs, cutoffs.downloads)
    amounts = await _amounts(connection, _EXPIRED, *arguments)
    measured_at = await connection.fetchval("SELECT measured_at FROM storage_scans WHERE library_id = $1", library_id)
    return RetentionPreview(**dict(amounts), measured_at=measured_at)


async def last_report(connection: Connection, library_id: str) -> RetentionReport:
    run_at = await connection.fetchval("SELECT max(run_at) FROM retention_deletions WHERE library_id = $1", library_id)
    return RetentionReport(**dict(await _amounts(connection, _DELETED, library_id, run_at)), run_at=run_at)


async def list_largest_videos(connection: Connection, library_id: str) -> list[VideoAmount]:
    """The videos that use the most space."""
    return await _largest(connection, _STORED, library_id)


async def _amounts(connection: Connection, query: str, *arguments: object) -> RetentionAmounts:
    rows = await connection.fetch(
        f"SELECT kind, sum(objects)::bigint AS objects, sum(bytes)::bigint AS bytes FROM ({query}) found GROUP BY kind",  # noqa: S608
        *arguments,
    )
    return RetentionAmounts(
        originals=_sum(rows, ORIGINALS),
        intermediates=_sum(rows, INTERMEDIATES),
        outputs=_sum(rows, OUTPUTS),
        videos=await _largest(connection, query, *arguments),
    )


def _sum(rows: list[asyncpg.Record], kinds: Collection[UsageKind]) -> StoredAmount:
    counted = [row for row in rows if row["kind"] in kinds]
    return StoredAmount(objects=sum(row["objects"] for row in counted), bytes=sum(row["bytes"] for row in counted))


async def _largest(connection: Connection, query: str, *arguments: object) -> list[VideoAmount]:
    rows = await connection.fetch(
        f"""SELECT video_id, title, {_GROUPS} FROM ({query}) found WHERE video_id <> ''
            GROUP BY video_id, title ORDER BY sum(bytes) DESC, video_id LIMIT {MAX_LISTED_VIDEOS}""",  # noqa: S608
        *arguments,
    )
    return [VideoAmount(**dict(row)) for row in rows]
