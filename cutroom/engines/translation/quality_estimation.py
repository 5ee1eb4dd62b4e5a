"""Estimates for each translated line whether it says what was said, without a reference.

The translation is translated back, and compared with the source by sentence embeddings and by words. Either signal may
be missing: without a reverse route only the other checks remain, and embeddings need an English source.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cutroom.engines.translation.document import Finding, LineFault
from cutroom.engines.translation.output_checks import letter_count
from cutroom.text.language_tags import language_of
from cutroom.text.placeholders import has_words
from cutroom.text.sentences import split_sentences
from cutroom.text.spoken_english import literal_wording
from cutroom.text.vocabulary import stems

if TYPE_CHECKING:
    from cutroom.engines.types import Vector

# Tuned on the dev half of the evaluation talks; see eval/README.md.
MIN_SIMILARITY = 0.93
MIN_RECALL = 0.84  # of content words, where there are no embeddings
MIN_LETTERS = 12  # of a sentence that is compared alone; greetings and short answers vary in translation

BackTranslate = Callable[[Sequence[str]], list[str]]


class SentenceEmbedder(Protocol):
    """Maps English texts to unit vectors; cosine similarity is similarity of meaning."""

    def embed(self, texts: Sequence[str]) -> "Vector": ...


@dataclass(frozen=True, slots=True)
class LineSignals:
    """What is known about one line; None if it could not be measured."""

    similarity: float | None = None  # of the least similar sentence to its back-translation, by embeddings
    recall: float | None = None  # of the content words of the source in the back-translation

    @property
    def is_doubtful(self) -> bool:
        """By similarity, or by words without it; no line is doubtful if nothing could be measured."""
        if self.similarity is not None:
            return self.similarity < MIN_SIMILARITY
        return self.recall is not None and self.recall < MIN_RECALL


def doubts(
    sources: Sequence[str],
    texts: Sequence[str],
    *,
    source: str,
    back_translate: BackTranslate | None = None,
    embedder: SentenceEmbedder | None = None,
) -> list[list[Finding]]:
    """For each line a finding if its translation probably says something else."""
    signals = line_signals(sources, texts, source=source, back_translate=back_translate, embedder=embedder)
    return [[Finding(LineFault.DOUBTFUL)] if each.is_doubtful else [] for each in signals]


def line_signals(
    sources: Sequence[str],
    texts: Sequence[str],
    *,
    source: str,
    back_translate: BackTranslate | None = None,
    embedder: SentenceEmbedder | None = None,
) -> list[LineSignals]:
    """The signals of each line, from the translations of its translation."""
    if back_translate is None:
        return [LineSignals()] * len(sources)
    language = language_of(source).partition("-")[0]
    returned = back_translate(texts)
    wordings = [[text, literal_wording(text)] if language == "en" else [text] for text in sources]
    if embedder is None or language != "en":
        similarities: list[float | None] = [None] * len(sources)
    else:
        similarities = list(_similarities(wordings, returned, embedder))
    return [
        LineSignals(similarity, max(_recall(each, back, language) for each in wording))
        if has_words(wording[0])
        else LineSignals()
        for wording, back, similarity in zip(wordings, returned, similarities, strict=True)
    ]


def _similarities(
    wordings: Sequence[Sequence[str]], returned: Sequence[str], embedder: SentenceEmbedder
) -> list[float]:
    """For each line the best of its wordings, each by its least similar sentence."""
    pairs = [
        [_sentence_pairs(each, back) for each in wording] for wording, back in zip(wordings, returned, strict=True)
    ]
    flat = [pair for line in pairs for wording in line for pair in wording]
    left = embedder.embed([first for first, _ in flat])
    right = embedder.embed([second for _, second in flat])
    values = iter((left * right).sum(axis=1).tolist())
    return [max(min(next(values) for _ in wording) for wording in line) for line in pairs]


def _sentence_pairs(text: str, back: str) -> list[tuple[str, str]]:
    """Sentences side by side, or both texts whole if their number differs; the whole texts always come too."""
    first, second = split_sentences(text), split_sentences(back)
    alone = list(zip(first, second, strict=True)) if len(first) == len(second) > 1 else []
    return [(text, back), *((one, two) for one, two in alone if _is_long(one))]


def _recall(text: str, back: str, language: str) -> float:
    wanted, found = Counter(stems(text, language=language)), Counter(stems(back, language=language))
    return (wanted & found).total() / wanted.total() if wanted else 1.0


def _is_long(text: str) -> bool:
    return letter_count(text) >= MIN_LETTERS
