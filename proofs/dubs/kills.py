"""Editing one line re-synthesizes only that line; a killed worker changes neither audio nor charge."""

import asyncio
import hashlib
import json
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proofs.stage.report import Report
from tests.support.dub_stage import WAIT_SECONDS, FinishedDub, api_client, dub, edit_dub_line, upload_and_transcribe
from tests.support.stage import Stage, WorkerProcess

SYNTHESIS_EVENT = "dub line synthesized"
NEW_TEXT = "Agora esta linha diz outra coisa."
RESTART_SECONDS = 6.0  # in which a restarted worker makes no progress


async def prove_line_edit(report: Report, stage: Stage, finished: FinishedDub) -> None:
    """Edit one line, regenerate the dub, and count synthesized lines in the worker's log.

    A line that does not fit its slot is synthesized again at another speed, and counts once.
    """
    number = len(finished.segments) // 2
    before = len(_syntheses(stage.worker))
    job_id = await edit_dub_line(stage, finished.video_id, language=finished.language, line=number, text=NEW_TEXT)
    connection = stage.accounts.connection
    deadline = time.monotonic() + WAIT_SECONDS
    status = "queued"
    while status not in {"ready", "failed"} and time.monotonic() < deadline:
        status = await connection.fetchval("SELECT status FROM jobs WHERE id = $1", job_id)
        await asyncio.sleep(0.3)
    async with api_client(stage) as client:
        after = (await client.get(f"/v1/videos/{finished.video_id}/dubs/{finished.language}")).json()
    syntheses = _syntheses(stage.worker)[before:]
    resynthesized = {each["line"] for each in syntheses}
    texts = [each["text"] for each in after["segments"]]
    others = [each["text"] for each in finished.segments]
    changed = [at for at, (new, old) in enumerate(zip(texts, others, strict=True)) if new != old]
    holds = status == "ready" and resynthesized == {number} and changed == [number]
    measured = f"{len(resynthesized)} synthesized ({len(syntheses)} times), lines {changed} changed"
    report.claim("one line is edited", expected="1 synthesized", measured=measured, holds=holds)
    report.figures(resynthesized=len(resynthesized))


def _syntheses(worker: WorkerProcess) -> list[dict[str, Any]]:
    return [json.loads(line) for line in worker.read_log().splitlines() if SYNTHESIS_EVENT in line]


async def prove_kills(report: Report, stage: Stage, path: Path, *, undisturbed: FinishedDub, kills: int) -> None:
    """Dub the same video again while its worker is killed repeatedly."""
    video_id = await upload_and_transcribe(stage, path)
    killer = WorkerKiller(stage.worker, kills, span_seconds=undisturbed.seconds + kills * RESTART_SECONDS)
    (finished,) = await dub(stage, video_id, [undisturbed.language], while_waiting=killer.maybe_kill)
    same = hashlib.sha256(finished.track).digest() == hashlib.sha256(undisturbed.track).digest()
    report.claim("a dub whose worker was killed has identical audio", expected="True", measured=same, holds=same)
    report.figures(same_after_kills=same)
    await prove_single_charge(report, stage, finished, killer)


async def prove_single_charge(report: Report, stage: Stage, finished: FinishedDub, killer: "WorkerKiller") -> None:
    """A dub is charged once, however often its worker was killed."""
    captured = "SELECT count(*) FROM escrow_lines WHERE action = 'dub' AND state = 'captured' AND video_id = $1"
    charged = await stage.accounts.connection.fetchval(captured, finished.video_id)
    faults = await stage.accounts.connection.fetch("SELECT * FROM ledger_faults($1)", stage.person.library_id)
    killed = killer.done == killer.kills
    report.claim("... times killed with SIGKILL", expected=str(killer.kills), measured=killer.done, holds=killed)
    report.claim("... charged", expected="once", measured=charged, holds=charged == 1 and not faults)
    report.figures(dub_kills=killer.done, charged=charged)


@dataclass(slots=True)
class WorkerKiller:
    """Kills a worker at random points spread over the expected duration."""

    worker: WorkerProcess
    kills: int
    span_seconds: float
    done: int = 0
    started: float = field(default_factory=time.monotonic)
    rng: random.Random = field(default_factory=lambda: random.Random(4))

    def maybe_kill(self) -> None:
        due = self.span_seconds * (self.done + 0.3 + 0.4 * self.rng.random()) / (self.kills + 1)
        if self.done < self.kills and time.monotonic() - self.started > due:
            self.worker.kill()
            self.worker.start()
            self.done += 1
        self.worker.keep_running()
