"""Enrolls accounts in two-step sign-in, and checks codes.

Every function runs in a transaction of the account's personal library.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import asyncpg

from cutroom.accounts.second_factor.rules import (
    MAX_FAILURES,
    CodeResult,
    is_totp,
    matching_step,
    new_recovery_codes,
    new_secret,
    normalize_code,
)
from cutroom.errors import Code, CutroomError
from cutroom.platform.db import Connection, insert
from cutroom.platform.secret_box import SecretBox

TOTP_PURPOSE = "totp-secret"
RECOVERY_PURPOSE = "recovery-code"
BLOCK = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class SecondFactor:
    """Whether an account has a second factor, and how many recovery codes are left."""

    is_enabled: bool
    recovery_codes: int


async def load_second_factor(connection: Connection, library_id: str) -> SecondFactor:
    row = await connection.fetchrow(
        """SELECT EXISTS (SELECT FROM account_security
                          WHERE library_id = $1 AND totp_enabled_at IS NOT NULL) AS enabled,
                  (SELECT count(*) FROM recovery_codes WHERE library_id = $1 AND used_at IS NULL) AS codes""",
        library_id,
    )
    assert row is not None
    return SecondFactor(row["enabled"], row["codes"])


async def begin_enrollment(connection: Connection, library_id: str, *, secret_box: SecretBox) -> bytes:
    """Store a new secret, which counts only once a code of it was entered; return the secret."""
    secret = new_secret()
    done = await connection.execute(
        """INSERT INTO account_security (library_id, totp_secret) VALUES ($1, $2)
           ON CONFLICT (library_id) DO UPDATE SET totp_secret = excluded.totp_secret
           WHERE account_security.totp_enabled_at IS NULL""",
        library_id,
        secret_box.seal(TOTP_PURPOSE, secret, library_id),
    )
    if done == "INSERT 0 0":
        raise CutroomError(Code.CONFLICT, message="Two-step sign-in is already on.")
    return secret


async def pending_secret(connection: Connection, library_id: str, *, secret_box: SecretBox) -> bytes | None:
    """The secret of an enrollment that is not finished."""
    row = await _lock(connection, library_id)
    if row is None or row["totp_secret"] is None or row["totp_enabled_at"] is not None:
        return None
    return secret_box.unseal(TOTP_PURPOSE, row["totp_secret"], library_id)


async def enable(
    connection: Connection, library_id: str, code: str, *, secret_box: SecretBox, now: datetime
) -> list[str] | None:
    """Finish an enrollment with a code of its secret; return new recovery codes, or None if the code is wrong."""
    secret = await pending_secret(connection, library_id, secret_box=secret_box)
    step = matching_step(secret, normalize_code(code), now=now, after=0) if secret is not None else None
    if step is None:
        return None
    await connection.execute(
        """UPDATE account_security SET totp_enabled_at = $2, totp_last_step = $3, failed_codes = 0,
                  codes_blocked_until = NULL WHERE library_id = $1""",
        library_id,
        now,
        step,
    )
    return await renew_recovery_codes(connection, library_id, secret_box=secret_box)


async def renew_recovery_codes(connection: Connection, library_id: str, *, secret_box: SecretBox) -> list[str]:
    """Replace all recovery codes; only keyed hashes are stored."""
    await connection.execute("DELETE FROM recovery_codes WHERE library_id = $1", library_id)
    codes = new_recovery_codes()
    for code in codes:
        row = {"library_id": library_id, "hash": _recovery_hash(secret_box, library_id, normalize_code(code))}
        await insert(connection, "recovery_codes", row)
    return codes


async def check_code(
    connection: Connection, library_id: str, text: str, *, secret_box: SecretBox, now: datetime
) -> CodeResult:
    """Check a one-time code or a recovery code, and use it up. The caller commits also if it is wrong.

    The row is locked, so that concurrent requests cannot use a code twice.
    """
    code, row = normalize_code(text), await _lock(connection, library_id)
    if row is None or row["totp_enabled_at"] is None:
        return CodeResult.WRONG
    if not is_totp(code):
        return await _use_recovery_code(connection, library_id, code, secret_box=secret_box, now=now)
    if row["codes_blocked_until"] is not None and row["codes_blocked_until"] > now:
        return CodeResult.BLOCKED
    secret = secret_box.unseal(TOTP_PURPOSE, row["totp_secret"], library_id)
    step = matching_step(secret, code, now=now, after=row["totp_last_step"])
    if step is None:
        await _count_failure(connection, library_id, failures=row["failed_codes"] + 1, now=now)
        return CodeResult.WRONG
    await connection.execute(
        "UPDATE account_security SET totp_last_step = $2, failed_codes = 0 WHERE library_id = $1", library_id, step
    )
    return CodeResult.TOTP


async def disable(connection: Connection, library_id: str) -> bool:
    """Turn two-step sign-in off; return whether it was on. For administrators, also as the schema owner."""
    was_enabled = (await load_second_factor(connection, library_id)).is_enabled
    await connection.execute(
        """UPDATE account_security SET totp_secret = NULL, totp_enabled_at = NULL, totp_last_step = 0,
                  failed_codes = 0, codes_blocked_until = NULL WHERE library_id = $1""",
        library_id,
    )
    await connection.execute("DELETE FROM recovery_codes WHERE library_id = $1", library_id)
    return was_enabled


async def _lock(connection: Connection, library_id: str) -> asyncpg.Record | None:
    return await connection.fetchrow(
        """SELECT totp_secret, totp_enabled_at, totp_last_step, failed_codes, codes_blocked_until
           FROM account_security WHERE library_id = $1 FOR UPDATE""",
        library_id,
    )


async def _use_recovery_code(
    connection: Connection, library_id: str, code: str, *, secret_box: SecretBox, now: datetime
) -> CodeResult:
    done = await connection.execute(
        "UPDATE recovery_codes SET used_at = $3 WHERE library_id = $1 AND hash = $2 AND used_at IS NULL",
        library_id,
        _recovery_hash(secret_box, library_id, code),
        now,
    )
    return CodeResult.WRONG if done == "UPDATE 0" else CodeResult.RECOVERY


async def _count_failure(connection: Connection, library_id: str, *, failures: int, now: datetime) -> None:
    is_last = failures >= MAX_FAILURES
    await connection.execute(
        "UPDATE account_security SET failed_codes = $2, codes_blocked_until = $3 WHERE library_id = $1",
        library_id,
        0 if is_last else failures,
        now + BLOCK if is_last else None,
    )


def _recovery_hash(secret_box: SecretBox, library_id: str, code: str) -> bytes:
    return secret_box.keyed_hash(RECOVERY_PURPOSE, f"{library_id} {code}")
