"""Words are doubted when a model doubts them itself, or when nobody could say them."""

from dataclasses import replace

import pytest

from cutroom.engines.recognition.hallucinations import Hearing, is_doubtful, is_hallucination

GOOD = Hearing(
    seconds=30.0,
    word_seconds=(0.3,) * 80,
    word_probabilities=(0.9,) * 80,
    compression_ratio=1.5,
    log_probability=-0.3,
    no_speech_probability=0.1,
)


@pytest.mark.parametrize(
    ("hearing", "doubtful", "made_up"),
    [
        pytest.param(GOOD, False, False, id="speech"),
        pytest.param(replace(GOOD, word_seconds=(), word_probabilities=()), False, False, id="no words"),
        pytest.param(replace(GOOD, compression_ratio=3.0), False, False, id="a chorus"),
        pytest.param(replace(GOOD, compression_ratio=5.0), True, False, id="a litany"),
        pytest.param(replace(GOOD, compression_ratio=3.0, seconds=15.0), True, True, id="faster than speech"),
        pytest.param(
            replace(GOOD, compression_ratio=3.0, word_seconds=(0.5,) * 50 + (0.02,) * 30), True, True, id="crammed"
        ),
        pytest.param(replace(GOOD, seconds=15.0), False, False, id="fast, but nothing is repeated"),
        pytest.param(replace(GOOD, log_probability=-1.1), True, False, id="improbable"),
        pytest.param(replace(GOOD, log_probability=-1.1, no_speech_probability=0.7), True, True, id="silence"),
        pytest.param(replace(GOOD, no_speech_probability=0.7), False, False, id="probable in spite of silence"),
        pytest.param(replace(GOOD, word_probabilities=(0.1,) * 80), False, True, id="guesswork"),
    ],
)
def test_words_are_doubted(hearing: Hearing, *, doubtful: bool, made_up: bool) -> None:
    assert is_doubtful(hearing) is doubtful
    assert is_hallucination(hearing) is made_up
