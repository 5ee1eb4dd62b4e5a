"""Interactive speech while a long video is dubbed: the first byte comes nearly as soon as on an idle machine."""

import asyncio
import random
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from proofs.stage.recorded_speech import make_speech
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs
from proofs.stage.speech_latency import FirstByte, SpeechCaller, percentile
from proofs.stage.transcript_stage import open_client, upload_file, wait_for_transcript, write_wav
from tests.support.dub_stage import dub, fund
from tests.support.stage import Stage, open_stage

MAX_RATIO = 3.0
STARVED_RATIO = 5.0
SEED = 20
WAIT_SECONDS = 1800
LANGUAGE = "pt"
THINK_SECONDS = (0.2, 2.5)  # between requests, so that they meet the dub in all of its steps


@dataclass(frozen=True, slots=True)
class Size:
    """How much is dubbed, and how often text is spoken before and, at most, during the dub."""

    asr_engine: str
    talk_seconds: float
    idle_samples: int
    max_samples: int


LONG = Size("whisper-base", talk_seconds=180.0, idle_samples=30, max_samples=120)
SHORT = Size("whisper-tiny.en", talk_seconds=8.0, idle_samples=5, max_samples=6)


@dataclass(frozen=True, slots=True)
class Samples:
    """Requests on the idle machine and during the dub."""

    idle: Sequence[FirstByte]
    dubbing: Sequence[FirstByte]

    @property
    def p95_seconds(self) -> tuple[float, float]:
        """During the dub, and on the idle machine."""
        return _p95([each.seconds for each in self.dubbing]), _p95([each.seconds for each in self.idle])

    @property
    def p95_cpu_seconds(self) -> tuple[float, float]:
        idle = _p95([each.worker_cpu_seconds for each in self.idle])
        return _p95([each.worker_cpu_seconds for each in self.dubbing]), idle

    def starved(self, *, short: bool) -> int:
        """Requests that failed or took too long; the short form shares its machine, so it counts CPU time."""
        if short:
            usual = self.p95_cpu_seconds[1]
            return sum(each.worker_cpu_seconds > STARVED_RATIO * usual for each in self.dubbing)
        usual = self.p95_seconds[1]
        return sum(each.seconds > STARVED_RATIO * usual for each in self.dubbing)


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    size = SHORT if short else LONG
    with TemporaryDirectory() as name:
        async with _open_talk(Path(name), size) as (stage, caller, talk):
            idle = await caller.speak_times(size.idle_samples)
            dubbing = asyncio.ensure_future(dub(stage, talk, [LANGUAGE]))
            samples = Samples(idle, await _speak_until(dubbing, caller, max_samples=size.max_samples))
            await asyncio.wait([dubbing])
    _claim(report, samples, finished=dubbing.exception() is None, short=short)


@asynccontextmanager
async def _open_talk(folder: Path, size: Size) -> AsyncIterator[tuple[Stage, SpeechCaller, str]]:
    """A running service with a transcribed talk and nothing left to do, and a caller."""
    speech = make_speech(size.talk_seconds, seed=SEED)
    environment = {"CUTROOM_ASR_ENGINES": size.asr_engine, "CUTROOM_SPEAKER_EMBEDDER": "none"}
    async with (
        open_stage("proof_speech_under_load", folder, environment=environment) as stage,
        open_client(stage) as client,
    ):
        await fund(stage)
        talk = await upload_file(client, write_wav(folder / "talk.wav", speech.samples))
        await wait_for_transcript(stage, client, talk, seconds=WAIT_SECONDS)
        yield stage, await SpeechCaller.open(stage, client), talk


async def _speak_until(ended: "asyncio.Future[Any]", caller: SpeechCaller, *, max_samples: int) -> list[FirstByte]:
    rng = random.Random(SEED)
    samples: list[FirstByte] = []
    while not ended.done() and len(samples) < max_samples:
        samples.append(await caller.speak())
        await asyncio.wait([ended], timeout=rng.uniform(*THINK_SECONDS))
    return samples


def _claim(report: Report, samples: Samples, *, finished: bool, short: bool) -> None:
    (seconds, idle_seconds), (cpu, idle_cpu) = samples.p95_seconds, samples.p95_cpu_seconds
    ratio, cpu_ratio = round(seconds / idle_seconds, 2), round(cpu / idle_cpu, 2)
    starved = samples.starved(short=short)
    report.claim_time(
        f"p95 of {len(samples.dubbing)} first bytes during a dub, relative to the idle machine",
        expected=f"<= {MAX_RATIO:g}",
        measured=f"{ratio} ({seconds:.2f} / {idle_seconds:.2f} s)",
        holds=ratio <= MAX_RATIO,
    )
    report.claim(
        "... p95 of the worker's CPU time until then, which other load on the machine does not change",
        expected=f"<= {MAX_RATIO:g}",
        measured=f"{cpu_ratio} ({cpu:.2f} / {idle_cpu:.2f} s)",
        holds=cpu_ratio <= MAX_RATIO,
    )
    report.claim("requests that failed or starved during the dub", expected="0", measured=starved, holds=starved == 0)
    report.claim("the dub became ready", expected="yes", measured="yes" if finished else "no", holds=finished)
    report.figures(
        first_byte_p95_ratio=ratio,
        first_byte_cpu_ratio=cpu_ratio,
        starved=starved,
        dub_finished=finished,
        samples=len(samples.dubbing),
        idle_samples=len(samples.idle),
    )


def _p95(values: Sequence[float]) -> float:
    return percentile(values, 95)


if __name__ == "__main__":
    needs = Needs(model_set="ci", programs=("ffmpeg", "apertium", "espeak-ng"))
    sys.exit(prove("Speech under load", proof, needs=needs))
