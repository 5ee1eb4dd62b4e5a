"""Activating hosting, reading how it stands, and writing down what the host said."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import PriceList
from cutroom.errors import Code, CutroomError
from cutroom.jobs.ids import InternalJobType, JobKey
from cutroom.jobs.service import NewJob, create_jobs
from cutroom.library.service import get_video
from cutroom.platform.db import Connection
from cutroom.products.hosting.rules import Standing, standing
from cutroom.products.hosting.schemas import Hosting

_STATE = """SELECT s.storage_path IS NOT NULL AND s.size_bytes IS NOT NULL AND v.import_status = 'ready' AS has_source,
        j.status
    FROM videos v
    LEFT JOIN sources s ON s.library_id = v.library_id AND s.video_id = v.id
    LEFT JOIN jobs j ON j.library_id = v.library_id AND j.id = $3
    WHERE v.library_id = $1 AND v.id = $2"""


def hosting_key(video_id: str) -> JobKey:
    """One for each video: asking again meets the same."""
    return JobKey(InternalJobType.HOSTING, video_id)


async def get_hosting(connection: Connection, principal: Principal, video_id: str, *, is_configured: bool) -> Hosting:
    await get_video(connection, principal, video_id)
    return _wire(video_id, await _standing(connection, principal, video_id, is_configured=is_configured))


async def activate(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    is_configured: bool,
    prices: PriceList,
    now: datetime,
) -> tuple[Hosting, bool]:
    """Send the source to the host, unless it is there or on its way; and whether that began anything."""
    await get_video(connection, principal, video_id)
    before = await _standing(connection, principal, video_id, is_configured=is_configured)
    if before.state != "inactive":
        return _wire(video_id, before), False
    if before.reason == "plan_required":
        raise CutroomError(Code.PERMISSION_DENIED, details={"reason": before.reason})
    if before.reason == "missing_input":
        raise CutroomError(Code.INVALID_ARGUMENT, details={"reason": before.reason})
    if not before.can_activate:
        message = "This installation has no hosting provider."
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": "no_provider"})
    job = NewJob(hosting_key(video_id), None, plan={"hosted_video_id": video_id})
    (begun,) = await create_jobs(connection, principal, [job], prices=prices, now=now)
    after = await _standing(connection, principal, video_id, is_configured=is_configured)
    return _wire(video_id, after), begun


async def _standing(connection: Connection, principal: Principal, video_id: str, *, is_configured: bool) -> Standing:
    row = await connection.fetchrow(_STATE, principal.library_id, video_id, hosting_key(video_id).id)
    assert row is not None
    return standing(
        row["status"],
        plan_allows=principal.plan.hosting and not principal.suspended,
        has_source=bool(row["has_source"]),
        is_configured=is_configured,
    )


def _wire(video_id: str, found: Standing) -> Hosting:
    return Hosting(
        video_id=video_id,
        status=found.state,
        can_activate=found.can_activate,
        packaging_provider=found.provider,
        reason=found.reason,
    )


async def hosted(
    connection: Connection, library_id: str, video_id: str, *, attempt: int, now: datetime
) -> asyncpg.Record:
    """What is known of this attempt; a new attempt begins with nothing."""
    row = await connection.fetchrow(
        """INSERT INTO hostings AS h (library_id, video_id, attempt, updated_at) VALUES ($1, $2, $3, $4)
           ON CONFLICT (library_id, video_id) DO UPDATE SET
               attempt = excluded.attempt,
               upload_id = CASE WHEN h.attempt = excluded.attempt THEN h.upload_id END,
               sealed_url = CASE WHEN h.attempt = excluded.attempt THEN h.sealed_url END,
               asset_id = CASE WHEN h.attempt = excluded.attempt THEN h.asset_id END,
               playback_id = CASE WHEN h.attempt = excluded.attempt THEN h.playback_id END
           RETURNING *""",
        library_id,
        video_id,
        attempt,
        now,
    )
    assert row is not None
    return row


async def record(
    connection: Connection, library_id: str, video_id: str, *, found: Mapping[str, Any], now: datetime
) -> None:
    """Write down what has come about; the names of columns are the caller's, who is one of us."""
    columns = ", ".join(f"{name} = ${at}" for at, name in enumerate(found, 4))
    await connection.execute(
        f"UPDATE hostings SET updated_at = $3, {columns} WHERE library_id = $1 AND video_id = $2",  # noqa: S608
        library_id,
        video_id,
        now,
        *found.values(),
    )


async def show(connection: Connection, library_id: str, video_id: str, *, url: str) -> None:
    """From now on the video is played from the host."""
    await connection.execute(
        "UPDATE videos SET hosted_url = $3 WHERE library_id = $1 AND id = $2", library_id, video_id, url
    )
