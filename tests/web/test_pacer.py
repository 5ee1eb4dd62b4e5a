"""The pace of each subject."""

import pytest

from cutroom.web.pacer import Pacer


def test_work_of_a_subject_is_spaced_and_others_do_not_wait() -> None:
    pacer = Pacer(10)
    assert [pacer.delay("a", 1, 5.0) for _ in range(3)] == pytest.approx([0.0, 0.1, 0.2])
    assert pacer.delay("b", 1, 5.0) == 0.0
    assert pacer.delay("a", 1, 5.25) == pytest.approx(0.05)
    assert pacer.delay("a", 1, 9.0) == 0.0


def test_larger_work_takes_longer() -> None:
    pacer = Pacer(10)
    assert [pacer.delay("a", units, 5.0) for units in (5, 1)] == pytest.approx([0.0, 0.5])


def test_burst_does_not_wait() -> None:
    pacer = Pacer(10, burst=3)
    assert [pacer.delay("a", 1, 5.0) for _ in range(6)] == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.1, 0.2])
    assert pacer.delay("a", 1, 6.0) == 0.0


def test_refused_work_is_not_counted() -> None:
    pacer = Pacer(10)
    assert [pacer.delay("a", 1, 5.0, longest=0.1) for _ in range(5)] == pytest.approx([0.0, 0.1, 0.2, 0.2, 0.2])
    assert pacer.delay("a", 1, 5.2, longest=0.1) == 0.0
