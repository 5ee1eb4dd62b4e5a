"""Levels of lines relative to the median of their speaker."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.products.dubs.line_levels import (
    MAX_BELOW_MEDIAN_DB,
    MAX_LIFTED_GAIN,
    LineLevel,
    is_outlier,
    levels_db,
    lift_quiet_lines,
)

SPEAKERS = st.sampled_from(["speaker_1", "speaker_2"])
SILENT = st.just(0.0)
LEVELS = st.builds(LineLevel, SPEAKERS, st.floats(1e-4, 1.0) | SILENT, st.floats(0.2, 4.0))
AUDIBLE = st.builds(LineLevel, SPEAKERS, st.floats(0.05, 0.2), st.floats(0.2, 4.0))


def lifted(lines: list[LineLevel]) -> list[LineLevel]:
    return [
        LineLevel(line.speaker, line.level, gain) for line, gain in zip(lines, lift_quiet_lines(lines), strict=True)
    ]


@pytest.mark.parametrize(
    ("mixed", "expected"),
    [
        ([0.1, 0.1, 0.1, 0.025], [1.0, 1.0, 1.0, 2.0048]),  # -12 dB becomes -6 dB
        ([0.1, 0.1, 0.06], [1.0, 1.0, 1.0]),  # -4.4 dB
        ([0.1, 0.3, 0.1], [1.0, 1.0, 1.0]),  # loud lines stay
        ([0.1, 0.01], [1.0, 5.0119]),
        ([0.1], [1.0]),
        ([0.1, 0.1, 0.0], [1.0, 1.0, 1.0]),
        ([0.1, 0.1, 0.0002], [1.0, 1.0, MAX_LIFTED_GAIN]),
    ],
)
def test_quiet_lines_are_lifted(mixed: list[float], expected: list[float]) -> None:
    assert lift_quiet_lines([LineLevel("speaker_1", level) for level in mixed]) == pytest.approx(expected, abs=1e-4)


def test_speakers_have_their_own_median() -> None:
    lines = [LineLevel("loud", 0.4), LineLevel("loud", 0.4), LineLevel("soft", 0.02), LineLevel("soft", 0.02)]
    assert lift_quiet_lines(lines) == [1.0] * 4


@given(st.lists(AUDIBLE))
def test_no_line_stays_far_below_the_median(lines: list[LineLevel]) -> None:
    after = lifted(lines)
    assert not any(is_outlier(level) for level in levels_db(after) if level is not None)
    for speaker in {line.speaker for line in lines}:
        mixed = [line.mixed for line in after if line.speaker == speaker]
        assert min(mixed) >= statistics.median(mixed) * 10 ** (-MAX_BELOW_MEDIAN_DB / 20) * (1 - 1e-9)


@given(st.lists(LEVELS))
def test_lifting_only_raises_outliers_and_keeps_the_median(lines: list[LineLevel]) -> None:
    after = lifted(lines)
    for before, line, level in zip(lines, after, levels_db(lines), strict=True):
        assert line.gain >= before.gain
        if level is not None and level > -MAX_BELOW_MEDIAN_DB:
            assert line.gain == before.gain
        if line.gain > before.gain:
            assert line.gain <= MAX_LIFTED_GAIN
    for speaker in {line.speaker for line in lines}:
        medians = [
            statistics.median_high([line.mixed for line in each if line.speaker == speaker and line.mixed] or [0.0])
            for each in (lines, after)
        ]
        assert medians[0] == medians[1]


@given(st.lists(LEVELS))
def test_lifting_twice_changes_nothing(lines: list[LineLevel]) -> None:
    once = lifted(lines)
    assert lift_quiet_lines(once) == [line.gain for line in once]
