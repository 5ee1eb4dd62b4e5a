"""What somebody wishes for is found by its meaning, with the real model; and a ranker has the last word."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.writing.minilm import MiniLmEmbedder
from cutroom.engines.writing.text_ports import Candidate
from cutroom.products.shorts.moments.choosing import choose_shorts
from cutroom.products.shorts.moments.ranking import rank_moments
from cutroom.products.shorts.moments.study import study
from cutroom.products.shorts.moments.talk import Moment, Talk, Wish
from cutroom.text.vocabulary import stems
from tests.engines.recognition.recognizer_suite import model_folder
from tests.products.shorts.moments.test_choosing import SENTENCES, TALK, topic_in
from tests.support.talk_topics import TOPICS, Topic


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder(model_folder("minilm-l6-v2"))


@pytest.fixture(scope="module")
def film(embedder: MiniLmEmbedder) -> Talk:
    return replace(TALK, vectors=embedder.embed([sentence.text for sentence in SENTENCES]))


def first_for(film: Talk, text: str, embedder: MiniLmEmbedder | None) -> str:
    wish = Wish(text, embedder.embed([text])[0] if embedder else None)
    return topic_in(choose_shorts(film, count=3, min_seconds=15, max_seconds=30, wish=wish)[0])


def test_other_words_find_the_topic(film: Talk, embedder: MiniLmEmbedder) -> None:
    found = [first_for(film, topic.other_words, embedder) == topic.name for topic in TOPICS]
    assert found.count(True) >= 0.9 * len(TOPICS)


def test_the_same_words_find_the_topic(film: Talk, embedder: MiniLmEmbedder) -> None:
    found = [first_for(film, topic.same_words, embedder) == topic.name for topic in TOPICS]
    assert found.count(True) >= 0.9 * len(TOPICS)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_the_other_words_are_others(topic: Topic) -> None:
    """Without this, the test of meaning could pass by words."""
    said = set(stems(" ".join(topic.sentences), language="en"))
    assert len(said & set(stems(topic.other_words, language="en"))) <= 1


def test_topics_are_parted_where_they_end(film: Talk) -> None:
    expected = {sum(len(topic.sentences) for topic in TOPICS[:number]) for number in range(len(TOPICS))}
    assert len(expected & set(study(film, wish=None).topic_starts)) >= 0.9 * len(TOPICS)


def test_vectors_that_do_not_belong_are_left_aside(film: Talk) -> None:
    assert film.vectors is not None
    found = choose_shorts(replace(film, vectors=film.vectors[:3]), count=3, min_seconds=15, max_seconds=30)
    assert found == choose_shorts(TALK, count=3, min_seconds=15, max_seconds=30)


class Backwards:
    """A ranker that turns the order round, and says a little too much."""

    name = "backwards"

    def rank(self, candidates: Sequence[Candidate], *, prompt: str | None) -> list[str]:
        assert prompt == "boats"
        assert all(each.text for each in candidates)
        return ["stranger", *(each.id for each in reversed(candidates))][:-1]


class Absent(Backwards):
    def rank(self, candidates: Sequence[Candidate], *, prompt: str | None) -> list[str]:  # noqa: ARG002 (a port's)
        raise EngineUnavailableError("gone")


def test_a_ranker_orders_and_changes_nothing() -> None:
    moments: list[Moment] = choose_shorts(TALK, count=5, min_seconds=15, max_seconds=30)
    assert rank_moments(TALK, moments, ranker=Backwards(), prompt="boats") == moments[::-1]
    assert rank_moments(TALK, moments, ranker=Absent(), prompt="boats") == moments
    assert rank_moments(TALK, moments, ranker=None, prompt="boats") == moments
