"""Who works on a playback: one at a time, and nothing that is asked meanwhile is forgotten."""

from datetime import timedelta

from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.products.playback import service
from cutroom.web.runtime import Runtime
from dev.scratch import Person


async def test_one_works_and_sees_what_was_asked_meanwhile(runtime: Runtime, person: Person) -> None:
    here, now = (person.library_id, new_id()), system_clock()
    async with runtime.database.transaction(here[0]) as connection:
        assert await service.claim(connection, *here, runner="a", now=now) == 1
        assert await service.claim(connection, *here, runner="a", now=now) == 1  # a repeat of the same step
        assert await service.claim(connection, *here, runner="b", now=now) is None
        assert await service.release(connection, *here, runner="a", seen=1, now=now) == 2
        assert await service.release(connection, *here, runner="a", seen=2, now=now) is None
        assert await service.claim(connection, *here, runner="c", now=now) == 3


async def test_a_runner_that_gave_up_or_was_lost_is_followed_by_another(runtime: Runtime, person: Person) -> None:
    here, now = (person.library_id, new_id()), system_clock()
    async with runtime.database.transaction(here[0]) as connection:
        await service.claim(connection, *here, runner="a", now=now)
        await service.give_up(connection, *here, runner="a", error="no", now=now)
        assert await connection.fetchval("SELECT state FROM playbacks WHERE video_id = $1", here[1]) == "failed"
        assert await service.claim(connection, *here, runner="b", now=now) == 2
        assert await service.claim(connection, *here, runner="c", now=now) is None
        later = now + service.LOST_AFTER + timedelta(seconds=1)
        assert await service.claim(connection, *here, runner="c", now=later) == 4
        assert await service.release(connection, *here, runner="b", seen=2, now=later) is None  # it is no longer b's
