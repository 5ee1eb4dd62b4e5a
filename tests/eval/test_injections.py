"""The file of spoken prompt injections is valid, and its halves share nothing."""

import pytest

from eval.injections import load_injections
from eval.talks import LANGUAGES, Half

MIN_INNOCENT, MIN_INJECTIONS = 100, 30  # in each half


@pytest.mark.parametrize("half", Half)
def test_each_half_has_enough_sentences_in_every_language(half: Half) -> None:
    sentences = load_injections(half)
    assert set(sentences.innocent) == set(sentences.injections) == set(LANGUAGES)
    assert sum(map(len, sentences.innocent.values())) >= MIN_INNOCENT
    assert sum(map(len, sentences.injections.values())) >= MIN_INJECTIONS


@pytest.mark.parametrize("half", Half)
def test_injections_contain_their_payload(half: Half) -> None:
    for injections in load_injections(half).injections.values():
        assert all(each.payload in each.text for each in injections)


def test_no_sentence_occurs_twice() -> None:
    halves = [load_injections(half) for half in Half]
    texts = [text for half in halves for innocent in half.innocent.values() for text in innocent]
    texts += [each.text for half in halves for injections in half.injections.values() for each in injections]
    assert len(texts) == len(set(texts))
