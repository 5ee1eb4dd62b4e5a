"""Rate and concurrency limits per API key, kept in Redis with an in-process fallback."""

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
LOCAL_SUBJECTS = 10_000  # maximum number of keys tracked in the process

_SCRIPT = Script(Path(__file__).with_name("limits.lua").read_text())
_FORGET = Script("return redis.call('DEL', unpack(KEYS))")
_MICROSECONDS = 1_000_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Requests per minute; the full amount may arrive in one burst."""

    per_minute: int

    @property
    def interval_us(self) -> int:
        return 60 * _MICROSECONDS // self.per_minute


class LimitOutcome(IntEnum):
    """Result codes of limits.lua."""

    ADMITTED = 1
    RATE_EXCEEDED = 0
    CONCURRENCY_EXCEEDED = -1


@dataclass(frozen=True, slots=True)
class LimitDecision:
    """The result of one limit check."""

    outcome: LimitOutcome
    remaining: int
    reset_us: int
    retry_us: int


@dataclass(frozen=True, slots=True)
class RateLimitLease:
    """An admitted request; released when it completes."""

    subject: str
    id: str
    local: bool
    headers: dict[str, str]


class RateLimiter:
    """Admits requests using Redis; while it is unavailable, each process applies the same limits locally."""

    def __init__(self, redis: BatchingRedis, *, failures_per_minute: int) -> None:
        self._redis = redis
        self._local = LocalRateLimiter()
        self._failures = RateLimit(failures_per_minute)
        self._unavailable_until = 0.0

    async def acquire(self, principal: Principal) -> RateLimitLease:
        """Admit a request of this principal, or raise RATE_LIMITED."""
        plan, subject, lease = principal.plan, principal.id, request_id.get() or new_id()
        rate, local = RateLimit(plan.requests_per_minute), False
        decision = await self._check(subject, rate, leases=plan.concurrent_requests, lease=lease)
        if decision is None:
            local = True
            decision = self._local.acquire(subject, rate, leases=plan.concurrent_requests)
        headers = _headers(rate, decision)
        if decision.outcome is not LimitOutcome.ADMITTED:
            raise _rate_limited(decision, headers)
        return RateLimitLease(subject=subject, id=lease, local=local, headers=headers)

    def release(self, lease: RateLimitLease) -> None:
        """Release the lease. If Redis is unavailable, it expires by itself."""
        if lease.local:
            self._local.release(lease.subject)
        else:
            self._redis.send(("ZREM", _keys(lease.subject)[1], lease.id))

    async def count_failure(self, address: str) -> None:
        """Count a failed authentication; raise RATE_LIMITED if there are too many, or if Redis is unavailable."""
        await self.count(f"failed:{address}", self._failures)

    async def count(self, subject: str, rate: RateLimit) -> None:
        """Count one attempt; raise RATE_LIMITED if there are too many, or if Redis is unavailable."""
        decision = await self._counted(subject, rate)
        if decision.outcome is not LimitOutcome.ADMITTED:
            raise _rate_limited(decision, _headers(rate, decision))

    async def is_within(self, subject: str, rate: RateLimit) -> bool:
        """Count one attempt; return whether it is within the rate. Raises RATE_LIMITED if Redis is unavailable."""
        return (await self._counted(subject, rate)).outcome is LimitOutcome.ADMITTED

    async def _counted(self, subject: str, rate: RateLimit) -> LimitDecision:
        decision = await self._check(subject, rate)
        if decision is None:
            raise _rate_limited(LimitDecision(LimitOutcome.RATE_EXCEEDED, 0, 0, _MICROSECONDS), {})
        return decision

    async def _check(self, subject: str, rate: RateLimit, *, leases: int = 0, lease: str = "") -> LimitDecision | None:
        if time.monotonic() < self._unavailable_until:
            return None
        keys = _keys(subject) if lease else _keys(subject)[:1]
        arguments = (rate.interval_us, rate.per_minute, leases, LEASE_SECONDS * 1000, lease)
        try:
            outcome, remaining, reset_us, retry_us = await self._redis.run(_SCRIPT, keys, arguments=arguments)
        except RedisUnavailableError:
            self._pause()
            return None
        return LimitDecision(LimitOutcome(outcome), remaining, reset_us, retry_us)

    def _pause(self) -> None:
        if time.monotonic() >= self._unavailable_until:
            _log.warning("redis unavailable, using in-process limits")
        self._unavailable_until = time.monotonic() + REDIS_PAUSE_SECONDS


class LocalRateLimiter:
    """In-process limits for the most recently used keys."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._arrivals: OrderedDict[str, float] = OrderedDict()
        self._running: dict[str, int] = {}

    def acquire(self, subject: str, rate: RateLimit, *, leases: int) -> LimitDecision:
        now = self._clock() * _MICROSECONDS
        spent = max(self._arrivals.get(subject, 0.0), now) - now
        available = rate.interval_us * rate.per_minute - spent
        if available < rate.interval_us:
            return LimitDecision(LimitOutcome.RATE_EXCEEDED, 0, int(spent), int(rate.interval_us - available))
        if self._running.get(subject, 0) >= leases:
            return LimitDecision(LimitOutcome.CONCURRENCY_EXCEEDED, int(available / rate.interval_us), int(spent), 0)
        self._running[subject] = self._running.get(subject, 0) + 1
        self._arrivals[subject] = now + spent + rate.interval_us
        self._arrivals.move_to_end(subject)
        if len(self._arrivals) > LOCAL_SUBJECTS:
            self._arrivals.popitem(last=False)
        remaining = int(available / rate.interval_us) - 1
        return LimitDecision(LimitOutcome.ADMITTED, remaining, int(spent + rate.interval_us), 0)

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


def _keys(subject: str) -> list[str]:
    return [f"limits:{{{subject}}}:rate", f"limits:{{{subject}}}:leases"]


def _headers(rate: RateLimit, decision: LimitDecision) -> dict[str, str]:
    return {
        "RateLimit-Limit": str(rate.per_minute),
        "RateLimit-Remaining": str(decision.remaining),
        "RateLimit-Reset": str(math.ceil(decision.reset_us / _MICROSECONDS)),
    }


def _rate_limited(decision: LimitDecision, headers: dict[str, str]) -> CutroomError:
    retry_seconds = max(1, math.ceil(decision.retry_us / _MICROSECONDS))
    return CutroomError(
        Code.RATE_LIMITED,
        details={"limit": "rate" if decision.outcome is LimitOutcome.RATE_EXCEEDED else "concurrency"},
        headers={**headers, "Retry-After": str(retry_seconds)},
    )
