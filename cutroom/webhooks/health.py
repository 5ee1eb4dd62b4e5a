"""Follows whether an endpoint works, and disables one that has failed for days."""

from datetime import datetime
from urllib.parse import urlsplit

from cutroom.notifications.rules import NotificationKind
from cutroom.notifications.service import notify
from cutroom.platform.db import Connection
from cutroom.webhooks.rules import DISABLE_AFTER, DeliveryOutcome

GONE_REASON = "The endpoint returned 410 Gone."
FAILING_REASON = "Every delivery has failed for five days."


async def note_attempt(
    connection: Connection,
    library_id: str,
    endpoint_id: str,
    *,
    outcome: DeliveryOutcome,
    gave_up: bool,
    is_test: bool,
    at: datetime,
) -> None:
    """Note an attempt; disables the endpoint after a 410, or when a delivery gives up after days of failures.

    Failed test events do not count: anyone who is still setting up an endpoint sends them.
    """
    if outcome is DeliveryOutcome.DELIVERED:
        await connection.execute(
            """UPDATE webhook_endpoints SET failing_since = NULL
               WHERE library_id = $1 AND id = $2 AND failing_since IS NOT NULL""",
            library_id,
            endpoint_id,
        )
    elif outcome is DeliveryOutcome.GONE:
        await _disable(connection, library_id, endpoint_id, reason=GONE_REASON, at=at)
    elif not is_test:
        await connection.execute(
            """UPDATE webhook_endpoints SET failing_since = $3
               WHERE library_id = $1 AND id = $2 AND failing_since IS NULL""",
            library_id,
            endpoint_id,
            at,
        )
        if gave_up and await _has_failed_for_days(connection, library_id, endpoint_id, at=at):
            await _disable(connection, library_id, endpoint_id, reason=FAILING_REASON, at=at)


async def _has_failed_for_days(connection: Connection, library_id: str, endpoint_id: str, *, at: datetime) -> bool:
    found: bool = await connection.fetchval(
        "SELECT EXISTS (SELECT FROM webhook_endpoints WHERE library_id = $1 AND id = $2 AND failing_since <= $3)",
        library_id,
        endpoint_id,
        at - DISABLE_AFTER,
    )
    return found


async def _disable(connection: Connection, library_id: str, endpoint_id: str, *, reason: str, at: datetime) -> None:
    row = await connection.fetchrow(
        """UPDATE webhook_endpoints SET disabled_at = $3, disabled_reason = $4
           WHERE library_id = $1 AND id = $2 AND disabled_at IS NULL AND deleted_at IS NULL
           RETURNING user_id, url""",
        library_id,
        endpoint_id,
        at,
        reason,
    )
    if row is None:
        return
    await notify(
        connection,
        library_id,
        NotificationKind.WEBHOOK_DISABLED,
        source=f"{endpoint_id} {at.isoformat()}",
        subject={"endpointId": endpoint_id, "url": urlsplit(row["url"]).hostname, "reason": reason},
        now=at,
        only_user=row["user_id"],
    )
