"""Subscriptions: nothing is missed or repeated, also without messages, behind the feed, and across reconnections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from redis.asyncio import Redis

from cutroom.errors import CutroomError
from cutroom.events import feed as feed_module
from cutroom.events.hub import PAGE, EventHub, Subscription
from cutroom.events.service import announce_progress
from cutroom.platform.db import Database
from cutroom.platform.messages.announcements import Announcement
from cutroom.platform.messages.broadcast import Broadcaster
from cutroom.platform.moved import has_moved
from cutroom.platform.settings import Settings
from dev.scratch import Accounts
from dev.server import free_port
from tests.events.conftest import Library, names_of

NEVER = 3_600.0


@asynccontextmanager
async def open_hub(settings: Settings, **options: Any) -> AsyncIterator[EventHub]:  # noqa: ANN401
    """The hub of another API process."""
    database = await Database.connect(settings.api_database, 5, application="cutroom-tests")
    async with EventHub(database, settings.redis_url.get_secret_value(), **options).running() as hub:
        yield hub
    await database.close()


@pytest.fixture
async def hub(settings: Settings) -> AsyncIterator[EventHub]:
    """Learns of events by messages only."""
    async with open_hub(settings, check_seconds=NEVER) as opened:
        yield opened


async def read(subscription: Subscription, count: int) -> list[str]:
    found: list[str] = []
    while len(found) < count:
        found += names_of((await subscription.next()).events)
    return found


async def test_a_message_wakes_the_readers_of_its_library_only(
    hub: EventHub, library: Library, accounts: Accounts
) -> None:
    other = Library(library.runtime, (await accounts.person()).library_id)
    async with hub.subscribe(library.id) as mine, hub.subscribe(other.id) as theirs:
        await other.publish("theirs")
        assert await read(theirs, 1) == ["theirs"]
        await library.publish("mine")
        assert await read(mine, 1) == ["mine"]


async def test_a_subscription_begins_at_the_end_of_the_log(hub: EventHub, library: Library) -> None:
    await library.publish("before")
    async with hub.subscribe(library.id) as subscription:
        assert subscription.position == 1
        assert not await subscription.next(0.01)
        await library.publish("after")
        assert await read(subscription, 1) == ["after"]


async def test_events_after_a_position_come_first(hub: EventHub, library: Library) -> None:
    names = [str(number) for number in range(PAGE + 20)]
    await library.publish(*names)
    async with hub.subscribe(library.id, after=5) as subscription:
        first = await subscription.next()
        assert names_of(first.events) == names[5 : PAGE + 5]
        await library.publish("live")
        assert await read(subscription, 16) == [*names[PAGE + 5 :], "live"]


async def test_a_reader_behind_the_feed_reads_from_the_table(
    hub: EventHub, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "RECENT_EVENTS", 3)
    async with hub.subscribe(library.id) as slow, hub.subscribe(library.id) as quick:
        for number in range(10):
            await library.publish(str(number))
            assert await read(quick, 1) == [str(number)]
        assert await read(slow, 10) == [str(number) for number in range(10)]


async def test_types_are_left_out_and_passed_over(hub: EventHub, library: Library) -> None:
    async with hub.subscribe(library.id, types=("job.failed",)) as subscription:
        await library.publish("one", "two")
        await library.publish("three", type_="job.failed")
        assert await read(subscription, 1) == ["three"]
        assert subscription.position == 3


async def test_the_check_finds_what_was_not_announced(settings: Settings, library: Library, accounts: Accounts) -> None:
    async with open_hub(settings, check_seconds=0.05) as hub, hub.subscribe(library.id) as subscription:
        await accounts.connection.execute(
            """INSERT INTO events (library_id, id, type, payload, created_at)
               VALUES ($1, 'x', 'job.ready', '{"id": "unannounced"}', now())""",
            library.id,
        )
        assert await read(subscription, 1) == ["unannounced"]


async def test_without_redis_the_check_is_enough(settings: Settings, library: Library) -> None:
    database = await Database.connect(settings.api_database, 5, application="cutroom-tests")
    hub = EventHub(database, f"redis://127.0.0.1:{free_port()}", check_seconds=0.05)
    async with hub.running(), hub.subscribe(library.id) as subscription:
        await library.publish("one")
        assert await read(subscription, 1) == ["one"]
    await database.close()


async def test_nothing_is_lost_with_the_connection_to_redis(
    hub: EventHub, library: Library, settings: Settings
) -> None:
    redis = Redis.from_url(settings.redis_url.get_secret_value())
    async with hub.subscribe(library.id) as subscription:
        await library.publish("before")
        assert await read(subscription, 1) == ["before"]
        await redis.client_kill_filter(_type="pubsub", skipme=False)  # a message now reaches no process
        await library.publish("between")
        assert await read(subscription, 1) == ["between"]
        await library.publish("after")
        assert await read(subscription, 1) == ["after"]
    await redis.aclose()


async def test_progress_is_sent_when_its_transaction_commits(hub: EventHub, library: Library) -> None:
    async with (
        hub.subscribe(library.id, with_progress=True) as subscription,
        hub.subscribe(library.id) as other,
    ):
        await library.publish("first")  # both follow the library now
        await read(subscription, 1)
        await read(other, 1)
        await library.roll_back()
        async with library.runtime.database.transaction(library.id):
            announce_progress(library.id, "job", {"progress": 2})
        batch = await subscription.next()
        assert [(each.job_id, each.payload) for each in batch.progress] == [("job", '{"progress":2}')]
        await library.publish("second")
        assert names_of((await other.next()).events) == ["second"]


async def test_a_library_that_moves_ends_its_subscriptions(
    settings: Settings, library: Library, accounts: Accounts
) -> None:
    async with open_hub(settings, check_seconds=0.05) as hub, hub.subscribe(library.id) as subscription:
        await accounts.connection.execute("INSERT INTO library_moves (id, state) VALUES ($1, 'left')", library.id)
        with pytest.raises(CutroomError):
            await subscription.next()
        with pytest.raises(Exception, match="moving") as raised:
            async with hub.subscribe(library.id):
                pass
        assert has_moved(raised.value)
    await accounts.connection.execute("DELETE FROM library_moves WHERE id = $1", library.id)


async def test_subscriptions_end_with_the_process(hub: EventHub, library: Library) -> None:
    async with hub.subscribe(library.id) as subscription:
        waiting = asyncio.create_task(subscription.next())
        await asyncio.sleep(0)
        hub.end()
        assert not await waiting
        assert subscription.has_ended


async def test_waiting_holds_no_connection(settings: Settings, library: Library) -> None:
    database = await Database.connect(settings.api_database, 1, application="cutroom-tests")
    hub = EventHub(database, settings.redis_url.get_secret_value(), check_seconds=NEVER)
    async with hub.running(), hub.subscribe(library.id) as one, hub.subscribe(library.id) as two:
        waits = [asyncio.create_task(each.next()) for each in (one, two)]
        async with database.transaction(library.id) as connection:  # the only one
            assert await connection.fetchval("SELECT 1") == 1
        await library.publish("one")
        assert [names_of((await each).events) for each in waits] == [["one"], ["one"]]
    await database.close()


async def test_concurrent_writers_and_readers_agree(hub: EventHub, library: Library) -> None:
    async def follow(after: int | None) -> list[str]:
        async with hub.subscribe(library.id, after=after) as subscription:
            started.append(subscription)
            return await read(subscription, 200)

    started: list[Subscription] = []
    readers = [asyncio.create_task(follow(0 if number % 2 else None)) for number in range(8)]
    while len(started) < len(readers):
        await asyncio.sleep(0)
    await asyncio.gather(*(library.publish(*(f"{writer}.{part}" for part in range(5))) for writer in range(40)))
    expected = await library.names()
    assert [await reader for reader in readers] == [expected] * len(readers)


async def test_announcements_are_lost_without_harm_while_redis_is_unavailable() -> None:
    broadcaster = Broadcaster(f"redis://127.0.0.1:{free_port()}")
    broadcaster.send_all([Announcement("events:library")])
    await broadcaster.close()
