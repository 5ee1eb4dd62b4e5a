"""German synthesis with Pico."""

import pytest

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.synthesis.pico import RUN_CHARACTERS, SPEECH_RATE, PicoSynthesizer
from cutroom.engines.synthesis.port import SpeechSynthesizer
from tests.engines.synthesis.synthesizer_suite import SynthesizerSuite


class TestPico(SynthesizerSuite):
    """The conformance suite, in German."""

    text = "Guten Morgen, wir fahren heute mit dem Zug nach Berlin."
    language = "de"

    @pytest.fixture(scope="class")
    @classmethod
    def synthesizer(cls) -> SpeechSynthesizer:
        return PicoSynthesizer()


def seconds(text: str) -> float:
    return len(PicoSynthesizer().synthesize(text, voice="pico_de", language="de").samples) / SPEECH_RATE


def test_only_german_is_spoken() -> None:
    with pytest.raises(EngineError, match="does not speak the language en-US"):
        PicoSynthesizer().synthesize("Good morning.", voice="pico_de", language="en-US")


def test_markup_is_not_interpreted() -> None:
    plain, marked = seconds("Guten Morgen."), seconds("Guten <speed level='20'> Morgen.")
    assert marked > plain  # it is read aloud, at the normal speed


def test_long_text_is_complete() -> None:
    sentence = "Der Zug nach Hamburg hat heute Verspätung. "
    count = 2 * RUN_CHARACTERS // len(sentence)
    assert seconds(sentence * count) > 0.8 * count * seconds(sentence)


def test_voice_is_labeled_as_basic() -> None:
    (voice,) = PicoSynthesizer().voices()
    assert "basic quality" in voice.title


def test_slow_program_is_unavailable() -> None:
    with pytest.raises(EngineUnavailableError, match="timed out"):
        PicoSynthesizer(seconds=0.001).synthesize("Guten Morgen.", voice="pico_de", language="de")
