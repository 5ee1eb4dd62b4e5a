"""Compares responses with what each caller must get, and counts mismatches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from cutroom.errors import ERROR_SPECS, Code
from cutroom.platform.ids import is_id

NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Expected:
    """The response that a caller must get."""

    statuses: frozenset[int]
    code: Code | None = None
    details: Mapping[str, Any] | None = None  # None if not fixed
    hidden: frozenset[str] = frozenset()  # must not occur in the response
    shown: frozenset[str] = frozenset()  # at least one must occur


def refusal(
    code: Code, *, details: Mapping[str, Any] | None = NOTHING, hidden: frozenset[str] = frozenset()
) -> Expected:
    return Expected(statuses=frozenset({ERROR_SPECS[code].status}), code=code, details=details, hidden=hidden)


@dataclass
class Tally:
    """Number of checked cases, and a message for each fault."""

    cases: int = 0
    wrong: list[str] = field(default_factory=list)

    def check(self, case: str, fault: str | None) -> None:
        self.cases += 1
        if fault is not None:
            self.wrong.append(f"{case}: {fault}")


def fault_in(response: httpx.Response, expected: Expected) -> str | None:
    """What is wrong with a response; None if nothing."""
    text = response.text
    if response.status_code not in expected.statuses:
        return f"expected {_words(expected)}, got {response.status_code} {text[:200]}"
    if not is_id(response.headers.get("X-Request-Id", "")):
        return "X-Request-Id is missing"
    if leaked := sorted(marker for marker in expected.hidden if marker in text):
        return f"contains {leaked[0]} of another library: {text[:200]}"
    if expected.shown and not any(marker in text for marker in expected.shown):
        return f"contains no row of the caller's own library: {text[:200]}"
    if expected.code is not None:
        return _fault_in_error(response, expected.code, details=expected.details)
    return None


def _fault_in_error(response: httpx.Response, code: Code, *, details: Mapping[str, Any] | None) -> str | None:
    if response.headers.get("Content-Type") != "application/json":
        return f"error sent as {response.headers.get('Content-Type')}"
    if (response.status_code == 401) != ("WWW-Authenticate" in response.headers):
        return "WWW-Authenticate must be sent with 401 only"
    envelope = response.json()
    sent_details = envelope.get("error", {}).get("details")
    if details is None and isinstance(sent_details, dict):
        details = sent_details
    expected = {"error": {"code": code.value, "message": ERROR_SPECS[code].message, "details": details}}
    if envelope != expected:
        return f"expected exactly {expected}, got {envelope}"
    return None


def _words(expected: Expected) -> str:
    statuses = " or ".join(str(status) for status in sorted(expected.statuses))
    return f"{statuses} {expected.code}" if expected.code else statuses
