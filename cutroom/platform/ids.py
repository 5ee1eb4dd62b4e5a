"""Lower-case ULIDs: 48 bits of time and 80 random bits in 26 sortable characters."""

import re
import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u
_LENGTH = 26
_PAIRS = [first + second for first in _ALPHABET for second in _ALPHABET]  # ten bits at a time
_PATTERN = re.compile(f"[0-7][{_ALPHABET}]{{{_LENGTH - 1}}}")


def new_id(at_seconds: float | None = None) -> str:
    """Returns a new id; ids sort by creation time, to the millisecond."""
    milliseconds = int((time.time() if at_seconds is None else at_seconds) * 1000)
    number = (milliseconds << 80) | secrets.randbits(80)
    return "".join([_PAIRS[(number >> shift) & 1023] for shift in range(120, -1, -10)])


def is_id(text: str) -> bool:
    """Whether a string is a well-formed id; saves a query if not."""
    return _PATTERN.fullmatch(text) is not None
