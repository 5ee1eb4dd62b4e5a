"""Password rules and Argon2 hashing."""

import asyncio
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from cutroom.errors import invalid_field

MIN_PASSWORD = 10
MAX_PASSWORD = 200
HASH_CONCURRENCY = 2  # each hash uses 64 MiB

_HASHER = PasswordHasher()
_hash_slots = asyncio.Semaphore(HASH_CONCURRENCY)


def check_password(password: str) -> None:
    """Check the length only; composition rules do not make passwords stronger."""
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise invalid_field("password", f"A password has {MIN_PASSWORD} to {MAX_PASSWORD} characters.")


def hash_password(password: str) -> str:
    """Hash a password; deliberately slow and blocking."""
    return _HASHER.hash(password)


async def hash_password_async(password: str) -> str:
    """Hash in a thread, with bounded concurrency."""
    async with _hash_slots:
        return await asyncio.to_thread(hash_password, password)


async def verify_password(password: str, hashed: str | None) -> bool:
    """Verify a password; takes the same time if there is no such user."""
    if len(password) > MAX_PASSWORD:
        return False
    async with _hash_slots:
        matches = await asyncio.to_thread(_verify, password, hashed)
    return matches and hashed is not None


def _verify(password: str, hashed: str | None) -> bool:
    try:
        return _HASHER.verify(hashed or _dummy_hash(), password)
    except (VerificationError, InvalidHashError):
        return False


@cache
def _dummy_hash() -> str:
    return _HASHER.hash("no user has this password")
