"""Data keys: one per library, wrapped by the key ring. Deleting one erases everything that it encrypts."""

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from cutroom.platform.db import Connection, enter_library
from cutroom.platform.key_ring import load_key_ring
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.transient import is_transient

SYSTEM = "system"  # of what belongs to no library: schedules, sweeps, erasures
CACHED_SECONDS = 300.0  # how long a process may use a key that was deleted
OUTAGE_SECONDS = 3600.0  # the same while PostgreSQL, and so the deletion of keys, is unavailable
MAX_CACHED = 10_000
PURPOSE = "data-key"
_KEY_BYTES = 32

Connections = Callable[[], AbstractAsyncContextManager[Connection]]


class ErasedKeyError(Exception):
    """The data key does not exist, so what it has encrypted cannot be read anymore."""


@dataclass(frozen=True, slots=True)
class DataKey:
    """A data key and whose it is."""

    library_id: str
    cipher: AESGCM


@dataclass(frozen=True, slots=True)
class _CachedKey:
    key: DataKey
    loaded_at: float


class DataKeys:
    """Loads and creates data keys, and caches them for a bounded time."""

    def __init__(
        self, connections: Connections, secret_box: SecretBox, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._connections = connections
        self._secret_box = secret_box
        self._monotonic = monotonic
        self._cached: OrderedDict[str, _CachedKey] = OrderedDict()
        self._loading = asyncio.Lock()

    async def for_encryption(self, library_id: str) -> DataKey:
        """The key of a library, created if it has none; that of the system for a library that is being erased."""
        found = await self._find(library_id, create=True)
        if found is None:
            found = await self._find(SYSTEM, create=True)
        assert found is not None
        return found

    async def for_decryption(self, library_id: str) -> DataKey:
        """Raises ErasedKeyError if the key was deleted."""
        found = await self._find(library_id, create=False)
        if found is None:
            raise ErasedKeyError(library_id)
        return found

    async def _find(self, library_id: str, *, create: bool) -> DataKey | None:
        if (known := self._usable(library_id, CACHED_SECONDS)) is not None:
            return known
        async with self._loading:
            if (known := self._usable(library_id, CACHED_SECONDS)) is not None:  # loaded while this call waited
                return known
            try:
                secret = await self._load(library_id, create=create)
            except Exception as error:
                known = self._usable(library_id, OUTAGE_SECONDS)
                if known is None or not is_transient(error):
                    raise
                return known
            return self._remember(library_id, secret)

    def _usable(self, library_id: str, seconds: float) -> DataKey | None:
        cached = self._cached.get(library_id)
        return cached.key if cached is not None and self._monotonic() - cached.loaded_at < seconds else None

    def _remember(self, library_id: str, secret: bytes | None) -> DataKey | None:
        self._cached.pop(library_id, None)
        if secret is None:
            return None
        key = DataKey(library_id, AESGCM(secret))
        self._cached[library_id] = _CachedKey(key, self._monotonic())
        if len(self._cached) > MAX_CACHED:
            self._cached.popitem(last=False)
        return key

    async def _load(self, library_id: str, *, create: bool) -> bytes | None:
        async with self._connections() as connection, connection.transaction():
            await enter_library(connection, library_id)
            wrapped = await _stored(connection, library_id)
            if wrapped is None and create:
                secret = self._secret_box.seal(PURPOSE, secrets.token_bytes(_KEY_BYTES), context=library_id)
                await connection.execute(
                    """INSERT INTO data_keys (library_id, wrapped, created_at) SELECT $1, $2, now()
                       WHERE $1 = $3 OR EXISTS (SELECT FROM libraries WHERE id = $1 AND erased_at IS NULL)
                       ON CONFLICT DO NOTHING""",
                    library_id,
                    secret,
                    SYSTEM,
                )
                wrapped = await _stored(connection, library_id)  # another process may have been first
            return None if wrapped is None else await self._unwrap(connection, library_id, wrapped)

    async def _unwrap(self, connection: Connection, library_id: str, wrapped: bytes) -> bytes:
        try:
            return self._secret_box.unseal(PURPOSE, wrapped, context=library_id)
        except ValueError:  # a process that does not follow the ring may not know the key
            await load_key_ring(connection, self._secret_box)
            return self._secret_box.unseal(PURPOSE, wrapped, context=library_id)


async def _stored(connection: Connection, library_id: str) -> bytes | None:
    found: bytes | None = await connection.fetchval("SELECT wrapped FROM data_keys WHERE library_id = $1", library_id)
    return found
