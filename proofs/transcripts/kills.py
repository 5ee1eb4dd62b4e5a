"""Kills the worker with -9 during transcription: at most the current chunk is repeated, and the result is the same."""

import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from proofs.stage.report import Report
from proofs.stage.transcript_stage import TranscriptResult, open_client, upload_file, wait_for_transcript
from tests.support.stage import Stage, WorkerProcess

LOG_EVENT = "transcribing chunk"
KILL_DELAY_SECONDS = (0.5, 2.0)  # after a chunk starts, so that it is in progress


async def prove_kills(
    report: Report, stage: Stage, path: Path, *, undisturbed: TranscriptResult, at_chunks: Sequence[int], seconds: float
) -> None:
    """Kill the worker once so many chunks have started, and compare the result with an undisturbed run."""
    async with open_client(stage) as client:
        video_id = await upload_file(client, path)
        killer = Killer(stage.worker, f"transcript_{video_id}", at_chunks)
        result = await wait_for_transcript(stage, client, video_id, seconds=seconds, while_waiting=killer.poll)
    runs = killer.runs()
    redone = count_redone(runs)
    kills, chunks = len(killer.kills), len({chunk for run in runs for chunk in run})
    claim = f"worker killed with -9 within {chunks} chunks"
    report.claim(claim, expected=f"{len(at_chunks)} times", measured=kills, holds=kills == len(at_chunks))
    # A chunk repeated within the last run was lost without a kill.
    holds = max(redone) <= 1 and redone[-1] == 0 and sum(redone) > 0
    measured = ", ".join(map(str, redone[:-1]))
    report.claim(
        "... chunks repeated after each kill", expected="at most 1, at least once", measured=measured, holds=holds
    )
    same = result.same_as(undisturbed)
    claim = "... words, times, speakers and segments compared with the undisturbed run"
    report.claim(
        claim, expected="the same", measured="the same" if same else _difference(result, undisturbed), holds=same
    )
    report.figures(redone_pieces=sum(redone), worker_kills=kills, pieces=chunks, same_after_kills=same)


@dataclass(slots=True)
class Killer:
    """Kills the worker shortly after its log reports the start of selected chunks."""

    worker: WorkerProcess
    job_id: str
    at_chunks: Sequence[int]
    kills: list[int] = field(default_factory=list)  # chunks started before each kill
    due: float | None = None
    generator: random.Random = field(default_factory=lambda: random.Random(3))

    def poll(self) -> None:
        started = self.started()
        if self.due is None and len(self.kills) < len(self.at_chunks):
            is_new = len(started) > (self.kills[-1] if self.kills else 0)
            if is_new and len(set(started)) >= self.at_chunks[len(self.kills)]:
                self.due = time.monotonic() + self.generator.uniform(*KILL_DELAY_SECONDS)
        if self.due is not None and time.monotonic() >= self.due:
            self.worker.kill()
            self.kills.append(len(self.started()))
            self.due = None
            self.worker.start()

    def started(self) -> list[int]:
        """Chunks in order of start, including repeats."""
        lines = [json.loads(line) for line in self.worker.read_log().splitlines() if LOG_EVENT in line]
        return [line["chunk"] for line in lines if line["message"] == LOG_EVENT and line["job_id"] == self.job_id]

    def runs(self) -> list[list[int]]:
        """Chunks started in each run of the worker process."""
        started, edges = self.started(), [0, *self.kills, None]
        return [started[edges[at] : edges[at + 1]] for at in range(len(edges) - 1)]


def count_redone(runs: Sequence[Sequence[int]]) -> list[int]:
    """For each run of the worker, the number of its chunks that were started again later."""
    redone = [0] * len(runs)
    last: dict[int, int] = {}
    for run, chunks in enumerate(runs):
        for chunk in chunks:
            if chunk in last:
                redone[last[chunk]] += 1
            last[chunk] = run
    return redone


def _difference(result: TranscriptResult, undisturbed: TranscriptResult) -> str:
    texts = "same text" if result.text == undisturbed.text else "different text"
    pairs = zip(result.words, undisturbed.words, strict=False)
    first = next((f"{ours} / {theirs}" for ours, theirs in pairs if ours != theirs), "none in common words")
    return f"{texts}, {len(result.words)} / {len(undisturbed.words)} words; first difference: {first}"
