"""Kinds of notifications, how often each is sent, and when a digest is due."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

MAX_PER_HOUR = 20  # sent at once to one person; more by mail wait for the next hourly digest, others are dropped
RATE_PERIOD = timedelta(hours=1)
DAILY_HOUR = 8  # UTC
MAX_DIGEST_LINES = 100
MAX_AGE = timedelta(days=3)  # after its time, an unsent notification is dropped
RETENTION = timedelta(days=30)  # as events


class NotificationKind(StrEnum):
    """What a notification is about."""

    READY = "ready"
    FAILED = "failed"
    CREDITS_LOW = "credits_low"
    REVIEW_REQUESTED = "review_requested"
    WEBHOOK_DISABLED = "webhook_disabled"


class Channel(StrEnum):
    """How a person is notified."""

    MAIL = "mail"
    BROWSER = "browser"


class Frequency(StrEnum):
    """How often notifications of a kind are sent."""

    IMMEDIATELY = "immediately"
    HOURLY = "hourly"
    DAILY = "daily"
    NEVER = "never"


class NotificationOutcome(StrEnum):
    """How sending ended."""

    SENT = "sent"
    REFUSED = "refused"  # by the mail server or all push services, for good
    WITHDRAWN = "withdrawn"  # switched off, expired, or not a member any more


FREQUENCIES: Mapping[Channel, tuple[Frequency, ...]] = {
    Channel.MAIL: tuple(Frequency),
    Channel.BROWSER: (Frequency.IMMEDIATELY, Frequency.NEVER),
}
# Contract events and later ones. An event without a kind notifies no one.
_KINDS_OF_EVENTS = {
    "job.ready": NotificationKind.READY,
    "job.failed": NotificationKind.FAILED,
    "video.failed": NotificationKind.FAILED,
    "credits.low": NotificationKind.CREDITS_LOW,
}
_CANCELED = "CANCELLED"
_SELDOM = frozenset({NotificationKind.CREDITS_LOW, NotificationKind.REVIEW_REQUESTED})


def kind_of_event(type_: str, data: Mapping[str, Any]) -> NotificationKind | None:
    """The kind of an event; none for what someone has canceled, and for an import whose job says the same."""
    if type_ == "video.failed":
        return None
    if type_ == "job.failed" and (data.get("error") or {}).get("code") == _CANCELED:
        return None
    return _KINDS_OF_EVENTS.get(type_)


def default_frequency(kind: NotificationKind, channel: Channel, *, is_admin: bool) -> Frequency:
    """Until a person chooses: mails about what is rare and needs them; in a browser that they have allowed it, all."""
    if channel is Channel.BROWSER:
        return Frequency.IMMEDIATELY
    if kind is NotificationKind.WEBHOOK_DISABLED or (kind in _SELDOM and is_admin):
        return Frequency.IMMEDIATELY
    return Frequency.NEVER


def due_at(frequency: Frequency, now: datetime) -> datetime:
    """When a notification is sent."""
    at = now.astimezone(UTC)
    if frequency is Frequency.HOURLY:
        return at.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    if frequency is Frequency.DAILY:
        today = at.replace(hour=DAILY_HOUR, minute=0, second=0, microsecond=0)
        return today if today > at else today + timedelta(days=1)
    return at
