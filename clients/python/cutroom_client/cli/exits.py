"""Exit codes by class of error: scripts branch on them, so they never change their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any


class Exit(IntEnum):
    """Exit codes; the documentation has the same table."""

    OK = 0
    UNEXPECTED = 1
    USAGE = 2
    AUTHENTICATION = 3
    PERMISSION = 4
    NOT_FOUND = 5
    CONFLICT = 6
    SOURCE = 7
    CREDITS = 8
    RATE_LIMITED = 9
    CONNECTION = 10
    JOB_FAILED = 11
    DECLINED = 12
    PARTLY_FAILED = 13
    INTERRUPTED = 130


CODES: Mapping[str, Exit] = {
    "UNAUTHENTICATED": Exit.AUTHENTICATION,
    "INVALID_API_KEY": Exit.AUTHENTICATION,
    "INSUFFICIENT_SCOPE": Exit.PERMISSION,
    "PERMISSION_DENIED": Exit.PERMISSION,
    "ROLE_CANNOT_PRODUCE": Exit.PERMISSION,
    "DOWNLOAD_TIER_NONE": Exit.PERMISSION,
    "NOT_FOUND": Exit.NOT_FOUND,
    "GONE": Exit.NOT_FOUND,
    "INVALID_ARGUMENT": Exit.USAGE,
    "CONFLICT": Exit.CONFLICT,
    "ALREADY_EXISTS": Exit.CONFLICT,
    "IDEMPOTENCY_REPLAY": Exit.CONFLICT,
    "FAILED_PRECONDITION": Exit.CONFLICT,
    "PREVIEW_NOT_DOWNLOADABLE": Exit.CONFLICT,
    "UNSUPPORTED_SOURCE": Exit.SOURCE,
    "DURATION_UNKNOWN": Exit.SOURCE,
    "INSUFFICIENT_CREDITS": Exit.CREDITS,
    "RATE_LIMITED": Exit.RATE_LIMITED,
    "METHOD_NOT_ALLOWED": Exit.UNEXPECTED,
    "INTERNAL": Exit.UNEXPECTED,
}


class CommandError(Exception):
    """A failure that a person understands: its message, and the exit code."""

    def __init__(
        self,
        message: str,
        *,
        exit_code: Exit = Exit.USAGE,
        code: str = "",
        hint: str = "",
        details: Mapping[str, Any] | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code
        self.code = code or exit_code.name
        self.hint = hint
        self.details = dict(details or {})
        self.request_id = request_id


def exit_code_of(code: str, details: Mapping[str, Any]) -> Exit:
    """The exit code of an error of the API."""
    if code == "FAILED_PRECONDITION" and details.get("reason") == "over_limit":
        return Exit.CREDITS
    return CODES.get(code, Exit.UNEXPECTED)
