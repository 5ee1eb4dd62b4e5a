"""Tests for the playback lease."""

from datetime import timedelta

from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.products.playback import service
from cutroom.web.runtime import Runtime
from dev.scratch import Person


async def test_lease_is_exclusive_and_new_requests_change_the_revision(runtime: Runtime, person: Person) -> None:
    video, now = (person.library_id, new_id()), system_clock()
    async with runtime.database.transaction(video[0]) as connection:
        assert await service.acquire_lease(connection, *video, lease_holder="a", now=now) == 1
        assert await service.acquire_lease(connection, *video, lease_holder="a", now=now) == 1  # a retry
        assert await service.acquire_lease(connection, *video, lease_holder="b", now=now) is None
        assert await service.release_lease(connection, *video, lease_holder="a", revision=1, now=now) == 2
        assert await service.release_lease(connection, *video, lease_holder="a", revision=2, now=now) is None
        assert await service.acquire_lease(connection, *video, lease_holder="c", now=now) == 3


async def test_failed_or_expired_lease_can_be_acquired(runtime: Runtime, person: Person) -> None:
    video, now = (person.library_id, new_id()), system_clock()
    async with runtime.database.transaction(video[0]) as connection:
        await service.acquire_lease(connection, *video, lease_holder="a", now=now)
        await service.fail_playback(connection, *video, lease_holder="a", error="no", now=now)
        assert await connection.fetchval("SELECT state FROM playbacks WHERE video_id = $1", video[1]) == "failed"
        assert await service.acquire_lease(connection, *video, lease_holder="b", now=now) == 2
        assert await service.acquire_lease(connection, *video, lease_holder="c", now=now) is None
        later = now + service.LEASE_TIMEOUT + timedelta(seconds=1)
        assert await service.acquire_lease(connection, *video, lease_holder="c", now=later) == 4
        assert (
            await service.release_lease(connection, *video, lease_holder="b", revision=2, now=later) is None
        )  # b lost the lease
