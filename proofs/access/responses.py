"""What an answer must be, to the letter, and the count of those that were not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from cutroom.errors import MEANINGS, Code
from cutroom.platform.ids import is_id

NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Expected:
    """The answer that one caller must get."""

    statuses: frozenset[int]
    code: Code | None = None
    details: Mapping[str, Any] | None = None  # None when they are not fixed
    hidden: frozenset[str] = frozenset()  # none of these may be in the answer
    shown: frozenset[str] = frozenset()  # one of these must be


def refusal(
    code: Code, *, details: Mapping[str, Any] | None = NOTHING, hidden: frozenset[str] = frozenset()
) -> Expected:
    return Expected(statuses=frozenset({MEANINGS[code].status}), code=code, details=details, hidden=hidden)


@dataclass
class Tally:
    """Everything that was checked, and a sentence for each thing that was wrong."""

    cases: int = 0
    wrong: list[str] = field(default_factory=list)

    def check(self, case: str, fault: str | None) -> None:
        self.cases += 1
        if fault is not None:
            self.wrong.append(f"{case}: {fault}")


def fault_in(response: httpx.Response, expected: Expected) -> str | None:
    """What is wrong with an answer, if anything."""
    text = response.text
    if response.status_code not in expected.statuses:
        return f"wanted {_words(expected)}, got {response.status_code} {text[:200]}"
    if not is_id(response.headers.get("X-Request-Id", "")):
        return "X-Request-Id is missing"
    if leaked := sorted(mark for mark in expected.hidden if mark in text):
        return f"shows {leaked[0]}, which belongs to another library: {text[:200]}"
    if expected.shown and not any(mark in text for mark in expected.shown):
        return f"shows the caller none of the rows of the caller's own library: {text[:200]}"
    if expected.code is not None:
        return _fault_in_error(response, expected.code, details=expected.details)
    return None


def _fault_in_error(response: httpx.Response, code: Code, *, details: Mapping[str, Any] | None) -> str | None:
    if response.headers.get("Content-Type") != "application/json":
        return f"an error came as {response.headers.get('Content-Type')}"
    if (response.status_code == 401) != ("WWW-Authenticate" in response.headers):
        return "WWW-Authenticate belongs to 401, always and only"
    envelope = response.json()
    told = envelope.get("error", {}).get("details")
    if details is None and isinstance(told, dict):
        details = told
    wanted = {"error": {"code": code.value, "message": MEANINGS[code].message, "details": details}}
    if envelope != wanted:
        return f"wanted exactly {wanted}, got {envelope}"
    return None


def _words(expected: Expected) -> str:
    statuses = " or ".join(str(status) for status in sorted(expected.statuses))
    return f"{statuses} {expected.code}" if expected.code else statuses
