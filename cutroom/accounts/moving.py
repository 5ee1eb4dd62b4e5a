"""Copies what a library needs of its people: users, and with a personal library the password, sessions and clients."""

import asyncpg

from cutroom.platform.db import Connection

_USERS = """
SELECT u.id, u.email, u.name, u.created_at FROM users u
 WHERE u.id IN (SELECT user_id FROM members WHERE library_id = $1
                UNION SELECT user_id FROM api_keys WHERE library_id = $1
                UNION SELECT user_id FROM oauth_tokens WHERE library_id = $1)
 ORDER BY u.id
"""
_SAVE_USER = """
INSERT INTO users (id, email, name, created_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (id) DO UPDATE SET email = excluded.email, name = excluded.name
"""
_OWNER = """
SELECT m.user_id FROM members m JOIN libraries l ON l.id = m.library_id WHERE l.id = $1 AND l.kind = 'personal'
"""
_PASSWORD = "SELECT user_id, hash, changed_at FROM user_passwords WHERE user_id = $1"  # noqa: S105 (a query)
_SAVE_PASSWORD = """
INSERT INTO user_passwords (user_id, hash, changed_at) VALUES ($1, $2, $3)
    ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash, changed_at = excluded.changed_at
"""  # noqa: S105 (a statement)
# The person's other libraries may be elsewhere, so every session continues in the personal one.
_SESSIONS = """
SELECT id, user_id, hash, created_at, seen_at, expires_at, client_address, user_agent FROM sessions WHERE user_id = $1
"""
_SAVE_SESSION = """
INSERT INTO sessions (id, user_id, hash, created_at, seen_at, expires_at, client_address, user_agent, chosen_library)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING
"""
_CLIENTS = """
SELECT c.id, c.name, c.redirect_uris, c.owner_id, c.created_at, c.revoked_at FROM oauth_clients c
 WHERE c.owner_id = $2 OR c.id IN (SELECT client_id FROM oauth_grants WHERE library_id = $1
                                   UNION SELECT client_id FROM oauth_tokens WHERE library_id = $1)
 ORDER BY c.id
"""
# A client whose owner is not a person of this cell belongs to the installation here.
_SAVE_CLIENT = """
INSERT INTO oauth_clients (id, name, redirect_uris, owner_id, created_at, revoked_at)
SELECT $1, $2, $3, (SELECT id FROM users WHERE id = $4), $5, $6
    ON CONFLICT (id) DO UPDATE SET revoked_at = excluded.revoked_at
"""
# As if the library were erased: sessions in it continue in the person's own library, if that stays.
_LEAVE_SESSIONS = """
UPDATE sessions s SET chosen_library = l.id FROM members m JOIN libraries l ON l.id = m.library_id
 WHERE s.chosen_library = $1 AND m.user_id = s.user_id AND l.kind = 'personal' AND l.id <> $1
"""


class EmailTakenError(Exception):
    """Another account of the target has the e-mail address of a member."""


async def copy_users(source: Connection, target: Connection, library_id: str) -> None:
    """Members and owners of keys; their rows in other libraries stay where they are."""
    for row in await source.fetch(_USERS, library_id):
        try:
            async with target.transaction():
                await target.execute(_SAVE_USER, *row.values())
        except asyncpg.UniqueViolationError as error:
            raise EmailTakenError(row["id"]) from error


async def copy_sign_in(source: Connection, target: Connection, library_id: str) -> None:
    owner = await source.fetchval(_OWNER, library_id)
    for row in await source.fetch(_CLIENTS, library_id, owner):
        await target.execute(_SAVE_CLIENT, *row.values())
    if owner is None:
        return
    for row in await source.fetch(_PASSWORD, owner):
        await target.execute(_SAVE_PASSWORD, *row.values())
    for row in await source.fetch(_SESSIONS, owner):
        await target.execute(_SAVE_SESSION, *row.values(), library_id)


async def end_sessions(source: Connection, library_id: str) -> None:
    """In the cell that the library has left."""
    owner = await source.fetchval(_OWNER, library_id)
    if owner is not None:
        await source.execute("DELETE FROM sessions WHERE user_id = $1", owner)
    await source.execute(_LEAVE_SESSIONS, library_id)
    await source.execute("DELETE FROM sessions WHERE chosen_library = $1", library_id)
