"""Reads the spending limit of a request."""

import re

from starlette.requests import Request

from cutroom.accounts.spending import SpendingLimit
from cutroom.errors import invalid_field
from cutroom.platform.ids import new_id

HEADER = "Cutroom-Max-Credits"
PATTERN = r"^[0-9]{1,9}(\.[0-9]{1,3})?$"
PARAMETER = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": (
        "The most that this request may cost, in credits. Above it, nothing is charged: 409 `FAILED_PRECONDITION` with "
        "`details.reason: over_limit` and the price. A job whose price is known only later fails instead."
    ),
    "schema": {"type": "string", "pattern": PATTERN},
    "example": "6.4",
}
_AMOUNT = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,3}))?")


def spending_limit(request: Request) -> SpendingLimit | None:
    """Return the limit that the request names, if any."""
    found = request.headers.getlist(HEADER)
    if not found:
        return None
    match = _AMOUNT.fullmatch(found[0]) if len(found) == 1 else None
    if match is None:
        raise invalid_field(HEADER, "Send one number from 0 to 999999999.999, with at most three decimals.")
    whole, decimals = match.groups()
    return SpendingLimit(new_id(), int(whole) * 1000 + int((decimals or "").ljust(3, "0")))
