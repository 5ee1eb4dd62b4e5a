"""Passwords: what one must be, and the slow hash that is kept of it."""

import asyncio
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from cutroom.errors import invalid_field

MIN_PASSWORD = 10
MAX_PASSWORD = 200
HASHES_AT_ONCE = 2  # each takes 64 MiB for a moment

_HASHER = PasswordHasher()
_turns = asyncio.Semaphore(HASHES_AT_ONCE)


def check_password(password: str) -> None:
    """Length is what counts; rules about signs only make passwords worse."""
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise invalid_field("password", f"A password has {MIN_PASSWORD} to {MAX_PASSWORD} characters.")


def hash_password(password: str) -> str:
    """Blocks for a good part of a second; on purpose."""
    return _HASHER.hash(password)


async def hash_aside(password: str) -> str:
    """The same, off the event loop and a few at a time."""
    async with _turns:
        return await asyncio.to_thread(hash_password, password)


async def is_password(password: str, hashed: str | None) -> bool:
    """Whether it is the one; for somebody unknown this takes as long, and the answer is no."""
    if len(password) > MAX_PASSWORD:
        return False
    async with _turns:
        right = await asyncio.to_thread(_verify, password, hashed)
    return right and hashed is not None


def _verify(password: str, hashed: str | None) -> bool:
    try:
        return _HASHER.verify(hashed or _nobody(), password)
    except (VerificationError, InvalidHashError):
        return False


@cache
def _nobody() -> str:
    return _HASHER.hash("nobody has this password")
