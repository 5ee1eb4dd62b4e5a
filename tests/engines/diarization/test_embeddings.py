"""WeSpeaker embeddings: conformance, windowing and model loading."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from cutroom.engines.diarization.clustering import cluster_speakers
from cutroom.engines.diarization.embeddings import (
    HOP_SECONDS,
    MAX_CHUNK_WINDOWS,
    MIN_WINDOW_SECONDS,
    WINDOW_SECONDS,
    WeSpeakerEmbedder,
    plan_windows,
    window_chunks,
)
from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.recognition.silero import SileroVoiceActivityDetector
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from tests.engines.diarization.speaker_embedder_suite import (
    MAX_CONFUSION,
    MAX_ERROR,
    SpeakerEmbedderSuite,
    detected_speech,
    found_turns,
)
from tests.engines.recognition.recognizer_suite import model_folder
from tests.support.dialogue import ALLISON, WOMEN, build_conversation, long_conversation, recording, score

WESPEAKER = "wespeaker-resnet34"


class TestWeSpeaker(SpeakerEmbedderSuite):
    """The conformance suite and adapter-specific tests."""

    @pytest.fixture(scope="class")
    @classmethod
    def speaker_embedder(cls) -> WeSpeakerEmbedder:
        return WeSpeakerEmbedder(model_folder(WESPEAKER))

    def test_similar_speakers_are_separated(self, speaker_embedder: WeSpeakerEmbedder) -> None:
        found = found_turns(speaker_embedder, build_conversation(WOMEN), detected_speech(WOMEN))
        assert len({turn.speaker for turn in found}) == 3
        assert score(build_conversation(WOMEN).truth, found).confusion <= MAX_CONFUSION

    def test_speakers_are_consistent_over_many_noisy_turns(self, speaker_embedder: WeSpeakerEmbedder) -> None:
        conversation = long_conversation(2)
        found = found_turns(
            speaker_embedder, conversation, tuple(SileroVoiceActivityDetector().detect([conversation.samples]))
        )
        result = score(conversation.truth, found)
        assert len({turn.speaker for turn in found}) == 4
        assert result.confusion <= MAX_CONFUSION
        assert result.error <= MAX_ERROR

    def test_vectors_match_the_original_graph(self, speaker_embedder: WeSpeakerEmbedder) -> None:
        """Our pooling and projection match the graph's last layers."""
        samples = recording(ALLISON, "demo-congrats")
        (found,) = speaker_embedder.embed(samples, speech=[TimeSpan(1.0, 2.5)])
        features = speaker_embedder._features(samples[SAMPLE_RATE : round(2.5 * SAMPLE_RATE)])
        (expected,) = speaker_embedder._session.run(["last_hidden_state"], {"input_features": features[np.newaxis]})
        assert float(found.vector @ expected[0] / np.linalg.norm(expected)) == pytest.approx(1.0, abs=1e-5)

    def test_span_of_many_chunks_is_one_speaker(self, speaker_embedder: WeSpeakerEmbedder) -> None:
        samples = recording(ALLISON, "demo-instruct")
        embeddings = speaker_embedder.embed(samples, speech=[TimeSpan(0.0, 40.0)])
        assert len(embeddings) > 2 * MAX_CHUNK_WINDOWS
        assert set(cluster_speakers(embeddings, same_speaker_threshold=speaker_embedder.same_speaker_threshold)) == {0}


@pytest.mark.parametrize(
    ("length", "count"),
    [
        (0.0, 0),
        (MIN_WINDOW_SECONDS - 0.01, 0),
        (MIN_WINDOW_SECONDS + 0.01, 1),
        (WINDOW_SECONDS, 1),
        (1.8, 1),
        (2.0, 2),
        (3.0, 3),
        (3.3, 3),
        (60.0, 79),
        (HOP_SECONDS * 19_199 + WINDOW_SECONDS, 19_200),
    ],
)
def test_windows_are_evenly_spaced(length: float, count: int) -> None:
    windows = [
        window
        for windows_of_span in plan_windows([TimeSpan(5.0, 5.0 + length)], duration_seconds=1e6)
        for window in windows_of_span
    ]
    assert len(windows) == count
    if count:
        assert windows[0].start_seconds == 5.0
        assert windows[-1].end_seconds == pytest.approx(5.0 + length)
    starts = np.array([window.start_seconds for window in windows])
    assert np.diff(starts) == pytest.approx(np.full(max(0, count - 1), HOP_SECONDS), rel=0.5)
    assert all(window.end_seconds - window.start_seconds < 1.25 * WINDOW_SECONDS + 0.01 for window in windows)


def test_chunks_are_bounded_and_never_span_a_silence() -> None:
    samples = np.zeros(200 * SAMPLE_RATE, np.float32)
    chunks = list(window_chunks(samples, [TimeSpan(0.0, 3.0), TimeSpan(3.5, 190.0)]))
    assert max(map(len, chunks)) == MAX_CHUNK_WINDOWS
    assert chunks[0][-1].end_seconds == 3.0
    assert chunks[1][0].start_seconds == 3.5


@pytest.mark.parametrize(("adapter", "model"), [(WeSpeakerEmbedder, WESPEAKER)])
class TestModels:
    """Missing and damaged models."""

    def test_missing_model_is_unavailable(self, adapter: type[WeSpeakerEmbedder], model: str, tmp_path: Path) -> None:
        with pytest.raises(EngineUnavailableError, match=adapter(model_folder(model)).name):
            adapter(tmp_path)

    def test_truncated_model_is_unavailable(self, adapter: type[WeSpeakerEmbedder], model: str, tmp_path: Path) -> None:
        for path in model_folder(model).iterdir():
            shutil.copyfile(path, tmp_path / path.name)
            with (tmp_path / path.name).open("rb+") as file:
                file.truncate(path.stat().st_size // 4)
        with pytest.raises(EngineUnavailableError):
            adapter(tmp_path)
