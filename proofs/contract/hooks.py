"""Schemathesis hooks, loaded by its own process: discard generated cases that are valid after all."""

from typing import Any

from schemathesis import Case, HookContext, hook

FORM = "multipart/form-data"


@hook
def filter_case(_context: HookContext, case: Case[Any]) -> bool:
    """Forms have no types, so a number is valid text."""
    body = case.body
    if not isinstance(body, dict) or case.media_type != FORM:
        return True
    return not any(isinstance(value, bool | int | float) for value in body.values())
