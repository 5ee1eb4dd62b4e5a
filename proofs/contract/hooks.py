"""Schemathesis hooks, loaded by its own process: discard cases that are valid after all, and shorten waits."""

from typing import Any

from schemathesis import Case, HookContext, hook

FORM = "multipart/form-data"
MAX_WAIT = 60  # seconds, of a valid request


@hook
def filter_case(_context: HookContext, case: Case[Any]) -> bool:
    """Forms have no types, so a number is valid text."""
    body = case.body
    if not isinstance(body, dict) or case.media_type != FORM:
        return True
    return not any(isinstance(value, bool | int | float) for value in body.values())


@hook
def before_call(_context: HookContext, case: Case[Any], _options: dict[str, Any]) -> None:
    """A valid request may wait for a minute, longer than Schemathesis does; one second shows the same."""
    wait = str((case.query or {}).get("wait"))
    if wait.isdecimal() and 1 < int(wait) <= MAX_WAIT:
        case.query["wait"] = 1
