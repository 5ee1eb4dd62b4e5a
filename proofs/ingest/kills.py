"""Kills worker, Temporal, PostgreSQL and SeaweedFS in turn during imports; every import still finishes exactly once."""

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
from tests.support.stage import Stage, make_video, open_stage, upload, wait_for_imports

TARGETS = ("worker", "temporal", "postgres", "seaweedfs")
DOWN_SECONDS = 3.0
RECOVERY_SECONDS = 300.0


async def prove_kills(report: Report, *, rounds: int, batch: int) -> None:
    with own_services(), TemporaryDirectory() as name:
        folder = Path(name)
        video = make_video(folder / "video.mp4", 8)
        async with open_stage("proof_kills", folder) as stage:
            outcome = await _kill_in_turn(stage, video, rounds=rounds, batch=batch)
    kills, accepted, lost, duplicated, failed, slowest = outcome
    report.claim("processes killed with SIGKILL during imports", expected=str(kills), measured=kills, holds=kills > 0)
    report.claim("... imports accepted", expected="> 0", measured=accepted, holds=accepted > 0)
    report.claim("... not finished five minutes after recovery", expected="0", measured=lost, holds=lost == 0)
    report.claim(
        "... duplicated: several final events or videos", expected="0", measured=duplicated, holds=duplicated == 0
    )
    report.claim("... failed", expected="0", measured=failed, holds=failed == 0)
    report.claim_time(
        "... slowest completion after recovery, s", expected="< 300", measured=slowest, holds=slowest < RECOVERY_SECONDS
    )
    report.figures(
        import_kills=kills, import_kills_lost=lost, import_kills_doubled=duplicated, import_kills_failed=failed
    )


async def _kill_in_turn(stage: Stage, video: Path, *, rounds: int, batch: int) -> tuple[int, int, int, int, int, float]:
    rng = random.Random(7)
    video_ids: list[str] = []
    kills, slowest, state = 0, 0.0, stage
    for _ in range(rounds):
        for target in TARGETS:
            async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as client:
                video_ids += [await upload(client, video) for _ in range(batch)]
            await asyncio.sleep(rng.uniform(0.5, 4.0))
            await _kill(stage, target)
            kills += 1
            recovered = time.monotonic()
            if target == "postgres":
                state = await _reconnected(stage)
            await wait_for_imports(state, video_ids, seconds=RECOVERY_SECONDS)
            slowest = max(slowest, round(time.monotonic() - recovered, 1))
    found = await wait_for_imports(state, video_ids, seconds=1)
    lost = sum(found.get(each) not in {"ready", "failed"} for each in video_ids)
    failed = sum(status == "failed" for status in found.values())
    return kills, len(video_ids), lost, await _count_duplicates(state, video_ids), failed, slowest


async def _kill(stage: Stage, target: str) -> None:
    if target == "worker":
        stage.worker.kill()
        await asyncio.sleep(DOWN_SECONDS)
        stage.worker.keep_running()
        return
    await asyncio.to_thread(control.kill, target)
    await asyncio.sleep(DOWN_SECONDS)
    await asyncio.to_thread(control.start, target)


async def _reconnected(stage: Stage) -> Stage:
    """Reopen the operator's connection, which died with the server."""
    return Stage(
        stage.settings,
        await Accounts.open(stage.settings),
        stage.api,
        stage.worker,
        person=stage.person,
        key=stage.key,
    )


async def _count_duplicates(stage: Stage, video_ids: list[str]) -> int:
    """Imports with more than one final event, and unexpected videos."""
    connection: asyncpg.Connection[asyncpg.Record] = stage.accounts.connection
    repeated = await connection.fetchval(
        """SELECT count(*) FROM (
               SELECT payload ->> 'id' FROM events
               WHERE type LIKE 'job.%' AND payload ->> 'type' = 'import' GROUP BY 1 HAVING count(*) > 1
           ) twice"""
    )
    videos = await connection.fetchval("SELECT count(*) FROM videos")
    return int(repeated) + abs(int(videos) - len(video_ids))
