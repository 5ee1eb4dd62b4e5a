"""Replaces signing secrets: for a while, deliveries are signed with the previous secret too."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, not_found
from cutroom.platform.db import Connection, update
from cutroom.platform.secret_box import SecretBox
from cutroom.webhooks.rules import SECRET_OVERLAP_HOURS
from cutroom.webhooks.service import lock_own_endpoint
from cutroom.webhooks.signing import SECRET_PURPOSE, new_secret

ROTATE_ACTION = "webhookEndpoint.rotateSecret"  # by an operator, in the audit log
SECRET_GRACE_PERIOD = timedelta(hours=SECRET_OVERLAP_HOURS)


@dataclass(frozen=True, slots=True)
class RotatedSecret:
    """A new signing secret; the previous one signs too until its time."""

    library_id: str
    secret: str
    previous_until: datetime


async def rotate_own_secret(
    connection: Connection,
    principal: Principal,
    endpoint_id: str,
    *,
    secret_box: SecretBox,
    overlap: timedelta,
    now: datetime,
) -> RotatedSecret:
    """Replace the signing secret of an endpoint created by the caller.

    Refused while an overlap lasts, because a receiver may still know only the secret before it; without an overlap, all
    earlier secrets end at once.
    """
    row = await lock_own_endpoint(connection, principal, endpoint_id)
    if row is None:
        raise not_found()
    until = row["previous_secret_until"]
    if overlap and until is not None and until > now:
        raise CutroomError(
            Code.FAILED_PRECONDITION,
            message="The previous secret is still valid. Wait, or replace both with overlapHours 0.",
            details={"reason": "rotation_in_progress", "previousSecretUntil": until.isoformat()},
        )
    return await rotate_secret(connection, endpoint_id, secret_box=secret_box, grace_period=overlap, now=now)


async def rotate_secret(
    connection: Connection, endpoint_id: str, *, secret_box: SecretBox, grace_period: timedelta, now: datetime
) -> RotatedSecret:
    """Replace the signing secret of an endpoint of any library; deliveries are signed with both in the grace period."""
    row = await connection.fetchrow(
        "SELECT library_id, sealed_secret FROM webhook_endpoints WHERE id = $1 AND deleted_at IS NULL FOR UPDATE",
        endpoint_id,
    )
    if row is None:
        raise not_found()
    rotated = RotatedSecret(row["library_id"], new_secret(), now + grace_period)
    columns = {
        "sealed_secret": secret_box.seal(SECRET_PURPOSE, rotated.secret.encode(), context=endpoint_id),
        "sealed_previous_secret": row["sealed_secret"],
        "previous_secret_until": rotated.previous_until,
    }
    await update(connection, "webhook_endpoints", rotated.library_id, endpoint_id, columns=columns)
    return rotated
