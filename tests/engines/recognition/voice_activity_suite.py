"""Conformance suite of voice activity detectors; each adapter's test class inherits it and provides the fixture."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.engines.recognition.port import VoiceActivityDetector
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from dev.fixtures.speech_clips import (
    clips_folder,
    ensure_clips,
    join_clips,
    music,
    noise,
    sentences,
    silence,
    two_cities,
)

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

EDGE_SECONDS = 0.4  # the clips start and end with a little silence


def total_seconds(spans: list[TimeSpan]) -> float:
    return sum(span.end_seconds - span.start_seconds for span in spans)


class VoiceActivityDetectorSuite:
    """Speech is detected, and nothing else."""

    # Tolerated share of false positives: at most one minimum-length span in 30 s keeps the extra recognition cost
    # below one percent.
    max_false_share = 0.01

    @pytest.fixture(scope="class")
    @classmethod
    def detector(cls) -> VoiceActivityDetector:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def folder(cls) -> Path:
        return ensure_clips(clips_folder())

    def test_each_sentence_is_located(self, detector: VoiceActivityDetector, folder: Path) -> None:
        clip, spoken = join_clips(sentences(folder), pause_seconds=(1.0, 2.0, 1.5))
        found = list(detector.detect([clip.samples]))
        assert len(found) == len(spoken)
        for span, expected in zip(found, spoken, strict=True):
            assert expected.start_seconds <= span.start_seconds <= expected.start_seconds + EDGE_SECONDS
            assert expected.end_seconds - EDGE_SECONDS <= span.end_seconds <= expected.end_seconds + EDGE_SECONDS

    def test_spans_are_ordered_and_inside_the_recording(self, detector: VoiceActivityDetector, folder: Path) -> None:
        clip = two_cities(folder)
        found = list(detector.detect([clip.samples]))
        assert found[0].start_seconds >= 0
        assert found[-1].end_seconds <= clip.seconds
        assert all(span.start_seconds < span.end_seconds for span in found)
        assert all(left.end_seconds < right.start_seconds for left, right in pairwise(found))
        assert 0.75 * clip.seconds < total_seconds(found) < 0.95 * clip.seconds

    def test_speech_up_to_the_end_is_found(self, detector: VoiceActivityDetector, folder: Path) -> None:
        samples = two_cities(folder).samples[: 3 * SAMPLE_RATE]
        assert list(detector.detect([samples]))[-1].end_seconds == 3.0

    @settings(max_examples=12, deadline=None)
    @given(lengths=st.lists(st.integers(0, 3 * SAMPLE_RATE), min_size=1, max_size=6))
    def test_spans_are_independent_of_block_sizes(
        self, detector: VoiceActivityDetector, folder: Path, lengths: list[int]
    ) -> None:
        samples = two_cities(folder).samples[: 12 * SAMPLE_RATE]
        cuts = np.cumsum(lengths)
        expected = list(detector.detect([samples]))
        assert len(expected) > 3
        assert list(detector.detect(np.split(samples, cuts[cuts < len(samples)]))) == expected

    def test_span_is_yielded_as_soon_as_it_ends(self, detector: VoiceActivityDetector, folder: Path) -> None:
        first, second, *_ = sentences(folder)
        fed_seconds = 0.0

        def stream() -> Iterator["Samples"]:
            nonlocal fed_seconds
            for block in (first.samples, silence(3.0), second.samples, silence(3.0)):
                fed_seconds += len(block) / SAMPLE_RATE
                yield block

        spans = detector.detect(stream())
        assert next(spans).end_seconds <= first.seconds
        assert fed_seconds == first.seconds + 3.0

    @pytest.mark.parametrize("seed", [0, 1])
    def test_music_and_noise_are_not_speech(self, detector: VoiceActivityDetector, seed: int) -> None:
        for audio in (music(30, seed=seed), noise(30, seed=seed), noise(30, level=0.3, seed=seed), silence(30)):
            assert total_seconds(list(detector.detect([audio]))) <= self.max_false_share * 30

    def test_speech_over_music_is_found(self, detector: VoiceActivityDetector, folder: Path) -> None:
        samples = two_cities(folder).samples
        alone = total_seconds(list(detector.detect([samples])))
        with_music = samples + 0.2 * music(60)[: len(samples)]
        assert total_seconds(list(detector.detect([with_music]))) == pytest.approx(alone, rel=0.1)

    @pytest.mark.parametrize("count", [0, 1, 511, 512, 513])
    def test_tiny_inputs_have_no_speech(self, detector: VoiceActivityDetector, count: int) -> None:
        assert list(detector.detect([np.zeros(count, np.float32)])) == []
        assert list(detector.detect([])) == []
