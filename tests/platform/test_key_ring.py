"""Rotations of the key ring: what is stored, who may change it, and how processes follow."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg
import pytest

from cutroom.errors import CutroomError
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.platform.key_ring import (
    ACTIVATION_DELAY,
    GRACE_PERIOD,
    REFRESH_SECONDS,
    followed_key_ring,
    list_keys,
    load_key_ring,
    rotate,
)
from cutroom.platform.secret_box import SecretBox
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts

SECRET = "a" * 64
NOW = system_clock()


@pytest.fixture
async def connection(accounts: Accounts) -> AsyncIterator[Connection]:
    """As the schema owner, in a transaction that is rolled back: other tests share the ring."""
    transaction = accounts.connection.transaction()
    await transaction.start()
    yield accounts.connection
    await transaction.rollback()


def box() -> SecretBox:
    return SecretBox(SECRET, lambda: NOW + ACTIVATION_DELAY)


def test_a_key_is_known_long_before_it_is_used() -> None:
    assert ACTIVATION_DELAY.total_seconds() > 2 * REFRESH_SECONDS
    assert REFRESH_SECONDS + ACTIVATION_DELAY.total_seconds() < 60


async def test_first_rotation_keeps_the_root_secret_for_its_grace_period(connection: Connection) -> None:
    new = await rotate(connection, box(), now=NOW)
    assert (new.id, new.active_from) == (1, NOW + ACTIVATION_DELAY)
    latest, initial = await list_keys(connection)
    assert (latest, initial.id) == (new, 0)
    assert initial.verifies_until == NOW + ACTIVATION_DELAY + GRACE_PERIOD


async def test_every_process_loads_the_same_keys(connection: Connection) -> None:
    signature, sealed = SecretBox(SECRET).sign("files", b"x"), SecretBox(SECRET).seal("url", b"plain", "row")
    await rotate(connection, box(), now=NOW)
    first, second = box(), box()
    for each in (first, second):
        await load_key_ring(connection, each)
        assert each.signing_key_id == 1
        assert each.is_signed("files", b"x", signature)
        assert each.unseal("url", sealed, "row") == b"plain"
    assert second.is_signed("files", b"y", first.sign("files", b"y"))
    assert second.unseal("url", first.seal("url", b"y", "row"), "row") == b"y"


async def test_stored_key_is_encrypted_and_bound_to_its_id(connection: Connection) -> None:
    await rotate(connection, box(), now=NOW)
    loaded = box()
    await load_key_ring(connection, loaded)
    wrapped = await connection.fetchval("SELECT wrapped FROM key_ring WHERE id = 1")
    secret = loaded.unwrap(1, wrapped)
    assert len(secret) == 32
    assert secret not in wrapped
    await connection.execute("UPDATE key_ring SET id = 2 WHERE id = 1")
    with pytest.raises(ValueError, match="sealed"):
        await load_key_ring(connection, box())


async def test_ring_of_another_root_secret_is_refused(connection: Connection) -> None:
    await rotate(connection, box(), now=NOW)
    later = NOW + timedelta(hours=1)
    for refused in (load_key_ring(connection, SecretBox("b" * 64)), rotate(connection, SecretBox("b" * 64), now=later)):
        with pytest.raises(ValueError, match="sealed"):
            await refused
    assert len(await list_keys(connection)) == 2


async def test_rotation_is_refused_until_the_last_key_is_active(connection: Connection) -> None:
    await rotate(connection, box(), now=NOW)
    with pytest.raises(CutroomError, match="not active yet"):
        await rotate(connection, box(), now=NOW + timedelta(seconds=1))
    third = await rotate(connection, box(), now=NOW + ACTIVATION_DELAY)
    ends = {key.id: key.verifies_until for key in await list_keys(connection)}
    first_end = NOW + ACTIVATION_DELAY + GRACE_PERIOD
    assert (third.id, ends) == (2, {0: first_end, 1: first_end + ACTIVATION_DELAY, 2: None})


async def test_application_can_read_the_ring_but_not_change_it(runtime: Runtime) -> None:
    async with runtime.database.connection() as connection:
        assert await list_keys(connection) == []
        for statement in (
            "INSERT INTO key_ring (id, created_at) VALUES (7, now())",
            "UPDATE key_ring SET verifies_until = NULL",
            "DELETE FROM key_ring",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)


class FakePool:
    """A fake database whose connections are the test's own, so that it sees the uncommitted rotation."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.failing = False
        self.attempts = 0

    def connection(self) -> "FakePool":
        self.attempts += 1
        return self

    async def __aenter__(self) -> Connection:
        if self.failing:
            raise OSError("down")
        return self._connection

    async def __aexit__(self, *_error: object) -> None: ...


async def test_running_process_follows_a_rotation_and_survives_an_outage(connection: Connection) -> None:
    pool, follower = FakePool(connection), box()
    async with followed_key_ring(pool, follower, refresh_seconds=0.01):  # type: ignore[arg-type]
        assert follower.signing_key_id == 0
        pool.failing, seen = True, pool.attempts
        while pool.attempts < seen + 2:
            await asyncio.sleep(0.01)
        await rotate(connection, box(), now=NOW)
        pool.failing = False
        while follower.signing_key_id != 1:
            await asyncio.sleep(0.01)
