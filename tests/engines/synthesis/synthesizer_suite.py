"""What every speaker must do: each adapter's test class inherits this one and says what its speaker is."""

from collections.abc import Iterator
from functools import cache

import jiwer
import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.recognition.whisper import WhisperRecognizer
from cutroom.engines.samples import resampled
from cutroom.engines.synthesis.kokoro import KokoroSynthesizer
from cutroom.engines.synthesis.port import SpeechSynthesizer, SynthesizedSpeech
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from dev.fixtures.speech_clips import normalise
from tests.engines.recognition.recognizer_suite import model_folder

TEXT = "Good morning, my friends."


@cache
def kokoro() -> KokoroSynthesizer:
    return KokoroSynthesizer(model_folder("kokoro-int8"), model_folder("kokoro-voices"), cpu_threads=2)


@cache
def said(text: str, voice: str = "af_heart", language: str = "en-US", speed: float = 1.0) -> SynthesizedSpeech:
    """What Kokoro says, once for all tests."""
    return kokoro().speak(text, voice=voice, language=language, speed=speed)


def error_rate(speech: SynthesizedSpeech, text: str, language: str = "en") -> float:
    """The share of words that a recogniser hears otherwise."""
    recogniser = WhisperRecognizer(model_folder("whisper-base"), cpu_threads=2)
    samples = resampled(speech.samples, speech.sample_rate, SAMPLE_RATE)
    heard = recogniser.transcribe(samples, language=language, speech=[TimeSpan(0.0, len(samples) / SAMPLE_RATE)])
    return float(jiwer.wer(normalise(text), normalise(" ".join(word.text for word in heard.words))))


def assert_is_sound(speech: SynthesizedSpeech, *, least_seconds: float = 0.5, most_seconds: float = 6.0) -> None:
    assert speech.samples.dtype == np.float32
    assert speech.samples.ndim == 1
    assert np.isfinite(speech.samples).all()
    assert 0.02 < float(np.abs(speech.samples).max()) <= 1.0
    assert least_seconds < len(speech.samples) / speech.sample_rate < most_seconds


class SpeakerSuite:
    """One short sentence."""

    @pytest.fixture(scope="class")
    @classmethod
    def speaker(cls) -> SpeechSynthesizer | Iterator[SpeechSynthesizer]:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def spoken(cls, speaker: SpeechSynthesizer) -> SynthesizedSpeech:
        return speaker.speak(TEXT, voice=speaker.voices()[0].name, language="en-US")

    def test_it_has_a_name_and_voices_with_names_of_their_own(self, speaker: SpeechSynthesizer) -> None:
        assert speaker.name
        names = [voice.name for voice in speaker.voices()]
        assert names
        assert len(names) == len(set(names))
        assert all(voice.title and voice.language and voice.pitch_hz > 0 for voice in speaker.voices())

    def test_it_gives_sound(self, spoken: SynthesizedSpeech) -> None:
        assert_is_sound(spoken)

    def test_it_says_what_is_written(self, spoken: SynthesizedSpeech) -> None:
        assert error_rate(spoken, TEXT) == 0

    def test_the_same_text_gives_the_same_sound(self, speaker: SpeechSynthesizer, spoken: SynthesizedSpeech) -> None:
        again = speaker.speak(TEXT, voice=speaker.voices()[0].name, language="en-US")
        assert np.array_equal(again.samples, spoken.samples)

    def test_more_speed_takes_less_time(self, speaker: SpeechSynthesizer, spoken: SynthesizedSpeech) -> None:
        quick = speaker.speak(TEXT, voice=speaker.voices()[0].name, language="en-US", speed=1.5)
        assert len(quick.samples) < 0.9 * len(spoken.samples)

    @pytest.mark.parametrize("text", ["", "  \n", "... — !"])
    def test_nothing_to_say_is_refused(self, speaker: SpeechSynthesizer, text: str) -> None:
        with pytest.raises(EngineError) as caught:
            speaker.speak(text, voice=speaker.voices()[0].name, language="en-US")
        assert not isinstance(caught.value, EngineUnavailableError)

    @pytest.mark.parametrize("speed", [0.0, 0.4, 2.1, -1.0, float("nan")])
    def test_speeds_without_sense_are_refused(self, speaker: SpeechSynthesizer, speed: float) -> None:
        with pytest.raises(EngineError, match="speed"):
            speaker.speak(TEXT, voice=speaker.voices()[0].name, language="en-US", speed=speed)

    def test_a_voice_that_is_not_there_is_refused(self, speaker: SpeechSynthesizer) -> None:
        with pytest.raises(EngineError, match="nobody"):
            speaker.speak(TEXT, voice="nobody", language="en-US")
