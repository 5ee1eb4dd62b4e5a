"""Tests for semantic prompts with the real embedding model, and for rankers."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.writing.extractive.writer import ExtractiveWriter
from cutroom.engines.writing.minilm import MiniLmEmbedder
from cutroom.engines.writing.port import Candidate, TitleStyle, WritingInput, WrittenText
from cutroom.products.shorts.moments.analysis import analyze_talk
from cutroom.products.shorts.moments.ranking import rank_moments, title_moments
from cutroom.products.shorts.moments.selection import choose_shorts
from cutroom.products.shorts.moments.talk import Moment, SelectionPrompt, Talk
from cutroom.text.vocabulary import stems
from tests.engines.recognition.recognizer_suite import model_folder
from tests.products.shorts.moments.test_selection import SENTENCES, TALK, topic_in
from tests.support.talk_topics import TOPICS, Topic


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder(model_folder("minilm-l6-v2"))


@pytest.fixture(scope="module")
def talk(embedder: MiniLmEmbedder) -> Talk:
    return replace(TALK, vectors=embedder.embed([sentence.text for sentence in SENTENCES]))


def best_topic(talk: Talk, text: str, embedder: MiniLmEmbedder | None) -> str:
    prompt = SelectionPrompt(text, embedder.embed([text])[0] if embedder else None)
    return topic_in(choose_shorts(talk, count=3, min_seconds=15, max_seconds=30, prompt=prompt)[0])


def test_paraphrase_finds_the_topic(talk: Talk, embedder: MiniLmEmbedder) -> None:
    results = [best_topic(talk, topic.paraphrase_query, embedder) == topic.name for topic in TOPICS]
    assert results.count(True) >= 0.9 * len(TOPICS)


def test_keywords_find_the_topic(talk: Talk, embedder: MiniLmEmbedder) -> None:
    results = [best_topic(talk, topic.keyword_query, embedder) == topic.name for topic in TOPICS]
    assert results.count(True) >= 0.9 * len(TOPICS)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_paraphrases_share_few_words(topic: Topic) -> None:
    """Otherwise the semantic test could pass by shared words."""
    topic_stems = set(stems(" ".join(topic.sentences), language="en"))
    assert len(topic_stems & set(stems(topic.paraphrase_query, language="en"))) <= 1


def test_topic_boundaries_are_found(talk: Talk) -> None:
    expected = {sum(len(topic.sentences) for topic in TOPICS[:number]) for number in range(len(TOPICS))}
    assert len(expected & set(analyze_talk(talk, prompt=None).topic_starts)) >= 0.9 * len(TOPICS)


def test_mismatched_vectors_are_ignored(talk: Talk) -> None:
    assert talk.vectors is not None
    results = choose_shorts(replace(talk, vectors=talk.vectors[:3]), count=3, min_seconds=15, max_seconds=30)
    assert results == choose_shorts(TALK, count=3, min_seconds=15, max_seconds=30)


class ReversingRanker:
    """Reverses the order, adds an unknown id and omits one."""

    name = "backwards"

    def rank(self, candidates: Sequence[Candidate], *, prompt: str | None) -> list[str]:
        assert prompt == "boats"
        assert all(each.text for each in candidates)
        return ["unknown", *(each.id for each in reversed(candidates))][:-1]


class UnavailableRanker(ReversingRanker):
    def rank(self, candidates: Sequence[Candidate], *, prompt: str | None) -> list[str]:  # noqa: ARG002 (a port's)
        raise EngineUnavailableError("gone")


def test_ranker_only_reorders() -> None:
    moments: list[Moment] = choose_shorts(TALK, count=5, min_seconds=15, max_seconds=30)
    assert rank_moments(TALK, moments, ranker=ReversingRanker(), prompt="boats") == moments[::-1]
    assert rank_moments(TALK, moments, ranker=UnavailableRanker(), prompt="boats") == moments
    assert rank_moments(TALK, moments, ranker=None, prompt="boats") == moments


class FakeChatWriter(ExtractiveWriter):
    """Titles by the first word, as a language model; from the second call on it falls back, then is unavailable."""

    name = "chat"

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def title(self, source: WritingInput, *, style: TitleStyle) -> WrittenText:  # noqa: ARG002 (a port's)
        self.calls += 1
        if self.calls == 3:
            raise EngineUnavailableError("gone")
        engine = self.name if self.calls == 1 else ExtractiveWriter.name
        return WrittenText(f"About {source.segments[0].text.split()[0]}", engine)


def test_language_model_titles_moments_and_others_keep_their_title() -> None:
    moments: list[Moment] = choose_shorts(TALK, count=3, min_seconds=15, max_seconds=30)
    first = min(
        (each for each in TALK.sentences if each.start_seconds >= moments[0].start_seconds),
        key=lambda each: each.start_seconds,
    )
    titled = title_moments(TALK, moments, writer=FakeChatWriter())
    assert titled == [replace(moments[0], title=f"About {first.text.split()[0]}"), *moments[1:]]
    assert title_moments(TALK, moments, writer=ExtractiveWriter()) == moments
