"""Rate and concurrency limits per API key, library and account, kept in Redis with an in-process fallback."""

import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv4Address, ip_address, ip_network
from pathlib import Path

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError
from cutroom.platform.ids import new_id
from cutroom.platform.redis import BatchingRedis, RedisUnavailableError, Script
from cutroom.platform.telemetry import request_id

LEASE_SECONDS = 120  # longer than any request; leases of a crashed process expire after this
REDIS_PAUSE_SECONDS = 1.0  # use the in-process limits for this long after a Redis error
LOCAL_SUBJECTS = 30_000  # maximum number of subjects tracked in the process
DAY_SECONDS = 24 * 60 * 60

_SCRIPT = Script(Path(__file__).with_name("limits.lua").read_text())
_FORGET = Script("return redis.call('DEL', unpack(KEYS))")
_MICROSECONDS = 1_000_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Requests per minute, or another time; the full amount may arrive in one burst."""

    requests: int
    seconds: int = 60

    @property
    def interval_us(self) -> int:
        return self.seconds * _MICROSECONDS // self.requests


@dataclass(frozen=True, slots=True)
class SubjectLimit:
    """The limit of one subject: an API key, a library, an account, or a client address."""

    subject: str
    rate: RateLimit
    leases: int = 0  # concurrent requests; 0 does not limit them
    name: str = "rate"  # of the rate, for the caller
    per: str | None = None  # whose limit it is, for the caller; None for the API key

    @property
    def keys(self) -> tuple[str, str]:
        return _keys(self.subject)


@dataclass(frozen=True, slots=True)
class AccountLimits:
    """Limits of an account, in all its libraries together."""

    requests: RateLimit = RateLimit(6_000)
    free_work: RateLimit = RateLimit(10_000, DAY_SECONDS)


class LimitOutcome(IntEnum):
    """Result codes of limits.lua."""

    ADMITTED = 1
    RATE_EXCEEDED = 0
    CONCURRENCY_EXCEEDED = -1


@dataclass(frozen=True, slots=True)
class LimitDecision:
    """The result of one limit check, as seen by the first subject or by the one whose limit is exceeded."""

    outcome: LimitOutcome
    remaining: int
    reset_us: int
    retry_us: int
    limit: SubjectLimit


@dataclass(frozen=True, slots=True)
class RateLimitLease:
    """An admitted request; released when it completes."""

    subjects: tuple[str, ...]
    id: str
    local: bool
    headers: dict[str, str]


class RateLimiter:
    """Admits requests using Redis; while it is unavailable, each process applies the same limits locally.

    A request counts for its API key, its library and its account in one call.
    """

    def __init__(self, redis: BatchingRedis, *, failures_per_minute: int, account: AccountLimits | None = None) -> None:
        self._redis = redis
        self._local = LocalRateLimiter()
        self._failures = RateLimit(failures_per_minute)
        self._account = account or AccountLimits()
        self._unavailable_until = 0.0

    async def acquire(self, principal: Principal, *, free_work: bool = False) -> RateLimitLease:
        """Admit a request of this principal, or raise RATE_LIMITED. Requests that start free work have daily limits."""
        limits = self._request_limits(principal)
        if free_work:
            limits += self._free_work_limits(principal)
        lease = request_id.get() or new_id()
        decision, local = await self._check(limits, lease=lease), False
        if decision is None:
            decision, local = self._local.acquire(limits), True
        headers = _headers(decision)
        if decision.outcome is not LimitOutcome.ADMITTED:
            raise _rate_limited(decision, headers)
        subjects = tuple(each.subject for each in limits if each.leases)
        return RateLimitLease(subjects=subjects, id=lease, local=local, headers=headers)

    async def count_free_work(self, principal: Principal) -> None:
        """Count free work of a request that was admitted already, or raise RATE_LIMITED."""
        limits = self._free_work_limits(principal)
        decision = await self._check(limits) or self._local.acquire(limits)
        if decision.outcome is not LimitOutcome.ADMITTED:
            raise _rate_limited(decision, _headers(decision))

    def _request_limits(self, principal: Principal) -> list[SubjectLimit]:
        plan = principal.plan
        return [
            SubjectLimit(principal.id, RateLimit(plan.requests_per_minute), leases=plan.concurrent_requests),
            SubjectLimit(
                f"library:{principal.library_id}",
                RateLimit(plan.library_requests_per_minute),
                leases=plan.library_concurrent_requests,
                per="library",
            ),
            SubjectLimit(f"account:{principal.user_id}", self._account.requests, per="account"),
        ]

    def _free_work_limits(self, principal: Principal) -> list[SubjectLimit]:
        of_library = RateLimit(principal.plan.library_free_work_per_day, DAY_SECONDS)
        name = "free_work"
        return [
            SubjectLimit(f"free-work:library:{principal.library_id}", of_library, name=name, per="library"),
            SubjectLimit(f"free-work:account:{principal.user_id}", self._account.free_work, name=name, per="account"),
        ]

    def release(self, lease: RateLimitLease) -> None:
        """Release the lease. If Redis is unavailable, it expires by itself."""
        for subject in lease.subjects:
            if lease.local:
                self._local.release(subject)
            else:
                self._redis.send(("ZREM", _keys(subject)[1], lease.id))

    async def count_failure(self, address: str) -> None:
        """Count a failed authentication; raise RATE_LIMITED if there are too many, or if Redis is unavailable."""
        await self.count(f"failed:{address}", self._failures)

    async def count(self, subject: str, rate: RateLimit) -> None:
        """Count one attempt; raise RATE_LIMITED if there are too many, or if Redis is unavailable."""
        decision = await self._counted(subject, rate)
        if decision.outcome is not LimitOutcome.ADMITTED:
            raise _rate_limited(decision, _headers(decision))

    async def is_within(self, subject: str, rate: RateLimit) -> bool:
        """Count one attempt; return whether it is within the rate. Raises RATE_LIMITED if Redis is unavailable."""
        return (await self._counted(subject, rate)).outcome is LimitOutcome.ADMITTED

    async def _counted(self, subject: str, rate: RateLimit) -> LimitDecision:
        limit = SubjectLimit(subject, rate)
        decision = await self._check([limit])
        if decision is None:
            raise _rate_limited(LimitDecision(LimitOutcome.RATE_EXCEEDED, 0, 0, _MICROSECONDS, limit), {})
        return decision

    async def _check(self, limits: Sequence[SubjectLimit], *, lease: str = "") -> LimitDecision | None:
        if time.monotonic() < self._unavailable_until:
            return None
        keys = [key for each in limits for key in each.keys]
        arguments: list[str | int] = [LEASE_SECONDS * 1000, lease]
        for each in limits:
            arguments += (each.rate.interval_us, each.rate.requests, each.leases)
        try:
            outcome, remaining, reset_us, retry_us, number = await self._redis.run(_SCRIPT, keys, arguments=arguments)
        except RedisUnavailableError:
            self._pause()
            return None
        return LimitDecision(LimitOutcome(outcome), remaining, reset_us, retry_us, limits[number - 1])

    def _pause(self) -> None:
        if time.monotonic() >= self._unavailable_until:
            _log.warning("redis unavailable, using in-process limits")
        self._unavailable_until = time.monotonic() + REDIS_PAUSE_SECONDS


class LocalRateLimiter:
    """In-process limits for the most recently used subjects."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._arrivals: OrderedDict[str, float] = OrderedDict()
        self._running: dict[str, int] = {}

    def acquire(self, limits: Sequence[SubjectLimit]) -> LimitDecision:
        """Admit a request for all subjects, or for none."""
        now = self._clock() * _MICROSECONDS
        decisions = [self._decide(each, now) for each in limits]
        for decision in decisions:
            if decision.outcome is not LimitOutcome.ADMITTED:
                return decision
        for decision in decisions:
            self._count(decision.limit, now + decision.reset_us)
        return decisions[0]

    def _decide(self, limit: SubjectLimit, now: float) -> LimitDecision:
        interval_us = limit.rate.interval_us
        spent = max(self._arrivals.get(limit.subject, 0.0), now) - now
        available = interval_us * limit.rate.requests - spent
        if available < interval_us:
            retry_us = int(interval_us - available)
            return LimitDecision(LimitOutcome.RATE_EXCEEDED, 0, int(spent), retry_us, limit)
        remaining = int(available / interval_us)
        if limit.leases and self._running.get(limit.subject, 0) >= limit.leases:
            return LimitDecision(LimitOutcome.CONCURRENCY_EXCEEDED, remaining, int(spent), 0, limit)
        return LimitDecision(LimitOutcome.ADMITTED, remaining - 1, int(spent + interval_us), 0, limit)

    def _count(self, limit: SubjectLimit, arrival: float) -> None:
        if limit.leases:
            self._running[limit.subject] = self._running.get(limit.subject, 0) + 1
        self._arrivals[limit.subject] = arrival
        self._arrivals.move_to_end(limit.subject)
        if len(self._arrivals) > LOCAL_SUBJECTS:
            self._arrivals.popitem(last=False)

    def release(self, subject: str) -> None:
        self._running[subject] -= 1
        if not self._running[subject]:
            del self._running[subject]


def client_network(host: str) -> str:
    """The network that attempts are counted for: an IPv4 address, or the /64 that an IPv6 client chooses from."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv4Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ip_network((address, 64), strict=False))


async def forget_subjects(redis: BatchingRedis, subjects: Sequence[str]) -> None:
    """Delete the state of these subjects, which would otherwise expire within minutes."""
    for subject in subjects:  # one call each: a cluster stores different subjects on different nodes
        await redis.run(_FORGET, _keys(subject), arguments=())


def _keys(subject: str) -> tuple[str, str]:
    return f"limits:{{{subject}}}:rate", f"limits:{{{subject}}}:leases"


def _headers(decision: LimitDecision) -> dict[str, str]:
    return {
        "RateLimit-Limit": str(decision.limit.rate.requests),
        "RateLimit-Remaining": str(decision.remaining),
        "RateLimit-Reset": str(math.ceil(decision.reset_us / _MICROSECONDS)),
    }


def _rate_limited(decision: LimitDecision, headers: dict[str, str]) -> CutroomError:
    retry_seconds = max(1, math.ceil(decision.retry_us / _MICROSECONDS))
    details = {"limit": decision.limit.name if decision.outcome is LimitOutcome.RATE_EXCEEDED else "concurrency"}
    if decision.limit.per is not None:
        details["per"] = decision.limit.per
    return CutroomError(
        Code.RATE_LIMITED,
        details=details,
        headers={**headers, "Retry-After": str(retry_seconds)},
    )
