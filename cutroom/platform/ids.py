"""Opaque sortable ids: 26 lower-case characters, 48 bits of time and 80 of chance (ULID)."""

import re
import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u
_LENGTH = 26
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]  # ten bits at a time
_PATTERN = re.compile(f"[0-7][{_ALPHABET}]{{{_LENGTH - 1}}}")


def new_id(at_seconds: float | None = None) -> str:
    """A fresh id; ids made later sort after ids made earlier, to the millisecond."""
    milliseconds = int((time.time() if at_seconds is None else at_seconds) * 1000)
    number = (milliseconds << 80) | secrets.randbits(80)
    return "".join([_PAIRS[(number >> shift) & 1023] for shift in range(120, -1, -10)])


def is_id(text: str) -> bool:
    """Whether a caller's string can be an id at all; if not, no query is worth making."""
    return _PATTERN.fullmatch(text) is not None
