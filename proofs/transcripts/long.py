"""A long file takes the memory of a short one, hardly more time than the bare recognizer, and outlives kills."""

import asyncio
import random
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil

from cutroom.engines.types import SAMPLE_RATE
from dev.fixtures.speech_clips import Clip, clips_folder, join_clips, sentences, two_cities
from proofs.stage.report import Report
from proofs.stage.transcript_stage import (
    THREADS,
    TranscriptResult,
    open_client,
    upload_file,
    wait_for_transcript,
    write_wav,
)
from proofs.stage.word_comparison import word_error_rate
from proofs.transcripts.kills import prove_kills
from tests.support.dialogue import Samples
from tests.support.stage import Stage, open_stage, wait_for_imports

MODEL = "whisper-base"  # what a worker uses unless it is told otherwise
MAX_MEMORY_RATIO = 1.2
MAX_TIME_RATIO = 1.25
MAX_MORE_ERRORS = 0.01  # than the bare recognizer: being quick by leaving words out would show here
WATCH_SECONDS = 0.2
PATIENCE = 10.0  # times the length of the recording: machines may be busy


@dataclass(frozen=True, slots=True)
class Reading:
    """A recording of some length, what is read in it, and a pause near its middle."""

    clip: Clip
    middle: int  # in samples

    @property
    def halves(self) -> tuple[Samples, Samples]:
        return self.clip.samples[: self.middle], self.clip.samples[self.middle :]


@dataclass(slots=True)
class Cost:
    """What a worker and its programs used: the most memory at any moment, and processor time since the import."""

    peak_bytes: int = 0
    cpu_seconds: float = 0.0


async def prove_long(
    report: Report, folder: Path, *, brief_seconds: float, long_seconds: float, kill_at: Sequence[int]
) -> None:
    brief, long = make_reading(brief_seconds, seed=1), make_reading(long_seconds, seed=2)
    async with _stage("proof_transcripts_brief", folder / "brief") as stage:
        brief_cost, _ = await _watched(stage, brief, folder / "brief.wav")
    async with _stage("proof_transcripts_long", folder / "long") as stage:
        bare = BareRecogniser(stage.settings.models_dir / MODEL)
        # The bare one before and after, a half each time: what else the machine does falls on both.
        await asyncio.to_thread(bare.hear, long.halves[0])
        cost, told = await _watched(stage, long, folder / "long.wav")
        await asyncio.to_thread(bare.hear, long.halves[1])
        _claim_memory(report, (brief, brief_cost), (long, cost))
        _claim_time(report, long, told, cost=cost, bare=bare)
        _claim_words(report, long, told, bare=bare)
        await prove_kills(
            report,
            stage,
            folder / "long.wav",
            undisturbed=told,
            at_pieces=kill_at,
            seconds=PATIENCE * long.clip.seconds,
        )


def make_reading(seconds: float, *, seed: int) -> Reading:
    """The clips of people again and again, in another order each time, with pauses between them."""
    chance = random.Random(seed)
    clips = [*sentences(clips_folder()), two_cities(clips_folder())]
    order: list[Clip] = []
    pauses: list[float] = []
    while sum(clip.seconds for clip in order) + sum(pauses) < seconds:
        for clip in chance.sample(clips, len(clips)):
            if sum(each.seconds for each in order) + sum(pauses) < seconds:
                order.append(clip)
                pauses.append(chance.uniform(0.5, 3.0))
    clip, spans = join_clips(order, pause_seconds=pauses)
    half = clip.seconds / 2
    last = min(range(len(spans)), key=lambda at: abs(spans[at].end_seconds - half))
    return Reading(clip, round((spans[last].end_seconds + pauses[last] / 2) * SAMPLE_RATE))


@dataclass(slots=True)
class BareRecogniser:
    """faster-whisper as its own documentation uses it, with the same model and as many threads."""

    folder: Path
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    text: str = ""
    _model: Any = field(default=None)

    def hear(self, samples: Samples) -> None:
        """Loading is part of the time, as it is of the worker's."""
        sys.modules.setdefault("av", ModuleType("av"))  # it decodes files, of which there is none here
        from faster_whisper import WhisperModel  # type: ignore[import-untyped]  # noqa: PLC0415 - it needs the line above

        wall, cpu = time.monotonic(), time.process_time()
        if self._model is None:
            self._model = WhisperModel(str(self.folder), device="cpu", compute_type="int8", cpu_threads=THREADS)
        segments, _ = self._model.transcribe(samples, beam_size=5, word_timestamps=True, vad_filter=True)
        self.text += " ".join(segment.text for segment in segments) + " "
        self.wall_seconds += time.monotonic() - wall
        self.cpu_seconds += time.process_time() - cpu


@asynccontextmanager
async def _stage(name: str, folder: Path) -> AsyncIterator[Stage]:
    async with open_stage(name, folder, asr_engines=MODEL, speech_threads=THREADS, speech_concurrency=1) as stage:
        yield stage


async def _watched(stage: Stage, reading: Reading, path: Path) -> tuple[Cost, TranscriptResult]:
    """Upload a reading to a worker that has done nothing yet, and wait for its words."""
    write_wav(path, reading.clip.samples)
    async with open_client(stage) as client:
        video_id = await upload_file(client, path)
        cost = Cost()
        process = psutil.Process(stage.worker.pid)
        watching = asyncio.create_task(_watch(process, cost))
        patience = PATIENCE * reading.clip.seconds
        try:
            _, told = await asyncio.gather(
                _mark_import(stage, video_id, process, cost, seconds=patience),
                wait_for_transcript(stage, client, video_id, seconds=patience),
            )
            cost.cpu_seconds += _cpu_seconds(process)
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
    return cost, told


async def _mark_import(stage: Stage, video_id: str, process: psutil.Process, cost: Cost, *, seconds: float) -> None:
    """What was used until the import was done does not count."""
    await wait_for_imports(stage, [video_id], seconds=seconds)
    cost.cpu_seconds = -_cpu_seconds(process)


async def _watch(process: psutil.Process, cost: Cost) -> None:
    while True:
        held = 0
        for each in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                # Shared pages count once: a child that was just forked would else count all of its parent's again.
                held += each.memory_full_info().pss
        cost.peak_bytes = max(cost.peak_bytes, held)
        await asyncio.sleep(WATCH_SECONDS)


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


def _claim_memory(report: Report, brief: tuple[Reading, Cost], long: tuple[Reading, Cost]) -> None:
    (brief_reading, brief_cost), (long_reading, cost) = brief, long
    ratio = round(cost.peak_bytes / brief_cost.peak_bytes, 2)
    lengths = f"{long_reading.clip.seconds / 60:.1f} min beside {brief_reading.clip.seconds / 60:.1f} min"
    measured = f"{ratio} ({cost.peak_bytes / 1e6:.0f} / {brief_cost.peak_bytes / 1e6:.0f} MB)"
    claim = f"peak memory of the worker and its programs, {lengths}"
    report.claim(claim, expected=f"<= {MAX_MEMORY_RATIO}", measured=measured, holds=ratio <= MAX_MEMORY_RATIO)
    report.figures(
        memory_ratio=ratio, memory_mb=round(cost.peak_bytes / 1e6), long_seconds=round(long_reading.clip.seconds)
    )


def _claim_time(report: Report, long: Reading, told: TranscriptResult, *, cost: Cost, bare: BareRecogniser) -> None:
    ratio = round(told.seconds / bare.wall_seconds, 2)
    measured = f"{ratio} ({told.seconds:.1f} / {bare.wall_seconds:.1f} s)"
    claim = f"time from 'detecting speech' to ready beside bare faster-whisper, {MODEL}, {THREADS} threads"
    report.claim(claim, expected=f"<= {MAX_TIME_RATIO}", measured=measured, holds=ratio <= MAX_TIME_RATIO)
    report.figures(
        time_ratio=ratio,
        # Says more than the time on a machine on which others work.
        cpu_ratio=round(cost.cpu_seconds / bare.cpu_seconds, 2),
        times_real_time=round(long.clip.seconds / told.seconds, 1),
    )


def _claim_words(report: Report, long: Reading, told: TranscriptResult, *, bare: BareRecogniser) -> None:
    ours, theirs = word_error_rate(long.clip.text, told.text), word_error_rate(long.clip.text, bare.text)
    claim = "words wrong in all of the long file, beside bare faster-whisper"
    measured = f"{ours:.1%} beside {theirs:.1%}"
    report.claim(claim, expected="no more than 1 % more", measured=measured, holds=ours <= theirs + MAX_MORE_ERRORS)
    report.claim("... out of order or without a length", expected="0", measured=told.flaws, holds=told.flaws == 0)
    report.figures(long_wer=round(ours, 4), long_wer_bare=round(theirs, 4), long_words=len(told.words))
