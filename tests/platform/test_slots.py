"""Slots are bounded in all processes together, and end with their holder."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from redis.asyncio import Redis

from cutroom.platform import slots as module
from cutroom.platform.ids import new_id
from cutroom.platform.redis import BatchingRedis
from cutroom.platform.settings import Settings
from cutroom.platform.slots import SlotLimit, Slots, SlotsFullError
from dev.server import free_port


@pytest.fixture
async def redis(settings: Settings) -> AsyncIterator[BatchingRedis]:
    opened = BatchingRedis(settings.redis_url.get_secret_value(), timeout_seconds=10)  # tolerate a busy machine
    yield opened
    await opened.close()


@pytest.fixture
async def plain(settings: Settings) -> AsyncIterator[Redis]:
    opened = Redis.from_url(settings.redis_url.get_secret_value())
    yield opened
    await opened.aclose()


def limit(slots: int = 2, *, per_process: bool = False) -> SlotLimit:
    return SlotLimit(f"test:{new_id()}", slots, per_process=per_process)


async def is_full(slots: Slots, *limits: SlotLimit) -> bool:
    try:
        async with slots.hold(limits):
            return False
    except SlotsFullError:
        return True


async def test_slots_are_shared_by_processes(redis: BatchingRedis) -> None:
    subject, other, here, there = limit(), limit(), Slots(redis), Slots(redis)
    async with here.hold([subject]), there.hold([subject]):
        assert await is_full(here, subject)
        assert await is_full(there, subject)
        assert not await is_full(here, other)
    assert not await is_full(there, subject)


async def test_slots_of_a_process_are_its_own(redis: BatchingRedis) -> None:
    subject, here, there = limit(1, per_process=True), Slots(redis), Slots(redis)
    async with here.hold([subject]):
        assert await is_full(here, subject)
        assert not await is_full(there, subject)


async def test_concurrent_requests_never_hold_more_than_the_slots(redis: BatchingRedis) -> None:
    subject, processes = limit(3), [Slots(redis) for _ in range(4)]
    async with AsyncExitStack() as stack:
        entered = await asyncio.gather(
            *(stack.enter_async_context(processes[n % 4].hold([subject])) for n in range(20)), return_exceptions=True
        )
        assert sum(isinstance(each, SlotsFullError) for each in entered) == 17


async def test_refused_holder_keeps_no_slot_of_other_subjects(redis: BatchingRedis, plain: Redis) -> None:
    free, full, slots = limit(), limit(1), Slots(redis)
    async with slots.hold([full]):
        assert await is_full(slots, free, full)
        assert slots.count(free.subject) == 0
        async with slots.hold([limit()]):  # after the release was sent
            assert await plain.zcard(free.key) == 0


async def test_slots_of_a_killed_process_end(redis: BatchingRedis, plain: Redis) -> None:
    """The lease of a dead process is in Redis until its time is over."""
    subject, slots = limit(1), Slots(redis)
    seconds, _ = await plain.time()
    await plain.zadd(subject.key, {"dead": (seconds + module.LEASE_SECONDS) * 1000})
    assert await is_full(slots, subject)
    await plain.zadd(subject.key, {"dead": (seconds - 1) * 1000})
    assert not await is_full(slots, subject)


async def test_lease_is_renewed_and_restored(
    redis: BatchingRedis, plain: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RENEWAL_SECONDS", 0)
    subject, slots = limit(1), Slots(redis)
    async with slots.hold([subject]):
        await plain.delete(subject.key)  # Redis has lost its data
        while not await plain.zcard(subject.key):
            await asyncio.sleep(0)
        assert await is_full(Slots(redis), subject)


async def test_without_redis_a_process_bounds_its_own_holders() -> None:
    redis = BatchingRedis(f"redis://127.0.0.1:{free_port()}/0")
    subject, slots = limit(1), Slots(redis)
    async with slots.hold([subject]):
        assert await is_full(slots, subject)
    assert not await is_full(slots, subject)
    await redis.close()
