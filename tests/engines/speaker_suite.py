"""What every speaker must do: each adapter's test class inherits this one and says what its speaker is."""

from collections.abc import Iterator
from functools import cache

import jiwer
import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.kokoro import KokoroSpeaker
from cutroom.engines.ports import SAMPLE_RATE, Span, Speaker, Speech
from cutroom.engines.sound import resampled
from cutroom.engines.whisper import WhisperRecogniser
from tests.engines.recogniser_suite import model_folder
from tests.engines.speech_clips import normalise

TEXT = "Good morning, my friends."


@cache
def kokoro() -> KokoroSpeaker:
    return KokoroSpeaker(model_folder("kokoro-int8"), model_folder("kokoro-voices"), cpu_threads=2)


@cache
def said(text: str, voice: str = "af_heart", language: str = "en-US", speed: float = 1.0) -> Speech:
    """What Kokoro says, once for all tests."""
    return kokoro().speak(text, voice=voice, language=language, speed=speed)


def error_rate(speech: Speech, text: str, language: str = "en") -> float:
    """The share of words that a recogniser hears otherwise."""
    recogniser = WhisperRecogniser(model_folder("whisper-base"), cpu_threads=2)
    samples = resampled(speech.samples, speech.sample_rate, SAMPLE_RATE)
    heard = recogniser.recognise(samples, language=language, speech=[Span(0.0, len(samples) / SAMPLE_RATE)])
    return float(jiwer.wer(normalise(text), normalise(" ".join(word.text for word in heard.words))))


def assert_is_sound(speech: Speech, *, least_seconds: float = 0.5, most_seconds: float = 6.0) -> None:
    assert speech.samples.dtype == np.float32
    assert speech.samples.ndim == 1
    assert np.isfinite(speech.samples).all()
    assert 0.02 < float(np.abs(speech.samples).max()) <= 1.0
    assert least_seconds < len(speech.samples) / speech.sample_rate < most_seconds


class SpeakerSuite:
    """One short sentence."""

    @pytest.fixture(scope="class")
    @classmethod
    def speaker(cls) -> Speaker | Iterator[Speaker]:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def spoken(cls, speaker: Speaker) -> Speech:
        return speaker.speak(TEXT, voice=speaker.voices()[0].name, language="en-US")

    def test_it_has_a_name_and_voices_with_names_of_their_own(self, speaker: Speaker) -> None:
        assert speaker.name
        names = [voice.name for voice in speaker.voices()]
        assert names
        assert len(names) == len(set(names))
        assert all(voice.title and voice.language and voice.pitch_hz > 0 for voice in speaker.voices())

    def test_it_gives_sound(self, spoken: Speech) -> None:
        assert_is_sound(spoken)

    def test_it_says_what_is_written(self, spoken: Speech) -> None:
        assert error_rate(spoken, TEXT) == 0

    def test_the_same_text_gives_the_same_sound(self, speaker: Speaker, spoken: Speech) -> None:
        again = speaker.speak(TEXT, voice=speaker.voices()[0].name, language="en-US")
        assert np.array_equal(again.samples, spoken.samples)

    def test_more_speed_takes_less_time(self, speaker: Speaker, spoken: Speech) -> None:
        quick = speaker.speak(TEXT, voice=speaker.voices()[0].name, language="en-US", speed=1.5)
        assert len(quick.samples) < 0.9 * len(spoken.samples)

    @pytest.mark.parametrize("text", ["", "  \n", "... — !"])
    def test_nothing_to_say_is_refused(self, speaker: Speaker, text: str) -> None:
        with pytest.raises(EngineError) as caught:
            speaker.speak(text, voice=speaker.voices()[0].name, language="en-US")
        assert not isinstance(caught.value, EngineUnavailableError)

    @pytest.mark.parametrize("speed", [0.0, 0.4, 2.1, -1.0, float("nan")])
    def test_speeds_without_sense_are_refused(self, speaker: Speaker, speed: float) -> None:
        with pytest.raises(EngineError, match="speed"):
            speaker.speak(TEXT, voice=speaker.voices()[0].name, language="en-US", speed=speed)

    def test_a_voice_that_is_not_there_is_refused(self, speaker: Speaker) -> None:
        with pytest.raises(EngineError, match="nobody"):
            speaker.speak(TEXT, voice="nobody", language="en-US")
