"""What every cloner must do: each adapter's test class inherits this one and says what its cloner is."""

import hashlib
from collections.abc import Iterator

import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.samples import resampled
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.engines.types import SAMPLE_RATE
from cutroom.engines.voice_conversion.port import REFERENCE_RATE, ReferenceAudio, VoiceCloner
from dev.fixtures.speech_clips import clips_folder, ensure_clips, two_cities
from tests.engines.synthesis.synthesizer_suite import TEXT, assert_is_sound, error_rate


def reference(*, seconds: float = 6.0) -> ReferenceAudio:
    """The man who reads Dickens."""
    clip = two_cities(ensure_clips(clips_folder()))
    start = 2 * SAMPLE_RATE
    samples = resampled(clip.samples[start : start + round(seconds * SAMPLE_RATE)], SAMPLE_RATE, REFERENCE_RATE)
    return ReferenceAudio(samples, hashlib.sha256(samples.tobytes()).hexdigest())


class ClonerSuite:
    """One short sentence after one sample."""

    @pytest.fixture(scope="class")
    @classmethod
    def cloner(cls) -> VoiceCloner | Iterator[VoiceCloner]:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def spoken(cls, cloner: VoiceCloner) -> SynthesizedSpeech:
        return cloner.speak(TEXT, reference=reference(), language="en")

    def test_it_says_what_it_is(self, cloner: VoiceCloner) -> None:
        assert cloner.name
        assert isinstance(cloner.is_approximate, bool)
        assert any(language.startswith("en") for language in cloner.languages())

    def test_it_gives_sound(self, spoken: SynthesizedSpeech) -> None:
        assert_is_sound(spoken)

    def test_it_says_what_is_written(self, spoken: SynthesizedSpeech) -> None:
        assert error_rate(spoken, TEXT) <= 0.25  # one word of four

    def test_the_same_text_gives_the_same_sound(self, cloner: VoiceCloner, spoken: SynthesizedSpeech) -> None:
        again = cloner.speak(TEXT, reference=reference(), language="en")
        assert np.array_equal(again.samples, spoken.samples)

    @pytest.mark.parametrize("text", ["", " \n"])
    def test_nothing_to_say_is_refused(self, cloner: VoiceCloner, text: str) -> None:
        with pytest.raises(EngineError) as caught:
            cloner.speak(text, reference=reference(), language="en")
        assert not isinstance(caught.value, EngineUnavailableError)

    def test_a_language_that_it_does_not_speak_is_refused(self, cloner: VoiceCloner) -> None:
        with pytest.raises(EngineError, match="tlh"):
            cloner.speak(TEXT, reference=reference(), language="tlh")
