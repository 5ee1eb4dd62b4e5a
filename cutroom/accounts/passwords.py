"""Password rules and Argon2 hashing."""

import asyncio
import base64
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from cutroom.errors import Code, CutroomError, invalid_field

MIN_PASSWORD = 10
MAX_PASSWORD = 200
HASH_CONCURRENCY = 2  # each hash uses 64 MiB
HASH_NICENESS = 5  # requests go first
MAX_WAITING_HASHES = 64  # a few seconds of work
BUSY_RETRY_SECONDS = 2

_HASHER = PasswordHasher()
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class HashQueue:
    """Runs hashes in threads with bounded concurrency; raises RATE_LIMITED when too many are waiting.

    Callers hold no database connection while they wait.
    """

    def __init__(self, concurrency: int = HASH_CONCURRENCY, *, max_waiting: int = MAX_WAITING_HASHES) -> None:
        self._slots = asyncio.Semaphore(concurrency)
        # On Linux niceness is a thread's own, and the threads that Argon2 starts inherit it.
        self._threads = ThreadPoolExecutor(concurrency, "password-hash", os.nice, (HASH_NICENESS,))
        self._max_waiting = max_waiting
        self.waiting = 0

    async def run(
        self, function: Callable[_Arguments, _Result], *arguments: _Arguments.args, **named: _Arguments.kwargs
    ) -> _Result:
        if self._slots.locked() and self.waiting >= self._max_waiting:
            headers = {"Retry-After": str(BUSY_RETRY_SECONDS)}
            raise CutroomError(Code.RATE_LIMITED, details={"limit": "concurrency"}, headers=headers)
        self.waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self.waiting -= 1
        try:
            call = partial(function, *arguments, **named)
            return await asyncio.get_running_loop().run_in_executor(self._threads, call)
        finally:
            self._slots.release()


_queue = HashQueue()


def check_password(password: str) -> None:
    """Check the length only; composition rules do not make passwords stronger."""
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise invalid_field("password", f"A password has {MIN_PASSWORD} to {MAX_PASSWORD} characters.")


def hash_password(password: str) -> str:
    """Hash a password; deliberately slow and blocking."""
    return _HASHER.hash(password)


async def hash_password_async(password: str) -> str:
    """Hash in the queue."""
    return await _queue.run(hash_password, password)


async def verify_password(password: str, hashed: str | None) -> bool:
    """Verify a password; takes the same time if there is no such user."""
    if len(password) > MAX_PASSWORD:
        return False
    matches = await _queue.run(_verify, password, hashed)
    return matches and hashed is not None


def _verify(password: str, hashed: str | None) -> bool:
    try:
        return _HASHER.verify(hashed or _UNMATCHED, password)
    except (VerificationError, InvalidHashError):
        return False


def _unmatched_hash() -> str:
    """A hash of no password, with today's cost parameters: verifying against it takes as long as any other."""
    salt, digest = (
        base64.b64encode(bytes(size)).rstrip(b"=").decode() for size in (_HASHER.salt_len, _HASHER.hash_len)
    )
    cost = f"m={_HASHER.memory_cost},t={_HASHER.time_cost},p={_HASHER.parallelism}"
    return f"$argon2id$v=19${cost}${salt}${digest}"


_UNMATCHED = _unmatched_hash()
