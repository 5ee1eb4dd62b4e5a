"""Who looks at something now, in Redis: entries that end by themselves. Nothing is lost with them."""

import json
from dataclasses import dataclass

from cutroom.platform.redis import BatchingRedis, RedisUnavailableError, Script

PRESENT_SECONDS = 40  # without a sign of life
MAX_PRESENT = 200  # kept of one subject

# KEYS: a sorted set of people by the end of their presence. ARGV: lifetime in ms, the person, the most that are kept.
_SHOW = Script("""
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[1]), ARGV[2])
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -tonumber(ARGV[3]) - 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return redis.call('ZRANGE', KEYS[1], 0, -1)
""")


@dataclass(frozen=True, slots=True)
class PresentPerson:
    """A person, by the id of their user or browser."""

    id: str
    name: str


class Presence:
    """Shows who else is present. Without Redis, no one else is."""

    def __init__(self, redis: BatchingRedis) -> None:
        self._redis = redis

    async def show(self, subject: str, person: PresentPerson, *, at_most: int) -> list[PresentPerson]:
        """Record that a person is present; return the others by name."""
        entry = json.dumps([person.id, person.name])
        arguments = (PRESENT_SECONDS * 1000, entry, MAX_PRESENT)
        try:
            entries: list[bytes] = await self._redis.run(_SHOW, [f"presence:{{{subject}}}"], arguments=arguments)
        except RedisUnavailableError:
            return []
        present = {found_id: name for found_id, name in map(json.loads, entries) if found_id != person.id}
        others = [PresentPerson(found_id, name) for found_id, name in present.items()]
        return sorted(others, key=lambda each: (each.name.casefold(), each.id))[:at_most]
