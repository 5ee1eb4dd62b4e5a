"""Scores each sentence of a talk once, with prefix sums that make any range cheap to evaluate."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from cutroom.products.shorts.moments import keywords
from cutroom.products.shorts.moments.coherence import Coherence, analyze_coherence
from cutroom.products.shorts.moments.talk import (
    MAX_SENTENCES,
    SelectionPrompt,
    SentenceSpans,
    Talk,
    TalkSentence,
    Utterance,
    merge_utterances,
    sentence_spans,
)
from cutroom.text import topics
from cutroom.text.discourse import is_strong_statement
from cutroom.text.vocabulary import clean_text, stems, words_of
from cutroom.text.writing_systems import SENTENCE_MARKS, strip_closing_marks

if TYPE_CHECKING:
    from cutroom.engines.types import Vector

PAUSE_SECONDS = 0.6  # a pause this long may end a sentence without punctuation
OPENING_WORDS = range(4, 19)  # length of a sentence that opens a moment well
HOOK_SECONDS = 3.0  # in which a moment has to catch a viewer
MIN_ENDING = 0.4  # a sentence that sounds less final than this continues in the next
TOPIC_WEIGHT = 0.25  # of the topic's relevance in that of a sentence
MAX_PROMPT_STEMS = 40
_QUESTIONS = ("?", "？", "؟")  # noqa: RUF001 (of several scripts)


@dataclass(frozen=True, slots=True)
class TalkAnalysis:
    """Per-sentence scores in time order, and their prefix sums."""

    talk: Talk
    sentences: Sequence[TalkSentence]
    utterances: Sequence[Utterance]
    sentence_spans: SentenceSpans
    stems: Sequence[Sequence[str]]
    topics: Sequence[int]
    topic_starts: Sequence[int]
    idf: dict[str, float]
    content: Sequence[float]
    centrality: Sequence[float]
    opening: Sequence[float]  # from -1 (mid-sentence) to 1 (a question)
    ending: Sequence[float]  # from 0 to 1
    is_question: Sequence[bool]
    coherence: Coherence
    vectors: "Vector | None"  # one unit vector per sentence
    relevance: Sequence[float] | None  # to the prompt, from 0 to 1
    content_sums: Sequence[float]
    centrality_sums: Sequence[float]
    speech_sums: Sequence[float]
    energy_sums: Sequence[float]
    relevance_sums: Sequence[float]

    @property
    def count(self) -> int:
        return len(self.sentences)

    def can_start(self, sentence: int) -> bool:
        return self.coherence.can_start[sentence] and self.opening[sentence] >= 0

    def can_end(self, sentence: int) -> bool:
        return self.coherence.can_end[sentence] and self.ending[sentence] >= MIN_ENDING


def analyze_talk(talk: Talk, *, prompt: SelectionPrompt | None) -> TalkAnalysis:
    order = sorted(range(min(len(talk.sentences), MAX_SENTENCES)), key=lambda index: _sort_key(talk.sentences[index]))
    order = [index for index in order if _is_valid(talk.sentences[index], talk)]
    sentences = [talk.sentences[index] for index in order]
    vectors = _select_vectors(talk, order)
    utterances = merge_utterances(talk) if sentences else []
    spans = sentence_spans(sentences, utterances) if utterances else SentenceSpans((), ())
    spans = SentenceSpans(spans.first, list(accumulate(spans.last, max)))
    stems_by_sentence = [stems(each.text, language=talk.language) for each in sentences]
    pauses = [_pause_after(sentences, index) for index in range(len(sentences))]
    starts = topics.topic_starts(stems_by_sentence, pauses, vectors=vectors)
    topic_numbers = topics.topic_of(starts, count=len(sentences))
    idf = keywords.stem_idf(stems_by_sentence)
    content = keywords.keyword_density(stems_by_sentence, topic_numbers, idf=idf)
    centrality = topics.centralities(stems_by_sentence, topic_numbers, vectors=vectors) if sentences else []
    ending = [_ending(sentences, index) for index in range(len(sentences))]
    is_question = [strip_closing_marks(clean_text(each.text)).endswith(_QUESTIONS) for each in sentences]
    coherence = analyze_coherence(sentences, stems_by_sentence, is_question=is_question, language=talk.language)
    opening = [
        _opening(sentences, index, ending, is_question=is_question, coherence=coherence, language=talk.language)
        for index in range(len(sentences))
    ]
    relevance = _relevance(stems_by_sentence, vectors, prompt, language=talk.language, idf=idf)
    relevance = _blend_topic_relevance(relevance, topic_numbers) if relevance is not None else None
    return TalkAnalysis(
        talk, sentences, utterances, spans, stems_by_sentence, topic_numbers, starts, idf, content, centrality, opening,
        ending, is_question, coherence, vectors, relevance,
        content_sums=_prefix_sums(content),
        centrality_sums=_prefix_sums(centrality),
        speech_sums=_prefix_sums([max(0.0, each.end_seconds - each.start_seconds) for each in utterances]),
        energy_sums=_prefix_sums(_normalize_levels(talk.energy)),
        relevance_sums=_prefix_sums(relevance or ()),
    )  # fmt: skip


def _sort_key(sentence: TalkSentence) -> float:
    return sentence.start_seconds if math.isfinite(sentence.start_seconds) else math.inf


def _is_valid(sentence: TalkSentence, talk: Talk) -> bool:
    timed = math.isfinite(sentence.start_seconds) and math.isfinite(sentence.end_seconds)
    return timed and sentence.start_seconds < talk.duration_seconds and bool(clean_text(sentence.text))


def _select_vectors(talk: Talk, order: Sequence[int]) -> "Vector | None":
    if talk.vectors is None or len(talk.vectors) != len(talk.sentences) or not order:
        return None
    selected: Vector = talk.vectors[list(order)]
    return selected


def _prefix_sums(values: Sequence[float]) -> list[float]:
    return list(accumulate(values, initial=0.0))


def _ending(sentences: Sequence[TalkSentence], index: int) -> float:
    """How final a sentence sounds: end punctuation, and a pause after it."""
    pause = _pause_after(sentences, index)
    has_mark = strip_closing_marks(clean_text(sentences[index].text))[-1:] in SENTENCE_MARKS
    return (0.6 if has_mark else 0.0) + 0.4 * min(1.0, max(0.0, pause) / PAUSE_SECONDS)


def _pause_after(sentences: Sequence[TalkSentence], index: int) -> float:
    if index + 1 == len(sentences):
        return PAUSE_SECONDS
    return sentences[index + 1].start_seconds - sentences[index].end_seconds


def _opening(
    sentences: Sequence[TalkSentence],
    index: int,
    ending: Sequence[float],
    *,
    is_question: Sequence[bool],
    coherence: Coherence,
    language: str,
) -> float:
    """How well a new listener can start here."""
    if index and ending[index - 1] < MIN_ENDING and sentences[index - 1].speaker == sentences[index].speaker:
        return -1.0
    if not coherence.can_start[index]:
        return -0.7
    if is_question[index]:
        return 1.0 if coherence.starts_turn[index] else 0.6
    is_good_length = len(words_of(sentences[index].text)) in OPENING_WORDS
    return (0.4 if is_good_length else 0.1) + (
        0.4 if _has_hook(sentences, index, is_question=is_question, language=language) else 0.0
    )


def _has_hook(sentences: Sequence[TalkSentence], index: int, *, is_question: Sequence[bool], language: str) -> bool:
    """Whether a strong statement or a question comes within HOOK_SECONDS."""
    sentence = sentences[index]
    seconds = max(sentence.end_seconds - sentence.start_seconds, HOOK_SECONDS)
    opening = sentence.text[: int(len(sentence.text) * HOOK_SECONDS / seconds)]
    if is_strong_statement(opening, language=language):
        return True
    following = index + 1
    return (
        following < len(sentences)
        and is_question[following]
        and sentences[following].start_seconds - sentence.start_seconds < HOOK_SECONDS
    )


def _normalize_levels(energy: Sequence[float]) -> list[float]:
    """Loudness scaled to 0..1 between the 5th and 95th percentiles."""
    finite = [each if math.isfinite(each) else None for each in energy]
    ranked = sorted(each for each in finite if each is not None)
    if not ranked or ranked[0] == ranked[-1]:
        return [0.5] * len(energy)
    low, high = ranked[len(ranked) // 20], ranked[-1 - len(ranked) // 20]
    span = max(high - low, 1e-9)
    return [0.0 if each is None else min(1.0, max(0.0, (each - low) / span)) for each in finite]


def _relevance(
    stems_by_sentence: Sequence[Sequence[str]],
    vectors: "Vector | None",
    prompt: SelectionPrompt | None,
    *,
    language: str,
    idf: dict[str, float],
) -> list[float] | None:
    """Relevance of each sentence to the prompt; None without a prompt, or if it matches nothing."""
    if prompt is None or not stems_by_sentence:
        return None
    prompt_weights = keywords.prompt_stems(prompt.text, stems_by_sentence, language=language, idf=idf)
    prompt_weights = dict(list(prompt_weights.items())[:MAX_PROMPT_STEMS])
    total = sum(prompt_weights.values())
    overlap = [
        sum(prompt_weights[stem] for stem in keywords.matching_stems(stems_here, prompt_weights)) / total
        if total
        else 0.0
        for stems_here in stems_by_sentence
    ]
    if vectors is not None and prompt.vector is not None and prompt.vector.shape[-1] == vectors.shape[-1]:
        similarity = [float(each) for each in vectors @ prompt.vector.reshape(-1)]
        return [0.85 * max(0.0, vector) + 0.15 * words for vector, words in zip(similarity, overlap, strict=True)]
    return overlap if any(overlap) else None


def _blend_topic_relevance(relevance: Sequence[float], topic_numbers: Sequence[int]) -> list[float]:
    """Blends in the mean relevance of the topic, because sentences rarely repeat what they are about."""
    sums, counts = [0.0] * (topic_numbers[-1] + 1), [0] * (topic_numbers[-1] + 1)
    for topic, own in zip(topic_numbers, relevance, strict=True):
        sums[topic] += own
        counts[topic] += 1
    pairs = zip(topic_numbers, relevance, strict=True)
    return [(1 - TOPIC_WEIGHT) * own + TOPIC_WEIGHT * sums[topic] / counts[topic] for topic, own in pairs]


def sentence_at(analysis: TalkAnalysis, utterance: int) -> int:
    """The sentence that contains an utterance."""
    return max(0, bisect_right(analysis.sentence_spans.first, utterance) - 1)
