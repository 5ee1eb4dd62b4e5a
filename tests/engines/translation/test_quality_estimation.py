"""Estimated quality of translated lines."""

from collections.abc import Sequence

import numpy as np
import pytest

from cutroom.engines.translation.document import LineFault
from cutroom.engines.translation.quality_estimation import LineSignals, doubts, line_signals

SOURCES = ["The bank of the river was steep.", "We close at nine."]


class LetterEmbedder:
    """Unit vectors of letter counts."""

    def embed(self, texts: Sequence[str]) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
        rows = np.array([[text.lower().count(chr(97 + at)) for at in range(26)] for text in texts], np.float32)
        units: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return units


def test_a_line_that_comes_back_different_is_doubtful() -> None:
    found = doubts(
        SOURCES,
        ["...", "..."],
        source="en",
        back_translate=lambda _: ["My money office was expensive.", SOURCES[1]],
        embedder=LetterEmbedder(),
    )
    assert [[each.fault for each in line] for line in found] == [[LineFault.DOUBTFUL], []]


def test_words_decide_without_embeddings() -> None:
    found = doubts(SOURCES, ["...", "..."], source="en", back_translate=lambda _: ["The shop is dear.", SOURCES[1]])
    assert [bool(line) for line in found] == [True, False]


def test_without_a_reverse_route_nothing_is_doubtful() -> None:
    assert doubts(SOURCES, ["...", "..."], source="en", embedder=LetterEmbedder()) == [[], []]
    assert not LineSignals().is_doubtful


def test_embeddings_are_not_used_for_other_sources() -> None:
    signals = line_signals(["O rio."], ["The river."], source="pt", back_translate=list, embedder=LetterEmbedder())
    assert signals[0].similarity is None


@pytest.mark.parametrize("back", ["Unfortunately, yes.", "I'm afraid so."])
def test_a_literal_wording_counts_as_the_source(back: str) -> None:
    signals = line_signals(["I'm afraid so."], ["..."], source="en", back_translate=lambda _: [back])
    assert signals[0].recall == 1.0


def test_the_least_similar_sentence_counts() -> None:
    source = "The bank of the river was steep. We close the shop at nine."
    back = "The bank of the river was steep. Zzz qqq jjj kkk vvv www."
    signals = line_signals([source], ["..."], source="en", back_translate=lambda _: [back], embedder=LetterEmbedder())
    assert signals[0].similarity is not None
    assert signals[0].similarity < 0.5
