"""Rate and concurrency limits in Redis and in the process."""

from collections.abc import AsyncIterator
from dataclasses import replace

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
from cutroom.web.limits import AccountLimits, LimitOutcome, LocalRateLimiter, RateLimit, RateLimiter, SubjectLimit


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


def principal(
    *,
    per_minute: int = 600,
    concurrent: int = 32,
    library_per_minute: int = 600,
    library_concurrent: int = 32,
    free_work: int = 100,
) -> Principal:
    plan = Plan(
        name=PlanName.FREE,
        requests_per_minute=per_minute,
        concurrent_requests=concurrent,
        unfinished_jobs=50,
        library_requests_per_minute=library_per_minute,
        library_concurrent_requests=library_concurrent,
        library_free_work_per_day=free_work,
        library_failed_jobs_per_day=100,
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


def with_new_key(caller: Principal) -> Principal:
    """Another key of the same account and library."""
    return replace(caller, id=new_id())


def with_new_library(caller: Principal) -> Principal:
    """A key of the same account in another library."""
    return replace(caller, id=new_id(), library_id=new_id())


async def test_many_keys_do_not_multiply_the_rate_of_their_library(limits: RateLimiter) -> None:
    caller = principal(per_minute=5, library_per_minute=7)
    for _ in range(7):
        limits.release(await limits.acquire(with_new_key(caller)))
    with pytest.raises(CutroomError) as refused:
        await limits.acquire(with_new_key(caller))
    assert refused.value.details == {"limit": "rate", "per": "library"}
    assert refused.value.headers["RateLimit-Limit"] == "7"
    assert 1 <= int(refused.value.headers["Retry-After"]) <= 9
    await limits.acquire(with_new_library(caller))


async def test_many_keys_do_not_multiply_the_concurrency_of_their_library(limits: RateLimiter) -> None:
    caller = principal(concurrent=1, library_concurrent=3)
    first, *_ = [await limits.acquire(with_new_key(caller)) for _ in range(3)]
    with pytest.raises(CutroomError) as refused:
        await limits.acquire(with_new_key(caller))
    assert refused.value.details == {"limit": "concurrency", "per": "library"}
    limits.release(first)
    await limits.acquire(with_new_key(caller))


async def test_many_libraries_do_not_multiply_the_rate_of_an_account(redis: BatchingRedis) -> None:
    limits = RateLimiter(redis, failures_per_minute=3, account=AccountLimits(requests=RateLimit(4)))
    caller = principal()
    for _ in range(4):
        await limits.acquire(with_new_library(caller))
    with pytest.raises(CutroomError) as refused:
        await limits.acquire(with_new_library(caller))
    assert refused.value.details == {"limit": "rate", "per": "account"}
    await limits.acquire(principal())


async def test_refused_request_counts_for_nobody(limits: RateLimiter) -> None:
    caller = principal(per_minute=1, library_per_minute=2)
    await limits.acquire(caller)
    for _ in range(3):
        with pytest.raises(CutroomError):
            await limits.acquire(caller)
    await limits.acquire(with_new_key(caller))  # the second of the library


async def test_free_work_is_limited_by_day_for_all_keys_of_a_library(limits: RateLimiter) -> None:
    caller = principal(free_work=3)
    await limits.count_free_work(caller)
    for _ in range(2):
        await limits.acquire(with_new_key(caller), free_work=True)
    for refuse in (limits.acquire(with_new_key(caller), free_work=True), limits.count_free_work(caller)):
        with pytest.raises(CutroomError) as refused:
            await refuse
        assert refused.value.code is Code.RATE_LIMITED
        assert refused.value.details == {"limit": "free_work", "per": "library"}
        assert 3_600 <= int(refused.value.headers["Retry-After"]) <= 8 * 3_600
    await limits.acquire(caller)  # other requests are not affected


async def test_free_work_is_limited_by_day_for_all_libraries_of_an_account(redis: BatchingRedis) -> None:
    limits = RateLimiter(redis, failures_per_minute=3, account=AccountLimits(free_work=RateLimit(2, 86_400)))
    caller = principal()
    for _ in range(2):
        await limits.acquire(with_new_library(caller), free_work=True)
    with pytest.raises(CutroomError) as refused:
        await limits.acquire(with_new_library(caller), free_work=True)
    assert refused.value.details == {"limit": "free_work", "per": "account"}


async def test_without_redis_keys_of_a_library_share_their_limits() -> None:
    nowhere = BatchingRedis("redis://127.0.0.1:1/0")
    limits = RateLimiter(nowhere, failures_per_minute=1_000)
    caller = principal(library_per_minute=3, library_concurrent=2, free_work=1)
    leases = [await limits.acquire(with_new_key(caller), free_work=index == 0) for index in range(2)]
    with pytest.raises(CutroomError) as crowded:
        await limits.acquire(with_new_key(caller))
    assert crowded.value.details == {"limit": "concurrency", "per": "library"}
    for lease in leases:
        limits.release(lease)
    with pytest.raises(CutroomError) as free:
        await limits.acquire(with_new_key(caller), free_work=True)
    assert free.value.details == {"limit": "free_work", "per": "library"}
    limits.release(await limits.acquire(with_new_key(caller)))
    with pytest.raises(CutroomError) as fast:
        await limits.acquire(with_new_key(caller))
    assert fast.value.details == {"limit": "rate", "per": "library"}
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
        verdict = limits.acquire([SubjectLimit("key", rate, leases=10)])
        if verdict.outcome is LimitOutcome.ADMITTED:
            limits.release("key")
            admitted.append(time.now)
            assert 0 <= verdict.remaining < per_minute
    for start in admitted:
        in_a_minute = [each for each in admitted if start <= each < start + 60]
        assert len(in_a_minute) <= 2 * per_minute
