"""Speech of evaluation talks is synthesized once, and an excerpt shares it with the whole talk."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from cutroom.engines.synthesis.port import SpeechSynthesizer, StockVoice, SynthesizedSpeech
from dev.fixtures.generated_audio import VOICE_RATE
from eval.render_cache import CachedSynthesizer, excerpt, render_cached
from eval.talks import EvaluationTalk, load_talks


@dataclass
class CountingSynthesizer:
    """Answers each request with another level, so that only stored speech is identical, and records the requests."""

    name: str = "counting"
    texts: list[str] = field(default_factory=list)

    def voices(self) -> Sequence[StockVoice]:
        return ()

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:  # noqa: ARG002 - the port's signature
        self.texts.append(text)
        return SynthesizedSpeech(np.full(2400, 0.1 * len(self.texts), np.float32), VOICE_RATE)


def test_longer_excerpt_speaks_only_its_new_line(tmp_path: Path) -> None:
    talk = _talk()
    synthesizer = CountingSynthesizer()
    one, two = (
        render_cached(excerpt(talk, line_count=count), synthesizer, folder=tmp_path, cache_folder=tmp_path / "speech")
        for count in (1, 2)
    )
    assert synthesizer.texts == [line.en for line in talk.lines[:2]]
    assert two.lines[:1] == one.lines
    assert one.path != two.path


def test_cached_speech_is_identical(tmp_path: Path) -> None:
    synthesizer = CountingSynthesizer()
    first, second = (_speak(synthesizer, tmp_path, "Good morning.") for _ in range(2))
    assert synthesizer.texts == ["Good morning."]
    np.testing.assert_array_equal(first.samples, second.samples)
    assert first.sample_rate == second.sample_rate == VOICE_RATE


@pytest.mark.parametrize(
    ("text", "voice", "language", "speed"),
    [
        ("Good evening.", "af_heart", "en-US", 1.0),
        ("Good morning.", "af_bella", "en-US", 1.0),
        ("Good morning.", "af_heart", "en-GB", 1.0),
        ("Good morning.", "af_heart", "en-US", 1.2),
    ],
)
def test_other_speech_has_another_fingerprint(
    tmp_path: Path, text: str, voice: str, language: str, speed: float
) -> None:
    synthesizer = CountingSynthesizer()
    cached = CachedSynthesizer(synthesizer, tmp_path)
    for _ in range(2):
        cached.synthesize("Good morning.", voice="af_heart", language="en-US", speed=1.0)
        cached.synthesize(text, voice=voice, language=language, speed=speed)
    assert len(synthesizer.texts) == 2


def test_other_engine_has_another_fingerprint(tmp_path: Path) -> None:
    for name in ("one", "two", "one"):
        synthesizer = CountingSynthesizer(name)
        CachedSynthesizer(synthesizer, tmp_path).synthesize("Hello.", voice="af_heart", language="en-US")
    assert len(list(tmp_path.glob("*.npz"))) == 2


def test_excerpt_keeps_what_its_lines_name() -> None:
    talk = _talk()
    part = excerpt(talk, line_count=6)
    assert part.lines == talk.lines[:6]
    said = " ".join(line.en for line in part.lines)
    assert part.names == tuple(name for name in talk.names if name in said)
    assert 0 < len(part.names) < len(talk.names)
    assert excerpt(talk, line_count=99).lines == talk.lines


def _speak(synthesizer: SpeechSynthesizer, folder: Path, text: str) -> SynthesizedSpeech:
    return CachedSynthesizer(synthesizer, folder).synthesize(text, voice="af_heart", language="en-US")


def _talk() -> EvaluationTalk:
    [talk] = [talk for talk in load_talks() if talk.slug == "missing_cable_call"]
    return talk
