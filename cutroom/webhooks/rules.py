"""Which destinations may be registered, and how a delivery goes on after each answer."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Literal, get_args

from cutroom.platform.egress import urls

Event = Literal["video.ready", "video.failed", "job.ready", "job.failed"]
EVENTS: tuple[Event, ...] = get_args(Event)
MAX_URL_LENGTH = 2048
MAX_ENDPOINTS = 20  # in one library
EVENT_RETENTION = timedelta(days=30)  # a delivery, however its receiver stretches it, is over before

# The first attempt is made at once; these are the pauses before each of the others.
PAUSES = (
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
MAX_PAUSE = timedelta(hours=24)  # whatever a receiver asks for

_ROOT_DOT = re.compile(r"^(https://[^/?:\[]*[^./?:\[])\.(?=[/?:]|$)", re.IGNORECASE)


class Outcome(StrEnum):
    """How an attempt ended."""

    DELIVERED = "delivered"
    REFUSED = "refused"  # an answer, but not one of success
    GONE = "gone"  # the receiver wants no more, ever
    UNREACHABLE = "unreachable"  # no answer, or none in time
    WITHDRAWN = "withdrawn"  # nothing was sent: the endpoint was deleted or disabled meanwhile


FINAL = frozenset({Outcome.DELIVERED, Outcome.GONE, Outcome.WITHDRAWN})


def outcome_of(status: int) -> Outcome:
    """What an answer means; a redirect is no success, for it is never followed."""
    if 200 <= status < 300:
        return Outcome.DELIVERED
    return Outcome.GONE if status == 410 else Outcome.REFUSED


def asked_pause_seconds(status: int, retry_after: str | None, *, now: datetime) -> int | None:
    """How long a busy receiver asks us to wait, within the bound; nothing when it does not say so legibly."""
    if status not in {429, 503} or retry_after is None:
        return None
    text = retry_after.strip()
    bound = int(MAX_PAUSE.total_seconds())
    if text.isascii() and text.isdigit():
        return min(int(text[:9]), bound)  # nine digits are past the bound already; more may not be read at all
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0, min(int((at - now).total_seconds()), bound))


def pause_before(step: timedelta, asked_seconds: int | None) -> timedelta:
    """The schedule's own step, or what the receiver asked for when that is later."""
    return max(step, timedelta(seconds=asked_seconds or 0))


def fault_in_url(url: str) -> str | None:
    """What is wrong with a destination as far as its spelling tells; where it leads is judged at delivery."""
    if len(url) > MAX_URL_LENGTH or any(not 32 < ord(character) < 127 for character in url):
        return f"A URL has at most {MAX_URL_LENGTH} characters, all of them printable ASCII."
    if "#" in url:
        return "Leave the fragment out of the URL."
    return urls.fault_in_url(without_root_dot(url))


def without_root_dot(url: str) -> str:
    """A dot at the end of the host name makes no other name of it, and certificates do not have it."""
    return _ROOT_DOT.sub(r"\1", url, count=1)
