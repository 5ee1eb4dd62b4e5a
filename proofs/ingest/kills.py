"""Worker, Temporal, PostgreSQL and SeaweedFS die with -9 in turn while imports run; every import still ends, once."""

import asyncio
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import asyncpg
import httpx

from dev.scratch import Accounts
from dev.services import control
from proofs.stage.own_services import own_services
from proofs.stage.report import Report
from tests.support.stage import Stage, ends, make_film, open_stage, upload

VICTIMS = ("worker", "temporal", "postgres", "seaweedfs")
AWAY_SECONDS = 3.0
HEAL_SECONDS = 300.0


async def prove_kills(report: Report, *, rounds: int, batch: int) -> None:
    with own_services(), TemporaryDirectory() as name:
        folder = Path(name)
        film = make_film(folder / "film.mp4", 8)
        async with open_stage("proof_kills", folder) as stage:
            outcome = await _kill_in_turn(stage, film, rounds=rounds, batch=batch)
    kills, accepted, lost, doubled, failed, slowest = outcome
    report.claim("parts killed with -9 during imports", wanted=str(kills), measured=kills, holds=kills > 0)
    report.claim("... imports accepted meanwhile", wanted="> 0", measured=accepted, holds=accepted > 0)
    report.claim("... lost: without an end five minutes after the heal", wanted="0", measured=lost, holds=lost == 0)
    report.claim("... doubled: more than one end or one video", wanted="0", measured=doubled, holds=doubled == 0)
    report.claim("... ended failed", wanted="0", measured=failed, holds=failed == 0)
    report.claim("... slowest end after the heal, s", wanted="< 300", measured=slowest, holds=slowest < HEAL_SECONDS)
    report.figures(import_kills=kills, import_kills_lost=lost, import_kills_doubled=doubled, import_kills_failed=failed)


async def _kill_in_turn(stage: Stage, film: Path, *, rounds: int, batch: int) -> tuple[int, int, int, int, int, float]:
    chance = random.Random(7)
    video_ids: list[str] = []
    kills, slowest, state = 0, 0.0, stage
    for _ in range(rounds):
        for victim in VICTIMS:
            async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as client:
                video_ids += [await upload(client, film) for _ in range(batch)]
            await asyncio.sleep(chance.uniform(0.5, 4.0))
            await _kill(stage, victim)
            kills += 1
            healed = time.monotonic()
            if victim == "postgres":
                state = await _reconnected(stage)
            await ends(state, video_ids, seconds=HEAL_SECONDS)
            slowest = max(slowest, round(time.monotonic() - healed, 1))
    found = await ends(state, video_ids, seconds=1)
    lost = sum(found.get(each) not in {"ready", "failed"} for each in video_ids)
    failed = sum(status == "failed" for status in found.values())
    return kills, len(video_ids), lost, await _doubled(state, video_ids), failed, slowest


async def _kill(stage: Stage, victim: str) -> None:
    if victim == "worker":
        stage.worker.kill()
        await asyncio.sleep(AWAY_SECONDS)
        stage.worker.keep_running()
        return
    await asyncio.to_thread(control.kill, victim)
    await asyncio.sleep(AWAY_SECONDS)
    await asyncio.to_thread(control.start, victim)


async def _reconnected(stage: Stage) -> Stage:
    """The operator's own connection died with the server."""
    return Stage(
        stage.settings,
        await Accounts.open(stage.settings),
        stage.api,
        stage.worker,
        person=stage.person,
        key=stage.key,
    )


async def _doubled(stage: Stage, video_ids: list[str]) -> int:
    """Imports that were announced more than once, or videos that nobody asked for."""
    connection: asyncpg.Connection[asyncpg.Record] = stage.accounts.connection
    announced = await connection.fetchval(
        """SELECT count(*) FROM (
               SELECT payload ->> 'id' FROM events
               WHERE type LIKE 'job.%' AND payload ->> 'type' = 'import' GROUP BY 1 HAVING count(*) > 1
           ) twice"""
    )
    videos = await connection.fetchval("SELECT count(*) FROM videos")
    return int(announced) + abs(int(videos) - len(video_ids))
