"""Conformance suite of text embedders; each adapter's test class inherits it and provides the embedder."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from cutroom.engines.writing.port import TextEmbedder

# A text, a paraphrase, and an unrelated text.
TRIPLES = (
    ("How do bees make honey?", "Insects turn nectar into something sweet.", "The bank raised its interest rate."),
    ("The doctor examined the patient.", "A physician looked at someone who was ill.", "We repaired the roof."),
    ("My car would not start.", "The vehicle's engine failed.", "She sings in a choir."),
    ("It is freezing outside today.", "The weather is very cold.", "Chess is a board game."),
)


class TextEmbedderSuite:
    """Vectors have unit length, and paraphrases are close to each other."""

    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls) -> TextEmbedder:
        raise NotImplementedError

    @pytest.mark.parametrize("triple", TRIPLES)
    def test_paraphrase_is_closer_than_unrelated_text(
        self, embedder: TextEmbedder, triple: tuple[str, str, str]
    ) -> None:
        text, paraphrase, unrelated = embedder.embed(triple)
        assert text @ paraphrase > text @ unrelated + 0.1

    def test_every_text_has_a_unit_length_row(self, embedder: TextEmbedder) -> None:
        vectors = embedder.embed(["", "a", "word " * 3000, "日本語", "\ud800", "\x00", "x" * 100_000])
        assert vectors.shape[0] == 7
        assert vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)

    def test_empty_input_gives_empty_output(self, embedder: TextEmbedder) -> None:
        assert embedder.embed([]).shape == (0, embedder.embed(["a"]).shape[1])

    def test_vectors_do_not_depend_on_the_batch(self, embedder: TextEmbedder) -> None:
        texts = [text for triple in TRIPLES for text in triple]
        alone = np.concatenate([embedder.embed([text]) for text in texts])
        assert np.abs(alone - embedder.embed([*texts, "word " * 200])[:-1]).max() < 1e-5

    def test_embedder_is_thread_safe(self, embedder: TextEmbedder) -> None:
        with ThreadPoolExecutor(2) as threads:
            found = list(threads.map(lambda _: embedder.embed(TRIPLES[0]).tobytes(), range(3)))
        assert len(set(found)) == 1
