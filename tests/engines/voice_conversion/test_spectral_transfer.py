"""A service voice takes on the colour and pitch of a sample."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cutroom.engines.errors import EngineError
from cutroom.engines.samples import resampled
from cutroom.engines.synthesis.port import Gender, StockVoice, SynthesizedSpeech
from cutroom.engines.types import SAMPLE_RATE
from cutroom.engines.voice_conversion import spectral_transfer
from cutroom.engines.voice_conversion.port import REFERENCE_RATE, ReferenceAudio, VoiceCloner
from cutroom.engines.voice_conversion.spectral_transfer import (
    STRETCH_SECONDS,
    TransferCloner,
    Voiced,
    _stretches,
    nearest_voice,
)
from tests.engines.recognition.recognizer_suite import model_folder
from tests.engines.synthesis.synthesizer_suite import TEXT, kokoro, said
from tests.engines.voice_conversion.cloner_suite import ClonerSuite, reference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cutroom.engines.voice_conversion.spectral_transfer import Floats


class Kept:
    """Kokoro, which says each thing once for all tests."""

    name = "kokoro-int8"
    voices_asked: "list[str]"

    def __init__(self) -> None:
        self.voices_asked = []

    def voices(self) -> "Sequence[StockVoice]":
        return kokoro().voices()

    def speak(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        self.voices_asked.append(voice)
        return said(text, voice, language, speed)


@pytest.fixture(scope="module")
def kept() -> Kept:
    return Kept()


@pytest.fixture(scope="module")
def transfer(kept: Kept) -> TransferCloner:
    return TransferCloner(kept, model_folder("whisper-base"), cpu_threads=2)


class TestTransfer(ClonerSuite):
    """The conformance suite."""

    @pytest.fixture(scope="class")
    @classmethod
    def cloner(cls, transfer: TransferCloner) -> VoiceCloner | Iterator[VoiceCloner]:
        return transfer

    def test_the_pitch_is_the_sample_s_and_the_voice_is_a_man_s(
        self, transfer: TransferCloner, kept: Kept, spoken: SynthesizedSpeech
    ) -> None:
        known = transfer._known(reference())
        heard = transfer._take_apart(spoken.samples)
        wanted = spectral_transfer.median_pitch(known.pitch_hz)
        assert spectral_transfer.median_pitch(heard.pitch_hz) == pytest.approx(wanted, rel=0.12)
        assert kept.voices_asked[-1][1] == "m"

    def test_the_colour_is_nearer_to_the_sample_s(
        self, transfer: TransferCloner, kept: Kept, spoken: SynthesizedSpeech
    ) -> None:
        def colour(part: Voiced) -> "Floats":
            mean: Floats = part.envelope[part.is_voiced].mean(axis=0)[:300]  # up to 7 kHz
            return mean

        base = colour(transfer._take_apart(said(TEXT, kept.voices_asked[-1], "en").samples))
        wanted = colour(transfer._known(reference()))
        assert np.abs(colour(transfer._take_apart(spoken.samples)) - wanted).mean() < 0.7 * np.abs(base - wanted).mean()

    def test_it_is_as_long_as_what_the_service_voice_says(self, kept: Kept, spoken: SynthesizedSpeech) -> None:
        base = said(TEXT, kept.voices_asked[-1], "en")
        assert len(spoken.samples) == pytest.approx(len(base.samples), abs=0.02 * REFERENCE_RATE)


def test_what_is_known_of_samples_is_kept_for_the_last_few(
    transfer: TransferCloner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spectral_transfer, "KEPT_REFERENCES", 1)
    first = reference(seconds=3.5)
    known = transfer._known(first)
    assert transfer._known(first) is known
    transfer._known(reference(seconds=3.2))
    assert list(transfer._references) == [reference(seconds=3.2).fingerprint]


def test_a_sample_without_a_voice_or_too_short_is_refused(transfer: TransferCloner) -> None:
    silent = np.zeros(4 * REFERENCE_RATE, np.float32)
    with pytest.raises(EngineError, match="No voice"):
        transfer.speak(TEXT, reference=ReferenceAudio(silent, "silent"), language="en")
    with pytest.raises(EngineError, match="shorter"):
        transfer.speak(TEXT, reference=ReferenceAudio(silent[:REFERENCE_RATE], "short"), language="en")
    with pytest.raises(EngineError, match="numbers"):
        transfer.speak(TEXT, reference=ReferenceAudio(silent * np.float32(np.nan), "nan"), language="en")


@pytest.mark.parametrize(
    ("language", "pitch_hz", "expected"),
    [("en-US", 100, "deep"), ("en", 125, "high"), ("en", 210, "woman"), ("pt", 90, "only"), ("pt-BR", 210, "only")],
)
def test_the_voice_is_of_the_language_and_near_in_pitch(language: str, pitch_hz: float, expected: str) -> None:
    voices = [
        StockVoice("deep", "", "en-US", Gender.MALE, "old", 90.0),
        StockVoice("high", "", "en-US", Gender.MALE, "young", 130.0),
        StockVoice("woman", "", "en-GB", Gender.FEMALE, "young", 190.0),
        StockVoice("only", "", "pt-BR", Gender.FEMALE, "young", 200.0),
    ]
    assert nearest_voice(voices, language=language, pitch_hz=pitch_hz).name == expected


def test_long_sound_is_cut_where_it_is_quiet() -> None:
    sound = np.ones(70 * REFERENCE_RATE, np.float32)
    sound[20 * REFERENCE_RATE : 20 * REFERENCE_RATE + 2000] = 0
    parts = list(_stretches(sound))
    assert len(np.concatenate(parts)) == len(sound)
    assert all(len(part) <= STRETCH_SECONDS * REFERENCE_RATE for part in parts)
    assert len(parts[0]) / REFERENCE_RATE == pytest.approx(20, abs=0.1)


def test_a_tone_stays_the_same_at_another_rate() -> None:
    tone = np.sin(2 * np.pi * 440 * np.arange(REFERENCE_RATE) / REFERENCE_RATE).astype(np.float32)
    expected = np.sin(2 * np.pi * 440 * np.arange(SAMPLE_RATE) / SAMPLE_RATE)
    assert np.abs(resampled(tone, REFERENCE_RATE, SAMPLE_RATE) - expected).max() < 0.01


def test_no_model_means_no_cloner(kept: Kept, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="lacks"):
        TransferCloner(kept, tmp_path, cpu_threads=1)
