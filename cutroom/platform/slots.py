"""Bounds concurrent work by leases in Redis, with an in-process fallback."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from cutroom.platform.ids import new_id
from cutroom.platform.redis import BatchingRedis, RedisUnavailableError, Script

LEASE_SECONDS = 60  # leases of a process that was killed end after this
RENEWAL_SECONDS = 20.0

# KEYS: a sorted set of leases by their end. ARGV: slots, lease lifetime in ms, lease id.
_ACQUIRE = Script("""
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if not redis.call('ZSCORE', KEYS[1], ARGV[3]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then
  return 0
end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
""")
_UNLIMITED = 2**31
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SlotLimit:
    """How many holders a subject may have, in all processes or in this one."""

    subject: str
    slots: int
    per_process: bool = False

    @property
    def key(self) -> str:
        return f"slots:{{{self.subject}}}"


class SlotsFullError(Exception):
    """All slots of a subject are held."""

    def __init__(self, limit: SlotLimit) -> None:
        super().__init__(f"all {limit.slots} slots of {limit.subject} are held")
        self.limit = limit


class Slots:
    """Slots that are released when their holder ends, or shortly after its process was killed.

    While Redis is unavailable, each process applies the limits to its own holders.
    """

    def __init__(self, redis: BatchingRedis, local: Counter[str] | None = None) -> None:
        self._redis = redis
        self._local: Counter[str] = Counter() if local is None else local  # held by this process

    @asynccontextmanager
    async def hold(self, limits: Sequence[SlotLimit]) -> AsyncIterator[None]:
        """Holds one slot of each subject, or raises SlotsFullError without waiting."""
        lease, held = new_id(), list[SlotLimit]()
        try:
            for limit in limits:
                await self._acquire(limit, lease)
                held.append(limit)
            renewing = asyncio.create_task(self._renew(held, lease))
            try:
                yield
            finally:
                renewing.cancel()
        finally:
            for limit in held:
                self._release(limit, lease)

    def count(self, subject: str) -> int:
        """Slots held by this process."""
        return self._local[subject]

    async def _acquire(self, limit: SlotLimit, lease: str) -> None:
        if self._local[limit.subject] >= limit.slots:
            raise SlotsFullError(limit)
        self._local[limit.subject] += 1  # before waiting for Redis
        is_free = False
        try:
            is_free = limit.per_process or await self._lease(limit, lease, slots=limit.slots)
        finally:
            if not is_free:
                self._release(limit, lease)  # also a lease that Redis has given to a canceled request
        if not is_free:
            raise SlotsFullError(limit)

    async def _lease(self, limit: SlotLimit, lease: str, *, slots: int) -> bool:
        try:
            return bool(await self._redis.run(_ACQUIRE, [limit.key], arguments=(slots, LEASE_SECONDS * 1000, lease)))
        except RedisUnavailableError:
            _log.warning("redis unavailable, using in-process slots")
            return True

    def _release(self, limit: SlotLimit, lease: str) -> None:
        self._local[limit.subject] -= 1
        if self._local[limit.subject] <= 0:
            del self._local[limit.subject]
        if not limit.per_process:
            self._redis.send(("ZREM", limit.key, lease))

    async def _renew(self, limits: Sequence[SlotLimit], lease: str) -> None:
        while True:
            await asyncio.sleep(RENEWAL_SECONDS)
            for limit in limits:
                if not limit.per_process:
                    await self._lease(limit, lease, slots=_UNLIMITED)
