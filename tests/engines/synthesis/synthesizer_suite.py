"""Conformance suite of speech synthesizers; each adapter's test class inherits it and provides the fixture."""

from collections.abc import Iterator
from functools import cache

import jiwer
import numpy as np
import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.recognition.whisper import WhisperRecognizer
from cutroom.engines.samples import resample
from cutroom.engines.synthesis.chunks import EDGE_SECONDS, trim_silence
from cutroom.engines.synthesis.kokoro import KokoroSynthesizer
from cutroom.engines.synthesis.port import DurationPredictor, SpeechSynthesizer, SynthesizedSpeech
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from dev.fixtures.speech_clips import normalize_words
from tests.engines.recognition.recognizer_suite import model_folder

TEXT = "Good morning, my friends."


@cache
def kokoro() -> KokoroSynthesizer:
    return KokoroSynthesizer(model_folder("kokoro-int8"), model_folder("kokoro-voices"), cpu_threads=2)


def kokoro_speech(text: str, voice: str = "af_heart", language: str = "en-US", speed: float = 1.0) -> SynthesizedSpeech:
    """Kokoro output, cached across tests."""
    return _kokoro_speech(text, voice, language, speed)


@cache  # distinguishes positional, keyword and default arguments
def _kokoro_speech(text: str, voice: str, language: str, speed: float) -> SynthesizedSpeech:
    return kokoro().synthesize(text, voice=voice, language=language, speed=speed)


def error_rate(speech: SynthesizedSpeech, text: str, language: str = "en") -> float:
    """Word error rate of a transcription of the speech."""
    recognizer = WhisperRecognizer(model_folder("whisper-base"), cpu_threads=2)
    samples = resample(speech.samples, speech.sample_rate, SAMPLE_RATE)
    transcription = recognizer.transcribe(
        samples, language=language, speech=[TimeSpan(0.0, len(samples) / SAMPLE_RATE)]
    )
    return float(jiwer.wer(normalize_words(text), normalize_words(" ".join(word.text for word in transcription.words))))


def assert_is_audio(speech: SynthesizedSpeech, *, min_seconds: float = 0.5, max_seconds: float = 6.0) -> None:
    assert speech.samples.dtype == np.float32
    assert speech.samples.ndim == 1
    assert np.isfinite(speech.samples).all()
    assert 0.02 < float(np.abs(speech.samples).max()) <= 1.0
    assert min_seconds < len(speech.samples) / speech.sample_rate < max_seconds


class SynthesizerSuite:
    """Runs on one short sentence."""

    text = TEXT
    language = "en-US"
    is_deterministic = True
    predicts_durations = False

    @pytest.fixture(scope="class")
    @classmethod
    def synthesizer(cls) -> SpeechSynthesizer | Iterator[SpeechSynthesizer]:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def spoken(cls, synthesizer: SpeechSynthesizer) -> SynthesizedSpeech:
        return synthesizer.synthesize(cls.text, voice=synthesizer.voices()[0].name, language=cls.language)

    def test_has_a_name_and_uniquely_named_voices(self, synthesizer: SpeechSynthesizer) -> None:
        assert synthesizer.name
        names = [voice.name for voice in synthesizer.voices()]
        assert names
        assert len(names) == len(set(names))
        assert all(voice.title and voice.language and voice.pitch_hz > 0 for voice in synthesizer.voices())

    def test_output_is_valid_audio(self, spoken: SynthesizedSpeech) -> None:
        assert_is_audio(spoken)

    def test_speech_is_intelligible(self, spoken: SynthesizedSpeech) -> None:
        assert error_rate(spoken, self.text, self.language.partition("-")[0]) == 0

    def test_output_is_deterministic(self, synthesizer: SpeechSynthesizer, spoken: SynthesizedSpeech) -> None:
        if not self.is_deterministic:
            pytest.skip("the model adds noise of its own")
        again = synthesizer.synthesize(self.text, voice=synthesizer.voices()[0].name, language=self.language)
        assert np.array_equal(again.samples, spoken.samples)

    def test_higher_speed_is_shorter(self, synthesizer: SpeechSynthesizer, spoken: SynthesizedSpeech) -> None:
        faster = synthesizer.synthesize(
            self.text, voice=synthesizer.voices()[0].name, language=self.language, speed=1.5
        )
        assert len(faster.samples) < 0.9 * len(spoken.samples)

    @pytest.mark.parametrize("text", ["", "  \n", "... — !"])
    def test_text_without_words_is_rejected(self, synthesizer: SpeechSynthesizer, text: str) -> None:
        with pytest.raises(EngineError) as caught:
            synthesizer.synthesize(text, voice=synthesizer.voices()[0].name, language=self.language)
        assert not isinstance(caught.value, EngineUnavailableError)

    @pytest.mark.parametrize("speed", [0.0, 0.4, 2.1, -1.0, float("nan")])
    def test_invalid_speed_is_rejected(self, synthesizer: SpeechSynthesizer, speed: float) -> None:
        with pytest.raises(EngineError, match="speed"):
            synthesizer.synthesize(self.text, voice=synthesizer.voices()[0].name, language=self.language, speed=speed)

    def test_unknown_voice_is_rejected(self, synthesizer: SpeechSynthesizer) -> None:
        with pytest.raises(EngineError, match="nobody"):
            synthesizer.synthesize(self.text, voice="nobody", language=self.language)

    def test_durations_are_predicted(self, synthesizer: SpeechSynthesizer, spoken: SynthesizedSpeech) -> None:
        assert isinstance(synthesizer, DurationPredictor) == self.predicts_durations
        if not isinstance(synthesizer, DurationPredictor):
            return
        voice = synthesizer.voices()[0].name
        predicted = synthesizer.predict_seconds(self.text, voice=voice, language=self.language)
        faster = synthesizer.predict_seconds(self.text, voice=voice, language=self.language, speed=1.5)
        trimmed = trim_silence(spoken.samples, spoken.sample_rate)
        assert predicted is not None
        assert faster is not None
        assert predicted == pytest.approx(len(trimmed) / spoken.sample_rate - 2 * EDGE_SECONDS, rel=0.1)
        assert 0.5 * predicted < faster < 0.9 * predicted

    def test_prediction_fails_as_synthesis_does(self, synthesizer: SpeechSynthesizer) -> None:
        if not isinstance(synthesizer, DurationPredictor):
            assert not self.predicts_durations
            return
        voice = synthesizer.voices()[0].name
        with pytest.raises(EngineError, match="nothing to speak"):
            synthesizer.predict_seconds("... — !", voice=voice, language=self.language)
        with pytest.raises(EngineError, match="speed"):
            synthesizer.predict_seconds(self.text, voice=voice, language=self.language, speed=0.4)
        with pytest.raises(EngineError, match="nobody"):
            synthesizer.predict_seconds(self.text, voice="nobody", language=self.language)
