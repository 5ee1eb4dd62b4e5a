"""What every embedder must do: each adapter's test class inherits this one and says what its embedder is."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from cutroom.engines.writing.text_ports import TextEmbedder

# A text, one that means the like in other words, and one that does not.
TRIPLES = (
    ("How do bees make honey?", "Insects turn nectar into something sweet.", "The bank raised its interest rate."),
    ("The doctor examined the patient.", "A physician looked at someone who was ill.", "We repaired the roof."),
    ("My car would not start.", "The vehicle's engine failed.", "She sings in a choir."),
    ("It is freezing outside today.", "The weather is very cold.", "Chess is a board game."),
)


class EmbedderSuite:
    """Vectors of length 1, near each other where texts mean the like."""

    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls) -> TextEmbedder:
        raise NotImplementedError

    @pytest.mark.parametrize("triple", TRIPLES)
    def test_like_meanings_are_nearer(self, embedder: TextEmbedder, triple: tuple[str, str, str]) -> None:
        text, like, unlike = embedder.embed(triple)
        assert text @ like > text @ unlike + 0.1

    def test_every_text_has_a_row_of_length_1(self, embedder: TextEmbedder) -> None:
        vectors = embedder.embed(["", "a", "word " * 3000, "日本語", "\ud800", "\x00", "x" * 100_000])
        assert vectors.shape[0] == 7
        assert vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)

    def test_nothing_in_nothing_out(self, embedder: TextEmbedder) -> None:
        assert embedder.embed([]).shape == (0, embedder.embed(["a"]).shape[1])

    def test_neighbours_do_not_matter(self, embedder: TextEmbedder) -> None:
        texts = [text for triple in TRIPLES for text in triple]
        alone = np.concatenate([embedder.embed([text]) for text in texts])
        assert np.abs(alone - embedder.embed([*texts, "word " * 200])[:-1]).max() < 1e-5

    def test_threads_may_share_it(self, embedder: TextEmbedder) -> None:
        with ThreadPoolExecutor(2) as threads:
            found = list(threads.map(lambda _: embedder.embed(TRIPLES[0]).tobytes(), range(3)))
        assert len(set(found)) == 1
