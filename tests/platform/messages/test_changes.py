"""Followers learn of every committed change, also of those around their start and around lost connections."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.platform.messages import changes as changes_module
from cutroom.platform.messages.changes import ChangeFollower, ChangeHub, Changes, Snapshot
from cutroom.platform.settings import Settings
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person

SNAPSHOT = "SELECT pg_current_snapshot()::text"


@pytest.fixture
async def hub(settings: Settings) -> AsyncIterator[ChangeHub]:
    hub = ChangeHub(settings.api_database)
    async with hub.running():
        async with hub.follow(["none"], since=None) as follower:
            await follower.next()  # because it has no snapshot
            await follower.next()  # because the hub has connected
        yield hub


async def snapshot(runtime: Runtime) -> Snapshot:
    async with runtime.database.connection() as connection:
        found = Snapshot.parse(await connection.fetchval(SNAPSHOT))
    assert found is not None
    return found


async def add_video(runtime: Runtime, person: Person) -> str:
    async with runtime.database.transaction(person.library_id) as connection:
        video_id = new_id()
        row = {"library_id": person.library_id, "id": video_id, "status": "ready", "created_at": system_clock()}
        await insert(connection, "videos", row)
    return video_id


async def has_nothing(follower: ChangeFollower) -> bool:
    """Whether nothing but a later change arrives."""
    follower.receive("marker")
    return (await follower.next()).topics == {"marker"}


@pytest.mark.parametrize(
    ("text", "seen", "unseen"),
    [("10:12:", [9, 10, 11], [12, 13]), ("10:14:10,12", [9, 11, 13], [10, 12, 14]), ("10:10:", [9], [10])],
)
def test_snapshots_see_what_was_committed(text: str, seen: list[int], unseen: list[int]) -> None:
    snapshot = Snapshot.parse(text)
    assert snapshot is not None
    assert all(snapshot.sees(each) for each in seen)
    assert not any(snapshot.sees(each) for each in unseen)


@pytest.mark.parametrize("text", ["", "1", "1:", "a:b:c", "1:2:x", "1:2:3,", "-1:2:", "1:2:" + "3," * 2_000])
def test_malformed_snapshots_are_none(text: str) -> None:
    assert Snapshot.parse(text) is None


async def test_changes_of_followed_libraries_arrive(hub: ChangeHub, runtime: Runtime, accounts: Accounts) -> None:
    person, other = await accounts.person(), await accounts.person()
    async with hub.follow([person.library_id], since=await snapshot(runtime)) as follower:
        await add_video(runtime, other)
        video_id = await add_video(runtime, person)
        found = await follower.next()
        while f"details:{video_id}" not in found.topics:
            found = Changes(found.topics | (await follower.next()).topics)
        assert found == Changes(frozenset({"videos", f"details:{video_id}"}))


async def test_follower_gets_what_its_snapshot_does_not_see(
    hub: ChangeHub, runtime: Runtime, accounts: Accounts
) -> None:
    person = await accounts.person()
    async with hub.follow([person.library_id], since=await snapshot(runtime)) as witness:
        async with runtime.database.transaction(person.library_id) as connection:
            row = {"library_id": person.library_id, "id": new_id(), "status": "ready", "created_at": system_clock()}
            await insert(connection, "videos", row)
            before = await snapshot(runtime)  # while the change is not committed
        after = await snapshot(runtime)
        await witness.next()
    async with hub.follow([person.library_id], since=before) as follower:
        assert "videos" in (await follower.next()).topics
    async with hub.follow([person.library_id], since=after) as follower:
        assert await has_nothing(follower)


async def test_follower_of_a_snapshot_from_before_the_kept_changes_has_missed_some(
    hub: ChangeHub, runtime: Runtime, accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes_module, "RECENT_CHANGES", 2)
    person, old = await accounts.person(), await snapshot(runtime)
    async with hub.follow([person.library_id], since=old) as witness:
        for _ in range(3):
            await add_video(runtime, person)
            await witness.next()
    async with hub.follow([person.library_id], since=old) as follower:
        assert await follower.next() == Changes(is_incomplete=True)


async def test_lost_connection_is_replaced_and_reported(
    hub: ChangeHub, runtime: Runtime, accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes_module, "RECONNECT_SECONDS", 0.01)
    person = await accounts.person()
    async with hub.follow([person.library_id], since=await snapshot(runtime)) as follower:
        async with runtime.database.connection() as connection:
            ended = await connection.fetchval(
                """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                   WHERE datname = current_database() AND application_name = $1""",
                changes_module.APPLICATION,
            )
        assert ended
        assert (await follower.next()).is_incomplete
        await add_video(runtime, person)
        assert "videos" in (await follower.next()).topics


async def test_slow_follower_holds_each_topic_once(hub: ChangeHub, runtime: Runtime, accounts: Accounts) -> None:
    person = await accounts.person()
    async with (
        hub.follow([person.library_id], since=await snapshot(runtime)) as slow,
        hub.follow([person.library_id], since=await snapshot(runtime)) as witness,
    ):
        async with runtime.database.transaction(person.library_id) as connection:
            for _ in range(50):
                row = {"library_id": person.library_id, "id": new_id(), "name": "a", "guidelines": "b"}
                await insert(connection, "brand_voices", {**row, "created_at": system_clock()})
        await witness.next()
        assert (await slow.next()).topics == {"brand-voices"}


async def test_ended_sessions_and_memberships_are_announced(
    hub: ChangeHub, runtime: Runtime, accounts: Accounts
) -> None:
    person = await accounts.person()
    async with hub.follow([person.library_id, "session:abc"], since=await snapshot(runtime)) as follower:
        await accounts.connection.execute("UPDATE libraries SET suspended_at = now() WHERE id = $1", person.library_id)
        assert (await follower.next()).topics == {"access"}
        await accounts.connection.execute(
            """INSERT INTO sessions (id, user_id, hash, chosen_library, created_at, seen_at, expires_at)
               VALUES ('abc', $1, 'hash', $2, now(), now(), now())""",
            person.user_id,
            person.library_id,
        )
        await accounts.connection.execute("DELETE FROM sessions WHERE id = 'abc'")
        assert (await follower.next()).topics == {"access"}


async def test_bulk_loads_of_the_owner_are_not_announced(hub: ChangeHub, runtime: Runtime, accounts: Accounts) -> None:
    person = await accounts.person()
    async with hub.follow([person.library_id], since=await snapshot(runtime)) as follower:
        row = {"library_id": person.library_id, "id": new_id(), "status": "ready", "created_at": system_clock()}
        await insert(accounts.connection, "videos", row)
        await accounts.connection.execute("UPDATE libraries SET suspended_at = now() WHERE id = $1", person.library_id)
        assert (await follower.next()).topics == {"access"}


async def test_hub_can_end_at_any_moment_of_its_start(settings: Settings) -> None:
    """A cancellation that asyncpg loses is repeated."""
    for milliseconds in range(40):
        async with ChangeHub(settings.api_database).running():
            await asyncio.sleep(milliseconds / 1000)
