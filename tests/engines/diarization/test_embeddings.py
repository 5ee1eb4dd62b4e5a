"""Two networks say how voices sound."""

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
    WeSpeakerProfiler,
    _chunks,
    _message,
    lay_windows,
)
from cutroom.engines.errors import EngineUnavailableError
from cutroom.engines.recognition.silero import SileroDetector
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from tests.engines.diarization.speaker_embedder_suite import (
    MAX_CONFUSION,
    MAX_ERROR,
    ProfilerSuite,
    found_turns,
    spoken,
)
from tests.engines.recognition.recognizer_suite import model_folder
from tests.support.dialogue import ALLISON, WOMEN, converse, long_conversation, recording, score

WESPEAKER = "wespeaker-resnet34"


class TestWeSpeaker(ProfilerSuite):
    """The conformance suite, and what only this one can."""

    @pytest.fixture(scope="class")
    @classmethod
    def profiler(cls) -> WeSpeakerProfiler:
        return WeSpeakerProfiler(model_folder(WESPEAKER))

    def test_women_in_like_studios_are_told_apart(self, profiler: WeSpeakerProfiler) -> None:
        found = found_turns(profiler, converse(WOMEN), spoken(WOMEN))
        assert len({turn.speaker for turn in found}) == 3
        assert score(converse(WOMEN).truth, found).confusion <= MAX_CONFUSION

    def test_speakers_stay_the_same_through_many_turns_in_noise(self, profiler: WeSpeakerProfiler) -> None:
        conversation = long_conversation(2)
        found = found_turns(profiler, conversation, tuple(SileroDetector().detect([conversation.samples])))
        result = score(conversation.truth, found)
        assert len({turn.speaker for turn in found}) == 4
        assert result.confusion <= MAX_CONFUSION
        assert result.error <= MAX_ERROR

    def test_it_gives_the_vectors_of_the_network_as_it_came(self, profiler: WeSpeakerProfiler) -> None:
        """What we do in place of its last layers is the same as these."""
        samples = recording(ALLISON, "demo-congrats")
        (found,) = profiler.profile(samples, speech=[TimeSpan(1.0, 2.5)])
        features = profiler._features(samples[SAMPLE_RATE : round(2.5 * SAMPLE_RATE)])
        (expected,) = profiler._session.run(["last_hidden_state"], {"input_features": features[np.newaxis]})
        assert float(found.vector @ expected[0] / np.linalg.norm(expected)) == pytest.approx(1.0, abs=1e-5)

    def test_a_stretch_of_many_chunks_is_still_one_voice(self, profiler: WeSpeakerProfiler) -> None:
        samples = recording(ALLISON, "demo-instruct")
        prints = profiler.profile(samples, speech=[TimeSpan(0.0, 40.0)])
        assert len(prints) > 2 * MAX_CHUNK_WINDOWS
        assert set(cluster_speakers(prints, same_voice=profiler.same_voice)) == {0}


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
def test_windows_are_laid_evenly_over_a_stretch(length: float, count: int) -> None:
    windows = [window for laid in lay_windows([TimeSpan(5.0, 5.0 + length)], duration_seconds=1e6) for window in laid]
    assert len(windows) == count
    if count:
        assert windows[0].start_seconds == 5.0
        assert windows[-1].end_seconds == pytest.approx(5.0 + length)
    starts = np.array([window.start_seconds for window in windows])
    assert np.diff(starts) == pytest.approx(np.full(max(0, count - 1), HOP_SECONDS), rel=0.5)
    assert all(window.end_seconds - window.start_seconds < 1.25 * WINDOW_SECONDS + 0.01 for window in windows)


def test_chunks_are_bounded_and_never_span_a_silence() -> None:
    samples = np.zeros(200 * SAMPLE_RATE, np.float32)
    chunks = list(_chunks(samples, [TimeSpan(0.0, 3.0), TimeSpan(3.5, 190.0)]))
    assert max(map(len, chunks)) == MAX_CHUNK_WINDOWS
    assert chunks[0][-1].end_seconds == 3.0
    assert chunks[1][0].start_seconds == 3.5


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ([], b""),
        ([(1, 5)], b"\x08\x05"),
        ([(1, 300)], b"\x08\xac\x02"),
        ([(7, b"ab")], b"\x3a\x02ab"),
        ([(20, 2), (4, "LSTM")], b"\xa0\x01\x02\x22\x04LSTM"),
        ([(7, bytes(200))], b"\x3a\xc8\x01" + bytes(200)),
    ],
)
def test_messages_are_written_as_protobuf(fields: list[tuple[int, int | str | bytes]], expected: bytes) -> None:
    assert _message(*fields) == expected


@pytest.mark.parametrize(("adapter", "model"), [(WeSpeakerProfiler, WESPEAKER)])
class TestModels:
    """No model, no profiler."""

    def test_a_missing_model_is_unavailable(self, adapter: type[WeSpeakerProfiler], model: str, tmp_path: Path) -> None:
        with pytest.raises(EngineUnavailableError, match=adapter(model_folder(model)).name):
            adapter(tmp_path)

    def test_half_a_model_is_unavailable(self, adapter: type[WeSpeakerProfiler], model: str, tmp_path: Path) -> None:
        for path in model_folder(model).iterdir():
            shutil.copyfile(path, tmp_path / path.name)
            with (tmp_path / path.name).open("rb+") as file:
                file.truncate(path.stat().st_size // 4)
        with pytest.raises(EngineUnavailableError):
            adapter(tmp_path)
