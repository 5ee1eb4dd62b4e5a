"""The pace of each subject."""

import pytest

from cutroom.web.pace import Pace


def test_work_of_a_subject_is_spaced_and_others_do_not_wait() -> None:
    pace = Pace(10)
    assert [pace.delay("a", 1, 5.0) for _ in range(3)] == pytest.approx([0.0, 0.1, 0.2])
    assert pace.delay("b", 1, 5.0) == 0.0
    assert pace.delay("a", 1, 5.25) == pytest.approx(0.05)
    assert pace.delay("a", 1, 9.0) == 0.0


def test_larger_work_takes_longer() -> None:
    pace = Pace(10)
    assert [pace.delay("a", units, 5.0) for units in (5, 1)] == pytest.approx([0.0, 0.5])


def test_burst_does_not_wait() -> None:
    pace = Pace(10, burst=3)
    assert [pace.delay("a", 1, 5.0) for _ in range(6)] == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.1, 0.2])
    assert pace.delay("a", 1, 6.0) == 0.0


def test_refused_work_is_not_counted() -> None:
    pace = Pace(10)
    assert [pace.delay("a", 1, 5.0, longest=0.1) for _ in range(5)] == pytest.approx([0.0, 0.1, 0.2, 0.2, 0.2])
    assert pace.delay("a", 1, 5.2, longest=0.1) == 0.0
