"""Conformance suite of voice cloners; each adapter's test class inherits it and provides the fixture."""

import hashlib
from collections.abc import Iterator

import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.samples import resample
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.engines.types import SAMPLE_RATE
from cutroom.engines.voice_conversion.port import REFERENCE_RATE, ReferenceAudio, VoiceCloner
from dev.fixtures.speech_clips import clips_folder, ensure_clips, two_cities
from tests.engines.synthesis.synthesizer_suite import TEXT, assert_is_audio, error_rate


def reference(*, seconds: float = 4.0) -> ReferenceAudio:
    """A male reader (A Tale of Two Cities)."""
    clip = two_cities(ensure_clips(clips_folder()))
    start = 2 * SAMPLE_RATE
    samples = resample(clip.samples[start : start + round(seconds * SAMPLE_RATE)], SAMPLE_RATE, REFERENCE_RATE)
    return ReferenceAudio(samples, hashlib.sha256(samples.tobytes()).hexdigest())


class VoiceClonerSuite:
    """Runs on one short sentence and one reference."""

    @pytest.fixture(scope="class")
    @classmethod
    def cloner(cls) -> VoiceCloner | Iterator[VoiceCloner]:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def spoken(cls, cloner: VoiceCloner) -> SynthesizedSpeech:
        return cloner.synthesize(TEXT, reference=reference(), language="en")

    def test_has_a_name_and_languages(self, cloner: VoiceCloner) -> None:
        assert cloner.name
        assert isinstance(cloner.is_approximate, bool)
        assert any(language.startswith("en") for language in cloner.languages())

    def test_output_is_valid_audio(self, spoken: SynthesizedSpeech) -> None:
        assert_is_audio(spoken)

    def test_speech_is_intelligible(self, spoken: SynthesizedSpeech) -> None:
        assert error_rate(spoken, TEXT) <= 0.25  # one word in four

    def test_output_is_deterministic(self, cloner: VoiceCloner, spoken: SynthesizedSpeech) -> None:
        again = cloner.synthesize(TEXT, reference=reference(), language="en")
        assert np.array_equal(again.samples, spoken.samples)

    @pytest.mark.parametrize("text", ["", " \n"])
    def test_text_without_words_is_rejected(self, cloner: VoiceCloner, text: str) -> None:
        with pytest.raises(EngineError) as caught:
            cloner.synthesize(text, reference=reference(), language="en")
        assert not isinstance(caught.value, EngineUnavailableError)

    def test_unsupported_language_is_rejected(self, cloner: VoiceCloner) -> None:
        with pytest.raises(EngineError, match="tlh"):
            cloner.synthesize(TEXT, reference=reference(), language="tlh")
