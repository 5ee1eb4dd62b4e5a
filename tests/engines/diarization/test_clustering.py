"""Voice prints are grouped into speakers and windows into turns; made-up vectors stand for voices."""

import time
import tracemalloc
from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.engines.diarization.clustering import (
    MAX_GROUPS,
    MAX_PRINTS,
    MAX_SPEAKERS,
    MIN_SPEAKER_SECONDS,
    Turn,
    _apply,
    _joins,
    _pregroup,
    cluster_speakers,
    speaker_of,
    turns,
)
from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.errors import EngineError
from cutroom.engines.types import TimeSpan
from tests.support.dialogue import Score, score, within

SIZE = 64
ALIKE = 0.3  # in these sizes, windows of one voice have 0.5 and those of two about 0
HOP = 0.75
FOUR_HOURS = 19_200  # windows


def windows(labels: Sequence[int], *, seed: int = 0, spread: float = 1.0) -> list[SpeakerEmbedding]:
    """A window of a voice for each label; voices are random directions, and windows random places around them."""
    random = np.random.default_rng(seed)
    voices = random.standard_normal((max(labels, default=0) + 1, SIZE))
    voices /= np.linalg.norm(voices, axis=1, keepdims=True)
    around = random.standard_normal((len(labels), SIZE)) * spread / np.sqrt(SIZE)
    vectors = voices[list(labels)] + around
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return [
        SpeakerEmbedding(TimeSpan(at * HOP, at * HOP + 2 * HOP), vector.astype(np.float32))
        for at, vector in enumerate(vectors)
    ]


def labelled(*spans: tuple[float, float]) -> list[SpeakerEmbedding]:
    return [SpeakerEmbedding(TimeSpan(*span), np.ones(1, np.float32)) for span in spans]


def as_turns(labels: Sequence[int]) -> list[Turn]:
    return [Turn(label, at * HOP, (at + 1) * HOP) for at, label in enumerate(labels)]


ROW = [(at * HOP, at * HOP + 1.5) for at in range(6)]


class TestTellApart:
    """How many there are, and which window is whose."""

    @pytest.mark.parametrize("count", [1, 2, 3, 5, 10, 20])
    def test_the_number_of_speakers_is_found(self, count: int) -> None:
        labels = [voice for _ in range(3) for voice in range(count) for _ in range(6)]
        assert cluster_speakers(windows(labels), same_voice=ALIKE) == labels

    def test_speakers_are_numbered_as_they_first_speak(self) -> None:
        labels = [2] * 8 + [0] * 8 + [2] * 8 + [1] * 8
        assert cluster_speakers(windows(labels), same_voice=ALIKE) == [0] * 8 + [1] * 8 + [0] * 8 + [2] * 8

    def test_nobody_is_nobody(self) -> None:
        assert cluster_speakers([], same_voice=ALIKE) == []

    def test_one_window_is_one_speaker(self) -> None:
        assert cluster_speakers(windows([0]), same_voice=ALIKE) == [0]

    @pytest.mark.parametrize(("strange", "speakers"), [(1, 1), (2, 1), (6, 2)])
    def test_who_is_hardly_heard_is_taken_for_another(self, strange: int, speakers: int) -> None:
        labels = [0] * 30 + [1] * strange + [0] * 30
        assert (strange + 1) * HOP > MIN_SPEAKER_SECONDS or speakers == 1
        assert len(set(cluster_speakers(windows(labels), same_voice=ALIKE))) == speakers

    def test_in_a_short_recording_a_short_answer_counts(self) -> None:
        assert cluster_speakers(windows([0, 0, 0, 1, 1, 1]), same_voice=ALIKE) == [0, 0, 0, 1, 1, 1]

    def test_short_windows_make_no_speaker_however_many(self) -> None:
        long = windows([0] * 20)
        strange = [
            SpeakerEmbedding(TimeSpan(100.0 + at, 100.5 + at), each.vector) for at, each in enumerate(windows([1] * 20))
        ]
        assert set(cluster_speakers([*long, *strange], same_voice=ALIKE)) == {0}

    def test_where_all_windows_are_short_they_have_to_do(self) -> None:
        prints = windows([0] * 10 + [1] * 10)
        short = [SpeakerEmbedding(TimeSpan(at, at + 0.5), each.vector) for at, each in enumerate(prints)]
        assert cluster_speakers(short, same_voice=ALIKE) == [0] * 10 + [1] * 10

    @pytest.mark.parametrize("known", [1, 2, 3, 4, 6])
    def test_a_known_number_is_kept_to(self, known: int) -> None:
        labels = [voice for _ in range(5) for voice in range(4) for _ in range(8)]
        found = cluster_speakers(windows(labels), same_voice=ALIKE, speakers=known)
        assert len(set(found)) == known
        if known == 4:
            assert found == labels

    def test_a_known_number_is_not_made_up_of_strange_windows(self) -> None:
        labels = [0] * 20 + [2] + [1] * 20 + [3]
        found = cluster_speakers(windows(labels), same_voice=0.9, speakers=2)
        assert found[:20] == [0] * 20
        assert found[21:41] == [1] * 20

    def test_more_voices_than_the_bound_are_joined(self) -> None:
        labels = [voice for voice in range(30) for _ in range(10)]
        assert len(set(cluster_speakers(windows(labels), same_voice=ALIKE))) == MAX_SPEAKERS

    def test_noise_without_any_voice_ends_too(self) -> None:
        found = cluster_speakers(windows(list(range(500)), spread=0.0), same_voice=0.9)
        assert 1 <= len(set(found)) <= MAX_SPEAKERS

    def test_equal_vectors_are_one_voice(self) -> None:
        assert set(cluster_speakers(windows([0] * 50, spread=0.0), same_voice=0.99)) == {0}

    @pytest.mark.parametrize("speakers", [0, -1, MAX_SPEAKERS + 1])
    def test_impossible_numbers_are_refused(self, speakers: int) -> None:
        with pytest.raises(EngineError):
            cluster_speakers(windows([0]), same_voice=ALIKE, speakers=speakers)

    def test_too_many_windows_are_refused(self) -> None:
        with pytest.raises(EngineError):
            cluster_speakers(windows([0]) * (MAX_PRINTS + 1), same_voice=ALIKE)


class TestLongRecordings:
    """Time and memory stay within bounds, and nobody gets lost."""

    def test_four_hours_are_grouped_in_seconds(self) -> None:
        random = np.random.default_rng(5)
        labels = [int(voice) for voice in random.integers(0, 6, FOUR_HOURS // 8) for _ in range(8)]
        prints = windows(labels)
        began = time.process_time()
        found = cluster_speakers(prints, same_voice=ALIKE)
        assert time.process_time() - began < 20  # it takes one or two
        assert len(set(found)) == 6
        assert score(as_turns(labels), as_turns(found)).confusion < 0.01

    @pytest.mark.parametrize("count", [MAX_GROUPS, 2 * MAX_GROUPS])
    def test_memory_is_that_of_the_largest_comparison(self, count: int) -> None:
        prints = windows([at // 8 % 5 for at in range(count)])
        tracemalloc.start()
        cluster_speakers(prints, same_voice=ALIKE)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 4 * 8 * MAX_GROUPS**2

    def test_who_speaks_in_one_place_only_is_found_among_hours(self) -> None:
        labels = [0, 0, 0, 0, 1, 1, 1, 1] * 600
        labels[2000:2012] = [2] * 12
        found = cluster_speakers(windows(labels), same_voice=ALIKE)
        assert len(set(found)) == 3
        assert set(found[2001:2011]) == {2}

    @pytest.mark.parametrize("count", [MAX_GROUPS, MAX_GROUPS + 1, 12_345])
    def test_no_more_groups_are_compared_than_the_bound(self, count: int) -> None:
        vectors = np.random.default_rng(0).standard_normal((count, 8))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        groups = _pregroup(vectors, 0.999)
        assert len(groups) == count
        assert len(set(groups.tolist())) == int(groups.max()) + 1 <= MAX_GROUPS


@settings(max_examples=60, deadline=None)
@given(count=st.integers(1, 24), kept=st.integers(1, 8), seed=st.integers(0, 10_000))
def test_groups_are_those_of_plain_average_linkage(count: int, kept: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).standard_normal((count, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    plain = [[at] for at in range(count)]
    while len(plain) > kept:
        left, right = max(combinations(plain, 2), key=lambda pair: (vectors[pair[0]] @ vectors[pair[1]].T).mean())
        plain = [each for each in plain if each is not left and each is not right] + [left + right]
    found = _apply(_joins(vectors, np.ones(count))[: max(0, count - kept)], count)
    assert {frozenset(np.flatnonzero(found == group).tolist()) for group in found} == set(map(frozenset, plain))


class TestTurns:
    """Where one speaker ends and the next begins."""

    @pytest.mark.parametrize(
        ("spans", "labels", "expected"),
        [
            pytest.param([], [], [], id="nobody"),
            pytest.param([(1, 2)], [0], [(0, 1, 2)], id="one window"),
            pytest.param(ROW, [0] * 6, [(0, 0, 5.25)], id="one speaker"),
            pytest.param(ROW, [0, 0, 0, 1, 1, 1], [(0, 0, 2.625), (1, 2.625, 5.25)], id="a change inside speech"),
            pytest.param(ROW, [0, 0, 1, 0, 0, 0], [(0, 0, 5.25)], id="a flip"),
            pytest.param(ROW, [0, 0, 2, 1, 1, 1], [(0, 0, 2.25), (1, 2.25, 5.25)], id="a window of two voices"),
            pytest.param(ROW, [1, 0, 0, 0, 0, 0], [(1, 0, 1.125), (0, 1.125, 5.25)], id="a short first turn"),
            pytest.param([(0, 1), (1.4, 2)], [0, 1], [(0, 0, 1), (1, 1.4, 2)], id="a change in a silence"),
            pytest.param([(0, 1), (1.4, 2)], [0, 0], [(0, 0, 1), (0, 1.4, 2)], id="a pause"),
            pytest.param(
                [(0, 1), (2, 2.6), (3, 4)], [0, 1, 0], [(0, 0, 1), (1, 2, 2.6), (0, 3, 4)], id="a short answer"
            ),
        ],
    )
    def test_windows_become_turns(
        self,
        spans: list[tuple[float, float]],
        labels: list[int],
        expected: list[tuple[int, float, float]],
    ) -> None:
        assert turns(labelled(*spans), labels) == [Turn(*each) for each in expected]

    @pytest.mark.parametrize(
        ("words", "change"),
        [
            pytest.param([(0.1, 2.0), (2.3, 5)], 2.15, id="into the gap"),
            pytest.param([(0.1, 2.0), (2.05, 2.7), (2.9, 5)], 2.8, id="into the widest"),
            pytest.param([(0.1, 2.6), (2.6, 5)], 2.625, id="no gap"),
            pytest.param([(0.1, 1.0), (1.5, 5)], 2.625, id="out of reach"),
            pytest.param([], 2.625, id="no words"),
        ],
    )
    def test_a_change_falls_between_words(self, words: list[tuple[float, float]], change: float) -> None:
        found = turns(labelled(*ROW), [0, 0, 0, 1, 1, 1], words=[TimeSpan(*word) for word in words])
        assert [turn.speaker for turn in found] == [0, 1]
        assert found[0].end_seconds == found[1].start_seconds == pytest.approx(change)

    @given(
        rows=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=8), max_size=6),
        cuts=st.lists(st.floats(0, 60), max_size=30),
    )
    def test_turns_cover_all_speech_once_and_nothing_else(self, rows: list[list[int]], cuts: list[float]) -> None:
        spans: list[tuple[float, float]] = []
        stretches = []
        for row in rows:
            start = spans[-1][1] + 0.5 if spans else 0.0
            spans += [(start + at * HOP, start + at * HOP + 1.5) for at in range(len(row))]
            stretches.append(Turn(0, start, spans[-1][1]))
        edges = sorted(cuts)
        words = [TimeSpan(left, right) for left, right in zip(edges[::2], edges[1::2], strict=False)]
        found = turns(labelled(*spans), [label for row in rows for label in row], words=words)
        assert all(turn.start_seconds < turn.end_seconds for turn in found)
        assert all(left.end_seconds <= right.start_seconds for left, right in pairwise(found))
        joined: list[Turn] = []
        for turn in found:
            if joined and joined[-1].end_seconds == turn.start_seconds:
                joined[-1] = Turn(0, joined[-1].start_seconds, turn.end_seconds)
            else:
                joined.append(Turn(0, turn.start_seconds, turn.end_seconds))
        assert joined == stretches


class TestSpeakerOf:
    """Whose a word is."""

    TURNS = (Turn(0, 0.0, 2.0), Turn(1, 2.0, 3.0), Turn(0, 5.0, 6.0), Turn(2, 6.0, 6.2), Turn(0, 6.2, 8.0))

    @pytest.mark.parametrize(
        ("start", "end", "speaker"),
        [
            (0.5, 1.0, 0),
            (1.5, 2.4, 0),
            (1.7, 2.6, 1),
            (2.5, 3.5, 1),
            (3.1, 3.4, 1),
            (4.5, 4.8, 0),
            (5.9, 6.3, 2),
            (5.5, 6.9, 0),
            (6.1, 6.1, 2),
            (9.0, 9.5, 0),
            (-1.0, -0.5, 0),
        ],
    )
    def test_a_word_belongs_to_who_speaks_most_in_it_or_nearest(self, start: float, end: float, speaker: int) -> None:
        assert speaker_of(self.TURNS, TimeSpan(start, end)) == speaker

    def test_where_nobody_speaks_it_is_nobody(self) -> None:
        assert speaker_of([], TimeSpan(0.0, 1.0)) is None


class TestScore:
    """The measure itself."""

    TRUTH = (Turn(0, 0.0, 4.0), Turn(1, 5.0, 9.0), Turn(0, 9.0, 11.0))

    @pytest.mark.parametrize(
        ("found", "expected"),
        [
            pytest.param(TRUTH, Score(0.0, 0.0), id="the truth"),
            pytest.param((Turn(7, 0, 4), Turn(2, 5, 9), Turn(7, 9, 11)), Score(0.0, 0.0), id="other numbers"),
            pytest.param((), Score(1.0, 0.0), id="nothing"),
            pytest.param((Turn(0, 0, 4), Turn(0, 5, 11)), Score(0.4, 0.4), id="one speaker"),
            pytest.param((Turn(0, 0, 4), Turn(1, 5, 11)), Score(0.2, 0.2), id="one turn wrong"),
            pytest.param((*TRUTH, Turn(0, 11, 13)), Score(0.2, 0.0), id="made up"),
            pytest.param((Turn(0, 0, 3), *TRUTH[1:]), Score(0.1, 0.0), id="missed"),
            pytest.param((Turn(0, 0, 4), Turn(1, 5, 9), Turn(2, 9, 11)), Score(0.2, 0.2), id="one too many"),
        ],
    )
    def test_errors_are_shares_of_the_speech(self, found: Sequence[Turn], expected: Score) -> None:
        result = score(self.TRUTH, found)
        assert (result.error, result.confusion) == pytest.approx((expected.error, expected.confusion))

    def test_a_collar_forgives_edges(self) -> None:
        late = [Turn(turn.speaker, turn.start_seconds + 0.2, turn.end_seconds) for turn in self.TRUTH]
        assert score(self.TRUTH, late).error > 0
        assert score(self.TRUTH, late, collar_seconds=0.25) == Score(0.0, 0.0)

    def test_turns_can_be_cut_to_speech(self) -> None:
        found = within([Turn(0, 0.0, 4.0), Turn(1, 4.0, 6.0)], [TimeSpan(1.0, 2.0), TimeSpan(3.0, 5.0)])
        assert found == [Turn(0, 1.0, 2.0), Turn(0, 3.0, 4.0), Turn(1, 4.0, 5.0)]
