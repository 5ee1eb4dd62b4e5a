"""Rate and concurrency limits in Redis and in the process."""

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
from cutroom.web.limits import LimitOutcome, LocalRateLimiter, RateLimit, RateLimiter


@pytest.fixture
async def redis(settings: Settings) -> AsyncIterator[BatchingRedis]:
    opened = BatchingRedis(
        settings.redis_url.get_secret_value(), timeout_seconds=10
    )  # slow machines must not count as unavailable
    yield opened
    await opened.close()


@pytest.fixture
def limits(redis: BatchingRedis) -> RateLimiter:
    return RateLimiter(redis, failures_per_minute=3)


def principal(*, per_minute: int = 600, concurrent: int = 32) -> Principal:
    plan = Plan(
        name=PlanName.FREE,
        requests_per_minute=per_minute,
        concurrent_requests=concurrent,
        unfinished_jobs=50,
        library_storage_bytes=10**12,
        library_media_minutes=1_000,
        library_unfinished_jobs=500,
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


async def test_rate_limit_returns_retry_after(limits: RateLimiter) -> None:
    caller = principal(per_minute=5)
    remaining = []
    for _ in range(5):
        lease = await limits.acquire(caller)
        limits.release(lease)
        remaining.append(lease.headers["RateLimit-Remaining"])
    assert remaining == ["4", "3", "2", "1", "0"]
    with pytest.raises(CutroomError) as refused:
        await limits.acquire(caller)
    assert refused.value.code is Code.RATE_LIMITED
    assert refused.value.details == {"limit": "rate"}
    assert refused.value.headers["RateLimit-Limit"] == "5"
    assert 1 <= int(refused.value.headers["Retry-After"]) <= 12


async def test_concurrency_limit_frees_on_release(limits: RateLimiter) -> None:
    caller = principal(concurrent=2)
    first = await limits.acquire(caller)
    await limits.acquire(caller)
    with pytest.raises(CutroomError) as refused:
        await limits.acquire(caller)
    assert refused.value.details == {"limit": "concurrency"}
    assert refused.value.headers["Retry-After"] == "1"
    limits.release(first)
    await limits.acquire(caller)


async def test_unreleased_lease_expires(limits: RateLimiter, settings: Settings) -> None:
    caller = principal(concurrent=1)
    await limits.acquire(caller)
    async with Redis.from_url(settings.redis_url.get_secret_value()) as client:
        leases = f"limits:{{{caller.id}}}:leases"
        (name,) = await client.zrange(leases, 0, -1)
        assert isinstance(name, bytes)
        await client.zincrby(leases, -121_000, name)
    await limits.acquire(caller)


async def test_limits_are_per_key(limits: RateLimiter) -> None:
    await limits.acquire(principal(per_minute=1))
    await limits.acquire(principal(per_minute=1))


async def test_failed_credentials_are_limited_per_address(limits: RateLimiter) -> None:
    address = f"address-{new_id()}"
    for _ in range(3):
        await limits.count_failure(address)
    with pytest.raises(CutroomError) as refused:
        await limits.count_failure(address)
    assert refused.value.code is Code.RATE_LIMITED
    await limits.count_failure(f"address-{new_id()}")


async def test_without_redis_limits_are_local_and_failures_refused() -> None:
    nowhere = BatchingRedis("redis://127.0.0.1:1/0")
    limits = RateLimiter(nowhere, failures_per_minute=1_000)
    caller = principal(per_minute=3, concurrent=2)
    admissions = [await limits.acquire(caller) for _ in range(2)]
    with pytest.raises(CutroomError) as crowded:
        await limits.acquire(caller)
    assert crowded.value.details == {"limit": "concurrency"}
    for lease in admissions:
        limits.release(lease)
    limits.release(await limits.acquire(caller))
    with pytest.raises(CutroomError) as fast:
        await limits.acquire(caller)
    assert fast.value.details == {"limit": "rate"}
    with pytest.raises(CutroomError) as closed:
        await limits.count_failure("127.0.0.1")
    assert closed.value.code is Code.RATE_LIMITED
    await nowhere.close()


class ManualClock:
    """A clock that only changes when advanced."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@given(st.integers(1, 50), st.lists(st.floats(0, 90), min_size=1, max_size=80))
def test_gcra_bounds_burst_and_sustained_rate(per_minute: int, pauses: list[float]) -> None:
    """GCRA allows one full burst and then the rate, so a window of T minutes admits at most (1 + T) times the rate."""
    time, admitted = ManualClock(), []
    limits, rate = LocalRateLimiter(time), RateLimit(per_minute)
    for pause in pauses:
        time.now += pause
        verdict = limits.acquire("key", rate, leases=10)
        if verdict.outcome is LimitOutcome.ADMITTED:
            limits.release("key")
            admitted.append(time.now)
            assert 0 <= verdict.remaining < per_minute
    for start in admitted:
        in_a_minute = [each for each in admitted if start <= each < start + 60]
        assert len(in_a_minute) <= 2 * per_minute
