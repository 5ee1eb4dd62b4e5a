"""Delivery outcomes, Retry-After and retry delays as tables of cases."""

from datetime import UTC, datetime, timedelta

import pytest

from cutroom.events.rules import RETENTION
from cutroom.webhooks.rules import (
    MAX_RETRY_DELAY,
    RETRY_DELAYS,
    DeliveryOutcome,
    outcome_of,
    parse_retry_after,
    retry_delay,
)

NOW = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
DAY = 86_400


def test_retry_schedule_matches_contract() -> None:
    seconds = [delay.total_seconds() for delay in RETRY_DELAYS]
    assert seconds == [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]


def test_event_retention_exceeds_longest_delivery() -> None:
    assert len(RETRY_DELAYS) * MAX_RETRY_DELAY + timedelta(days=1) < RETENTION


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, DeliveryOutcome.DELIVERED),
        (204, DeliveryOutcome.DELIVERED),
        (299, DeliveryOutcome.DELIVERED),
        (199, DeliveryOutcome.REFUSED),
        (300, DeliveryOutcome.REFUSED),
        (302, DeliveryOutcome.REFUSED),
        (307, DeliveryOutcome.REFUSED),
        (400, DeliveryOutcome.REFUSED),
        (404, DeliveryOutcome.REFUSED),
        (410, DeliveryOutcome.GONE),
        (429, DeliveryOutcome.REFUSED),
        (500, DeliveryOutcome.REFUSED),
        (503, DeliveryOutcome.REFUSED),
    ],
)
def test_status_outcomes(status: int, outcome: DeliveryOutcome) -> None:
    assert outcome_of(status) is outcome


@pytest.mark.parametrize(
    ("status", "header", "seconds"),
    [
        (429, "120", 120),
        (503, " 7 ", 7),
        (503, "0", 0),
        (429, "Mon, 02 Nov 2026 09:31:00 GMT", 60),
        (429, "Mon, 02 Nov 2026 09:31:00 -0000", 60),
        (429, "Mon, 02 Nov 2026 09:00:00 GMT", 0),
        (429, "Mon, 02 Nov 2099 09:00:00 GMT", DAY),
        (429, "999999999999", DAY),
        (429, "9" * 10_000, DAY),
        (429, None, None),
        (429, "", None),
        (429, "soon", None),
        (429, "-5", None),
        (429, "1.5", None),
        (429, "\u0661\u0662", None),
        (429, "Mon, 02 Nov 99999 09:00:00 GMT", None),
        (500, "120", None),
        (200, "120", None),
        (301, "120", None),
    ],
)
def test_retry_after_is_parsed_and_capped(status: int, header: str | None, seconds: int | None) -> None:
    assert parse_retry_after(status, header, now=NOW) == seconds


@pytest.mark.parametrize(("scheduled", "retry_after", "delay"), [(5, None, 5), (5, 2, 5), (5, 60, 60), (300, DAY, DAY)])
def test_later_of_schedule_and_retry_after_is_used(scheduled: int, retry_after: int | None, delay: int) -> None:
    assert retry_delay(timedelta(seconds=scheduled), retry_after) == timedelta(seconds=delay)
