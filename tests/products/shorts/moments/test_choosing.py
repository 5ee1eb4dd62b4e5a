"""Which moments are chosen from a film, and what holds for every one of them."""

import math
import random
import re
import time
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.engines.recognition.port import Word
from cutroom.products.shorts.moments.choosing import CLIP_BOUNDS, choose_clips, choose_promo, choose_shorts
from cutroom.products.shorts.moments.edges import BREATH_AFTER_SECONDS, BREATH_BEFORE_SECONDS
from cutroom.products.shorts.moments.talk import Moment, Sentence, Talk, Wish, sentences_of
from cutroom.products.shorts.moments.titles import TITLE_CHARACTERS
from cutroom.products.transcripts.sentences import Segment
from cutroom.text.vocabulary import clean_text, words_of
from tests.support.talk_topics import TOPICS, Topic, laid_out

NAMES = [topic.name for topic in TOPICS for _ in topic.sentences]
SENTENCES, WORDS = laid_out()
TALK = Talk(SENTENCES, WORDS, WORDS[-1].end_seconds + 2.0, language="en")


def topic_in(moment: Moment) -> str:
    """What most of a moment is about."""
    first, behind = moment.sentence_range
    names = NAMES[first:behind]
    return max(dict.fromkeys(names), key=names.count)


def inside_a_word(seconds: float, film: Talk) -> bool:
    """Words whose times are no numbers lie nowhere, and none reaches beyond the film, whose ends are no cuts."""
    timed = [word for word in film.words if word.end_seconds < math.inf]
    return any(max(word.start_seconds, 0.0) < seconds < min(word.end_seconds, film.duration_seconds) for word in timed)


def apart(moments: list[Moment]) -> bool:
    ordered = sorted(moments, key=lambda moment: moment.start_seconds)
    return all(left.end_seconds <= right.start_seconds for left, right in pairwise(ordered))


def test_shorts_keep_all_that_was_asked_for() -> None:
    found = choose_shorts(TALK, count=5, min_seconds=15, max_seconds=40)
    assert len(found) == 5
    assert apart(found)
    assert [moment.score for moment in found] == sorted((moment.score for moment in found), reverse=True)
    for moment in found:
        assert 15 <= moment.end_seconds - moment.start_seconds <= 40
        assert not inside_a_word(moment.start_seconds, TALK)
        assert not inside_a_word(moment.end_seconds, TALK)


def test_a_moment_has_whole_sentences_and_a_breath_at_either_side() -> None:
    for moment in choose_shorts(TALK, count=4, min_seconds=15, max_seconds=60):
        first, behind = moment.sentence_range
        start, end = SENTENCES[first].start_seconds, SENTENCES[behind - 1].end_seconds
        assert 0 < start - moment.start_seconds <= BREATH_BEFORE_SECONDS + 1e-9
        assert 0 < moment.end_seconds - end <= BREATH_AFTER_SECONDS + 1e-9


def test_a_moment_does_not_begin_with_what_points_back() -> None:
    texts = ["Coffee grows on high hills.", "And it needs much rain.", "Farmers pick the coffee by hand."] * 12
    film = spoken(texts)
    for moment in choose_shorts(film, count=3, min_seconds=10, max_seconds=20):
        assert not texts[moment.sentence_range[0]].startswith("And")


def spoken(texts: list[str], *, language: str = "en") -> Talk:
    topic = Topic("", tuple(texts), "", "")
    sentences, words = laid_out([topic])
    return Talk(sentences, words, words[-1].end_seconds + 1.0 if words else 60.0, language)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_a_wish_that_shares_words_finds_its_topic(topic: Topic) -> None:
    found = choose_shorts(TALK, count=3, min_seconds=15, max_seconds=30, wish=Wish(topic.same_words))
    assert topic_in(found[0]) == topic.name
    assert "asked for" in found[0].reason


def test_laughter_loudness_and_questions_count() -> None:
    texts = [f"Number {number} of our list is as plain as any other one there." for number in range(60)]
    film = spoken(texts)
    at = film.sentences[30].start_seconds
    loud = [1.0 if at <= second <= at + 25 else 0.1 for second in range(int(film.duration_seconds) + 1)]
    film = Talk(film.sentences, film.words, film.duration_seconds, "en", energy=loud, laughs=[at + 4, at + 9, at + 15])
    best = choose_shorts(film, count=1, min_seconds=15, max_seconds=25)[0]
    assert best.start_seconds < at + 15 < best.end_seconds + 2
    assert "laughter" in best.reason or "energy" in best.reason


def test_a_sentence_that_is_too_long_is_cut_at_a_pause() -> None:
    words = [Word(f"word{number}", number * 0.5, number * 0.5 + 0.5, 1.0) for number in range(200)]
    words = [
        word if at < 40 else Word(word.text, word.start_seconds + 0.9, word.end_seconds + 0.9, 1.0)
        for at, word in enumerate(words)
    ]
    text = " ".join(word.text for word in words)
    film = Talk([Sentence(text, 0.0, words[-1].end_seconds)], words, 120.0, "en")
    [moment] = choose_shorts(film, count=2, min_seconds=15, max_seconds=30)
    assert words[39].end_seconds <= moment.end_seconds <= words[40].start_seconds
    assert "word50" not in moment.title + moment.description


def test_bounds_that_leave_no_choice_are_kept_to_the_last_bit() -> None:
    found = choose_shorts(TALK, count=3, min_seconds=20, max_seconds=20)
    assert found
    assert {moment.end_seconds - moment.start_seconds for moment in found} == {20.0}


def test_a_promo_has_its_hook_first_and_the_rest_in_order() -> None:
    found = choose_promo(TALK)
    assert 3 <= len(found) <= 8
    assert 45 <= sum(moment.seconds for moment in found) <= 60
    starts = [moment.start_seconds for moment in found[1:]]
    assert starts == sorted(starts)
    assert apart(found)
    assert all(not inside_a_word(each, TALK) for m in found for each in (m.start_seconds, m.end_seconds))


def test_a_promo_of_a_short_film_is_what_there_is() -> None:
    film = spoken(list(TOPICS[0].sentences))
    [moment] = choose_promo(film)
    assert moment.sentence_range == (0, 6)
    assert moment.end_seconds <= film.duration_seconds < 45


def test_clips_lie_between_topics() -> None:
    topics = [Topic(t.name, t.sentences * 4, "", "") for t in TOPICS]
    sentences, words = laid_out(topics)
    film = Talk(sentences, words, words[-1].end_seconds + 1, "en")
    found = choose_clips(film, count=3)
    assert 1 <= len(found) <= 3
    assert apart(found)
    assert all(CLIP_BOUNDS.holds(moment.seconds) for moment in found)


def test_a_clip_of_a_short_film_is_all_its_speech() -> None:
    film = spoken(list(TOPICS[0].sentences))
    [moment] = choose_clips(film, count=4)
    assert moment.sentence_range == (0, 6)


@pytest.mark.parametrize("cuts", [(), (3.0, 41.0, 100.0, 101.0, 250.0)])
def test_a_film_without_speech_gives_scenes(cuts: tuple[float, ...]) -> None:
    film = Talk((), (), 300.0, cuts=cuts)
    found = choose_shorts(film, count=4, min_seconds=15, max_seconds=30)
    assert len(found) == 4
    assert apart(found)
    assert all(15 <= moment.seconds <= 30 and moment.title.startswith("Scene at ") for moment in found)
    assert 45 <= sum(moment.seconds for moment in choose_promo(film)) <= 60
    assert [moment.seconds for moment in choose_clips(film, count=2)] == [300.0]
    assert [moment.seconds for moment in choose_clips(Talk((), (), 20.0), count=2)] == [20.0]
    assert choose_shorts(Talk((), (), 10.0), count=2, min_seconds=15, max_seconds=30) == []


@pytest.mark.parametrize("language", ["en", "pt", "es", "fr", "de", "ja", "sw", ""])
def test_any_language_and_odd_text_do(language: str) -> None:
    texts = [
        "これは日本語の文です。",
        "Ist das wirklich so?",
        "Ação e reação!",
        "\u202e\x00",
        "???",
        "a" * 5000,
        "SHOUTING ALL DAY",
    ]
    found = choose_shorts(spoken(texts * 5, language=language), count=3, min_seconds=5, max_seconds=60)
    assert found
    for moment in found:
        assert 0 < len(moment.title) <= TITLE_CHARACTERS
        assert moment.title.isprintable()


def test_nothing_is_told_that_was_not_said() -> None:
    said = " ".join(clean_text(sentence.text) for sentence in SENTENCES).lower()
    for moment in choose_shorts(TALK, count=6, min_seconds=15, max_seconds=60) + choose_promo(TALK):
        assert moment.title.rstrip("…?!").lower() in said
        assert moment.title[0].isupper()
        assert moment.title[-1] not in ",;:"
        for sentence in re.split(r"(?<=[.?!]) ", moment.description):
            assert sentence.lower() in said
        for key in moment.reason.split("“")[1:]:
            assert key.partition("”")[0] in words_of(said)


WILD = (float("nan"), float("inf"), -5.0, 1e12, 7.0, 40.25)
# Seconds of a word, and of the pause behind it.
PACES = ((0.3, 0.0), (0.5, 0.1), (0.2, 0.7), (1.1, -0.4), (0.0, 0.2), (9.0, 3.0))


def made_film(seed: int) -> Talk:
    """Words that follow each other with pauses or overlap, sentences over them, and now and then a time gone wild."""
    dice = random.Random(seed)
    at, words, sentences = dice.random() * 40, [], []
    for number in range(dice.randint(0, 40)):
        start, own = at, dice.randint(1, 12)
        for _ in range(own):
            length, pause = dice.choices(PACES, (9, 5, 3, 1, 1, 0.2))[0]
            words.append(Word(dice.choice(["and", "tea,", "seven", "river.", "x"]), at, at + length, 1.0))
            at = max(0.0, at + length + pause)
        text = " ".join(word.text for word in words[-own:]) + dice.choice([".", "?", "", "!"])
        sentences.append(Sentence(text, start, at, f"speaker_{number % 2}"))
    if words and dice.random() < 0.3:
        words.append(Word("wild", dice.choice(WILD), dice.choice(WILD), 0.5))
        sentences.append(Sentence("A wild one.", dice.choice(WILD), dice.choice(WILD), ""))
    energy = [dice.choice([*WILD, 0.1, 0.3]) for _ in range(dice.randint(0, 90))]
    cuts = [dice.choice([*WILD, dice.random() * 100]) for _ in range(dice.randint(0, 9))]
    return Talk(sentences, words, max(1.0, at + dice.random() * 20), "en", energy, cuts, [3.0])


BOUNDS = ((15, 15), (15, 30), (15.5, 180), (4, 9.25), (30, 60))


@settings(max_examples=40)
@given(st.integers(0, 10**9), st.integers(1, 10), st.sampled_from(BOUNDS))
def test_what_always_holds(seed: int, count: int, bounds: tuple[float, float]) -> None:
    film, (low, high) = made_film(seed), bounds
    found = choose_shorts(film, count=count, min_seconds=low, max_seconds=high)
    assert found == choose_shorts(film, count=count, min_seconds=low, max_seconds=high)
    assert len(found) <= count
    assert apart(found)
    for moment in found:
        assert low <= moment.end_seconds - moment.start_seconds <= high
        check(moment, film)
    pieces = choose_promo(film)
    assert apart(pieces)
    assert sum(piece.seconds for piece in pieces) <= 60.0001
    clips = choose_clips(film, count=count)
    assert apart(clips)
    for moment in pieces + clips:
        check(moment, film)


def check(moment: Moment, film: Talk) -> None:
    assert 0 <= moment.start_seconds < moment.end_seconds <= film.duration_seconds
    if moment.sentence_range != (0, 0):
        assert not inside_a_word(moment.start_seconds, film)
        assert not inside_a_word(moment.end_seconds, film)
    assert 0 <= moment.score <= 1
    assert 0 < len(moment.title) <= TITLE_CHARACTERS
    assert moment.reason.endswith(".")


@given(st.text(max_size=200), st.text(max_size=100))
def test_any_text_does(text: str, wish: str) -> None:
    film = Talk([Sentence(text, 1.0, 20.0)], [Word("w", 1.0, 20.0, 1.0)], 30.0, "en")
    for moment in choose_shorts(film, count=2, min_seconds=15, max_seconds=20, wish=Wish(wish)):
        assert 0 < len(moment.title) <= TITLE_CHARACTERS


def long_talk(hours: float) -> Talk:
    dice = random.Random(1)
    stock = [word for sentence in SENTENCES for word in sentence.text.split()]
    words, sentences, at = [], [], 0.0
    while at < hours * 3600:
        start, own = at, dice.choices(stock, k=dice.randint(4, 16))
        for text in own:
            words.append(Word(text, at, at + 0.3, 1.0))
            at += 0.34
        sentences.append(Sentence(" ".join(own).rstrip(".?") + ".", start, at, "a"))
        at += dice.random()
    return Talk(sentences, words, at + 1, "en")


def test_time_grows_with_the_talk_and_not_faster() -> None:
    def seconds(film: Talk) -> float:
        started = time.process_time()
        assert len(choose_shorts(film, count=5, min_seconds=15, max_seconds=180, wish=Wish("bees in the hive"))) == 5
        assert choose_promo(film)
        assert choose_clips(film, count=2)
        return time.process_time() - started

    seconds(long_talk(0.5))  # what is only loaded once
    assert seconds(long_talk(3)) < 9 * seconds(long_talk(0.5))


def test_a_talk_said_twice_is_not_chosen_twice() -> None:
    topics = [*TOPICS, *TOPICS]
    sentences, words = laid_out(topics)
    film = Talk(sentences, words, words[-1].end_seconds + 1, "en")
    names = [topic.name for topic in topics for _ in topic.sentences]
    found = choose_shorts(film, count=4, min_seconds=15, max_seconds=30)
    about = [names[sum(moment.sentence_range) // 2] for moment in found]
    assert all(left != right for left, right in combinations(about, 2))


def test_deleted_segments_are_left_out() -> None:
    segments = [
        Segment(0, 1, "a", "One.", ()),
        Segment(1, 2, "a", "Two.", (), deleted=True),
        Segment(2, 3, "b", " ", ()),
    ]
    assert sentences_of(segments) == [Sentence("One.", 0, 1, "a")]


@pytest.mark.parametrize(("count", "low", "high"), [(0, 15, 30), (-1, 15, 30), (3, 30, 15), (3, float("nan"), 30)])
def test_what_cannot_be_asked_for_gives_nothing(count: int, low: float, high: float) -> None:
    assert choose_shorts(TALK, count=count, min_seconds=low, max_seconds=high) == []
