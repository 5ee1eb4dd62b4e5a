"""Credentials: their format, their checksum, and when each was last used."""

import asyncio
import logging
import secrets
import zlib
from datetime import datetime

import asyncpg

from cutroom.platform.db import Database

KEY_PREFIX = "cr_"
TOKEN_PREFIX = "oat_"  # noqa: S105 (a prefix, not a secret)

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET_LENGTH = 40  # 238 bits
_CHECKSUM_LENGTH = 6
LAST_USE_FLUSH_SECONDS = 5.0

_log = logging.getLogger(__name__)


def mint_credential(prefix: str) -> str:
    """A new secret. Its checksum lets us, and secret scanners, tell a real one from noise without a lookup."""
    body = prefix + "".join(secrets.choice(_ALPHABET) for _ in range(_SECRET_LENGTH))
    return body + _checksum(body)


def is_well_formed(credential: str, prefix: str) -> bool:
    length = len(prefix) + _SECRET_LENGTH + _CHECKSUM_LENGTH
    if len(credential) != length or not credential.startswith(prefix) or not credential.isascii():
        return False
    return _checksum(credential[:-_CHECKSUM_LENGTH]) == credential[-_CHECKSUM_LENGTH:]


def _checksum(body: str) -> str:
    number, digits = zlib.crc32(body.encode()), ""
    for _ in range(_CHECKSUM_LENGTH):
        number, digit = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return digits


class LastUse:
    """Remembers when keys were used and writes it down every few seconds, off the request's path."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._seen: dict[str, datetime] = {}

    def note(self, key_id: str, at: datetime) -> None:
        self._seen[key_id] = at

    async def flush(self) -> None:
        seen, self._seen = self._seen, {}
        if seen:
            async with self._database.connection() as connection:
                await connection.execute("SELECT touch_keys($1, $2)", list(seen), list(seen.values()))

    async def run(self) -> None:
        """Flush for ever; a database that is away costs a few timestamps, never a request."""
        while True:
            await asyncio.sleep(LAST_USE_FLUSH_SECONDS)
            try:
                await self.flush()
            except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                _log.exception("last use of keys was not recorded")
