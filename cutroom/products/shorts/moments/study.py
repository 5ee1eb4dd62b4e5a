"""What each sentence of a film is worth, measured once so that any run of them can be judged at little cost."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from cutroom.products.shorts.moments import keywords
from cutroom.products.shorts.moments.talk import (
    MAX_SENTENCES,
    Places,
    Sentence,
    Talk,
    Utterance,
    Wish,
    places,
    utterances,
)
from cutroom.text import topics
from cutroom.text.vocabulary import clean_text, points_back, stems, words_of
from cutroom.text.writing_systems import SENTENCE_MARKS, bare

if TYPE_CHECKING:
    from cutroom.engines.types import Vector

PAUSE_SECONDS = 0.6  # after which a sentence may be over although nothing marks its end
STRONG_WORDS = range(4, 19)  # of a sentence that can open a moment
TOPIC_SHARE = 0.25  # of the relevance of a sentence
MAX_WISHED = 40  # words of a wish that are looked for
_QUESTIONS = ("?", "？", "؟")  # noqa: RUF001 (of several scripts)


@dataclass(frozen=True, slots=True)
class TalkAnalysis:
    """One entry for each sentence in the order of time, and sums up to each where runs need them."""

    film: Talk
    sentences: Sequence[Sentence]
    spoken: Sequence[Utterance]
    places: Places
    stems: Sequence[Sequence[str]]
    topics: Sequence[int]
    topic_starts: Sequence[int]
    rarity: dict[str, float]
    worth: Sequence[float]
    central: Sequence[float]
    opening: Sequence[float]  # from -1, in the middle of a sentence, to 1, a question
    ending: Sequence[float]  # from 0 to 1
    asks: Sequence[bool]
    relevance: Sequence[float] | None  # to the wish, from 0 to 1
    worth_sums: Sequence[float]
    central_sums: Sequence[float]
    spoken_sums: Sequence[float]
    energy_sums: Sequence[float]
    relevance_sums: Sequence[float]

    @property
    def count(self) -> int:
        return len(self.sentences)


def study(film: Talk, *, wish: Wish | None) -> TalkAnalysis:
    order = sorted(range(min(len(film.sentences), MAX_SENTENCES)), key=lambda at: _begin(film.sentences[at]))
    order = [at for at in order if _is_said(film.sentences[at], film)]
    sentences = [film.sentences[at] for at in order]
    vectors = _picked(film, order)
    spoken = utterances(film) if sentences else []
    laid = places(sentences, spoken) if spoken else Places((), ())
    laid = Places(laid.first, list(accumulate(laid.last, max)))
    found = [stems(each.text, language=film.language) for each in sentences]
    pauses = [_pause_after(sentences, at) for at in range(len(sentences))]
    starts = topics.topic_starts(found, pauses, vectors=vectors)
    numbers = topics.topic_of(starts, count=len(sentences))
    rarity = keywords.rarities(found)
    worth = keywords.weights(found, numbers, rarity=rarity)
    central = topics.centralities(found, numbers, vectors=vectors) if sentences else []
    ending = [_ending(sentences, at) for at in range(len(sentences))]
    asks = [bare(clean_text(each.text)).endswith(_QUESTIONS) for each in sentences]
    opening = [_opening(sentences, at, ending, asks=asks, language=film.language) for at in range(len(sentences))]
    relevance = _relevance(found, vectors, wish, language=film.language, rarity=rarity)
    relevance = _shared(relevance, numbers) if relevance is not None else None
    return TalkAnalysis(
        film, sentences, spoken, laid, found, numbers, starts, rarity, worth, central, opening, ending, asks, relevance,
        worth_sums=_sums(worth),
        central_sums=_sums(central),
        spoken_sums=_sums([max(0.0, each.end_seconds - each.start_seconds) for each in spoken]),
        energy_sums=_sums(_levels(film.energy)),
        relevance_sums=_sums(relevance or ()),
    )  # fmt: skip


def _begin(sentence: Sentence) -> float:
    return sentence.start_seconds if math.isfinite(sentence.start_seconds) else math.inf


def _is_said(sentence: Sentence, film: Talk) -> bool:
    timed = math.isfinite(sentence.start_seconds) and math.isfinite(sentence.end_seconds)
    return timed and sentence.start_seconds < film.duration_seconds and bool(clean_text(sentence.text))


def _picked(film: Talk, order: Sequence[int]) -> "Vector | None":
    if film.vectors is None or len(film.vectors) != len(film.sentences) or not order:
        return None
    picked: Vector = film.vectors[list(order)]
    return picked


def _sums(values: Sequence[float]) -> list[float]:
    return list(accumulate(values, initial=0.0))


def _ending(sentences: Sequence[Sentence], at: int) -> float:
    """Whether a listener feels that something is over: a mark, and a pause behind it."""
    pause = _pause_after(sentences, at)
    marked = bare(clean_text(sentences[at].text))[-1:] in SENTENCE_MARKS
    return (0.6 if marked else 0.0) + 0.4 * min(1.0, max(0.0, pause) / PAUSE_SECONDS)


def _pause_after(sentences: Sequence[Sentence], at: int) -> float:
    if at + 1 == len(sentences):
        return PAUSE_SECONDS
    return sentences[at + 1].start_seconds - sentences[at].end_seconds


def _opening(
    sentences: Sequence[Sentence], at: int, ending: Sequence[float], *, asks: Sequence[bool], language: str
) -> float:
    """How well a stranger can begin to listen here."""
    if at and ending[at - 1] < 0.4 and sentences[at - 1].speaker == sentences[at].speaker:
        return -1.0
    text = sentences[at].text
    if points_back(text, language=language):
        return -0.7
    if asks[at]:
        return 1.0
    strong = len(words_of(text)) in STRONG_WORDS
    return (0.5 if strong else 0.1) + (0.2 if any(map(str.isdigit, text)) or text.rstrip().endswith("!") else 0.0)


def _levels(energy: Sequence[float]) -> list[float]:
    """Loudness from 0 to 1; the quietest and the loudest seconds are left out of the scale."""
    sane = [each if math.isfinite(each) else None for each in energy]
    ranked = sorted(each for each in sane if each is not None)
    if not ranked or ranked[0] == ranked[-1]:
        return [0.5] * len(energy)
    low, high = ranked[len(ranked) // 20], ranked[-1 - len(ranked) // 20]
    span = max(high - low, 1e-9)
    return [0.0 if each is None else min(1.0, max(0.0, (each - low) / span)) for each in sane]


def _relevance(
    found: Sequence[Sequence[str]],
    vectors: "Vector | None",
    wish: Wish | None,
    *,
    language: str,
    rarity: dict[str, float],
) -> list[float] | None:
    """How well each sentence answers the wish; nothing where there is none, or one that says nothing."""
    if wish is None or not found:
        return None
    wished = keywords.wished_stems(wish.text, found, language=language, rarity=rarity)
    wished = dict(list(wished.items())[:MAX_WISHED])
    total = sum(wished.values())
    shared = [sum(wished[stem] for stem in keywords.answers(own, wished)) / total if total else 0.0 for own in found]
    if vectors is not None and wish.vector is not None and wish.vector.shape[-1] == vectors.shape[-1]:
        alike = [float(each) for each in vectors @ wish.vector.reshape(-1)]
        return [0.85 * max(0.0, near) + 0.15 * words for near, words in zip(alike, shared, strict=True)]
    return shared if any(shared) else None


def _shared(relevance: Sequence[float], numbers: Sequence[int]) -> list[float]:
    """A part of each sentence's relevance is that of its topic: few say again what they are about."""
    sums, counts = [0.0] * (numbers[-1] + 1), [0] * (numbers[-1] + 1)
    for topic, own in zip(numbers, relevance, strict=True):
        sums[topic] += own
        counts[topic] += 1
    pairs = zip(numbers, relevance, strict=True)
    return [(1 - TOPIC_SHARE) * own + TOPIC_SHARE * sums[topic] / counts[topic] for topic, own in pairs]


def sentence_at(studied: TalkAnalysis, utterance: int) -> int:
    """The sentence to which an utterance belongs."""
    return max(0, bisect_right(studied.places.first, utterance) - 1)
