"""Refuses requests that need the original file of a video after it has been deleted."""

from datetime import datetime

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Connection

ORIGINAL_DELETED = "original_deleted"


def original_deleted(deleted_at: datetime | None = None) -> CutroomError:
    details: dict[str, str] = {"reason": ORIGINAL_DELETED}
    if deleted_at is not None:
        details["originalDeletedAt"] = deleted_at.isoformat().replace("+00:00", "Z")
    message = "The original file of this video has been deleted, so nothing new can be made from it."
    return CutroomError(Code.FAILED_PRECONDITION, message=message, details=details)


async def require_original(connection: Connection, principal: Principal, video_id: str) -> None:
    """Raises FAILED_PRECONDITION if the original has been deleted."""
    deleted_at = await connection.fetchval(
        "SELECT original_deleted_at FROM videos WHERE library_id = $1 AND id = $2", principal.library_id, video_id
    )
    if deleted_at is not None:
        raise original_deleted(deleted_at)
