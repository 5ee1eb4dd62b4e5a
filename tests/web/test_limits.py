"""Limits: the same rule in Redis and in the process, leases that run out, and failures that are counted."""

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis.asyncio import Redis

from cutroom.accounts.plans import Plan, PlanName
from cutroom.accounts.principals import Principal, Role
from cutroom.errors import Code, CutroomError
from cutroom.platform.ids import new_id
from cutroom.platform.redis import BatchingRedis
from cutroom.platform.settings import Settings
from cutroom.web.limits import Limits, LocalLimits, Outcome, Rate


@pytest.fixture
async def redis(settings: Settings) -> AsyncIterator[BatchingRedis]:
    opened = BatchingRedis(settings.redis_url.get_secret_value(), timeout_seconds=10)  # a busy machine is not away
    yield opened
    await opened.close()


@pytest.fixture
def limits(redis: BatchingRedis) -> Limits:
    return Limits(redis, failures_per_minute=3)


def principal(*, per_minute: int = 600, at_once: int = 32) -> Principal:
    plan = Plan(
        name=PlanName.FREE,
        requests_per_minute=per_minute,
        requests_at_once=at_once,
        unfinished_jobs=50,
        speech=False,
        hosting=False,
        usage_billing=False,
        download="sample",
    )
    return Principal(
        id=new_id(),
        user_id=new_id(),
        library_id=new_id(),
        workspace_id=None,
        role=Role.OWNER,
        plan=plan,
        suspended=False,
        scopes=frozenset(),
    )


async def test_a_minute_holds_so_many_requests_and_then_says_when_to_come_back(limits: Limits) -> None:
    caller = principal(per_minute=5)
    remaining = []
    for _ in range(5):
        admission = await limits.take(caller)
        limits.give_back(admission)
        remaining.append(admission.headers["RateLimit-Remaining"])
    assert remaining == ["4", "3", "2", "1", "0"]
    with pytest.raises(CutroomError) as refused:
        await limits.take(caller)
    assert refused.value.code is Code.RATE_LIMITED
    assert refused.value.details == {"limit": "rate"}
    assert refused.value.headers["RateLimit-Limit"] == "5"
    assert 1 <= int(refused.value.headers["Retry-After"]) <= 12


async def test_so_many_requests_at_once_until_one_is_given_back(limits: Limits) -> None:
    caller = principal(at_once=2)
    first = await limits.take(caller)
    await limits.take(caller)
    with pytest.raises(CutroomError) as refused:
        await limits.take(caller)
    assert refused.value.details == {"limit": "concurrency"}
    assert refused.value.headers["Retry-After"] == "1"
    limits.give_back(first)
    await limits.take(caller)


async def test_a_lease_that_nobody_gave_back_runs_out(limits: Limits, settings: Settings) -> None:
    caller = principal(at_once=1)
    await limits.take(caller)
    async with Redis.from_url(settings.redis_url.get_secret_value()) as client:
        leases = f"limits:{{{caller.id}}}:leases"
        (name,) = await client.zrange(leases, 0, -1)
        assert isinstance(name, bytes)
        await client.zincrby(leases, -121_000, name)
    await limits.take(caller)


async def test_one_key_does_not_limit_another(limits: Limits) -> None:
    await limits.take(principal(per_minute=1))
    await limits.take(principal(per_minute=1))


async def test_failures_from_one_address_are_counted_and_stopped(limits: Limits) -> None:
    address = f"address-{new_id()}"
    for _ in range(3):
        await limits.count_failure(address)
    with pytest.raises(CutroomError) as refused:
        await limits.count_failure(address)
    assert refused.value.code is Code.RATE_LIMITED
    await limits.count_failure(f"address-{new_id()}")


async def test_without_redis_the_process_limits_and_failures_are_refused() -> None:
    nowhere = BatchingRedis("redis://127.0.0.1:1/0")
    limits = Limits(nowhere, failures_per_minute=1_000)
    caller = principal(per_minute=3, at_once=2)
    admissions = [await limits.take(caller) for _ in range(2)]
    with pytest.raises(CutroomError) as crowded:
        await limits.take(caller)
    assert crowded.value.details == {"limit": "concurrency"}
    for admission in admissions:
        limits.give_back(admission)
    limits.give_back(await limits.take(caller))
    with pytest.raises(CutroomError) as fast:
        await limits.take(caller)
    assert fast.value.details == {"limit": "rate"}
    with pytest.raises(CutroomError) as closed:
        await limits.count_failure("127.0.0.1")
    assert closed.value.code is Code.RATE_LIMITED
    await nowhere.close()


class Time:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@given(st.integers(1, 50), st.lists(st.floats(0, 90), min_size=1, max_size=80))
def test_no_minute_ever_holds_more_than_twice_the_rate_and_the_long_run_keeps_it(
    per_minute: int, pauses: list[float]
) -> None:
    """GCRA's promise: a full burst, and then the rate; so a window of any length T holds at most (1 + T) of it."""
    time, admitted = Time(), []
    limits, rate = LocalLimits(time), Rate(per_minute)
    for pause in pauses:
        time.now += pause
        verdict = limits.take("key", rate, leases=10)
        if verdict.outcome is Outcome.ADMITTED:
            limits.give_back("key")
            admitted.append(time.now)
            assert 0 <= verdict.remaining < per_minute
    for start in admitted:
        in_a_minute = [each for each in admitted if start <= each < start + 60]
        assert len(in_a_minute) <= 2 * per_minute
