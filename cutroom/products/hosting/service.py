"""Activates and reads hosting, and saves provider state."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal
from cutroom.credits.pricing import PriceList
from cutroom.errors import Code, CutroomError
from cutroom.jobs.ids import InternalJobType, JobKey
from cutroom.jobs.service import NewJob, create_jobs
from cutroom.library.originals import require_original
from cutroom.library.service import get_video
from cutroom.platform.db import Connection
from cutroom.products.hosting.rules import HostingStatus, Obstacle, hosting_status
from cutroom.products.hosting.schemas import Hosting

_STATE = """SELECT s.storage_path IS NOT NULL AND s.size_bytes IS NOT NULL AND v.import_status = 'ready' AS has_source,
        j.status
    FROM videos v
    LEFT JOIN published_sources s ON s.library_id = v.library_id AND s.video_id = v.id
    LEFT JOIN jobs j ON j.library_id = v.library_id AND j.id = $3
    WHERE v.library_id = $1 AND v.id = $2"""


def hosting_key(video_id: str) -> JobKey:
    """The job key; one per video, so that repeated requests find the same job."""
    return JobKey(InternalJobType.HOSTING, video_id)


async def get_hosting(connection: Connection, principal: Principal, video_id: str, *, is_configured: bool) -> Hosting:
    await get_video(connection, principal, video_id)
    return _to_schema(video_id, await _load_status(connection, principal, video_id, is_configured=is_configured))


async def activate(
    connection: Connection,
    principal: Principal,
    video_id: str,
    *,
    is_configured: bool,
    prices: PriceList,
    now: datetime,
) -> tuple[Hosting, bool]:
    """Starts hosting unless it is active or in progress; returns the status and whether a job was started."""
    await get_video(connection, principal, video_id)
    current = await _load_status(connection, principal, video_id, is_configured=is_configured)
    if current.state != "inactive":
        return _to_schema(video_id, current), False
    match current.obstacle:
        case Obstacle.PLAN:
            raise CutroomError(Code.PERMISSION_DENIED, details={"reason": current.obstacle.reason})
        case Obstacle.SOURCE:
            raise CutroomError(Code.INVALID_ARGUMENT, details={"reason": current.obstacle.reason})
        case Obstacle.PROVIDER:
            message = str(current.obstacle)
            raise CutroomError(Code.FAILED_PRECONDITION, message=message, details={"reason": "no_provider"})
    await require_original(connection, principal, video_id)
    job = NewJob(hosting_key(video_id), None, plan={"hosted_video_id": video_id})
    (started,) = await create_jobs(connection, principal, [job], prices=prices, now=now)
    updated = await _load_status(connection, principal, video_id, is_configured=is_configured)
    return _to_schema(video_id, updated), started


async def _load_status(
    connection: Connection, principal: Principal, video_id: str, *, is_configured: bool
) -> HostingStatus:
    row = await connection.fetchrow(_STATE, principal.library_id, video_id, hosting_key(video_id).id)
    assert row is not None
    return hosting_status(
        row["status"],
        plan_allows=principal.plan.hosting and not principal.suspended,
        has_source=bool(row["has_source"]),
        is_configured=is_configured,
    )


def _to_schema(video_id: str, values: HostingStatus) -> Hosting:
    return Hosting(
        video_id=video_id,
        status=values.state,
        can_activate=values.can_activate,
        packaging_provider=values.provider,
        reason=values.obstacle.reason if values.obstacle is not None else None,
        message=values.obstacle,
    )


async def load_hosting(
    connection: Connection, library_id: str, video_id: str, *, attempt: int, now: datetime
) -> asyncpg.Record:
    """Loads the provider state of this attempt; a new attempt starts empty."""
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


async def get_asset_id(connection: Connection, library_id: str, video_id: str) -> str | None:
    """The provider's id of the hosted video, if there is one."""
    found: str | None = await connection.fetchval(
        "SELECT asset_id FROM hostings WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )
    return found


async def list_assets(connection: Connection, library_id: str) -> list[str]:
    """Ids of all assets that the provider holds for a library."""
    rows = await connection.fetch(
        "SELECT asset_id FROM hostings WHERE library_id = $1 AND asset_id IS NOT NULL ORDER BY asset_id", library_id
    )
    return [row["asset_id"] for row in rows]


async def update_hosting(
    connection: Connection, library_id: str, video_id: str, *, values: Mapping[str, Any], now: datetime
) -> None:
    """Saves provider state; column names come from our own code."""
    columns = ", ".join(f"{name} = ${index}" for index, name in enumerate(values, 4))
    await connection.execute(
        f"UPDATE hostings SET updated_at = $3, {columns} WHERE library_id = $1 AND video_id = $2",  # noqa: S608
        library_id,
        video_id,
        now,
        *values.values(),
    )
