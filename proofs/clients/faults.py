"""Which fault a request meets, and whether a client may repeat it afterwards; stated apart from the clients."""

import json
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from random import Random


class Fault(StrEnum):
    """What the proxy does to a request."""

    NONE = "none"
    RESET_BEFORE = "reset before the service got it"
    RESET_AFTER = "reset after the service responded"
    TRUNCATED = "response cut off"
    SLOW = "slow response"
    DUPLICATED = "request sent twice"
    BAD_GATEWAY = "502 instead of the request"
    UNAVAILABLE = "503 with Retry-After"
    GATEWAY_TIMEOUT = "504 after the service responded"
    RATE_LIMITED = "429 with Retry-After"
    NO_CREDITS = "429 INSUFFICIENT_CREDITS"
    CONFLICT = "409 CONFLICT with Retry-After"
    STALE = "409 CONFLICT without Retry-After"
    INTERNAL = "500 INTERNAL"


RETRY_AFTER = 1  # seconds
INJECTED: dict[Fault, tuple[int, str | None]] = {
    Fault.BAD_GATEWAY: (502, None),
    Fault.UNAVAILABLE: (503, None),
    Fault.RATE_LIMITED: (429, "RATE_LIMITED"),
    Fault.NO_CREDITS: (429, "INSUFFICIENT_CREDITS"),
    Fault.CONFLICT: (409, "CONFLICT"),
    Fault.STALE: (409, "CONFLICT"),
    Fault.INTERNAL: (500, "INTERNAL"),
}
TIMED = frozenset({Fault.UNAVAILABLE, Fault.RATE_LIMITED, Fault.CONFLICT})  # they have Retry-After
DELIVERED = frozenset({Fault.NONE, Fault.SLOW, Fault.DUPLICATED})
WEIGHTS = {
    Fault.NONE: 60,
    Fault.RESET_BEFORE: 6,
    Fault.RESET_AFTER: 6,
    Fault.TRUNCATED: 6,
    Fault.SLOW: 2,
    Fault.DUPLICATED: 4,
    Fault.BAD_GATEWAY: 4,
    Fault.UNAVAILABLE: 1,
    Fault.GATEWAY_TIMEOUT: 4,
    Fault.RATE_LIMITED: 1,
    Fault.NO_CREDITS: 2,
    Fault.CONFLICT: 1,
    Fault.STALE: 1,
    Fault.INTERNAL: 2,
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request as the proxy saw it."""

    method: str
    path: str
    key: str | None
    fault: Fault
    status: int | None  # of the response that the client got
    began: float
    ended: float

    @property
    def repeatable(self) -> bool:
        return self.method in {"GET", "PUT", "DELETE"} or self.key is not None


def choose(random: Random, *, method: str, key: str | None) -> Fault:
    """A fault by its weight. A request without a key is not sent twice: no client could prevent the effect."""
    [fault] = random.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))
    if fault is Fault.DUPLICATED and method != "GET" and key is None:
        return Fault.NONE
    return fault


def may_repeat(attempt: Attempt) -> bool:
    """Whether the contract lets a client repeat the request after this attempt."""
    if attempt.fault is Fault.RATE_LIMITED:
        return True
    if attempt.fault is Fault.CONFLICT:
        return attempt.key is not None
    if attempt.fault in {Fault.NO_CREDITS, Fault.STALE} or attempt.fault in DELIVERED:
        return False
    if attempt.fault is Fault.INTERNAL:  # stored under its key, so that repeating it returns it again
        return attempt.repeatable and attempt.key is None
    return attempt.repeatable


def wrong_repetitions(attempts: list[Attempt]) -> list[str]:
    """Repetitions within one call that the contract forbids."""
    wrong = []
    for first, second in pairwise(attempts):
        if (first.method, first.path) != (second.method, second.path):
            continue
        if not may_repeat(first):
            wrong.append(f"{first.method} {first.path} repeated after {first.fault}")
        if first.key != second.key:
            wrong.append(f"{first.method} {first.path} repeated with another key")
        if first.fault in TIMED and second.began - first.ended < RETRY_AFTER:
            wrong.append(f"{first.method} {first.path} repeated before Retry-After")
    return wrong


def injected_response(fault: Fault) -> bytes:
    """The response that the proxy sends in place of the service."""
    status, code = INJECTED[fault]
    body = (
        json.dumps({"error": {"code": code, "message": "Injected.", "details": {}}}) if code else "<h1>Bad gateway</h1>"
    )
    headers = [f"HTTP/1.1 {status} Injected", f"Content-Length: {len(body)}"]
    headers.append(f"Content-Type: {'application/json' if code else 'text/html'}")
    if fault in TIMED:
        headers.append(f"Retry-After: {RETRY_AFTER}")
    return ("\r\n".join([*headers, "", ""]) + body).encode()
