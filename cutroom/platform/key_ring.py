"""The key ring in PostgreSQL: its keys are wrapped by the root secret, and every process follows its rotations."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Connection, Database
from cutroom.platform.secret_box import INITIAL_KEY, RingKey, SecretBox

REFRESH_SECONDS = 10.0
ACTIVATION_DELAY = timedelta(seconds=30)  # every process knows a key before one signs with it
GRACE_PERIOD = timedelta(hours=48)  # longer than any signed URL is valid
_KEY_BYTES = 32

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RingKeyInfo:
    """What operators see of a key."""

    id: int
    created_at: datetime
    active_from: datetime | None
    verifies_until: datetime | None


async def load_key_ring(connection: Connection, secret_box: SecretBox) -> None:
    """Installs the stored keys; fails if they were wrapped by another root secret."""
    rows = await connection.fetch("SELECT id, wrapped, active_from, verifies_until FROM key_ring ORDER BY id")
    secret_box.install(
        RingKey(row["id"], secret_box.unwrap(row["id"], row["wrapped"]), row["active_from"], row["verifies_until"])
        for row in rows
    )


async def wrapped_keys(connection: Connection) -> list[tuple[int, bytes | None]]:
    """The stored keys as they are, to compare two rings."""
    return [tuple(row) for row in await connection.fetch("SELECT id, wrapped FROM key_ring ORDER BY id")]


@asynccontextmanager
async def followed_key_ring(
    database: Database, secret_box: SecretBox, *, refresh_seconds: float = REFRESH_SECONDS
) -> AsyncIterator[None]:
    """Loads the ring, and keeps it current inside the block."""
    async with database.connection() as connection:
        await load_key_ring(connection, secret_box)
    following = asyncio.create_task(_follow(database, secret_box, refresh_seconds))
    try:
        yield
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following


async def _follow(database: Database, secret_box: SecretBox, refresh_seconds: float) -> None:
    while True:
        await asyncio.sleep(refresh_seconds)
        try:
            async with database.connection() as connection:
                await load_key_ring(connection, secret_box)
        except Exception as error:  # noqa: BLE001 (the known keys stay in use)
            _log.warning("key ring not refreshed", extra={"error": repr(error)})


async def rotate(
    connection: Connection,
    secret_box: SecretBox,
    *,
    now: datetime,
    activation_delay: timedelta = ACTIVATION_DELAY,
    grace_period: timedelta = GRACE_PERIOD,
) -> RingKeyInfo:
    """Adds a key that becomes active after the delay; the one before it verifies for the grace period after that."""
    await connection.execute("LOCK TABLE key_ring IN SHARE ROW EXCLUSIVE MODE")
    await load_key_ring(connection, secret_box)  # refuses to add to a ring of another root secret
    await connection.execute(
        "INSERT INTO key_ring (id, created_at) SELECT $1, $2 WHERE NOT EXISTS (SELECT FROM key_ring)",
        INITIAL_KEY,
        now,
    )
    latest = await connection.fetchrow("SELECT id, active_from FROM key_ring ORDER BY id DESC LIMIT 1")
    assert latest is not None
    if latest["active_from"] is not None and latest["active_from"] > now:
        raise CutroomError(Code.CONFLICT, message="The key of the last rotation is not active yet.")
    new = RingKeyInfo(latest["id"] + 1, now, now + activation_delay, None)
    await connection.execute(
        "UPDATE key_ring SET verifies_until = $1 WHERE verifies_until IS NULL", now + activation_delay + grace_period
    )
    await connection.execute(
        "INSERT INTO key_ring (id, wrapped, created_at, active_from) VALUES ($1, $2, $3, $4)",
        new.id,
        secret_box.wrap(new.id, secrets.token_bytes(_KEY_BYTES)),
        new.created_at,
        new.active_from,
    )
    return new


async def list_keys(connection: Connection) -> list[RingKeyInfo]:
    """The keys of the ring, the latest first; none before the first rotation."""
    rows = await connection.fetch("SELECT id, created_at, active_from, verifies_until FROM key_ring ORDER BY id DESC")
    return [RingKeyInfo(**dict(row)) for row in rows]
