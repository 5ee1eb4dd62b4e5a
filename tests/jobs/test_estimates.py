"""Estimates of when a job is ready, and how they are worded."""

from datetime import UTC, datetime, timedelta

import pytest

from cutroom.jobs.estimates import (
    MARKS,
    MeasuredRun,
    RunState,
    describe_remaining,
    estimate_ready_at,
    expect_run,
    seconds_until,
)

START = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def even_run(total_seconds: float, *, media_seconds: float | None) -> MeasuredRun:
    return MeasuredRun(media_seconds, [total_seconds * (mark + 1) / MARKS for mark in range(MARKS)])


def remaining(progress: float, *, elapsed: float, expected: list[float] | None, known: bool = True) -> float | None:
    at = START + seconds(elapsed)
    ready_at = estimate_ready_at(RunState(progress, START, at, expected, has_known_length=known), now=at)
    return None if ready_at is None else (ready_at - at).total_seconds()


def test_expectation_is_proportional_to_the_length_of_the_media() -> None:
    runs = [even_run(30, media_seconds=60), even_run(33, media_seconds=60), even_run(300, media_seconds=60)]
    expected = expect_run(runs, media_seconds=120)
    assert expected is not None
    assert expected[-1] == pytest.approx(66)
    assert expected[4] == pytest.approx(33)


def test_expectation_prefers_runs_of_similar_length() -> None:
    short = [even_run(30, media_seconds=30)] * 5  # mostly a fixed cost
    long = [even_run(600, media_seconds=3600)] * 5
    expected = expect_run([*short, *long], media_seconds=3000)
    assert expected is not None
    assert expected[-1] == pytest.approx(500)


def test_nothing_is_expected_without_complete_runs() -> None:
    assert expect_run([], media_seconds=60) is None
    assert expect_run([MeasuredRun(60, [1.0, 2.0])], media_seconds=60) is None
    assert expect_run([even_run(30, media_seconds=None)], media_seconds=60) is None


def test_expected_time_is_interpolated_between_marks() -> None:
    expected = [5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 100.0]
    assert [seconds_until(expected, progress) for progress in (0, 5, 10, 95, 100)] == [0, 2.5, 5, 56.5, 100]


def test_first_estimate_comes_from_earlier_runs() -> None:
    expected = expect_run([even_run(120, media_seconds=60)], media_seconds=60)
    assert remaining(0, elapsed=0, expected=expected) == 120


def test_pace_of_the_run_itself_prevails_as_it_advances() -> None:
    expected = expect_run([even_run(100, media_seconds=60)], media_seconds=60)
    assert remaining(4, elapsed=8, expected=expected) == 107  # half as fast as expected, but only at its start
    assert remaining(50, elapsed=100, expected=expected) == 100
    assert remaining(90, elapsed=180, expected=expected) == 20


def test_shares_of_the_stages_come_from_earlier_runs() -> None:
    late = MeasuredRun(60, [1, 2, 3, 4, 5, 6, 7, 8, 9, 100])  # the last tenth takes nine tenths of the time
    expected = expect_run([late], media_seconds=60)
    assert remaining(90, elapsed=9, expected=expected) == 91


def test_without_measured_runs_there_is_no_estimate_until_progress_allows_one() -> None:
    assert remaining(5, elapsed=60, expected=None, known=False) is None
    assert remaining(50, elapsed=2, expected=None, known=False) is None
    assert remaining(25, elapsed=30, expected=None, known=False) == 90


def test_unknown_length_uses_only_the_shape_of_earlier_runs() -> None:
    expected = expect_run([even_run(1000, media_seconds=500)], media_seconds=None)
    assert remaining(0, elapsed=0, expected=expected, known=False) is None
    assert remaining(50, elapsed=10, expected=expected, known=False) == 10


def test_estimate_is_never_in_the_past_and_ends_when_the_job_is_overdue() -> None:
    run = RunState(50, START, START + seconds(60), None, has_known_length=False)
    assert estimate_ready_at(run, now=START + seconds(60)) == START + seconds(120)
    assert estimate_ready_at(run, now=START + seconds(132)) == START + seconds(135)
    assert estimate_ready_at(run, now=START + seconds(151)) is None


def test_estimate_is_bounded() -> None:
    assert remaining(11, elapsed=10**6, expected=None, known=False) == 24 * 3600


@pytest.mark.parametrize(
    ("left", "text"),
    [
        (-20, "less than a minute left"),
        (29, "less than a minute left"),
        (31, "about 1 min left"),
        (170, "about 3 min left"),
        (3585, "about 1 h left"),
        (4200, "about 1 h 10 min left"),
        (7300, "about 2 h left"),
    ],
)
def test_remaining_time_is_worded(left: float, text: str) -> None:
    assert describe_remaining(START + seconds(left), now=START) == text


def test_no_estimate_has_no_words() -> None:
    assert describe_remaining(None, now=START) == ""
