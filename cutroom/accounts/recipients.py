"""Finds the members of a library that notifications are for, and the addresses of their mails."""

from dataclasses import dataclass

from cutroom.accounts.principals import Role
from cutroom.platform.db import Connection


@dataclass(frozen=True, slots=True)
class Recipient:
    """A member of the transaction's library."""

    user_id: str
    is_admin: bool  # or owner


@dataclass(frozen=True, slots=True)
class MailAddress:
    """Where mails to a member go, and the library as they know it."""

    email: str
    library_name: str | None  # of a workspace


async def list_recipients(connection: Connection, library_id: str) -> list[Recipient]:
    rows = await connection.fetch("SELECT user_id, role FROM members WHERE library_id = $1", library_id)
    return [Recipient(row["user_id"], Role(row["role"]) in Role.ADMIN.and_above) for row in rows]


async def find_mail_address(connection: Connection, library_id: str, user_id: str) -> MailAddress | None:
    """None if the user is not a member any more, or the library is suspended."""
    row = await connection.fetchrow(
        """SELECT u.email, CASE WHEN l.kind = 'workspace' THEN l.name END AS library_name
           FROM members m JOIN users u ON u.id = m.user_id JOIN libraries l ON l.id = m.library_id
           WHERE m.library_id = $1 AND m.user_id = $2 AND l.suspended_at IS NULL""",
        library_id,
        user_id,
    )
    return None if row is None else MailAddress(row["email"], row["library_name"])
