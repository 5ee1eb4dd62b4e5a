"""Kinds of events, defaults, and when digests are due."""

from datetime import UTC, datetime
from typing import Any

import pytest

from cutroom.notifications.messages import MAX_TITLE_CHARACTERS, message_of
from cutroom.notifications.rules import (
    Channel,
    Frequency,
    NotificationKind,
    default_frequency,
    due_at,
    kind_of_event,
)

NOON = datetime(2026, 11, 19, 12, 34, 56, tzinfo=UTC)


@pytest.mark.parametrize(
    ("type_", "data", "kind"),
    [
        ("job.ready", {}, NotificationKind.READY),
        ("job.failed", {"error": {"code": "INTERNAL"}}, NotificationKind.FAILED),
        ("job.failed", {"error": {"code": "CANCELLED"}}, None),
        ("video.ready", {}, None),
        ("video.failed", {}, None),
        ("credits.low", {"balance": 1.5}, NotificationKind.CREDITS_LOW),
        ("transcript.edited", {}, None),
        ("captions.edited", {}, None),
        ("dub.regenerated", {}, None),
    ],
)
def test_event_has_a_kind(type_: str, data: dict[str, Any], kind: NotificationKind | None) -> None:
    assert kind_of_event(type_, data) == kind


@pytest.mark.parametrize(
    ("frequency", "now", "due"),
    [
        (Frequency.IMMEDIATELY, NOON, NOON),
        (Frequency.HOURLY, NOON, NOON.replace(hour=13, minute=0, second=0)),
        (Frequency.HOURLY, NOON.replace(minute=0, second=0), NOON.replace(hour=13, minute=0, second=0)),
        (Frequency.HOURLY, NOON.replace(hour=23), datetime(2026, 11, 20, tzinfo=UTC)),
        (Frequency.DAILY, NOON, datetime(2026, 11, 20, 8, tzinfo=UTC)),
        (Frequency.DAILY, NOON.replace(hour=7), datetime(2026, 11, 19, 8, tzinfo=UTC)),
        (Frequency.DAILY, datetime(2026, 12, 31, 8, tzinfo=UTC), datetime(2027, 1, 1, 8, tzinfo=UTC)),
    ],
)
def test_digest_is_due_at_the_next_full_hour_or_morning(frequency: Frequency, now: datetime, due: datetime) -> None:
    assert due_at(frequency, now) == due


def test_only_what_is_rare_is_mailed_by_default() -> None:
    mailed = {
        (kind, is_admin): default_frequency(kind, Channel.MAIL, is_admin=is_admin)
        for kind in NotificationKind
        for is_admin in (True, False)
    }
    assert {key for key, frequency in mailed.items() if frequency is not Frequency.NEVER} == {
        (NotificationKind.CREDITS_LOW, True),
        (NotificationKind.REVIEW_REQUESTED, True),
        (NotificationKind.WEBHOOK_DISABLED, True),
        (NotificationKind.WEBHOOK_DISABLED, False),
    }


@pytest.mark.parametrize(
    ("kind", "subject", "title", "text", "path"),
    [
        (
            NotificationKind.READY,
            {"type": "dub", "language": "pt", "videoId": "v"},
            "Launch",
            "Dub to Portuguese of “Launch” is ready.",
            "/videos/v",
        ),
        (NotificationKind.READY, {"type": "shorts", "videoId": "v"}, None, "Shorts of a video is ready.", "/videos/v"),
        (
            NotificationKind.FAILED,
            {"type": "import", "videoId": "v", "error": "It is\r\ntoo long."},
            "A\nB",
            "Import of “A B” has failed. It is too long.",
            "/videos/v",
        ),
        (
            NotificationKind.CREDITS_LOW,
            {"balance": 1.5},
            None,
            "Your credits are running low. 1.5 are left.",
            "/credits",
        ),
        (
            NotificationKind.REVIEW_REQUESTED,
            {"videoId": "v"},
            "Launch",
            "The thumbnail of “Launch” waits for your review.",
            "/videos/v",
        ),
        (
            NotificationKind.WEBHOOK_DISABLED,
            {"endpointId": "e", "url": "hooks.example.com", "reason": "It is gone."},
            None,
            "Your webhook endpoint hooks.example.com was disabled. It is gone.",
            "/webhooks/e",
        ),
    ],
)
def test_message_is_one_line(
    kind: NotificationKind, subject: dict[str, Any], title: str | None, text: str, path: str
) -> None:
    message = message_of(kind, subject, title=title)
    assert (message.text, message.path) == (text, path)


def test_long_title_is_shortened() -> None:
    message = message_of(NotificationKind.READY, {"type": "dub", "videoId": "v"}, title="x" * 5_000)
    assert len(message.text) < MAX_TITLE_CHARACTERS + 30
