"""Bounds concurrent downloads per library and per remote host, in all workers together."""

import hashlib
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pydantic import SecretStr

from cutroom.platform.egress.urls import parse_url
from cutroom.platform.redis import BatchingRedis
from cutroom.platform.slots import SlotLimit, Slots
from cutroom.products.ingest.rules import SourceType


@dataclass(frozen=True, slots=True)
class ImportSlots:
    """Leases of running downloads; the hosts of the known providers are not bounded, because callers share them."""

    redis_url: SecretStr
    per_library: int
    per_host: int
    _local: Counter[str] = field(default_factory=Counter)

    @asynccontextmanager
    async def hold(self, library_id: str, kind: SourceType, url: str) -> AsyncIterator[None]:
        """Raises SlotsFullError if the library or the host has too many downloads already."""
        limits = [SlotLimit(f"import:library:{library_id}", self.per_library)]
        if kind is SourceType.HTTPS:
            digest = hashlib.sha256(parse_url(url).host.encode()).hexdigest()
            limits.append(SlotLimit(f"import:host:{digest}", self.per_host))
        redis = BatchingRedis(self.redis_url.get_secret_value())
        try:
            async with Slots(redis, self._local).hold(limits):
                yield
        finally:
            await redis.close()
