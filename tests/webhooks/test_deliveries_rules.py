"""How a delivery goes on after each answer, as tables of cases."""

from datetime import UTC, datetime, timedelta

import pytest

from cutroom.webhooks.rules import (
    EVENT_RETENTION,
    MAX_PAUSE,
    PAUSES,
    Outcome,
    asked_pause_seconds,
    outcome_of,
    pause_before,
)

NOW = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
DAY = 86_400


def test_the_schedule_is_the_contract_s() -> None:
    seconds = [pause.total_seconds() for pause in PAUSES]
    assert seconds == [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]


def test_an_event_is_kept_longer_than_any_delivery_of_it_can_take() -> None:
    assert len(PAUSES) * MAX_PAUSE + timedelta(days=1) < EVENT_RETENTION


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, Outcome.DELIVERED),
        (204, Outcome.DELIVERED),
        (299, Outcome.DELIVERED),
        (199, Outcome.REFUSED),
        (300, Outcome.REFUSED),
        (302, Outcome.REFUSED),
        (307, Outcome.REFUSED),
        (400, Outcome.REFUSED),
        (404, Outcome.REFUSED),
        (410, Outcome.GONE),
        (429, Outcome.REFUSED),
        (500, Outcome.REFUSED),
        (503, Outcome.REFUSED),
    ],
)
def test_only_2xx_is_success_and_only_410_is_the_end(status: int, outcome: Outcome) -> None:
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
def test_a_receiver_s_wish_to_wait_is_read_within_bounds(status: int, header: str | None, seconds: int | None) -> None:
    assert asked_pause_seconds(status, header, now=NOW) == seconds


@pytest.mark.parametrize(("step", "asked", "pause"), [(5, None, 5), (5, 2, 5), (5, 60, 60), (300, DAY, DAY)])
def test_the_later_of_schedule_and_wish_counts(step: int, asked: int | None, pause: int) -> None:
    assert pause_before(timedelta(seconds=step), asked) == timedelta(seconds=pause)
