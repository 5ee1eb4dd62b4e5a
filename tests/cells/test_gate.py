"""A library that moves: its transactions are refused, everything else continues."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest

from cutroom.accounts.locating import locate
from cutroom.accounts.subjects import Subject
from cutroom.cells.move import gate
from cutroom.platform.clock import system_clock
from cutroom.platform.moved import has_moved
from cutroom.platform.secret_box import SecretBox
from tests.cells.conftest import TestCells

CLAIM = "SELECT library_id FROM claim_outbox_rows(50, 8)"
START = """INSERT INTO outbox (library_id, workflow, workflow_id, queue, argument, is_job)
           VALUES ($1, 'canary', 'canary_' || $1, 'control', '{}', false)"""


async def test_frozen_library_is_refused_and_others_are_not(cells: TestCells) -> None:
    frozen, other = await cells.red.accounts.person(), await cells.red.accounts.person()
    await gate.freeze(cells.red.access.pool, frozen.library_id)
    for database in (cells.red.api, cells.red.worker):
        with pytest.raises(asyncpg.PostgresError) as refused:
            async with database.transaction(frozen.library_id):
                pass
        assert has_moved(refused.value)
        async with database.transaction(other.library_id) as connection:
            assert await connection.fetchval("SELECT current_setting('cutroom.library_id')") == other.library_id
    await gate.admit(cells.red.access.pool, frozen.library_id)
    async with cells.red.api.transaction(frozen.library_id):
        pass


async def test_freeze_comes_after_transactions_that_are_in_progress(cells: TestCells) -> None:
    person = await cells.red.accounts.person()
    entered, proceed = asyncio.Event(), asyncio.Event()

    async def write() -> None:
        async with cells.red.api.transaction(person.library_id) as connection:
            entered.set()
            await proceed.wait()
            await connection.execute("UPDATE libraries SET refuses_drafts = true WHERE id = $1", person.library_id)

    writing = asyncio.create_task(write())
    await entered.wait()
    freezing = asyncio.create_task(gate.freeze(cells.red.access.pool, person.library_id))
    waiting = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)"
    while not await cells.red.accounts.connection.fetchval(waiting):
        await asyncio.sleep(0.01)
    assert not freezing.done()
    proceed.set()
    await asyncio.gather(writing, freezing)
    sql = "SELECT refuses_drafts FROM libraries WHERE id = $1"
    assert await cells.red.accounts.connection.fetchval(sql, person.library_id) is True
    await gate.admit(cells.red.access.pool, person.library_id)


async def test_frozen_library_thaws_and_can_then_no_longer_leave(cells: TestCells) -> None:
    person = await cells.red.accounts.person()
    await gate.freeze(cells.red.access.pool, person.library_id)
    expire = "UPDATE library_moves SET until = clock_timestamp() - $2::interval WHERE id = $1"
    await cells.red.access.pool.execute(expire, person.library_id, timedelta(seconds=1))
    async with cells.red.api.transaction(person.library_id):
        pass
    with pytest.raises(gate.FreezeExpiredError):
        await gate.leave(cells.red.access.pool, person.library_id)
    await gate.admit(cells.red.access.pool, person.library_id)


async def test_relay_leaves_the_starts_of_a_frozen_library_alone(cells: TestCells) -> None:
    frozen, other = await cells.red.accounts.person(), await cells.red.accounts.person()
    for person in (frozen, other):
        await cells.red.access.pool.execute(START, person.library_id)
    await gate.freeze(cells.red.access.pool, frozen.library_id)
    async with cells.red.relay.connection() as connection, connection.transaction():
        claimed = {row["library_id"] for row in await connection.fetch(CLAIM)}
    assert other.library_id in claimed
    assert frozen.library_id not in claimed
    await gate.admit(cells.red.access.pool, frozen.library_id)


async def test_library_is_not_frozen_while_the_relay_has_claimed_its_starts(cells: TestCells) -> None:
    person = await cells.red.accounts.person()
    await cells.red.access.pool.execute(START, person.library_id)
    async with cells.red.relay.connection() as connection, connection.transaction():
        assert person.library_id in {row["library_id"] for row in await connection.fetch(CLAIM)}
        freezing = asyncio.create_task(gate.freeze(cells.red.access.pool, person.library_id))
        waiting = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)"
        while not await cells.red.accounts.connection.fetchval(waiting):
            await asyncio.sleep(0.01)
        assert not freezing.done()
    await freezing
    await gate.admit(cells.red.access.pool, person.library_id)


async def test_sweeps_do_not_see_a_frozen_library(cells: TestCells) -> None:
    frozen, other = await cells.red.accounts.person(), await cells.red.accounts.person()
    await gate.freeze(cells.red.access.pool, frozen.library_id)
    async with cells.red.worker.connection() as connection:
        rows = await connection.fetch("SELECT library_id FROM libraries_after('', 10000)")
    assert {frozen.library_id, other.library_id} & {row["library_id"] for row in rows} == {other.library_id}
    await gate.admit(cells.red.access.pool, frozen.library_id)


async def test_cell_locates_keys_addresses_and_libraries(cells: TestCells) -> None:
    person = await cells.red.accounts.person()
    key = await cells.red.accounts.key(person)
    box = SecretBox(cells.red.settings.secret_key.get_secret_value())
    asked = {Subject.CREDENTIAL: key.secret, Subject.EMAIL: person.email, Subject.LIBRARY: person.library_id}
    for subject, value in asked.items():
        for cell, expected in ((cells.red, person.library_id), (cells.blue, None)):
            async with cell.api.connection() as connection:
                found = await locate(connection, subject, value, secret_box=box, now=system_clock())
            assert found == expected, (subject, cell.access.name)
    await gate.freeze(cells.red.access.pool, person.library_id)
    for subject, value in asked.items():
        async with cells.red.api.connection() as connection:
            with pytest.raises(asyncpg.PostgresError) as refused:
                await locate(connection, subject, value, secret_box=box, now=system_clock())
        assert has_moved(refused.value), subject
    await gate.admit(cells.red.access.pool, person.library_id)
