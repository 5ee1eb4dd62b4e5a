"""One-time codes (TOTP, RFC 6238) and recovery codes."""

import base64
import hmac
import secrets
from datetime import datetime
from enum import StrEnum
from urllib.parse import quote, urlencode

STEP_SECONDS = 30
DIGITS = 6
DRIFT_STEPS = 1  # accepted before and after, for clocks that differ and people who type slowly
SECRET_BYTES = 20  # as RFC 4226 recommends
RECOVERY_CODES = 10
MAX_CODE = 40  # characters of a form field
MAX_FAILURES = 10  # wrong codes in a row, after which codes are refused for a while; recovery codes are not
_RECOVERY_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"  # 32 characters, without those that look alike
_RECOVERY_GROUPS, _GROUP_LENGTH = 2, 6  # 60 bits


class CodeResult(StrEnum):
    """What a code was."""

    TOTP = "totp"
    RECOVERY = "recovery"
    WRONG = "wrong"  # also one that was used before
    BLOCKED = "blocked"  # after too many wrong ones

    @property
    def is_accepted(self) -> bool:
        return self in {CodeResult.TOTP, CodeResult.RECOVERY}


def step_at(now: datetime) -> int:
    return int(now.timestamp()) // STEP_SECONDS


def totp(secret: bytes, step: int) -> str:
    """The code of a time step (RFC 4226, section 5.3)."""
    digest = hmac.digest(secret, step.to_bytes(8), "sha1")
    offset = digest[-1] & 0xF
    number = int.from_bytes(digest[offset : offset + 4]) & 0x7FFFFFFF
    return f"{number % 10**DIGITS:0{DIGITS}}"


def matching_step(secret: bytes, code: str, *, now: datetime, after: int) -> int | None:
    """The time step of a code, which must be later than that of the last accepted one: a code works once."""
    current = step_at(now)
    for step in range(current - DRIFT_STEPS, current + DRIFT_STEPS + 1):
        if step > after and hmac.compare_digest(totp(secret, step).encode(), code.encode()):
            return step
    return None


def normalize_code(text: str) -> str:
    """As typed, without spaces and hyphens and in lower case."""
    return "".join(character for character in text[:MAX_CODE].lower() if character.isalnum())


def is_totp(code: str) -> bool:
    return len(code) == DIGITS and code.isascii() and code.isdecimal()


def new_secret() -> bytes:
    return secrets.token_bytes(SECRET_BYTES)


def encoded_secret(secret: bytes) -> str:
    """As authenticator apps take it."""
    return base64.b32encode(secret).decode().rstrip("=")


def provisioning_uri(secret: bytes, *, account: str, issuer: str) -> str:
    """What the QR code contains."""
    label = quote(f"{issuer}:{account}")
    return f"otpauth://totp/{label}?{urlencode({'secret': encoded_secret(secret), 'issuer': issuer})}"


def new_recovery_codes() -> list[str]:
    """Codes such as `k7qm2x-9fhd4r`."""
    return ["-".join(_group() for _ in range(_RECOVERY_GROUPS)) for _ in range(RECOVERY_CODES)]


def _group() -> str:
    return "".join(secrets.choice(_RECOVERY_ALPHABET) for _ in range(_GROUP_LENGTH))
