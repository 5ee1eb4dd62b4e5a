"""Decides which failures are worth another attempt, and how long to wait for it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

import httpx

from cutroom_client.calls import Call
from cutroom_client.errors import ApiError, ConflictError, InsufficientCreditsError

# The request did not leave this machine, so that any method may be sent again.
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
TEMPORARY = frozenset({502, 503, 504})


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long to retry. Waits double up to `cap_seconds`, with jitter over their upper half."""

    retries: int = 5
    base_seconds: float = 0.5
    cap_seconds: float = 8.0
    longest_retry_after: float = 120.0

    def wait(
        self, attempt: int, retry_after: float | None, *, uniform: Callable[[float, float], float] = random.uniform
    ) -> float:
        """Seconds before the attempt after this one; never less than the service asked for."""
        longest = min(self.base_seconds * 2**attempt, self.cap_seconds)
        jittered = uniform(longest / 2, longest)
        return (retry_after or 0.0) + jittered


def retry_after_seconds(header: str | None, *, now: datetime | None = None) -> float | None:
    """`Retry-After` in seconds, whether it is a number or a date; None if it is neither."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
        seconds = (moment - (now or datetime.now(timezone.utc))).total_seconds()
    return max(seconds, 0.0) if seconds == seconds else None  # noqa: PLR0124 (NaN)


def retries_failure(call: Call, failure: httpx.TransportError) -> bool:
    """Whether to send a call again that got no response, or half of one."""
    return isinstance(failure, NOT_SENT) or call.repeatable


def retries_response(call: Call, status: int, error: ApiError | None) -> bool:
    """Whether to send a call again that got an error; `error` is None if the response is not Cutroom's."""
    if isinstance(error, InsufficientCreditsError):
        return False
    if status == 429:  # rejected before it had an effect; only a limit that passes says when
        return error is not None and error.retry_after is not None
    if status == 409:  # the same idempotency key is still in progress
        return isinstance(error, ConflictError) and error.retry_after is not None and call.keyed
    if status in TEMPORARY:
        return call.repeatable
    # The first response to an idempotency key is stored, a 500 too: it would only be replayed.
    stored = call.keyed and error is not None
    return status >= 500 and call.repeatable and not stored
