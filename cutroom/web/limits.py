"""Rate and concurrency limits per key: in Redis, and inside the process while Redis is away."""

import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError
from cutroom.platform.ids import new_id
from cutroom.platform.redis import BatchingRedis, RedisAwayError, Script
from cutroom.platform.telemetry import request_id

LEASE_SECONDS = 120  # longer than any request may take; a process that dies gives its leases back so late
REDIS_PAUSE_SECONDS = 1.0  # after a failure, how long to do without Redis before it is asked again
LOCAL_SUBJECTS = 10_000  # how many keys the in-process limits remember

_SCRIPT = Script(Path(__file__).with_name("limits.lua").read_text())
_MICROSECONDS = 1_000_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rate:
    """So many in a minute, all at once if need be."""

    per_minute: int

    @property
    def interval_us(self) -> int:
        return 60 * _MICROSECONDS // self.per_minute


class Outcome(IntEnum):
    """As the script answers it."""

    ADMITTED = 1
    TOO_FAST = 0
    TOO_MANY = -1


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the limiter said, whoever it was."""

    outcome: Outcome
    remaining: int
    full_us: int
    retry_us: int


@dataclass(frozen=True, slots=True)
class Admission:
    """An admitted request, until it is given back."""

    subject: str
    lease: str
    local: bool
    headers: dict[str, str]


class Limits:
    """Admits requests. Redis decides; while it cannot, each process decides by itself and by the same rule."""

    def __init__(self, redis: BatchingRedis, *, failures_per_minute: int) -> None:
        self._redis = redis
        self._local = LocalLimits()
        self._failures = Rate(failures_per_minute)
        self._away_until = 0.0

    async def take(self, principal: Principal) -> Admission:
        """Admit a request of this principal, or raise RATE_LIMITED."""
        plan, subject, lease = principal.plan, principal.id, request_id.get() or new_id()
        rate, local = Rate(plan.requests_per_minute), False
        verdict = await self._ask(subject, rate, leases=plan.requests_at_once, lease=lease)
        if verdict is None:
            local = True
            verdict = self._local.take(subject, rate, leases=plan.requests_at_once)
        headers = _headers(rate, verdict)
        if verdict.outcome is not Outcome.ADMITTED:
            raise _refusal(verdict, headers)
        return Admission(subject=subject, lease=lease, local=local, headers=headers)

    def give_back(self, admission: Admission) -> None:
        """The request is over. A lease that cannot be given back to Redis runs out by itself."""
        if admission.local:
            self._local.give_back(admission.subject)
        else:
            self._redis.tell(("ZREM", _keys(admission.subject)[1], admission.lease))

    async def count_failure(self, address: str) -> None:
        """Count a guess at a credential; guessing stops when it is too fast, or when it cannot be counted."""
        await self.count(f"failed:{address}", self._failures)

    async def count(self, subject: str, rate: Rate) -> None:
        """Count one attempt at something that must not be tried too fast, nor when it cannot be counted."""
        verdict = await self._ask(subject, rate)
        if verdict is None:
            raise _refusal(Verdict(Outcome.TOO_FAST, 0, 0, _MICROSECONDS), {})
        if verdict.outcome is not Outcome.ADMITTED:
            raise _refusal(verdict, _headers(rate, verdict))

    async def _ask(self, subject: str, rate: Rate, *, leases: int = 0, lease: str = "") -> Verdict | None:
        if time.monotonic() < self._away_until:
            return None
        keys = _keys(subject) if lease else _keys(subject)[:1]
        arguments = (rate.interval_us, rate.per_minute, leases, LEASE_SECONDS * 1000, lease)
        try:
            outcome, remaining, full_us, retry_us = await self._redis.run(_SCRIPT, keys, arguments=arguments)
        except RedisAwayError:
            self._pause()
            return None
        return Verdict(Outcome(outcome), remaining, full_us, retry_us)

    def _pause(self) -> None:
        if time.monotonic() >= self._away_until:
            _log.warning("redis is away: limits are kept inside the process")
        self._away_until = time.monotonic() + REDIS_PAUSE_SECONDS


class LocalLimits:
    """The same rule inside one process, for the newest few thousand keys."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._arrivals: OrderedDict[str, float] = OrderedDict()
        self._running: dict[str, int] = {}

    def take(self, subject: str, rate: Rate, *, leases: int) -> Verdict:
        now = self._clock() * _MICROSECONDS
        spent = max(self._arrivals.get(subject, 0.0), now) - now
        room = rate.interval_us * rate.per_minute - spent
        if room < rate.interval_us:
            return Verdict(Outcome.TOO_FAST, 0, int(spent), int(rate.interval_us - room))
        if self._running.get(subject, 0) >= leases:
            return Verdict(Outcome.TOO_MANY, int(room / rate.interval_us), int(spent), 0)
        self._running[subject] = self._running.get(subject, 0) + 1
        self._arrivals[subject] = now + spent + rate.interval_us
        self._arrivals.move_to_end(subject)
        if len(self._arrivals) > LOCAL_SUBJECTS:
            self._arrivals.popitem(last=False)
        remaining = int(room / rate.interval_us) - 1
        return Verdict(Outcome.ADMITTED, remaining, int(spent + rate.interval_us), 0)

    def give_back(self, subject: str) -> None:
        self._running[subject] -= 1
        if not self._running[subject]:
            del self._running[subject]


def _keys(subject: str) -> list[str]:
    return [f"limits:{{{subject}}}:rate", f"limits:{{{subject}}}:leases"]


def _headers(rate: Rate, verdict: Verdict) -> dict[str, str]:
    return {
        "RateLimit-Limit": str(rate.per_minute),
        "RateLimit-Remaining": str(verdict.remaining),
        "RateLimit-Reset": str(math.ceil(verdict.full_us / _MICROSECONDS)),
    }


def _refusal(verdict: Verdict, headers: dict[str, str]) -> CutroomError:
    retry_seconds = max(1, math.ceil(verdict.retry_us / _MICROSECONDS))
    return CutroomError(
        Code.RATE_LIMITED,
        details={"limit": "rate" if verdict.outcome is Outcome.TOO_FAST else "concurrency"},
        headers={**headers, "Retry-After": str(retry_seconds)},
    )
