"""Segments are flagged by low model confidence or an impossible speaking rate."""

from dataclasses import replace

import pytest

from cutroom.engines.recognition.hallucinations import DecodedSegment, is_hallucination, needs_second_pass

GOOD = DecodedSegment(
    seconds=30.0,
    word_seconds=(0.3,) * 80,
    word_probabilities=(0.9,) * 80,
    compression_ratio=1.5,
    log_probability=-0.3,
    no_speech_probability=0.1,
)


@pytest.mark.parametrize(
    ("segment", "second_pass", "hallucination"),
    [
        pytest.param(GOOD, False, False, id="speech"),
        pytest.param(replace(GOOD, word_seconds=(), word_probabilities=()), False, False, id="no words"),
        pytest.param(replace(GOOD, compression_ratio=3.0), False, False, id="chorus"),
        pytest.param(replace(GOOD, compression_ratio=5.0), True, False, id="very repetitive"),
        pytest.param(replace(GOOD, compression_ratio=3.0, seconds=15.0), True, True, id="faster than speech"),
        pytest.param(
            replace(GOOD, compression_ratio=3.0, word_seconds=(0.5,) * 50 + (0.02,) * 30),
            True,
            True,
            id="words too short",
        ),
        pytest.param(replace(GOOD, seconds=15.0), False, False, id="fast without repetition"),
        pytest.param(replace(GOOD, log_probability=-1.1), True, False, id="low probability"),
        pytest.param(replace(GOOD, log_probability=-1.1, no_speech_probability=0.7), True, True, id="silence"),
        pytest.param(
            replace(GOOD, no_speech_probability=0.7), False, False, id="confident despite no-speech probability"
        ),
        pytest.param(replace(GOOD, word_probabilities=(0.1,) * 80), False, True, id="low word probabilities"),
    ],
)
def test_hallucination_checks(segment: DecodedSegment, *, second_pass: bool, hallucination: bool) -> None:
    assert needs_second_pass(segment) is second_pass
    assert is_hallucination(segment) is hallucination
