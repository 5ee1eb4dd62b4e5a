"""Clustering and turn building on synthetic embeddings."""

import time
import tracemalloc
from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.engines.diarization.clustering import (
    MAX_COMPARED_CLUSTERS,
    MAX_EMBEDDINGS,
    MAX_SPEAKERS,
    MIN_SPEAKER_SECONDS,
    Turn,
    _apply_merges,
    _merge_sequence,
    _precluster,
    cluster_speakers,
    speaker_of,
    speaker_turns,
)
from cutroom.engines.diarization.port import SpeakerEmbedding
from cutroom.engines.errors import EngineError
from cutroom.engines.types import TimeSpan
from tests.support.dialogue import DiarizationScore, clip_turns, score

SIZE = 64
THRESHOLD = 0.3  # synthetic windows: same speaker about 0.5, different speakers about 0
HOP = 0.75
FOUR_HOURS = 19_200  # windows


def windows(labels: Sequence[int], *, seed: int = 0, spread: float = 1.0) -> list[SpeakerEmbedding]:
    """Synthetic embeddings: each label is a random direction with noise around it."""
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


def embeddings_at(*spans: tuple[float, float]) -> list[SpeakerEmbedding]:
    return [SpeakerEmbedding(TimeSpan(*span), np.ones(1, np.float32)) for span in spans]


def as_turns(labels: Sequence[int]) -> list[Turn]:
    return [Turn(label, at * HOP, (at + 1) * HOP) for at, label in enumerate(labels)]


SPANS = [(at * HOP, at * HOP + 1.5) for at in range(6)]


class TestClusterSpeakers:
    """Number of speakers and label of each window."""

    @pytest.mark.parametrize("count", [1, 2, 3, 5, 10, 20])
    def test_number_of_speakers_is_found(self, count: int) -> None:
        labels = [voice for _ in range(3) for voice in range(count) for _ in range(6)]
        assert cluster_speakers(windows(labels), same_speaker_threshold=THRESHOLD) == labels

    def test_speakers_are_numbered_by_first_appearance(self) -> None:
        labels = [2] * 8 + [0] * 8 + [2] * 8 + [1] * 8
        assert (
            cluster_speakers(windows(labels), same_speaker_threshold=THRESHOLD) == [0] * 8 + [1] * 8 + [0] * 8 + [2] * 8
        )

    def test_no_windows_give_no_labels(self) -> None:
        assert cluster_speakers([], same_speaker_threshold=THRESHOLD) == []

    def test_one_window_is_one_speaker(self) -> None:
        assert cluster_speakers(windows([0]), same_speaker_threshold=THRESHOLD) == [0]

    @pytest.mark.parametrize(("outlier", "speakers"), [(1, 1), (2, 1), (6, 2)])
    def test_short_speaker_is_merged(self, outlier: int, speakers: int) -> None:
        labels = [0] * 30 + [1] * outlier + [0] * 30
        assert (outlier + 1) * HOP > MIN_SPEAKER_SECONDS or speakers == 1
        assert len(set(cluster_speakers(windows(labels), same_speaker_threshold=THRESHOLD))) == speakers

    def test_short_speaker_counts_in_short_recording(self) -> None:
        assert cluster_speakers(windows([0, 0, 0, 1, 1, 1]), same_speaker_threshold=THRESHOLD) == [0, 0, 0, 1, 1, 1]

    def test_short_windows_form_no_cluster(self) -> None:
        long = windows([0] * 20)
        outlier = [
            SpeakerEmbedding(TimeSpan(100.0 + at, 100.5 + at), each.vector) for at, each in enumerate(windows([1] * 20))
        ]
        assert set(cluster_speakers([*long, *outlier], same_speaker_threshold=THRESHOLD)) == {0}

    def test_short_windows_are_used_if_all_are_short(self) -> None:
        embeddings = windows([0] * 10 + [1] * 10)
        short = [SpeakerEmbedding(TimeSpan(at, at + 0.5), each.vector) for at, each in enumerate(embeddings)]
        assert cluster_speakers(short, same_speaker_threshold=THRESHOLD) == [0] * 10 + [1] * 10

    @pytest.mark.parametrize("known", [1, 2, 3, 4, 6])
    def test_known_number_of_speakers_is_respected(self, known: int) -> None:
        labels = [voice for _ in range(5) for voice in range(4) for _ in range(8)]
        found = cluster_speakers(windows(labels), same_speaker_threshold=THRESHOLD, speakers=known)
        assert len(set(found)) == known
        if known == 4:
            assert found == labels

    def test_known_number_ignores_outliers(self) -> None:
        labels = [0] * 20 + [2] + [1] * 20 + [3]
        found = cluster_speakers(windows(labels), same_speaker_threshold=0.9, speakers=2)
        assert found[:20] == [0] * 20
        assert found[21:41] == [1] * 20

    def test_speakers_beyond_the_maximum_are_merged(self) -> None:
        labels = [voice for voice in range(30) for _ in range(10)]
        assert len(set(cluster_speakers(windows(labels), same_speaker_threshold=THRESHOLD))) == MAX_SPEAKERS

    def test_noise_without_any_voice_ends_too(self) -> None:
        found = cluster_speakers(windows(list(range(500)), spread=0.0), same_speaker_threshold=0.9)
        assert 1 <= len(set(found)) <= MAX_SPEAKERS

    def test_equal_vectors_are_one_voice(self) -> None:
        assert set(cluster_speakers(windows([0] * 50, spread=0.0), same_speaker_threshold=0.99)) == {0}

    @pytest.mark.parametrize("speakers", [0, -1, MAX_SPEAKERS + 1])
    def test_invalid_speaker_count_is_rejected(self, speakers: int) -> None:
        with pytest.raises(EngineError):
            cluster_speakers(windows([0]), same_speaker_threshold=THRESHOLD, speakers=speakers)

    def test_too_many_windows_are_rejected(self) -> None:
        with pytest.raises(EngineError):
            cluster_speakers(windows([0]) * (MAX_EMBEDDINGS + 1), same_speaker_threshold=THRESHOLD)


class TestLongRecordings:
    """Time and memory stay bounded, and short speakers are found."""

    def test_four_hours_are_clustered_in_seconds(self) -> None:
        random = np.random.default_rng(5)
        labels = [int(voice) for voice in random.integers(0, 6, FOUR_HOURS // 8) for _ in range(8)]
        embeddings = windows(labels)
        began = time.process_time()
        found = cluster_speakers(embeddings, same_speaker_threshold=THRESHOLD)
        assert time.process_time() - began < 20  # takes 1 to 2 s
        assert len(set(found)) == 6
        assert score(as_turns(labels), as_turns(found)).confusion < 0.01

    @pytest.mark.parametrize("count", [MAX_COMPARED_CLUSTERS, 2 * MAX_COMPARED_CLUSTERS])
    def test_memory_is_bounded(self, count: int) -> None:
        embeddings = windows([at // 8 % 5 for at in range(count)])
        tracemalloc.start()
        cluster_speakers(embeddings, same_speaker_threshold=THRESHOLD)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 4 * 8 * MAX_COMPARED_CLUSTERS**2

    def test_short_speaker_is_found_in_long_recording(self) -> None:
        labels = [0, 0, 0, 0, 1, 1, 1, 1] * 600
        labels[2000:2012] = [2] * 12
        found = cluster_speakers(windows(labels), same_speaker_threshold=THRESHOLD)
        assert len(set(found)) == 3
        assert set(found[2001:2011]) == {2}

    @pytest.mark.parametrize("count", [MAX_COMPARED_CLUSTERS, MAX_COMPARED_CLUSTERS + 1, 12_345])
    def test_preclustering_respects_the_bound(self, count: int) -> None:
        vectors = np.random.default_rng(0).standard_normal((count, 8))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        groups = _precluster(vectors, 0.999)
        assert len(groups) == count
        assert len(set(groups.tolist())) == int(groups.max()) + 1 <= MAX_COMPARED_CLUSTERS


@settings(max_examples=60, deadline=None)
@given(count=st.integers(1, 24), kept=st.integers(1, 8), seed=st.integers(0, 10_000))
def test_result_matches_naive_average_linkage(count: int, kept: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).standard_normal((count, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    reference = [[at] for at in range(count)]
    while len(reference) > kept:
        left, right = max(combinations(reference, 2), key=lambda pair: (vectors[pair[0]] @ vectors[pair[1]].T).mean())
        reference = [each for each in reference if each is not left and each is not right] + [left + right]
    found = _apply_merges(_merge_sequence(vectors, np.ones(count))[: max(0, count - kept)], count)
    assert {frozenset(np.flatnonzero(found == group).tolist()) for group in found} == set(map(frozenset, reference))


class TestTurns:
    """Turn boundaries."""

    @pytest.mark.parametrize(
        ("spans", "labels", "expected"),
        [
            pytest.param([], [], [], id="empty"),
            pytest.param([(1, 2)], [0], [(0, 1, 2)], id="one window"),
            pytest.param(SPANS, [0] * 6, [(0, 0, 5.25)], id="one speaker"),
            pytest.param(SPANS, [0, 0, 0, 1, 1, 1], [(0, 0, 2.625), (1, 2.625, 5.25)], id="change within speech"),
            pytest.param(SPANS, [0, 0, 1, 0, 0, 0], [(0, 0, 5.25)], id="single outlier"),
            pytest.param(SPANS, [0, 0, 2, 1, 1, 1], [(0, 0, 2.25), (1, 2.25, 5.25)], id="mixed window"),
            pytest.param(SPANS, [1, 0, 0, 0, 0, 0], [(1, 0, 1.125), (0, 1.125, 5.25)], id="short first turn"),
            pytest.param([(0, 1), (1.4, 2)], [0, 1], [(0, 0, 1), (1, 1.4, 2)], id="change in silence"),
            pytest.param([(0, 1), (1.4, 2)], [0, 0], [(0, 0, 1), (0, 1.4, 2)], id="pause"),
            pytest.param([(0, 1), (2, 2.6), (3, 4)], [0, 1, 0], [(0, 0, 1), (1, 2, 2.6), (0, 3, 4)], id="short reply"),
        ],
    )
    def test_labels_become_turns(
        self,
        spans: list[tuple[float, float]],
        labels: list[int],
        expected: list[tuple[int, float, float]],
    ) -> None:
        assert speaker_turns(embeddings_at(*spans), labels) == [Turn(*each) for each in expected]

    @pytest.mark.parametrize(
        ("words", "change"),
        [
            pytest.param([(0.1, 2.0), (2.3, 5)], 2.15, id="word gap"),
            pytest.param([(0.1, 2.0), (2.05, 2.7), (2.9, 5)], 2.8, id="widest gap"),
            pytest.param([(0.1, 2.6), (2.6, 5)], 2.625, id="no gap"),
            pytest.param([(0.1, 1.0), (1.5, 5)], 2.625, id="out of reach"),
            pytest.param([], 2.625, id="no words"),
        ],
    )
    def test_speaker_change_snaps_to_word_gap(self, words: list[tuple[float, float]], change: float) -> None:
        found = speaker_turns(embeddings_at(*SPANS), [0, 0, 0, 1, 1, 1], words=[TimeSpan(*word) for word in words])
        assert [turn.speaker for turn in found] == [0, 1]
        assert found[0].end_seconds == found[1].start_seconds == pytest.approx(change)

    @given(
        rows=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=8), max_size=6),
        cuts=st.lists(st.floats(0, 60), max_size=30),
    )
    def test_turns_partition_the_speech(self, rows: list[list[int]], cuts: list[float]) -> None:
        spans: list[tuple[float, float]] = []
        expected = []
        for row in rows:
            start = spans[-1][1] + 0.5 if spans else 0.0
            spans += [(start + at * HOP, start + at * HOP + 1.5) for at in range(len(row))]
            expected.append(Turn(0, start, spans[-1][1]))
        edges = sorted(cuts)
        words = [TimeSpan(left, right) for left, right in zip(edges[::2], edges[1::2], strict=False)]
        found = speaker_turns(embeddings_at(*spans), [label for row in rows for label in row], words=words)
        assert all(turn.start_seconds < turn.end_seconds for turn in found)
        assert all(left.end_seconds <= right.start_seconds for left, right in pairwise(found))
        joined: list[Turn] = []
        for turn in found:
            if joined and joined[-1].end_seconds == turn.start_seconds:
                joined[-1] = Turn(0, joined[-1].start_seconds, turn.end_seconds)
            else:
                joined.append(Turn(0, turn.start_seconds, turn.end_seconds))
        assert joined == expected


class TestSpeakerOf:
    """Speaker of a word."""

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
    def test_word_belongs_to_most_overlapping_or_nearest_turn(self, start: float, end: float, speaker: int) -> None:
        assert speaker_of(self.TURNS, TimeSpan(start, end)) == speaker

    def test_no_turns_give_no_speaker(self) -> None:
        assert speaker_of([], TimeSpan(0.0, 1.0)) is None


class TestScore:
    """The diarization score itself."""

    TRUTH = (Turn(0, 0.0, 4.0), Turn(1, 5.0, 9.0), Turn(0, 9.0, 11.0))

    @pytest.mark.parametrize(
        ("found", "expected"),
        [
            pytest.param(TRUTH, DiarizationScore(0.0, 0.0), id="exact"),
            pytest.param((Turn(7, 0, 4), Turn(2, 5, 9), Turn(7, 9, 11)), DiarizationScore(0.0, 0.0), id="other labels"),
            pytest.param((), DiarizationScore(1.0, 0.0), id="no turns"),
            pytest.param((Turn(0, 0, 4), Turn(0, 5, 11)), DiarizationScore(0.4, 0.4), id="one speaker"),
            pytest.param((Turn(0, 0, 4), Turn(1, 5, 11)), DiarizationScore(0.2, 0.2), id="one turn wrong"),
            pytest.param((*TRUTH, Turn(0, 11, 13)), DiarizationScore(0.2, 0.0), id="false alarm"),
            pytest.param((Turn(0, 0, 3), *TRUTH[1:]), DiarizationScore(0.1, 0.0), id="missed"),
            pytest.param(
                (Turn(0, 0, 4), Turn(1, 5, 9), Turn(2, 9, 11)), DiarizationScore(0.2, 0.2), id="extra speaker"
            ),
        ],
    )
    def test_score_is_relative_to_speech(self, found: Sequence[Turn], expected: DiarizationScore) -> None:
        result = score(self.TRUTH, found)
        assert (result.error, result.confusion) == pytest.approx((expected.error, expected.confusion))

    def test_collar_ignores_boundaries(self) -> None:
        late = [Turn(turn.speaker, turn.start_seconds + 0.2, turn.end_seconds) for turn in self.TRUTH]
        assert score(self.TRUTH, late).error > 0
        assert score(self.TRUTH, late, collar_seconds=0.25) == DiarizationScore(0.0, 0.0)

    def test_turns_are_clipped_to_speech(self) -> None:
        found = clip_turns([Turn(0, 0.0, 4.0), Turn(1, 4.0, 6.0)], [TimeSpan(1.0, 2.0), TimeSpan(3.0, 5.0)])
        assert found == [Turn(0, 1.0, 2.0), Turn(0, 3.0, 4.0), Turn(1, 4.0, 5.0)]
