"""What a cell answers for a library that is moving, or has left it."""

import asyncpg

SQLSTATE = "CM001"  # raised by `enter_library` and by the functions that authenticate
HEADER = "X-Cutroom-Moved"  # on such a response; the router then asks the directory again
HEADERS = {HEADER: "1", "Retry-After": "1"}


def has_moved(error: BaseException) -> bool:
    """Whether a transaction was refused because its library is moving, or has left this cell."""
    return isinstance(error, asyncpg.PostgresError) and getattr(error, "sqlstate", None) == SQLSTATE
