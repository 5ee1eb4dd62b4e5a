"""API key and token format, checksum, and last-used tracking."""

import asyncio
import logging
import secrets
import zlib
from datetime import datetime

from cutroom.platform.db import DATABASE_ERRORS, Database

KEY_PREFIX = "cr_"
TOKEN_PREFIX = "oat_"  # noqa: S105 (a prefix, not a secret)

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET_LENGTH = 40  # 238 bits
_CHECKSUM_LENGTH = 6
LAST_USE_FLUSH_SECONDS = 5.0

_log = logging.getLogger(__name__)


def generate_credential(prefix: str) -> str:
    """Generate a credential with a checksum, which lets us and secret scanners validate it without a lookup."""
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


class LastUsedRecorder:
    """Buffers last-used times of keys and writes them every few seconds, outside of requests."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._last_used: dict[str, datetime] = {}

    def record(self, key_id: str, at: datetime) -> None:
        self._last_used[key_id] = at

    async def flush(self) -> None:
        last_used, self._last_used = self._last_used, {}
        if last_used:
            async with self._database.connection() as connection:
                await connection.execute("SELECT touch_keys($1, $2)", list(last_used), list(last_used.values()))

    async def run(self) -> None:
        """Flush periodically; a database outage loses timestamps but fails no request."""
        while True:
            await asyncio.sleep(LAST_USE_FLUSH_SECONDS)
            try:
                await self.flush()
            except DATABASE_ERRORS:
                _log.exception("key last-used times not recorded")
