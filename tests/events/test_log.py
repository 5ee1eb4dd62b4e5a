"""Positions rise in the order in which transactions commit; partitions are created ahead and dropped whole."""

import asyncio
import random
from datetime import timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.events.activities import EventActivities
from cutroom.events.rules import RETENTION
from cutroom.events.service import read_bounds, read_events, read_heads
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database
from cutroom.platform.ids import new_id
from cutroom.webhooks.publishing import publish_event
from dev.scratch import Accounts, Person
from tests.events.conftest import Library, names_of

# What 0.1.0 writes.
INSERT = "INSERT INTO events (library_id, id, type, payload, created_at) VALUES ($1, $2, $3, $4, $5)"


@pytest.fixture
def databases(api_database: Database, worker_database: Database) -> list[Database]:
    """Connections with the rights of the API and of a worker."""
    return [api_database, worker_database]


async def test_the_transaction_that_commits_first_comes_first(library: Library, databases: list[Database]) -> None:
    one, other = databases
    async with one.transaction(library.id) as first:
        await publish_event(first, library.id, type="job.ready", data={"id": "early"}, now=system_clock())
        async with other.transaction(library.id) as second:
            await publish_event(second, library.id, type="job.ready", data={"id": "late"}, now=system_clock())
        assert names_of(await library.log()) == ["late"]
    log = await library.log()
    assert names_of(log) == ["late", "early"]
    assert [each.position for each in log] == [1, 2]


async def test_a_reader_never_sees_an_event_before_one_that_it_has_read(
    library: Library, databases: list[Database]
) -> None:
    chance = random.Random(7)

    async def write(number: int) -> None:
        async with databases[number % 2].transaction(library.id) as connection:
            for part in range(chance.randint(1, 3)):
                data = {"id": f"{number}.{part}"}
                await publish_event(connection, library.id, type="job.ready", data=data, now=system_clock())
                await connection.execute("SELECT pg_sleep($1)", chance.uniform(0, 0.01))

    writing = asyncio.gather(*(write(number) for number in range(60)))
    read: list[int] = []
    while not writing.done():
        read += [each.position for each in await library.log(after=read[-1] if read else 0)]
    await writing
    read += [each.position for each in await library.log(after=read[-1] if read else 0)]
    assert read == list(range(1, len(await library.log()) + 1))


async def test_rows_of_the_last_release_get_positions(library: Library, accounts: Accounts) -> None:
    await accounts.connection.execute(INSERT, library.id, new_id(), "job.ready", {"id": "old"}, system_clock())
    assert [(each.position, each.data) for each in await library.log()] == [(1, {"id": "old"})]


async def test_transactions_that_roll_back_leave_no_gap(library: Library) -> None:
    await library.publish("one")
    await library.roll_back()
    await library.publish("two")
    assert [(each.position, each.data["id"]) for each in await library.log()] == [(1, "one"), (2, "two")]


async def test_events_deleted_in_their_own_transaction_need_no_position(library: Library, accounts: Accounts) -> None:
    async with accounts.connection.transaction():
        await accounts.connection.execute(INSERT, library.id, new_id(), "job.ready", {}, system_clock())
        await accounts.connection.execute("DELETE FROM events WHERE library_id = $1", library.id)
    assert await accounts.connection.fetchval("SELECT count(*) FROM event_logs WHERE library_id = $1", library.id) == 0


async def test_logs_of_libraries_are_apart(library: Library, accounts: Accounts, api_database: Database) -> None:
    other = Library(library.runtime, (await accounts.person()).library_id)
    await library.publish("mine")
    await other.publish("theirs")
    async with api_database.transaction(library.id) as connection:
        assert await read_events(connection, other.id, after=0, limit=10) == []
        assert (await read_bounds(connection, other.id)).last == 0
        assert (await read_bounds(connection, library.id)).last == 1


async def test_heads_leave_out_libraries_that_are_erased_or_moving(library: Library, accounts: Accounts) -> None:
    quiet, moving, erased = [(await accounts.person()).library_id for _ in range(3)]
    await library.publish("one", "two")
    await accounts.connection.execute("INSERT INTO library_moves (id, state) VALUES ($1, 'left')", moving)
    await accounts.connection.execute("UPDATE libraries SET erased_at = now() WHERE id = $1", erased)
    async with library.runtime.database.connection() as connection:
        heads = await read_heads(connection, [library.id, quiet, moving, erased, new_id()])
    assert heads == {library.id: 2, quiet: 0}
    await accounts.connection.execute("DELETE FROM library_moves WHERE id = $1", moving)


async def partitions(accounts: Accounts) -> set[str]:
    rows = await accounts.connection.fetch(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'events'::regclass"
    )
    return {row["name"] for row in rows}


async def test_maintenance_drops_old_partitions_and_creates_new_ones(
    library: Library, accounts: Accounts, worker_database: Database
) -> None:
    now = system_clock()
    old, older = now - RETENTION - timedelta(days=10), now - RETENTION - timedelta(days=100)
    await accounts.connection.execute("SELECT create_event_partitions($1)", old)
    before = await partitions(accounts)
    await library.publish("default partition", now=older)
    await library.publish("dropped partition", now=old)
    await library.publish("kept")
    maintenance = EventActivities(database=worker_database, clock=system_clock)
    assert await ActivityEnvironment().run(maintenance.purge_events) >= 2
    assert names_of(await library.log()) == ["kept"]
    async with library.runtime.database.transaction(library.id) as connection:
        bounds = await read_bounds(connection, library.id)
    assert (bounds.last, bounds.deleted) == (3, 2)
    after = await partitions(accounts)
    assert before - after
    assert await ActivityEnvironment().run(maintenance.purge_events) == 0
    assert await partitions(accounts) == after


async def test_partitions_exist_for_weeks_ahead(
    library: Library, accounts: Accounts, worker_database: Database
) -> None:
    maintenance = EventActivities(database=worker_database, clock=system_clock)
    await ActivityEnvironment().run(maintenance.purge_events)
    await library.publish("ahead", now=system_clock() + timedelta(days=27))
    used = await accounts.connection.fetchval(
        "SELECT tableoid::regclass::text FROM events WHERE library_id = $1", library.id
    )
    assert used not in {"events_default", "events_before_positions"}


async def test_events_of_any_time_can_be_stored(library: Library, accounts: Accounts) -> None:
    await library.publish("far ahead", now=system_clock() + timedelta(days=400))
    used = await accounts.connection.fetchval(
        "SELECT tableoid::regclass::text FROM events WHERE library_id = $1", library.id
    )
    assert used == "events_default"


async def test_ids_begin_with_the_time_that_partitions_are_divided_by(accounts: Accounts, person: Person) -> None:
    assert person.library_id
    for days in (-400, 0, 400, 4_000):
        at = system_clock() + timedelta(days=days)
        first: str = await accounts.connection.fetchval("SELECT first_id_at($1)", at)
        assert first == new_id(at.timestamp())[:10]
