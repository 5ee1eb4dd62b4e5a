"""Synthesis of dub lines: the wording that fits, then its tempo."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from cutroom.engines.registry import Engines
from cutroom.engines.synthesis.port import SpeechSynthesizer, StockVoice, SynthesizedSpeech
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.ids import new_id
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.line_sync import natural_seconds
from cutroom.products.dubs.mixing import LINE_RATE
from cutroom.products.dubs.script import AssignedVoice, DubLine, SynthesizedLine
from cutroom.products.dubs.synthesis import synthesize_line
from cutroom.web.runtime import Runtime

LONG = "Na verdade, eu tenho que voltar para casa agora mesmo."
SHORTER = "Tenho que voltar para casa agora mesmo."
SHORTEST = "Tenho que ir agora."


@dataclass
class SteadySynthesizer:
    """Speaks each text as a tone of its estimated duration, in a voice of the given speed."""

    speed: float = 1.0
    pause_share: float = 0.0  # of its natural duration, which no speed changes
    name: str = "steady"
    texts: list[str] = field(default_factory=list)

    def voices(self) -> Sequence[StockVoice]:
        return ()

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:  # noqa: ARG002 - the port's signature
        self.texts.append(text)
        count = round(self.natural_seconds(text, language=language, speed=speed) * LINE_RATE)
        return SynthesizedSpeech(np.full(count, 0.1, np.float32), LINE_RATE)

    def natural_seconds(self, text: str, *, language: str, speed: float) -> float:
        natural = natural_seconds(text, language=language) / self.speed
        return natural * (self.pause_share + (1 - self.pause_share) / speed)


@dataclass
class PredictingSynthesizer(SteadySynthesizer):
    """Knows how long it speaks, apart from a constant error of its predictions."""

    error: float = 1.0
    predictions: list[tuple[str, float]] = field(default_factory=list)

    def predict_seconds(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> float | None:  # noqa: ARG002 - the port's signature
        self.predictions.append((text, speed))
        return self.error * self.natural_seconds(text, language=language, speed=speed)


class StubEngines(Engines):
    def __init__(self, synthesizer: SpeechSynthesizer) -> None:
        self._steady = synthesizer

    def synthesizers(self) -> Sequence[SpeechSynthesizer]:
        return [self._steady]


async def synthesize(
    runtime: Runtime, tmp_path: Path, synthesizer: SteadySynthesizer, *, seconds: float
) -> SynthesizedLine:
    artifacts = DubArtifacts(
        runtime.storage, LocalMediaCache(runtime.storage, tmp_path / "cache", max_bytes=10**8), Sandbox()
    )
    line = DubLine(0, 1.0, 1.0 + seconds, 1.0 + seconds, "speaker_1", "source", (LONG, SHORTER, SHORTEST))
    dub = DubRef(new_id(), new_id(), "pt", "plus")
    voice = AssignedVoice("steady", "voice")
    return await synthesize_line(artifacts, StubEngines(synthesizer), dub=dub, line=line, voice=voice)


@pytest.mark.parametrize(
    ("ratio", "texts", "tempo"),
    [
        (1.0, [LONG], 1.0),
        (1.19, [LONG], 1.19),  # a small change of tempo does not need another wording
        (1.3, [LONG, SHORTER], 0.97),
    ],
)
async def test_wording_comes_before_tempo(
    runtime: Runtime, tmp_path: Path, ratio: float, texts: list[str], tempo: float
) -> None:
    synthesizer = SteadySynthesizer()
    seconds = natural_seconds(LONG, language="pt") / ratio
    synthesized = await synthesize(runtime, tmp_path, synthesizer, seconds=seconds)
    assert synthesizer.texts == texts
    assert synthesized.text_index == len(texts) - 1
    assert synthesized.tempo == pytest.approx(tempo, abs=0.02)
    assert synthesized.seconds == pytest.approx(seconds, rel=0.03)


async def test_slow_voice_gets_the_shortest_wording(runtime: Runtime, tmp_path: Path) -> None:
    synthesizer = SteadySynthesizer(speed=0.6)
    seconds = natural_seconds(SHORTEST, language="pt") / 0.6
    synthesized = await synthesize(runtime, tmp_path, synthesizer, seconds=seconds)
    assert synthesizer.texts == [LONG, SHORTEST]
    assert (synthesized.text_index, synthesized.tempo) == (2, 1.0)


@pytest.mark.parametrize(("pause_share", "tries"), [(0.0, 1), (0.25, 2)])
async def test_voice_speaks_faster_when_the_tempo_is_not_enough(
    runtime: Runtime, tmp_path: Path, pause_share: float, tries: int
) -> None:
    synthesizer = SteadySynthesizer(pause_share=pause_share)
    seconds = natural_seconds(SHORTEST, language="pt") / 1.55
    synthesized = await synthesize(runtime, tmp_path, synthesizer, seconds=seconds)
    assert synthesizer.texts == [LONG, SHORTEST, *[SHORTEST] * tries]
    assert synthesized.text_index == 2
    assert synthesized.speaking_rate == pytest.approx(1.16, abs=0.02)
    assert synthesized.tempo == pytest.approx(1.25, abs=0.02)
    assert synthesized.seconds == pytest.approx(1.07 * seconds, rel=0.03)


@pytest.mark.parametrize("error", [0.98, 1.0, 1.02])
async def test_one_text_is_synthesized_where_durations_are_predicted(
    runtime: Runtime, tmp_path: Path, error: float
) -> None:
    synthesizer = PredictingSynthesizer(pause_share=0.25, error=error)
    seconds = natural_seconds(SHORTEST, language="pt") / 1.55
    synthesized = await synthesize(runtime, tmp_path, synthesizer, seconds=seconds)
    assert synthesizer.texts == [SHORTEST]
    assert [text for text, speed in synthesizer.predictions if speed == 1.0] == [LONG, SHORTEST]
    assert len(set(synthesizer.predictions)) == len(synthesizer.predictions)
    assert synthesized.text_index == 2
    assert synthesized.speaking_rate == pytest.approx(1.16, abs=0.05)
    assert synthesized.tempo == pytest.approx(1.25, abs=0.02)
    assert synthesized.seconds == pytest.approx(1.07 * seconds, rel=0.03)


async def test_line_that_misses_its_slot_is_synthesized_again(runtime: Runtime, tmp_path: Path) -> None:
    synthesizer = PredictingSynthesizer(error=0.85)
    seconds = natural_seconds(SHORTEST, language="pt") / 1.55
    synthesized = await synthesize(runtime, tmp_path, synthesizer, seconds=seconds)
    assert synthesizer.texts == [SHORTEST, SHORTEST]
    assert synthesized.speaking_rate == pytest.approx(1.16, abs=0.02)
    assert synthesized.seconds == pytest.approx(1.07 * seconds, rel=0.03)
