"""A worker that is killed with -9 costs the piece it was at, and not a word."""

import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from proofs.stage.report import Report
from proofs.stage.transcript_stage import TranscriptResult, open_client, upload_file, wait_for_transcript
from tests.support.stage import Stage, WorkerProcess

LINE = "transcribing chunk"
SOON_SECONDS = (0.5, 2.0)  # after a piece was begun: it is under way, and not done


async def prove_kills(
    report: Report, stage: Stage, path: Path, *, undisturbed: TranscriptResult, at_pieces: Sequence[int], seconds: float
) -> None:
    """Kill the worker while it is at the pieces of these numbers, in the order in which they are begun."""
    async with open_client(stage) as client:
        video_id = await upload_file(client, path)
        killer = Killer(stage.worker, f"transcript_{video_id}", at_pieces)
        told = await wait_for_transcript(stage, client, video_id, seconds=seconds, meanwhile=killer.look)
    lives = killer.lives()
    redone = count_redone(lives)
    kills, pieces = len(killer.kills), len({piece for life in lives for piece in life})
    claim = f"worker killed with -9 in the middle of {pieces} pieces"
    report.claim(claim, expected=f"{len(at_pieces)} times", measured=kills, holds=kills == len(at_pieces))
    # A piece that is begun twice in the last life was lost without a kill.
    holds = max(redone) <= 1 and redone[-1] == 0 and sum(redone) > 0
    measured = ", ".join(map(str, redone[:-1]))
    report.claim(
        "... pieces done again after each", expected="1 at most, 1 at least once", measured=measured, holds=holds
    )
    same = told.same_as(undisturbed)
    claim = "... words, times, speakers and segments beside the undisturbed run"
    report.claim(
        claim, expected="the same", measured="the same" if same else _difference(told, undisturbed), holds=same
    )
    report.figures(redone_pieces=sum(redone), worker_kills=kills, pieces=pieces, same_after_kills=same)


@dataclass(slots=True)
class Killer:
    """Reads the worker's log, and kills the worker soon after it says that it has begun a piece that is meant."""

    worker: WorkerProcess
    job_id: str
    at_pieces: Sequence[int]
    kills: list[int] = field(default_factory=list)  # how many pieces had been begun before each
    due: float | None = None
    chance: random.Random = field(default_factory=lambda: random.Random(3))

    def look(self) -> None:
        begun = self.begun()
        if self.due is None and len(self.kills) < len(self.at_pieces):
            is_new = len(begun) > (self.kills[-1] if self.kills else 0)
            if is_new and len(set(begun)) >= self.at_pieces[len(self.kills)]:
                self.due = time.monotonic() + self.chance.uniform(*SOON_SECONDS)
        if self.due is not None and time.monotonic() >= self.due:
            self.worker.kill()
            self.kills.append(len(self.begun()))
            self.due = None
            self.worker.start()

    def begun(self) -> list[int]:
        """The pieces in the order in which they were begun, again or not."""
        lines = [json.loads(line) for line in self.worker.read_log().splitlines() if LINE in line]
        return [line["piece"] for line in lines if line["message"] == LINE and line["job_id"] == self.job_id]

    def lives(self) -> list[list[int]]:
        """The pieces that were begun in each of the worker's lives."""
        begun, edges = self.begun(), [0, *self.kills, None]
        return [begun[edges[at] : edges[at + 1]] for at in range(len(edges) - 1)]


def count_redone(lives: Sequence[Sequence[int]]) -> list[int]:
    """For each life of the worker, the pieces begun in it that had to be begun again."""
    redone = [0] * len(lives)
    last: dict[int, int] = {}
    for life, pieces in enumerate(lives):
        for piece in pieces:
            if piece in last:
                redone[last[piece]] += 1
            last[piece] = life
    return redone


def _difference(told: TranscriptResult, undisturbed: TranscriptResult) -> str:
    texts = "the same text" if told.text == undisturbed.text else "another text"
    pairs = zip(told.words, undisturbed.words, strict=False)
    first = next((f"{ours} / {theirs}" for ours, theirs in pairs if ours != theirs), "none in common words")
    return f"{texts}, {len(told.words)} / {len(undisturbed.words)} words; first difference: {first}"
