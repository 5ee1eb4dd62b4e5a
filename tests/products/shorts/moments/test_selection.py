"""Tests for moment selection and its invariants."""

import math
import random
import re
import time
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.engines.recognition.port import Word
from cutroom.products.shorts.moments.boundaries import LEAD_IN_SECONDS, LEAD_OUT_SECONDS
from cutroom.products.shorts.moments.selection import CLIP_BOUNDS, choose_clips, choose_promo, choose_shorts
from cutroom.products.shorts.moments.talk import Moment, SelectionPrompt, Talk, TalkSentence, to_sentences
from cutroom.products.shorts.moments.titles import TITLE_CHARACTERS
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.text.vocabulary import clean_text, words_of
from tests.support.talk_topics import TOPICS, Topic, timed_talk

NAMES = [topic.name for topic in TOPICS for _ in topic.sentences]
SENTENCES, WORDS = timed_talk()
TALK = Talk(SENTENCES, WORDS, WORDS[-1].end_seconds + 2.0, language="en")


def topic_in(moment: Moment) -> str:
    """The dominant topic of a moment."""
    first, stop = moment.sentence_range
    names = NAMES[first:stop]
    return max(dict.fromkeys(names), key=names.count)


def is_inside_word(seconds: float, talk: Talk) -> bool:
    """Ignores words with non-finite times; clips the others to the video."""
    timed = [word for word in talk.words if word.end_seconds < math.inf]
    return any(max(word.start_seconds, 0.0) < seconds < min(word.end_seconds, talk.duration_seconds) for word in timed)


def do_not_overlap(moments: list[Moment]) -> bool:
    ordered = sorted(moments, key=lambda moment: moment.start_seconds)
    return all(left.end_seconds <= right.start_seconds for left, right in pairwise(ordered))


def test_shorts_respect_count_and_bounds() -> None:
    moments = choose_shorts(TALK, count=5, min_seconds=15, max_seconds=40)
    assert len(moments) == 5
    assert do_not_overlap(moments)
    assert [moment.score for moment in moments] == sorted((moment.score for moment in moments), reverse=True)
    for moment in moments:
        assert 15 <= moment.end_seconds - moment.start_seconds <= 40
        assert not is_inside_word(moment.start_seconds, TALK)
        assert not is_inside_word(moment.end_seconds, TALK)


def test_moments_have_whole_sentences_with_lead_in_and_lead_out() -> None:
    for moment in choose_shorts(TALK, count=4, min_seconds=15, max_seconds=60):
        first, stop = moment.sentence_range
        start, end = SENTENCES[first].start_seconds, SENTENCES[stop - 1].end_seconds
        assert 0 < start - moment.start_seconds <= LEAD_IN_SECONDS + 1e-9
        assert 0 < moment.end_seconds - end <= LEAD_OUT_SECONDS + 1e-9


def test_moments_do_not_start_with_a_back_reference() -> None:
    texts = ["Coffee grows on high hills.", "And it needs much rain.", "Farmers pick the coffee by hand."] * 12
    talk = spoken(texts)
    for moment in choose_shorts(talk, count=3, min_seconds=10, max_seconds=20):
        assert not texts[moment.sentence_range[0]].startswith("And")


def spoken(texts: list[str], *, language: str = "en") -> Talk:
    topic = Topic("", tuple(texts), "", "")
    sentences, words = timed_talk([topic])
    return Talk(sentences, words, words[-1].end_seconds + 1.0 if words else 60.0, language)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_keyword_prompt_finds_its_topic(topic: Topic) -> None:
    moments = choose_shorts(TALK, count=3, min_seconds=15, max_seconds=30, prompt=SelectionPrompt(topic.keyword_query))
    assert topic_in(moments[0]) == topic.name
    assert "matches the prompt" in moments[0].reason


def test_laughter_and_energy_raise_the_score() -> None:
    texts = [f"Number {number} of our list is as plain as any other one there." for number in range(60)]
    talk = spoken(texts)
    position = talk.sentences[30].start_seconds
    loud = [1.0 if position <= second <= position + 25 else 0.1 for second in range(int(talk.duration_seconds) + 1)]
    talk = Talk(
        talk.sentences,
        talk.words,
        talk.duration_seconds,
        "en",
        energy=loud,
        laughs=[position + 4, position + 9, position + 15],
    )
    best = choose_shorts(talk, count=1, min_seconds=15, max_seconds=25)[0]
    assert best.start_seconds < position + 15 < best.end_seconds + 2
    assert "laughter" in best.reason or "energy" in best.reason


def test_overlong_sentence_is_cut_at_a_pause() -> None:
    words = [Word(f"word{number}", number * 0.5, number * 0.5 + 0.5, 1.0) for number in range(200)]
    words = [
        word if position < 40 else Word(word.text, word.start_seconds + 0.9, word.end_seconds + 0.9, 1.0)
        for position, word in enumerate(words)
    ]
    text = " ".join(word.text for word in words)
    talk = Talk([TalkSentence(text, 0.0, words[-1].end_seconds)], words, 120.0, "en")
    [moment] = choose_shorts(talk, count=2, min_seconds=15, max_seconds=30)
    assert words[39].end_seconds <= moment.end_seconds <= words[40].start_seconds
    assert "word50" not in moment.title + moment.description


def test_equal_bounds_are_met_exactly() -> None:
    moments = choose_shorts(TALK, count=3, min_seconds=20, max_seconds=20)
    assert moments
    assert {moment.end_seconds - moment.start_seconds for moment in moments} == {20.0}


def test_promo_starts_with_its_hook() -> None:
    moments = choose_promo(TALK)
    assert 3 <= len(moments) <= 8
    assert 45 <= sum(moment.seconds for moment in moments) <= 60
    starts = [moment.start_seconds for moment in moments[1:]]
    assert starts == sorted(starts)
    assert do_not_overlap(moments)
    assert all(not is_inside_word(each, TALK) for m in moments for each in (m.start_seconds, m.end_seconds))


def test_promo_of_a_short_video_is_all_speech() -> None:
    talk = spoken(list(TOPICS[0].sentences))
    [moment] = choose_promo(talk)
    assert moment.sentence_range == (0, 6)
    assert moment.end_seconds <= talk.duration_seconds < 45


def test_clips_are_bounded_by_topics() -> None:
    topics = [Topic(t.name, t.sentences * 4, "", "") for t in TOPICS]
    sentences, words = timed_talk(topics)
    talk = Talk(sentences, words, words[-1].end_seconds + 1, "en")
    moments = choose_clips(talk, count=3)
    assert 1 <= len(moments) <= 3
    assert do_not_overlap(moments)
    assert all(CLIP_BOUNDS.holds(moment.seconds) for moment in moments)


def test_clip_of_a_short_video_is_all_speech() -> None:
    talk = spoken(list(TOPICS[0].sentences))
    [moment] = choose_clips(talk, count=4)
    assert moment.sentence_range == (0, 6)


@pytest.mark.parametrize("cuts", [(), (3.0, 41.0, 100.0, 101.0, 250.0)])
def test_video_without_speech_gives_scenes(cuts: tuple[float, ...]) -> None:
    talk = Talk((), (), 300.0, cuts=cuts)
    moments = choose_shorts(talk, count=4, min_seconds=15, max_seconds=30)
    assert len(moments) == 4
    assert do_not_overlap(moments)
    assert all(15 <= moment.seconds <= 30 and moment.title.startswith("Scene at ") for moment in moments)
    assert 45 <= sum(moment.seconds for moment in choose_promo(talk)) <= 60
    assert [moment.seconds for moment in choose_clips(talk, count=2)] == [300.0]
    assert [moment.seconds for moment in choose_clips(Talk((), (), 20.0), count=2)] == [20.0]
    assert choose_shorts(Talk((), (), 10.0), count=2, min_seconds=15, max_seconds=30) == []


@pytest.mark.parametrize("language", ["en", "pt", "es", "fr", "de", "ja", "sw", ""])
def test_any_language_and_unusual_text(language: str) -> None:
    texts = [
        "これは日本語の文です。",
        "Ist das wirklich so?",
        "Ação e reação!",
        "\u202e\x00",
        "???",
        "a" * 5000,
        "SHOUTING ALL DAY",
    ]
    moments = choose_shorts(spoken(texts * 5, language=language), count=3, min_seconds=5, max_seconds=60)
    assert moments
    for moment in moments:
        assert 0 < len(moment.title) <= TITLE_CHARACTERS
        assert moment.title.isprintable()


def test_titles_and_descriptions_are_extractive() -> None:
    transcript_text = " ".join(clean_text(sentence.text) for sentence in SENTENCES).lower()
    for moment in choose_shorts(TALK, count=6, min_seconds=15, max_seconds=60) + choose_promo(TALK):
        assert moment.title.rstrip("…?!").lower() in transcript_text
        assert moment.title[0].isupper()
        assert moment.title[-1] not in ",;:"
        for sentence in re.split(r"(?<=[.?!]) ", moment.description):
            assert sentence.lower() in transcript_text
        for key in moment.reason.split("“")[1:]:
            assert key.partition("”")[0] in words_of(transcript_text)


INVALID_TIMES = (float("nan"), float("inf"), -5.0, 1e12, 7.0, 40.25)
# Duration of a word and of the pause after it.
PACES = ((0.3, 0.0), (0.5, 0.1), (0.2, 0.7), (1.1, -0.4), (0.0, 0.2), (9.0, 3.0))


def random_talk(seed: int) -> Talk:
    """A random talk with pauses, overlaps, and occasional invalid times."""
    rng = random.Random(seed)
    position, words, sentences = rng.random() * 40, [], []
    for number in range(rng.randint(0, 40)):
        start, count = position, rng.randint(1, 12)
        for _ in range(count):
            length, pause = rng.choices(PACES, (9, 5, 3, 1, 1, 0.2))[0]
            words.append(Word(rng.choice(["and", "tea,", "seven", "river.", "x"]), position, position + length, 1.0))
            position = max(0.0, position + length + pause)
        text = " ".join(word.text for word in words[-count:]) + rng.choice([".", "?", "", "!"])
        sentences.append(TalkSentence(text, start, position, f"speaker_{number % 2}"))
    if words and rng.random() < 0.3:
        words.append(Word("wild", rng.choice(INVALID_TIMES), rng.choice(INVALID_TIMES), 0.5))
        sentences.append(TalkSentence("A wild one.", rng.choice(INVALID_TIMES), rng.choice(INVALID_TIMES), ""))
    energy = [rng.choice([*INVALID_TIMES, 0.1, 0.3]) for _ in range(rng.randint(0, 90))]
    cuts = [rng.choice([*INVALID_TIMES, rng.random() * 100]) for _ in range(rng.randint(0, 9))]
    return Talk(sentences, words, max(1.0, position + rng.random() * 20), "en", energy, cuts, [3.0])


BOUNDS = ((15, 15), (15, 30), (15.5, 180), (4, 9.25), (30, 60))


@settings(max_examples=40)
@given(st.integers(0, 10**9), st.integers(1, 10), st.sampled_from(BOUNDS))
def test_invariants(seed: int, count: int, bounds: tuple[float, float]) -> None:
    talk, (low, high) = random_talk(seed), bounds
    moments = choose_shorts(talk, count=count, min_seconds=low, max_seconds=high)
    assert moments == choose_shorts(talk, count=count, min_seconds=low, max_seconds=high)
    assert len(moments) <= count
    assert do_not_overlap(moments)
    for moment in moments:
        assert low <= moment.end_seconds - moment.start_seconds <= high
        check(moment, talk)
    clips_of_promo = choose_promo(talk)
    assert do_not_overlap(clips_of_promo)
    assert sum(clip.seconds for clip in clips_of_promo) <= 60.0001
    clips = choose_clips(talk, count=count)
    assert do_not_overlap(clips)
    for moment in clips_of_promo + clips:
        check(moment, talk)


def check(moment: Moment, talk: Talk) -> None:
    assert 0 <= moment.start_seconds < moment.end_seconds <= talk.duration_seconds
    if moment.sentence_range != (0, 0):
        assert not is_inside_word(moment.start_seconds, talk)
        assert not is_inside_word(moment.end_seconds, talk)
    assert 0 <= moment.score <= 1
    assert 0 < len(moment.title) <= TITLE_CHARACTERS
    assert moment.reason.endswith(".")


@given(st.text(max_size=200), st.text(max_size=100))
def test_arbitrary_text(text: str, prompt: str) -> None:
    talk = Talk([TalkSentence(text, 1.0, 20.0)], [Word("w", 1.0, 20.0, 1.0)], 30.0, "en")
    for moment in choose_shorts(talk, count=2, min_seconds=15, max_seconds=20, prompt=SelectionPrompt(prompt)):
        assert 0 < len(moment.title) <= TITLE_CHARACTERS


def long_talk(hours: float) -> Talk:
    rng = random.Random(1)
    stock = [word for sentence in SENTENCES for word in sentence.text.split()]
    words, sentences, position = [], [], 0.0
    while position < hours * 3600:
        start, texts = position, rng.choices(stock, k=rng.randint(4, 16))
        for text in texts:
            words.append(Word(text, position, position + 0.3, 1.0))
            position += 0.34
        sentences.append(TalkSentence(" ".join(texts).rstrip(".?") + ".", start, position, "a"))
        position += rng.random()
    return Talk(sentences, words, position + 1, "en")


def test_runtime_is_linear() -> None:
    def seconds(talk: Talk) -> float:
        started = time.process_time()
        assert (
            len(
                choose_shorts(
                    talk, count=5, min_seconds=15, max_seconds=180, prompt=SelectionPrompt("bees in the hive")
                )
            )
            == 5
        )
        assert choose_promo(talk)
        assert choose_clips(talk, count=2)
        return time.process_time() - started

    seconds(long_talk(0.5))  # what is only loaded once
    assert seconds(long_talk(3)) < 9 * seconds(long_talk(0.5))


def test_repeated_content_is_not_selected_twice() -> None:
    topics = [*TOPICS, *TOPICS]
    sentences, words = timed_talk(topics)
    talk = Talk(sentences, words, words[-1].end_seconds + 1, "en")
    names = [topic.name for topic in topics for _ in topic.sentences]
    moments = choose_shorts(talk, count=4, min_seconds=15, max_seconds=30)
    about = [names[sum(moment.sentence_range) // 2] for moment in moments]
    assert all(left != right for left, right in combinations(about, 2))


def test_deleted_segments_are_excluded() -> None:
    segments = [
        TranscriptSegment(0, 1, "a", "One.", ()),
        TranscriptSegment(1, 2, "a", "Two.", (), deleted=True),
        TranscriptSegment(2, 3, "b", " ", ()),
    ]
    assert to_sentences(segments) == [TalkSentence("One.", 0, 1, "a")]


@pytest.mark.parametrize(("count", "low", "high"), [(0, 15, 30), (-1, 15, 30), (3, 30, 15), (3, float("nan"), 30)])
def test_invalid_bounds_give_nothing(count: int, low: float, high: float) -> None:
    assert choose_shorts(TALK, count=count, min_seconds=low, max_seconds=high) == []
