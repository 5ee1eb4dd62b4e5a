"""The pace that a source must keep, by its size."""

import pytest

from cutroom.products.ingest.pace import DOWNLOAD_SECONDS, Pace, PaceRules, TooSlowError

KIB, GIB = 1024, 1024**3
RULES = PaceRules(min_bytes_per_second=32 * KIB, window_seconds=60, grace_seconds=600)


class FakeClock:
    """Time that passes only when `seconds` is set."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def seconds_until_refused(rate: float, total: int | None, *, most: int = 30_000) -> int | None:
    """Sends at a constant rate, every second; None if the source is never refused."""
    clock = FakeClock()
    pace = Pace(RULES, clock)
    for second in range(1, most):
        clock.seconds = second
        received = int(rate * second)
        try:
            pace.check(min(received, total or received), total)
        except TooSlowError:
            return second
        if total is not None and received >= total:
            return None
    return None


@pytest.mark.parametrize(
    ("rate", "total", "refused"),
    [
        (1 * KIB, None, 60),  # the attack: six hours before
        (1 * KIB, 10 * GIB, 60),
        (31 * KIB, None, 60),
        (33 * KIB, 100 * 1024**2, None),
        (33 * KIB, 100 * GIB, 60),  # as fast, but it would take weeks
        (1024 * KIB, 100 * GIB, 60),
        (3 * 1024 * KIB, 100 * GIB, int(DOWNLOAD_SECONDS) + 1),
        (6 * 1024 * KIB, 100 * GIB, None),
        (33 * KIB, None, int(DOWNLOAD_SECONDS) + 1),
    ],
)
def test_constant_rate(rate: float, total: int | None, refused: int | None) -> None:
    assert seconds_until_refused(rate, total) == refused


def test_window_slides() -> None:
    """A fast start does not pay for a slow rest, and a pause of less than a window is forgiven."""
    clock = FakeClock()
    pace = Pace(RULES, clock)
    received = 0
    for second in range(1, 300):
        clock.seconds = second
        received += 0 if 100 <= second < 140 else 200 * KIB
        pace.check(received, None)
    for second in range(300, 350):
        clock.seconds = second
        received += KIB
        pace.check(received, None)
    clock.seconds = 360
    with pytest.raises(TooSlowError):
        pace.check(received, None)


def test_deadline_follows_from_the_size() -> None:
    assert RULES.deadline_seconds(32 * KIB * 100) == 700
    assert RULES.deadline_seconds(100 * GIB) == DOWNLOAD_SECONDS
    clock = FakeClock()
    pace = Pace(RULES, clock)
    clock.seconds = 700.5
    with pytest.raises(TooSlowError):
        pace.check(32 * KIB * 99, 32 * KIB * 100)
