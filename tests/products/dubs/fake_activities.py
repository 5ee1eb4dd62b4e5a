"""Fake activities of jobs and dubs, which do nothing but take down what the workflow asks for."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from temporalio import activity

from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.jobs.worker import Activity
from cutroom.products.dubs.activities import DubPlan, FinishedChunks
from cutroom.products.dubs.artifacts import DubRef
from cutroom.products.dubs.script import DubBatch, DubLine, line_batches
from cutroom.products.speech.rules import fingerprint

CHARACTERS_PER_SECOND = 18.8


def spoken_lines(count: int, *, seconds: float) -> list[DubLine]:
    """Lines that follow each other without a pause."""
    text = "x" * round(seconds * CHARACTERS_PER_SECOND)
    return [
        DubLine(
            number, number * seconds, (number + 1) * seconds, (number + 1) * seconds, "speaker_1", "source", (text,)
        )
        for number in range(count)
    ]


@dataclass
class FakeJobs:
    """Starts and ends jobs without a database."""

    results: list[dict[str, Any]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    @activity.defn(name="start_job")
    async def start_job(self, ref: JobRef) -> dict[str, Any] | None:
        return {"video_id": ref.job_id.split("_")[1]}

    @activity.defn(name="complete_job")
    async def complete_job(self, ref: JobRef, result: dict[str, Any]) -> None:
        self.results.append({"job_id": ref.job_id, **result})

    @activity.defn(name="fail_job")
    async def fail_job(self, _ref: JobRef, failure: Failure) -> None:
        self.failures.append(failure)

    def activities(self) -> list[Activity]:
        return [self.start_job, self.complete_job, self.fail_job]


async def _finish_at_once(_job: JobRef, batch: DubBatch) -> int:
    return batch.end


@dataclass
class FakeDubs:
    """Dubs the lines of each job at once; `synthesize` replaces the synthesis of a batch."""

    lines: dict[str, list[DubLine]]  # by job
    chunk_counts: dict[str, int]
    synthesize: Callable[[JobRef, DubBatch], Awaitable[int]] = _finish_at_once
    calls: list[tuple[str, str, DubBatch | None]] = field(default_factory=list)  # job, activity and batch, in order

    def batches(self, name: str, job_id: str) -> list[DubBatch]:
        return [batch for job, each, batch in self.calls if (job, each) == (job_id, name) and batch is not None]

    def _note(self, job: JobRef, batch: DubBatch | None = None) -> None:
        self.calls.append((job.job_id, activity.info().activity_type, batch))

    @activity.defn(name="plan_dub")
    async def plan_dub(self, job: JobRef, _dub: DubRef) -> DubPlan:
        self._note(job)
        lines = self.lines[job.job_id]
        preview = sum(line.chunk == 0 for line in lines)
        return DubPlan(self.chunk_counts[job.job_id], line_batches(lines), preview)

    @activity.defn(name="separate_dub_chunks")
    async def separate_dub_chunks(self, job: JobRef, _dub: DubRef, batch: DubBatch) -> None:
        self._note(job, batch)

    @activity.defn(name="assign_voices")
    async def assign_voices(self, job: JobRef, _dub: DubRef) -> None:
        self._note(job)

    @activity.defn(name="synthesize_lines")
    async def synthesize_lines(self, job: JobRef, _dub: DubRef, batch: DubBatch) -> int:
        self._note(job, batch)
        return await self.synthesize(job, batch)

    @activity.defn(name="schedule_lines")
    async def schedule_lines(self, job: JobRef, _dub: DubRef, line_count: int, _schedule: str) -> None:
        self._note(job, DubBatch(0, line_count))

    @activity.defn(name="mix_dub_chunks")
    async def mix_dub_chunks(self, job: JobRef, dub: DubRef, batch: DubBatch, schedule: str) -> list[str]:
        self._note(job, batch)
        return [dub.shared_path(f"mixed/{fingerprint({schedule: number})}.flac") for number in batch.numbers]

    @activity.defn(name="finish_dub_chunks")
    async def finish_dub_chunks(self, job: JobRef, dub: DubRef, batch: DubBatch, schedule: str) -> FinishedChunks:
        self._note(job, batch)
        names = [fingerprint({schedule: number}) for number in batch.numbers]
        mixed = [dub.shared_path(f"mixed/{name}.flac") for name in names]
        return FinishedChunks(mixed, [dub.shared_path(f"transcribed/{name}.json") for name in names])

    @activity.defn(name="publish_dub_preview")
    async def publish_dub_preview(self, job: JobRef, _dub: DubRef, _chunk_path: str) -> None:
        self._note(job)

    @activity.defn(name="publish_dub")
    async def publish_dub(
        self, job: JobRef, _dub: DubRef, mixed: list[str], transcribed: list[str], _schedule: str
    ) -> dict[str, Any]:
        self._note(job)
        return {"mixed": len(set(mixed)), "transcribed": len(set(transcribed))}

    def activities(self) -> list[Activity]:
        return [
            self.plan_dub,
            self.separate_dub_chunks,
            self.assign_voices,
            self.synthesize_lines,
            self.schedule_lines,
            self.mix_dub_chunks,
            self.finish_dub_chunks,
            self.publish_dub_preview,
            self.publish_dub,
        ]


async def hold_until_canceled() -> None:
    """Heartbeats for ever, as an activity that is at work does."""
    while True:
        activity.heartbeat()
        await asyncio.sleep(0.2)
