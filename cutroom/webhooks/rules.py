"""Validates endpoint URLs and decides how a delivery proceeds after each attempt."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

from cutroom.platform.egress import urls

TEST_EVENT = "endpoint.test"
MAX_URL_LENGTH = 2048
MAX_ENDPOINTS = 20  # in one library

# Delays before the second and later attempts.
RETRY_DELAYS = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
MAX_RETRY_DELAY = timedelta(hours=24)  # upper bound for Retry-After
DISABLE_AFTER = timedelta(days=5)  # of failures only; longer than the retries of one event

MAX_RESPONSE_EXCERPT_BYTES = 1024  # of a response that the log keeps
MAX_RECOVERED = 1_000  # deliveries that one request starts again
MAX_ATTEMPT_OFFSET = 1_000  # about a hundred redeliveries of one event to one endpoint

SECRET_OVERLAP_HOURS = 24  # by default
MAX_SECRET_OVERLAP_HOURS = 7 * 24

_ROOT_DOT = re.compile(r"^(https://[^/?:\[]*[^./?:\[])\.(?=[/?:]|$)", re.IGNORECASE)


class DeliveryOutcome(StrEnum):
    """The outcome of an attempt."""

    DELIVERED = "delivered"
    REFUSED = "refused"  # a response other than 2xx
    GONE = "gone"  # 410: the endpoint is disabled
    UNREACHABLE = "unreachable"  # no response in time
    WITHDRAWN = "withdrawn"  # not sent: the endpoint was deleted or disabled


class DeliveryState(StrEnum):
    """The state of a delivery."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"  # all attempts have failed, or the endpoint was disabled before


FINAL_OUTCOMES = frozenset({DeliveryOutcome.DELIVERED, DeliveryOutcome.GONE, DeliveryOutcome.WITHDRAWN})


def outcome_of(status: int) -> DeliveryOutcome:
    """Map a status to an outcome; redirects are not followed and count as refused."""
    if 200 <= status < 300:
        return DeliveryOutcome.DELIVERED
    return DeliveryOutcome.GONE if status == 410 else DeliveryOutcome.REFUSED


def parse_retry_after(status: int, retry_after: str | None, *, now: datetime) -> int | None:
    """Parse the Retry-After of a 429 or 503 response in seconds, capped; None if absent or malformed."""
    if status not in {429, 503} or retry_after is None:
        return None
    text = retry_after.strip()
    bound = int(MAX_RETRY_DELAY.total_seconds())
    if text.isascii() and text.isdigit():
        return min(int(text[:9]), bound)  # nine digits already exceed the bound; int() limits the length
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0, min(int((at - now).total_seconds()), bound))


def retry_delay(scheduled: timedelta, retry_after_seconds: int | None) -> timedelta:
    """Return the later of the scheduled delay and the endpoint's Retry-After."""
    return max(scheduled, timedelta(seconds=retry_after_seconds or 0))


def next_delay(number: int, *, retry_after_seconds: int | None, retries: bool) -> timedelta | None:
    """The delay after a failed attempt; None if it was the last one."""
    if not retries or number > len(RETRY_DELAYS):
        return None
    return retry_delay(RETRY_DELAYS[number - 1], retry_after_seconds)


def state_after(outcome: DeliveryOutcome, *, will_retry: bool) -> DeliveryState:
    """The state of a delivery after an attempt."""
    if outcome is DeliveryOutcome.DELIVERED:
        return DeliveryState.DELIVERED
    return DeliveryState.PENDING if will_retry and outcome not in FINAL_OUTCOMES else DeliveryState.FAILED


def response_excerpt(body: bytes) -> str:
    """The beginning of a response, as text that PostgreSQL can store."""
    return body[:MAX_RESPONSE_EXCERPT_BYTES].decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")


def data_of_test_event(endpoint_id: str) -> dict[str, Any]:
    """The data of a test event; the same for every attempt."""
    return {"endpointId": endpoint_id, "message": "This is a test event."}


def url_error(url: str) -> str | None:
    """Return why a URL is invalid, if it is; the resolved address is checked at delivery."""
    if len(url) > MAX_URL_LENGTH or any(not 32 < ord(character) < 127 for character in url):
        return f"A URL has at most {MAX_URL_LENGTH} characters, all of them printable ASCII."
    if "#" in url:
        return "The URL must not contain a fragment."
    return urls.url_error(without_root_dot(url))


def without_root_dot(url: str) -> str:
    """Remove a trailing dot from the host name, which certificates do not contain."""
    return _ROOT_DOT.sub(r"\1", url, count=1)
