"""The activity that synthesizes a batch of lines: failures, progress, and pauses for interactive speech."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.synthesis.port import StockVoice, SynthesizedSpeech
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import MAX_ATTEMPTS
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.products.dubs import progress
from cutroom.products.dubs.activities import DubActivities
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.line_sync import natural_seconds
from cutroom.products.dubs.mixing import LINE_RATE
from cutroom.products.dubs.script import AssignedVoice, DubBatch, DubLine, DubScript, to_json
from cutroom.web.runtime import Runtime
from tests.products.conftest import TranscribedVideo
from tests.products.dubs.batch_worker import FakeEngines

TEXTS = [f"Esta é a linha número {number} de cinco." for number in range(5)]


@dataclass
class FakeSynthesizer:
    """Speaks a tone, except for texts that fail."""

    errors: dict[str, EngineError] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    name: str = "fake"

    def voices(self) -> Sequence[StockVoice]:
        return ()

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:  # noqa: ARG002 - the port's signature
        self.texts.append(text)
        if text in self.errors:
            raise self.errors[text]
        count = round(natural_seconds(text, language=language) / speed * LINE_RATE)
        return SynthesizedSpeech(np.full(count, 0.1, np.float32), LINE_RATE)


@dataclass
class Dubbing:
    """A running job, a script of five lines, and how often its synthesis paused."""

    activities: DubActivities
    job: JobRef
    dub: DubRef
    synthesizer: FakeSynthesizer
    pauses: list[int]

    async def synthesize(self, first: int, *, attempt: int = 1) -> int:
        environment = ActivityEnvironment()
        environment.info = replace(environment.info, attempt=attempt)
        batch = DubBatch(first, len(TEXTS))
        return int(await environment.run(self.activities.synthesize_lines, self.job, self.dub, batch))


@pytest.fixture
async def dubbing(runtime: Runtime, transcribed: TranscribedVideo, tmp_path: Path) -> Dubbing:
    library_id, video_id = transcribed.library_id, transcribed.video_id
    await transcribed.job(status="processing", finished_at=None, progress=0)
    artifacts = DubArtifacts(
        runtime.storage, LocalMediaCache(runtime.storage, tmp_path / "cache", max_bytes=10**8), Sandbox()
    )
    job, dub = JobRef(library_id, f"transcript_{video_id}", 1), DubRef(library_id, video_id, "pt", "plus")
    seconds = natural_seconds(TEXTS[0], language="pt")
    lines = tuple(
        DubLine(
            number, number * seconds, (number + 1) * seconds, (number + 1) * seconds, "speaker_1", "source", (text,)
        )
        for number, text in enumerate(TEXTS)
    )
    script = DubScript("pt", "plus", "en", "publishable", (), 60.0, lines, "separation")
    await artifacts.put(dub.path("script.json"), to_json(script))
    await artifacts.put(dub.path("voices.json"), to_json({"speaker_1": AssignedVoice("fake", "voice")}))
    synthesizer, pauses = FakeSynthesizer(), list[int]()

    async def pause() -> None:
        pauses.append(len(synthesizer.texts))

    activities = DubActivities(runtime.database, artifacts, FakeEngines(synthesizer), system_clock, pause)
    return Dubbing(activities, job, dub, synthesizer, pauses)


async def test_a_batch_pauses_before_each_line(dubbing: Dubbing) -> None:
    assert await dubbing.synthesize(0) == len(TEXTS)
    assert dubbing.synthesizer.texts == TEXTS
    assert dubbing.pauses == [0, 1, 2, 3, 4]


async def test_a_repeated_batch_synthesizes_nothing(dubbing: Dubbing) -> None:
    await dubbing.synthesize(0)
    assert await dubbing.synthesize(0, attempt=2) == len(TEXTS)
    assert dubbing.synthesizer.texts == TEXTS


async def test_progress_moves_with_every_line(dubbing: Dubbing, transcribed: TranscribedVideo) -> None:
    dubbing.synthesizer.errors[TEXTS[3]] = EngineUnavailableError("no model")
    get_progress = "SELECT progress FROM jobs WHERE id = $1"
    await dubbing.synthesize(0)
    after_three = await transcribed.accounts.connection.fetchval(get_progress, dubbing.job.job_id)
    assert after_three == pytest.approx(3 / 5 * progress.SYNTHESIS, abs=progress.SYNTHESIS / 5)
    dubbing.synthesizer.errors.clear()
    await dubbing.synthesize(3)
    after_all = await transcribed.accounts.connection.fetchval(get_progress, dubbing.job.job_id)
    # On a slow machine, progress within a line that then fails was estimated, and is not taken back.
    assert progress.SYNTHESIS - 0.5 <= after_all <= progress.SYNTHESIS * 6 / 5


async def test_a_failed_line_ends_a_batch_of_which_others_are_finished(dubbing: Dubbing) -> None:
    dubbing.synthesizer.errors[TEXTS[2]] = EngineUnavailableError("no model")
    assert await dubbing.synthesize(0, attempt=MAX_ATTEMPTS) == 2
    assert dubbing.synthesizer.texts == TEXTS[:3]


@pytest.mark.parametrize(
    ("error", "attempt", "is_final"),
    [
        (EngineUnavailableError("no model"), 1, False),
        (EngineUnavailableError("no model"), MAX_ATTEMPTS, True),
        (EngineError("no such text"), 1, True),
    ],
)
async def test_the_first_line_of_a_batch_fails_as_a_single_line_does(
    dubbing: Dubbing, error: EngineError, attempt: int, *, is_final: bool
) -> None:
    dubbing.synthesizer.errors[TEXTS[2]] = error
    with pytest.raises(ApplicationError) as raised:
        await dubbing.synthesize(2, attempt=attempt)
    assert raised.value.non_retryable is is_final
