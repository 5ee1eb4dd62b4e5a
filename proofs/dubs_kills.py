"""A changed line is the only one that is spoken again; a worker that is killed changes nothing but the time."""

import asyncio
import hashlib
import json
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cutroom.accounts.plans import load_plans
from cutroom.accounts.principals import Principal, Role
from cutroom.accounts.scopes import ALL_SCOPES
from cutroom.credits.pricing import load_prices
from cutroom.jobs.ids import DubProduct
from cutroom.platform.clock import system_clock
from cutroom.products.dubs.service import LineChange, change_line
from proofs.dubs_stage import WAIT_SECONDS, Dubbed, caller, dub, send
from proofs.ingest_stage import Stage, WorkerProcess
from proofs.report import Report

LINE = "a line was spoken"
OTHER_WORDS = "Agora esta linha diz outra coisa."


async def prove_change(report: Report, stage: Stage, dubbed: Dubbed) -> None:
    """Other words for one line, by the internal call; then count what the engine was asked for."""
    number = len(dubbed.segments) // 2
    before = len(_spoken(stage.worker))
    plans = load_plans(stage.settings.plans_file)
    principal = Principal(
        id=stage.key.id,
        user_id=stage.person.user_id,
        library_id=stage.person.library_id,
        workspace_id=None,
        role=Role.OWNER,
        plan=plans["business"],
        suspended=False,
        scopes=frozenset(ALL_SCOPES),
    )
    change = LineChange(dubbed.video_id, dubbed.language, DubProduct.PLUS, number, OTHER_WORDS)
    connection = stage.accounts.connection
    async with connection.transaction():
        work = await change_line(connection, principal, change, prices=load_prices(None), now=system_clock())
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
    connection = stage.accounts.connection
    video_id = await send(stage, path)
    captured = "SELECT count(*) FROM escrow_lines WHERE action = 'dub' AND state = 'captured' AND video_id = $1"
    killer = Killer(stage.worker, kills, span_seconds=undisturbed.seconds)
    (dubbed,) = await dub(stage, video_id, [undisturbed.language], meanwhile=killer.look)
    charged = await connection.fetchval(captured, video_id)
    same = hashlib.sha256(dubbed.track).digest() == hashlib.sha256(undisturbed.track).digest()
    faults = await connection.fetch("SELECT * FROM ledger_faults($1)", stage.person.library_id)
    report.claim(f"the worker killed {killer.done} times with -9", wanted="the same sound", measured=same, holds=same)
    report.claim("... kills", wanted=str(kills), measured=killer.done, holds=killer.done == kills)
    report.claim("... charged", wanted="once", measured=charged, holds=charged == 1 and not faults)
    report.figures(dub_kills=killer.done, same_after_kills=same, charged=charged)


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
