"""Silero VAD: conformance, span building, streaming memory and thread safety."""

import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.recognition.silero import (
    FRAME_SECONDS,
    MIN_SILENCE_SECONDS,
    MIN_SPEECH_SECONDS,
    PADDING_SECONDS,
    SileroVoiceActivityDetector,
    _SpanBuilder,
)
from cutroom.engines.types import SAMPLE_RATE
from dev.fixtures.speech_clips import clips_folder, ensure_clips, sentences, two_cities
from tests.engines.recognition.voice_activity_suite import VoiceActivityDetectorSuite

if TYPE_CHECKING:
    from cutroom.engines.types import Samples


class TestSilero(VoiceActivityDetectorSuite):
    """The conformance suite."""

    @pytest.fixture(scope="class")
    @classmethod
    def detector(cls) -> SileroVoiceActivityDetector:
        return SileroVoiceActivityDetector()


def spans_of(probabilities: list[float]) -> list[tuple[float, float]]:
    spans = _SpanBuilder()
    found = [span for each in probabilities for span in spans.push(each)]
    found += spans.finish(len(probabilities) * FRAME_SECONDS)
    return [(span.start_seconds, span.end_seconds) for span in found]


def padded(start: int, end: int) -> tuple[float, float]:
    return round(start * FRAME_SECONDS - PADDING_SECONDS, 3), round(end * FRAME_SECONDS + PADDING_SECONDS, 3)


SHORT = int(MIN_SPEECH_SECONDS / FRAME_SECONDS)  # frames: one more is speech
GAP = int(MIN_SILENCE_SECONDS / FRAME_SECONDS)  # frames: one more is a silence


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        pytest.param([0.1] * 40, [], id="silence"),
        pytest.param([0.1] * 10 + [0.9] * SHORT + [0.1] * 40, [], id="too short"),
        pytest.param([0.1] * 10 + [0.9] * (SHORT + 1) + [0.1] * 40, [padded(10, 11 + SHORT)], id="just long enough"),
        pytest.param(
            [0.1] * 10 + [0.9] * 20 + [0.1] * GAP + [0.9] * 20 + [0.1] * 40, [padded(10, 50 + GAP)], id="pause"
        ),
        pytest.param(
            [0.1] * 10 + [0.9] * 20 + [0.1] * (GAP + 1) + [0.9] * 20 + [0.1] * 40,
            [padded(10, 30), padded(31 + GAP, 51 + GAP)],
            id="split at silence",
        ),
        pytest.param([0.4] * 40, [], id="uncertain does not start speech"),
        pytest.param(
            [0.1] * 10 + [0.9] + [0.4] * 30 + [0.1] * 40, [padded(10, 41)], id="uncertain does not end speech"
        ),
        pytest.param([0.9] * 20 + [0.1] * 40, [(0.0, padded(0, 20)[1])], id="from the first frame"),
        pytest.param([0.1] * 10 + [0.9] * 20, [(padded(10, 30)[0], 0.96)], id="to the last frame"),
        pytest.param(
            [0.1] * 10 + [0.9] * 20 + [0.1] * 2, [(padded(10, 30)[0], 1.024)], id="padding clipped at the end"
        ),
    ],
)
def test_probabilities_become_spans(probabilities: list[float], expected: list[tuple[float, float]]) -> None:
    assert spans_of(probabilities) == expected


def test_memory_does_not_grow_with_the_recording() -> None:
    samples = two_cities(ensure_clips(clips_folder())).samples
    detector = SileroVoiceActivityDetector()

    def peak(times: int) -> int:
        tracemalloc.start()
        count = sum(1 for _ in detector.detect(samples for _ in range(times)))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert count >= 10 * times
        return most

    peak(1)  # warm up
    assert peak(6) < 1.2 * peak(1) + 100_000


def test_concurrent_recordings_are_independent() -> None:
    folder = ensure_clips(clips_folder())
    detector = SileroVoiceActivityDetector()
    recordings = [two_cities(folder).samples, np.concatenate([each.samples for each in sentences(folder)])]
    expected_spans = [list(detector.detect([each])) for each in recordings]
    found: dict[int, object] = {}

    def detect(index: int) -> None:
        found[index] = list(detector.detect(blocks(recordings[index % 2])))

    def blocks(samples: "Samples") -> Iterator["Samples"]:
        yield from np.array_split(samples, 50)

    threads = [threading.Thread(target=detect, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[index] for index in range(4)] == [*expected_spans, *expected_spans]


@pytest.mark.parametrize(
    "block", [np.zeros((2, SAMPLE_RATE), np.float32), np.zeros(SAMPLE_RATE), np.zeros(SAMPLE_RATE, np.int16)]
)
def test_invalid_sample_format_is_rejected(block: "Samples") -> None:
    with pytest.raises(EngineError, match="float32"):
        list(SileroVoiceActivityDetector().detect([block]))


def test_invalid_model_file_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "broken.onnx").write_bytes(b"not a model")
    for path in (tmp_path / "broken.onnx", tmp_path / "missing.onnx"):
        with pytest.raises(EngineUnavailableError, match=path.name):
            SileroVoiceActivityDetector(path)
