"""Transcribes a long file: bounded memory, time close to the bare recognizer, and recovery from worker crashes."""

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

MODEL = "whisper-base"  # the worker's default
MAX_MEMORY_RATIO = 1.2
MAX_TIME_RATIO = 1.25
MAX_WER_INCREASE = 0.01  # over the bare recognizer; detects speed gained by skipping words
SAMPLE_SECONDS = 0.2
TIMEOUT_FACTOR = 10.0  # of the recording's duration, for a busy machine


@dataclass(frozen=True, slots=True)
class Reading:
    """A recording with its text, and the position of a pause near its middle."""

    clip: Clip
    middle: int  # in samples

    @property
    def halves(self) -> tuple[Samples, Samples]:
        return self.clip.samples[: self.middle], self.clip.samples[self.middle :]


@dataclass(slots=True)
class Cost:
    """Peak memory of a worker and its subprocesses, and CPU time since the import."""

    peak_bytes: int = 0
    cpu_seconds: float = 0.0


async def prove_long(
    report: Report, folder: Path, *, brief_seconds: float, long_seconds: float, kill_at: Sequence[int]
) -> None:
    brief, long = make_reading(brief_seconds, seed=1), make_reading(long_seconds, seed=2)
    async with _stage("proof_transcripts_brief", folder / "brief") as stage:
        brief_cost, _ = await _measure(stage, brief, folder / "brief.wav")
    async with _stage("proof_transcripts_long", folder / "long") as stage:
        bare = BareRecognizer(stage.settings.models_dir / MODEL)
        # The bare recognizer runs half before and half after, so that other load affects both equally.
        await asyncio.to_thread(bare.transcribe, long.halves[0])
        cost, result = await _measure(stage, long, folder / "long.wav")
        await asyncio.to_thread(bare.transcribe, long.halves[1])
        _claim_memory(report, (brief, brief_cost), (long, cost))
        _claim_time(report, long, result, cost=cost, bare=bare)
        _claim_words(report, long, result, bare=bare)
        await prove_kills(
            report,
            stage,
            folder / "long.wav",
            undisturbed=result,
            at_chunks=kill_at,
            seconds=TIMEOUT_FACTOR * long.clip.seconds,
        )


def make_reading(seconds: float, *, seed: int) -> Reading:
    """Repeat the recorded clips in random order with pauses."""
    generator = random.Random(seed)
    clips = [*sentences(clips_folder()), two_cities(clips_folder())]
    order: list[Clip] = []
    pauses: list[float] = []
    while sum(clip.seconds for clip in order) + sum(pauses) < seconds:
        for clip in generator.sample(clips, len(clips)):
            if sum(each.seconds for each in order) + sum(pauses) < seconds:
                order.append(clip)
                pauses.append(generator.uniform(0.5, 3.0))
    clip, spans = join_clips(order, pause_seconds=pauses)
    half = clip.seconds / 2
    last = min(range(len(spans)), key=lambda at: abs(spans[at].end_seconds - half))
    return Reading(clip, round((spans[last].end_seconds + pauses[last] / 2) * SAMPLE_RATE))


@dataclass(slots=True)
class BareRecognizer:
    """faster-whisper used as in its documentation, with the same model and thread count."""

    folder: Path
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    text: str = ""
    _model: Any = field(default=None)

    def transcribe(self, samples: Samples) -> None:
        """Time includes loading the model, as it does for the worker."""
        sys.modules.setdefault("av", ModuleType("av"))  # only needed to decode files
        from faster_whisper import WhisperModel  # type: ignore[import-untyped]  # noqa: PLC0415 - after the line above

        wall, cpu = time.monotonic(), time.process_time()
        if self._model is None:
            self._model = WhisperModel(str(self.folder), device="cpu", compute_type="int8", cpu_threads=THREADS)
        segments, _ = self._model.transcribe(samples, beam_size=5, word_timestamps=True, vad_filter=True)
        self.text += " ".join(segment.text for segment in segments) + " "
        self.wall_seconds += time.monotonic() - wall
        self.cpu_seconds += time.process_time() - cpu


@asynccontextmanager
async def _stage(name: str, folder: Path) -> AsyncIterator[Stage]:
    async with open_stage(name, folder, asr_engines=[MODEL], speech_threads=THREADS, speech_concurrency=1) as stage:
        yield stage


async def _measure(stage: Stage, reading: Reading, path: Path) -> tuple[Cost, TranscriptResult]:
    """Upload a reading to a fresh worker and wait for its transcript."""
    write_wav(path, reading.clip.samples)
    async with open_client(stage) as client:
        video_id = await upload_file(client, path)
        cost = Cost()
        process = psutil.Process(stage.worker.pid)
        sampling = asyncio.create_task(_sample_memory(process, cost))
        timeout = TIMEOUT_FACTOR * reading.clip.seconds
        try:
            _, result = await asyncio.gather(
                _mark_import(stage, video_id, process, cost, seconds=timeout),
                wait_for_transcript(stage, client, video_id, seconds=timeout),
            )
            cost.cpu_seconds += _cpu_seconds(process)
        finally:
            sampling.cancel()
            with suppress(asyncio.CancelledError):
                await sampling
    return cost, result


async def _mark_import(stage: Stage, video_id: str, process: psutil.Process, cost: Cost, *, seconds: float) -> None:
    """Exclude CPU time used until the import is done."""
    await wait_for_imports(stage, [video_id], seconds=seconds)
    cost.cpu_seconds = -_cpu_seconds(process)


async def _sample_memory(process: psutil.Process, cost: Cost) -> None:
    while True:
        used = 0
        for each in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                # PSS counts shared pages once; otherwise a forked child would count all of its parent's again.
                used += each.memory_full_info().pss
        cost.peak_bytes = max(cost.peak_bytes, used)
        await asyncio.sleep(SAMPLE_SECONDS)


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


def _claim_memory(report: Report, brief: tuple[Reading, Cost], long: tuple[Reading, Cost]) -> None:
    (brief_reading, brief_cost), (long_reading, cost) = brief, long
    ratio = round(cost.peak_bytes / brief_cost.peak_bytes, 2)
    lengths = f"{long_reading.clip.seconds / 60:.1f} min compared with {brief_reading.clip.seconds / 60:.1f} min"
    measured = f"{ratio} ({cost.peak_bytes / 1e6:.0f} / {brief_cost.peak_bytes / 1e6:.0f} MB)"
    claim = f"peak memory of the worker and its subprocesses, {lengths}"
    report.claim(claim, expected=f"<= {MAX_MEMORY_RATIO}", measured=measured, holds=ratio <= MAX_MEMORY_RATIO)
    report.figures(
        memory_ratio=ratio, memory_mb=round(cost.peak_bytes / 1e6), long_seconds=round(long_reading.clip.seconds)
    )


def _claim_time(report: Report, long: Reading, result: TranscriptResult, *, cost: Cost, bare: BareRecognizer) -> None:
    ratio = round(result.seconds / bare.wall_seconds, 2)
    measured = f"{ratio} ({result.seconds:.1f} / {bare.wall_seconds:.1f} s)"
    claim = f"time from 'detecting speech' to ready relative to bare faster-whisper, {MODEL}, {THREADS} threads"
    report.claim(claim, expected=f"<= {MAX_TIME_RATIO}", measured=measured, holds=ratio <= MAX_TIME_RATIO)
    report.figures(
        time_ratio=ratio,
        # More reliable than wall time on a shared machine.
        cpu_ratio=round(cost.cpu_seconds / bare.cpu_seconds, 2),
        times_real_time=round(long.clip.seconds / result.seconds, 1),
    )


def _claim_words(report: Report, long: Reading, result: TranscriptResult, *, bare: BareRecognizer) -> None:
    ours, theirs = word_error_rate(long.clip.text, result.text), word_error_rate(long.clip.text, bare.text)
    claim = "word error rate of the long file, ours and bare faster-whisper"
    measured = f"{ours:.1%}, {theirs:.1%}"
    report.claim(claim, expected="at most 1 % more", measured=measured, holds=ours <= theirs + MAX_WER_INCREASE)
    report.claim(
        "... words out of order or without duration", expected="0", measured=result.flaws, holds=result.flaws == 0
    )
    report.figures(long_wer=round(ours, 4), long_wer_bare=round(theirs, 4), long_words=len(result.words))
