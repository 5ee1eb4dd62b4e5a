"""A changed line is the only one that is spoken again; a worker that is killed changes nothing but the time."""

import asyncio
import hashlib
import json
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proofs.stage.report import Report
from tests.support.dub_stage import WAIT_SECONDS, Dubbed, caller, change_a_line, dub, send
from tests.support.stage import Stage, WorkerProcess

LINE = "a line was spoken"
OTHER_WORDS = "Agora esta linha diz outra coisa."


async def prove_change(report: Report, stage: Stage, dubbed: Dubbed) -> None:
    """Other words for one line, by the internal call; then count what the engine was asked for."""
    number = len(dubbed.segments) // 2
    before = len(_spoken(stage.worker))
    work = await change_a_line(stage, dubbed.video_id, language=dubbed.language, line=number, text=OTHER_WORDS)
    connection = stage.accounts.connection
    deadline = time.monotonic() + WAIT_SECONDS
    status = "queued"
    while status not in {"ready", "failed"} and time.monotonic() < deadline:
        status = await connection.fetchval("SELECT status FROM jobs WHERE id = $1", work)
        await asyncio.sleep(0.3)
    async with caller(stage) as client:
        after = (await client.get(f"/v1/videos/{dubbed.video_id}/dubs/{dubbed.language}")).json()
    again = len(_spoken(stage.worker)) - before
    texts = [each["text"] for each in after["segments"]]
    others = [each["text"] for each in dubbed.segments]
    changed = [at for at, (new, old) in enumerate(zip(texts, others, strict=True)) if new != old]
    holds = status == "ready" and again == 1 and changed == [number]
    measured = f"{again} spoken again, lines {changed} changed"
    report.claim("a line gets other words", wanted="1 is spoken again", measured=measured, holds=holds)
    report.figures(resynthesized=again)


def _spoken(worker: WorkerProcess) -> list[dict[str, Any]]:
    return [json.loads(line) for line in worker.read_log().splitlines() if LINE in line]


async def prove_kills(report: Report, stage: Stage, path: Path, *, undisturbed: Dubbed, kills: int) -> None:
    """The same film again, while its worker dies in the middle of speaking and mixing."""
    video_id = await send(stage, path)
    killer = Killer(stage.worker, kills, span_seconds=undisturbed.seconds)
    (dubbed,) = await dub(stage, video_id, [undisturbed.language], meanwhile=killer.look)
    same = hashlib.sha256(dubbed.track).digest() == hashlib.sha256(undisturbed.track).digest()
    report.claim("a dub whose worker was killed", wanted="the same sound", measured=same, holds=same)
    report.figures(same_after_kills=same)
    await prove_charged(report, stage, dubbed, killer)


async def prove_charged(report: Report, stage: Stage, dubbed: Dubbed, killer: "Killer") -> None:
    """However often a worker died, a dub is paid for once."""
    captured = "SELECT count(*) FROM escrow_lines WHERE action = 'dub' AND state = 'captured' AND video_id = $1"
    charged = await stage.accounts.connection.fetchval(captured, dubbed.video_id)
    faults = await stage.accounts.connection.fetch("SELECT * FROM ledger_faults($1)", stage.person.library_id)
    killed = killer.done == killer.kills
    report.claim("... killed with -9", wanted=str(killer.kills), measured=killer.done, holds=killed)
    report.claim("... charged", wanted="once", measured=charged, holds=charged == 1 and not faults)
    report.figures(dub_kills=killer.done, charged=charged)


@dataclass(slots=True)
class Killer:
    """Kills at moments that are spread over the time that the work takes."""

    worker: WorkerProcess
    kills: int
    span_seconds: float
    done: int = 0
    started: float = field(default_factory=time.monotonic)
    chance: random.Random = field(default_factory=lambda: random.Random(4))

    def look(self) -> None:
        due = self.span_seconds * (self.done + 0.3 + 0.4 * self.chance.random()) / (self.kills + 1)
        if self.done < self.kills and time.monotonic() - self.started > due:
            self.worker.kill()
            self.worker.start()
            self.done += 1
        self.worker.keep_running()
