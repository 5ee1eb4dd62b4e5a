"""Whether the email address of an account is confirmed, and whether it has to be."""

from dataclasses import dataclass
from datetime import datetime

from cutroom.platform.db import Connection


@dataclass(frozen=True, slots=True)
class EmailVerification:
    """Accounts that people create themselves must be confirmed; those of an operator can be."""

    must_verify: bool = False
    verified_at: datetime | None = None

    @property
    def is_blocking(self) -> bool:
        """Whether the account cannot be used yet."""
        return self.must_verify and self.verified_at is None


async def load_verification(connection: Connection, library_id: str) -> EmailVerification:
    row = await connection.fetchrow(
        "SELECT must_verify_email, email_verified_at FROM account_security WHERE library_id = $1", library_id
    )
    return EmailVerification() if row is None else EmailVerification(row["must_verify_email"], row["email_verified_at"])


async def require_verification(connection: Connection, library_id: str) -> None:
    """Block a new account until its address is confirmed."""
    await connection.execute(
        "INSERT INTO account_security (library_id, must_verify_email) VALUES ($1, true) ON CONFLICT DO NOTHING",
        library_id,
    )


async def mark_verified(connection: Connection, library_id: str, *, now: datetime) -> None:
    """Record that the owner of the account has received a mail at its address."""
    await connection.execute(
        """INSERT INTO account_security (library_id, email_verified_at) VALUES ($1, $2)
           ON CONFLICT (library_id) DO UPDATE SET email_verified_at =
               coalesce(account_security.email_verified_at, excluded.email_verified_at)""",
        library_id,
        now,
    )
