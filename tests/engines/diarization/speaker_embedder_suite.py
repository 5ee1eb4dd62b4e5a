"""What every voice profiler must do: each adapter's test class inherits this one and says what its profiler is."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import combinations, groupby, pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pytest

from cutroom.engines.diarization.clustering import Turn, cluster_speakers, turns
from cutroom.engines.diarization.port import SpeakerEmbedder, SpeakerEmbedding
from cutroom.engines.errors import EngineError
from cutroom.engines.recognition.silero import SileroDetector
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from tests.support.dialogue import (
    ALLISON,
    AUSTEN,
    CARLO,
    DIALOGUE,
    DICKENS,
    Conversation,
    Line,
    converse,
    recording,
    score,
)

if TYPE_CHECKING:
    from cutroom.engines.types import Samples, Vector

LONGEST_WINDOW_SECONDS = 2.0
MAX_ERROR = 0.12  # without a collar, so most of it is where a detector of voices and the truth draw the edges
MAX_CONFUSION = 0.02
VOICES = ((DICKENS, "two_cities"), (AUSTEN, "0870"), (ALLISON, "demo-congrats"), (CARLO, "demo-congrats"))


class Profiler(SpeakerEmbedder, Protocol):
    same_voice: float


@cache
def spoken(conversation_lines: tuple[Line, ...]) -> tuple[TimeSpan, ...]:
    return tuple(SileroDetector().detect([converse(conversation_lines).samples]))


def found_turns(profiler: Profiler, conversation: Conversation, speech: tuple[TimeSpan, ...]) -> list[Turn]:
    prints = profiler.profile(conversation.samples, speech=speech)
    return turns(prints, cluster_speakers(prints, same_voice=profiler.same_voice))


def spans_of(prints: list[SpeakerEmbedding]) -> list[TimeSpan]:
    return [each.span for each in prints]


def middle(prints: list[SpeakerEmbedding]) -> "Vector":
    total: Vector = np.sum([each.vector for each in prints], axis=0)
    return total / np.float32(np.linalg.norm(total))


class ProfilerSuite:
    """Windows lie in the speech, vectors tell voices and nothing else."""

    @pytest.fixture(scope="class")
    @classmethod
    def profiler(cls) -> Profiler:
        raise NotImplementedError

    def test_windows_lie_in_order_and_cover_the_speech(self, profiler: Profiler) -> None:
        samples = recording(DICKENS, "two_cities")
        speech = [TimeSpan(1.1, 4.7), TimeSpan(5.0, 5.6), TimeSpan(8.7, 40.0)]
        found = spans_of(profiler.profile(samples, speech=speech))
        assert found == sorted(found, key=lambda span: span.start_seconds)
        assert all(0 < span.end_seconds - span.start_seconds <= LONGEST_WINDOW_SECONDS for span in found)
        for stretch in speech:
            inside = [span for span in found if stretch.start_seconds <= span.start_seconds < stretch.end_seconds]
            assert inside[0].start_seconds == stretch.start_seconds
            assert inside[-1].end_seconds == pytest.approx(stretch.end_seconds)
            assert all(right.start_seconds <= left.end_seconds for left, right in pairwise(inside))

    def test_every_vector_has_length_1_and_the_same_size(self, profiler: Profiler) -> None:
        prints = profiler.profile(recording(AUSTEN, "0870"), speech=[TimeSpan(0.0, 0.4), TimeSpan(1.0, 7.1)])
        assert len(prints) > 5
        assert len({each.vector.shape for each in prints}) == 1
        assert all(each.vector.dtype == np.float32 and each.vector.ndim == 1 for each in prints)
        assert np.linalg.norm([each.vector for each in prints], axis=1) == pytest.approx(1.0, abs=1e-5)

    @pytest.mark.parametrize(
        ("speech", "count"),
        [
            pytest.param([], 0, id="nobody speaks"),
            pytest.param([TimeSpan(1.0, 1.3)], 0, id="too short"),
            pytest.param([TimeSpan(1.0, 1.5)], 1, id="one word"),
            pytest.param([TimeSpan(6.8, 60.0)], 0, id="past the end, and too short before it"),
            pytest.param([TimeSpan(6.0, 60.0)], 1, id="past the end"),
            pytest.param([TimeSpan(90.0, 99.0)], 0, id="behind the end"),
            pytest.param([TimeSpan(-3.0, 1.0)], 1, id="before the start"),
        ],
    )
    def test_short_and_odd_stretches_give_one_window_or_none(
        self, profiler: Profiler, speech: list[TimeSpan], count: int
    ) -> None:
        prints = profiler.profile(recording(AUSTEN, "0870"), speech=speech)
        assert len(prints) == count
        assert all(each.span.start_seconds >= 0 and each.span.end_seconds <= 7.1 for each in prints)

    def test_the_same_sound_gives_the_same_vectors(self, profiler: Profiler) -> None:
        samples = recording(DICKENS, "two_cities")[: 12 * SAMPLE_RATE]
        speech = [TimeSpan(1.1, 6.0), TimeSpan(8.0, 12.0)]

        def profile(_: int) -> bytes:
            return np.stack([each.vector for each in profiler.profile(samples, speech=speech)]).tobytes()

        with ThreadPoolExecutor(2) as threads:
            assert len(set(threads.map(profile, range(4)))) == 1

    def test_what_lies_around_a_stretch_does_not_matter(self, profiler: Profiler) -> None:
        samples = recording(DICKENS, "two_cities")
        among = profiler.profile(samples, speech=[TimeSpan(1.0, 5.0), TimeSpan(9.0, 12.0), TimeSpan(21.0, 24.0)])
        alone = profiler.profile(samples[9 * SAMPLE_RATE : 12 * SAMPLE_RATE], speech=[TimeSpan(0.0, 3.0)])
        here = [each.vector for each in among if 9.0 <= each.span.start_seconds < 12.0]
        assert np.stack(here) == pytest.approx(np.stack([each.vector for each in alone]), abs=1e-5)

    @pytest.mark.parametrize("factor", [0.02, 0.3, 1.5])
    def test_loudness_does_not_matter(self, profiler: Profiler, factor: float) -> None:
        samples = recording(ALLISON, "demo-congrats")[: 5 * SAMPLE_RATE]
        speech = [TimeSpan(0.5, 5.0)]
        plain = profiler.profile(samples, speech=speech)
        changed = profiler.profile(samples * np.float32(factor), speech=speech)
        likeness = [float(left.vector @ right.vector) for left, right in zip(plain, changed, strict=True)]
        assert min(likeness) > 0.98

    def test_a_voice_is_more_like_itself_than_like_another(self, profiler: Profiler) -> None:
        halves = {}
        for speaker, name in VOICES:
            samples = recording(speaker, name)
            length = len(samples) / SAMPLE_RATE
            parts = [TimeSpan(0.3, length / 2), TimeSpan(length / 2, length - 0.3)]
            halves[speaker] = [middle(profiler.profile(samples, speech=[part])) for part in parts]
        own = min(float(first @ second) for first, second in halves.values())
        others = max(float(halves[one][0] @ halves[two][1]) for one, two in combinations(halves, 2))
        assert own > others + 0.15

    def test_the_speakers_of_a_dialogue_are_told_apart(self, profiler: Profiler) -> None:
        dialogue = converse(DIALOGUE)
        found = found_turns(profiler, dialogue, spoken(DIALOGUE))
        result = score(dialogue.truth, found)
        assert len({turn.speaker for turn in found}) == 4
        assert [speaker for speaker, _ in groupby(turn.speaker for turn in found)] == [0, 1, 2, 3, 0, 2, 1, 3, 2, 0, 1]
        assert result.confusion <= MAX_CONFUSION
        assert result.error <= MAX_ERROR

    @pytest.mark.parametrize("pair", [(AUSTEN, ALLISON), (DICKENS, CARLO)])
    def test_two_speakers_are_two(self, profiler: Profiler, pair: tuple[str, str]) -> None:
        lines = tuple(line for line in DIALOGUE if line.speaker in pair)
        found = found_turns(profiler, converse(lines), spoken(lines))
        assert len({turn.speaker for turn in found}) == 2
        assert score(converse(lines).truth, found).confusion <= MAX_CONFUSION

    @pytest.mark.parametrize("speaker", [DICKENS, ALLISON, CARLO])
    def test_one_speaker_is_one(self, profiler: Profiler, speaker: str) -> None:
        samples = recording(speaker, "two_cities" if speaker == DICKENS else "demo-instruct")[: 30 * SAMPLE_RATE]
        prints = profiler.profile(samples, speech=list(SileroDetector().detect([samples])))
        assert set(cluster_speakers(prints, same_voice=profiler.same_voice)) == {0}

    @pytest.mark.parametrize(
        "samples",
        [
            pytest.param(np.zeros(3 * SAMPLE_RATE, np.float32), id="zeros"),
            pytest.param(np.full(3 * SAMPLE_RATE, 1.0, np.float32), id="one"),
            pytest.param(np.tile(np.array([1, -1], np.float32), 3 * SAMPLE_RATE // 2), id="as loud and high as can be"),
            pytest.param(np.full(3 * SAMPLE_RATE, 1e-30, np.float32), id="next to nothing"),
        ],
    )
    def test_sound_that_is_no_voice_still_gives_vectors(self, profiler: Profiler, samples: "Samples") -> None:
        prints = profiler.profile(samples, speech=[TimeSpan(0.0, 3.0)])
        assert np.linalg.norm([each.vector for each in prints], axis=1) == pytest.approx(1.0, abs=1e-5)

    @pytest.mark.parametrize(
        "samples",
        [
            pytest.param(np.full(SAMPLE_RATE, np.nan, np.float32), id="no numbers"),
            pytest.param(np.full(SAMPLE_RATE, np.inf, np.float32), id="without end"),
            pytest.param(np.zeros(SAMPLE_RATE, np.int16), id="integers"),
            pytest.param(np.zeros((2, SAMPLE_RATE), np.float32), id="stereo"),
        ],
    )
    def test_what_is_no_sound_is_refused(self, profiler: Profiler, samples: "Samples") -> None:
        with pytest.raises(EngineError):
            profiler.profile(samples, speech=[TimeSpan(0.0, 1.0)])
