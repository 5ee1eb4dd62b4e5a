"""Finds the library of a credential or an address, for the router in front of several cells."""

from datetime import datetime

import asyncpg

from cutroom.accounts.principals import CREDENTIAL_PURPOSE
from cutroom.accounts.sessions import IDLE_LIFETIME, SESSION_PURPOSE, normalize_email
from cutroom.accounts.subjects import Subject
from cutroom.platform.db import Connection
from cutroom.platform.secret_box import SecretBox


async def locate(
    connection: Connection, subject: Subject, value: str, *, secret_box: SecretBox, now: datetime
) -> str | None:
    """Return the library that this database has for it; raises as `enter_library` does while the library moves."""
    if subject is Subject.LIBRARY:
        found: str | None = value
    else:
        row = await _find(connection, subject, value, secret_box=secret_box, now=now)
        found = row["library_id"] if row is not None else None
    return found if found is not None and await _is_present(connection, found) else None


async def _find(
    connection: Connection, subject: Subject, value: str, *, secret_box: SecretBox, now: datetime
) -> asyncpg.Record | None:
    match subject:
        case Subject.CREDENTIAL:
            hashed = secret_box.keyed_hash(CREDENTIAL_PURPOSE, value)
            row = await connection.fetchrow("SELECT library_id FROM authenticate_key($1)", hashed)
            if row is not None:
                return row
            return await connection.fetchrow("SELECT library_id FROM authenticate_token($1, $2)", hashed, now)
        case Subject.SESSION:
            hashed = secret_box.keyed_hash(SESSION_PURPOSE, value)
            return await connection.fetchrow(
                "SELECT library_id FROM authenticate_session($1, $2, $3)", hashed, now, IDLE_LIFETIME
            )
        case Subject.EMAIL:
            return await connection.fetchrow("SELECT library_id FROM find_account($1)", normalize_email(value))
        case Subject.LIBRARY:
            raise ValueError(subject)


async def _is_present(connection: Connection, library_id: str) -> bool:
    async with connection.transaction():
        await connection.execute("SELECT enter_library($1)", library_id)
        return bool(await connection.fetchval("SELECT 1 FROM libraries WHERE id = $1", library_id))
