"""Conformance suite of speaker embedders; each adapter's test class inherits it and provides the fixture."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import combinations, groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.engines.diarization.clustering import Turn, cluster_speakers, speaker_turns
from cutroom.engines.diarization.port import SpeakerEmbedder, SpeakerEmbedding
from cutroom.engines.errors import EngineError
from cutroom.engines.recognition.silero import SileroVoiceActivityDetector
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from tests.support.dialogue import (
    ALLISON,
    AUSTEN,
    CARLO,
    DIALOGUE,
    DICKENS,
    Conversation,
    Line,
    build_conversation,
    recording,
    score,
)

if TYPE_CHECKING:
    from cutroom.engines.types import Samples, Vector

LONGEST_WINDOW_SECONDS = 2.0
MAX_ERROR = 0.12  # without a collar, so mostly boundary differences
MAX_CONFUSION = 0.02
VOICES = ((DICKENS, "two_cities"), (AUSTEN, "0870"), (ALLISON, "demo-congrats"), (CARLO, "demo-congrats"))


@cache
def detected_speech(conversation_lines: tuple[Line, ...]) -> tuple[TimeSpan, ...]:
    return tuple(SileroVoiceActivityDetector().detect([build_conversation(conversation_lines).samples]))


def found_turns(
    speaker_embedder: SpeakerEmbedder, conversation: Conversation, speech: tuple[TimeSpan, ...]
) -> list[Turn]:
    embeddings = speaker_embedder.embed(conversation.samples, speech=speech)
    return speaker_turns(
        embeddings, cluster_speakers(embeddings, same_speaker_threshold=speaker_embedder.same_speaker_threshold)
    )


def spans_of(embeddings: list[SpeakerEmbedding]) -> list[TimeSpan]:
    return [each.span for each in embeddings]


def centroid(embeddings: list[SpeakerEmbedding]) -> "Vector":
    total: Vector = np.sum([each.vector for each in embeddings], axis=0)
    return total / np.float32(np.linalg.norm(total))


class SpeakerEmbedderSuite:
    """Windows cover the speech, and vectors depend only on the speaker."""

    @pytest.fixture(scope="class")
    @classmethod
    def speaker_embedder(cls) -> SpeakerEmbedder:
        raise NotImplementedError

    def test_windows_are_ordered_and_cover_speech(self, speaker_embedder: SpeakerEmbedder) -> None:
        samples = recording(DICKENS, "two_cities")
        speech = [TimeSpan(1.1, 4.7), TimeSpan(5.0, 5.6), TimeSpan(8.7, 16.0)]
        found = spans_of(speaker_embedder.embed(samples, speech=speech))
        assert found == sorted(found, key=lambda span: span.start_seconds)
        assert all(0 < span.end_seconds - span.start_seconds <= LONGEST_WINDOW_SECONDS for span in found)
        for spoken in speech:
            inside = [span for span in found if spoken.start_seconds <= span.start_seconds < spoken.end_seconds]
            assert inside[0].start_seconds == spoken.start_seconds
            assert inside[-1].end_seconds == pytest.approx(spoken.end_seconds)
            assert all(right.start_seconds <= left.end_seconds for left, right in pairwise(inside))

    def test_vectors_are_unit_length_and_same_size(self, speaker_embedder: SpeakerEmbedder) -> None:
        embeddings = speaker_embedder.embed(recording(AUSTEN, "0870"), speech=[TimeSpan(0.0, 0.4), TimeSpan(1.0, 7.1)])
        assert len(embeddings) > 5
        assert len({each.vector.shape for each in embeddings}) == 1
        assert all(each.vector.dtype == np.float32 and each.vector.ndim == 1 for each in embeddings)
        assert np.linalg.norm([each.vector for each in embeddings], axis=1) == pytest.approx(1.0, abs=1e-5)

    @pytest.mark.parametrize(
        ("speech", "count"),
        [
            pytest.param([], 0, id="no speech"),
            pytest.param([TimeSpan(1.0, 1.3)], 0, id="too short"),
            pytest.param([TimeSpan(1.0, 1.5)], 1, id="one word"),
            pytest.param([TimeSpan(6.8, 60.0)], 0, id="past the end, too short before it"),
            pytest.param([TimeSpan(6.0, 60.0)], 1, id="past the end"),
            pytest.param([TimeSpan(90.0, 99.0)], 0, id="after the end"),
            pytest.param([TimeSpan(-3.0, 1.0)], 1, id="before the start"),
        ],
    )
    def test_short_and_odd_spans_give_at_most_one_window(
        self, speaker_embedder: SpeakerEmbedder, speech: list[TimeSpan], count: int
    ) -> None:
        embeddings = speaker_embedder.embed(recording(AUSTEN, "0870"), speech=speech)
        assert len(embeddings) == count
        assert all(each.span.start_seconds >= 0 and each.span.end_seconds <= 7.1 for each in embeddings)

    def test_embedding_is_deterministic(self, speaker_embedder: SpeakerEmbedder) -> None:
        samples = recording(DICKENS, "two_cities")[: 12 * SAMPLE_RATE]
        speech = [TimeSpan(1.1, 6.0), TimeSpan(8.0, 12.0)]

        def embed(_: int) -> bytes:
            return np.stack([each.vector for each in speaker_embedder.embed(samples, speech=speech)]).tobytes()

        with ThreadPoolExecutor(2) as threads:
            assert len(set(threads.map(embed, range(3)))) == 1

    def test_embedding_is_independent_of_context(self, speaker_embedder: SpeakerEmbedder) -> None:
        samples = recording(DICKENS, "two_cities")
        in_context = speaker_embedder.embed(
            samples, speech=[TimeSpan(1.0, 5.0), TimeSpan(9.0, 12.0), TimeSpan(21.0, 24.0)]
        )
        alone = speaker_embedder.embed(samples[9 * SAMPLE_RATE : 12 * SAMPLE_RATE], speech=[TimeSpan(0.0, 3.0)])
        matching = [each.vector for each in in_context if 9.0 <= each.span.start_seconds < 12.0]
        assert np.stack(matching) == pytest.approx(np.stack([each.vector for each in alone]), abs=1e-5)

    def test_embedding_is_independent_of_level(self, speaker_embedder: SpeakerEmbedder) -> None:
        samples = recording(ALLISON, "demo-congrats")[: 5 * SAMPLE_RATE]
        speech = [TimeSpan(0.5, 5.0)]
        original = speaker_embedder.embed(samples, speech=speech)
        for factor in (0.02, 1.5):
            scaled = speaker_embedder.embed(samples * np.float32(factor), speech=speech)
            similarity = [float(left.vector @ right.vector) for left, right in zip(original, scaled, strict=True)]
            assert min(similarity) > 0.98, factor

    def test_same_speaker_is_more_similar_than_others(self, speaker_embedder: SpeakerEmbedder) -> None:
        halves = {}
        for speaker, name in VOICES:
            samples = recording(speaker, name)[: 16 * SAMPLE_RATE]
            length = len(samples) / SAMPLE_RATE
            spans = [TimeSpan(0.3, length / 2), TimeSpan(length / 2, length - 0.3)]
            halves[speaker] = [centroid(speaker_embedder.embed(samples, speech=[span])) for span in spans]
        own = min(float(first @ second) for first, second in halves.values())
        others = max(float(halves[one][0] @ halves[two][1]) for one, two in combinations(halves, 2))
        assert own > others + 0.15

    def test_dialogue_speakers_are_separated(self, speaker_embedder: SpeakerEmbedder) -> None:
        dialogue = build_conversation(DIALOGUE)
        found = found_turns(speaker_embedder, dialogue, detected_speech(DIALOGUE))
        result = score(dialogue.truth, found)
        assert len({turn.speaker for turn in found}) == 4
        assert [speaker for speaker, _ in groupby(turn.speaker for turn in found)] == [0, 1, 2, 3, 0, 2, 1, 3, 2, 0, 1]
        assert result.confusion <= MAX_CONFUSION
        assert result.error <= MAX_ERROR

    @pytest.mark.parametrize("pair", [(AUSTEN, ALLISON), (DICKENS, CARLO)])
    def test_two_speakers_are_found(self, speaker_embedder: SpeakerEmbedder, pair: tuple[str, str]) -> None:
        lines = tuple(line for line in DIALOGUE if line.speaker in pair)
        found = found_turns(speaker_embedder, build_conversation(lines), detected_speech(lines))
        assert len({turn.speaker for turn in found}) == 2
        assert score(build_conversation(lines).truth, found).confusion <= MAX_CONFUSION

    @pytest.mark.parametrize("speaker", [DICKENS, CARLO])
    def test_single_speaker_is_found(self, speaker_embedder: SpeakerEmbedder, speaker: str) -> None:
        samples = recording(speaker, "two_cities" if speaker == DICKENS else "demo-instruct")[: 30 * SAMPLE_RATE]
        embeddings = speaker_embedder.embed(samples, speech=list(SileroVoiceActivityDetector().detect([samples])))
        assert set(cluster_speakers(embeddings, same_speaker_threshold=speaker_embedder.same_speaker_threshold)) == {0}

    @pytest.mark.parametrize(
        "samples",
        [
            pytest.param(np.zeros(3 * SAMPLE_RATE, np.float32), id="zeros"),
            pytest.param(np.full(3 * SAMPLE_RATE, 1.0, np.float32), id="one"),
            pytest.param(
                np.tile(np.array([1, -1], np.float32), 3 * SAMPLE_RATE // 2), id="maximum level and frequency"
            ),
            pytest.param(np.full(3 * SAMPLE_RATE, 1e-30, np.float32), id="tiny values"),
        ],
    )
    def test_non_speech_audio_gives_valid_vectors(self, speaker_embedder: SpeakerEmbedder, samples: "Samples") -> None:
        embeddings = speaker_embedder.embed(samples, speech=[TimeSpan(0.0, 3.0)])
        assert np.linalg.norm([each.vector for each in embeddings], axis=1) == pytest.approx(1.0, abs=1e-5)

    @pytest.mark.parametrize(
        "samples",
        [
            pytest.param(np.full(SAMPLE_RATE, np.nan, np.float32), id="NaN"),
            pytest.param(np.full(SAMPLE_RATE, np.inf, np.float32), id="infinite"),
            pytest.param(np.zeros(SAMPLE_RATE, np.int16), id="integers"),
            pytest.param(np.zeros((2, SAMPLE_RATE), np.float32), id="stereo"),
        ],
    )
    def test_invalid_audio_is_rejected(self, speaker_embedder: SpeakerEmbedder, samples: "Samples") -> None:
        with pytest.raises(EngineError):
            speaker_embedder.embed(samples, speech=[TimeSpan(0.0, 1.0)])
