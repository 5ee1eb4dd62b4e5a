"""One film and everything that can be made of it, to the last webhook and milli-credit; then again, while parts die."""

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import asyncpg
import httpx

from cutroom.platform.db import register_json_codec
from dev.environment import PROJECT, port_base
from proofs.stage.ledger_audit import LedgerAudit, audit_ledger
from proofs.stage.own_services import own_services
from proofs.stage.report import Report, prove
from proofs.stage.webhook_receiver import Receiver
from proofs.story.caller import Asked, Caller, ask_for_everything, ended, hosted
from proofs.story.chaos import chaos
from proofs.story.products import take
from proofs.story.worker import CERTIFICATE
from tests.support import shorts_video
from tests.support.dub_stage import fund
from tests.support.mux_server import MuxServer, mux_server
from tests.support.stage import Stage, open_stage

EXAMPLE = PROJECT / "examples" / "launch.mp4"
SHORT_SECONDS = 21.2  # of the example, for CI: seven sentences. A short has at least 15 seconds
KILLING_SECONDS = {True: 60.0, False: 600.0}  # in the short form every part dies once
EVENTS_SECONDS = 120.0
PORTS_BESIDE = 20  # from the base: between those of the services that everybody uses


@dataclass(frozen=True, slots=True)
class Scene:
    """Who asks, and the two outside: a host, and a receiver of webhooks."""

    stage: Stage
    caller: Caller
    mux: MuxServer
    receiver: Receiver
    hook: str  # the path at the receiver


@dataclass(frozen=True, slots=True)
class Told:
    """One telling of the story."""

    asked: Asked
    products: dict[str, bool]
    events: dict[str, int]  # of each job, how many different ones came
    unverified: int
    charged: int  # milli-credits
    twice: list[str]  # jobs that paid for more than was asked for
    seconds: float

    @property
    def missing(self) -> list[str]:
        return [name for name, there in self.products.items() if not there]

    @property
    def silent(self) -> list[str]:
        return [name for name, job_id in self.asked.jobs.items() if self.events.get(job_id) != 1]


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        film = await asyncio.to_thread(_film, folder, short=short)
        async with _scene(folder, playback="off" if short else "on") as scene:
            calm = await _tell(scene, film)
            _claim(report, "calm", calm, scene)
            async with chaos(scene.stage, seconds=KILLING_SECONDS[short]) as killer:
                wild = await _tell(scene, film)
            _claim(report, "with kills", wild, scene)
            books = await _books(scene.stage)
    kills = sum(killer.killed.values())
    by_part = ", ".join(f"{part} {count}" for part, count in sorted(killer.killed.items()))
    report.claim("parts killed with -9", expected="every 10 s", measured=f"{kills}: {by_part}", holds=kills > 0)
    same = calm.charged == wild.charged
    measured = f"{calm.charged / 1000:g} and {wild.charged / 1000:g}"
    report.claim("credits that both tellings cost", expected="the same", measured=measured, holds=same)
    for fault in books.faults:
        report.note(fault)
    report.claim("faults in the books", expected="0", measured=len(books.faults), holds=not books.faults)
    report.figures(
        products_ready=sum(calm.products.values()),
        ledger_ok=not books.faults and same,
        kills=kills,
        chaos_lost=len(wild.missing) + len(wild.silent),
        chaos_double_charged=len(wild.twice),
        calm_seconds=round(calm.seconds),
        chaos_seconds=round(wild.seconds),
        retried_requests=scene.caller.retried,
    )


def _claim(report: Report, when: str, told: Told, scene: Scene) -> None:
    there, expected = sum(told.products.values()), len(told.products)
    for name in told.missing:
        report.note(f"{when}: not there: {name}")
    for name in told.silent:
        report.note(f"{when}: {told.events.get(told.asked.jobs[name], 0)} events of {name}")
    if told.missing:
        report.note(scene.stage.worker.read_log()[-3000:])
    report.claim(
        f"{when}: products made and opened", expected="all", measured=f"{there} of {expected}", holds=not told.missing
    )
    measured = f"{len(told.asked.jobs) - len(told.silent)} of {len(told.asked.jobs)} jobs, {told.unverified} not ours"
    holds = not told.silent and not told.unverified
    report.claim("... told by webhook, once each, verified", expected="all", measured=measured, holds=holds)
    report.claim("... charged twice", expected="0", measured=len(told.twice), holds=not told.twice)


def _film(folder: Path, *, short: bool) -> Path:
    """The example's beginning, or a longer film of recorded people."""
    if not short:
        return shorts_video.make_video(folder, long=True).path
    path = folder / "film.mp4"
    command = ["ffmpeg", "-v", "error", "-y", "-i", str(EXAMPLE), "-t", str(SHORT_SECONDS), "-vf", "scale=640:-2"]
    subprocess.run([*command, "-c:v", "libx264", "-preset", "veryfast", "-c:a", "copy", str(path)], check=True)
    return path


@asynccontextmanager
async def _scene(folder: Path, *, playback: str) -> AsyncIterator[Scene]:
    receiver = Receiver(folder)
    await receiver.start()
    async with mux_server() as mux:
        changes: dict[str, Any] = {
            **mux.settings,
            "playback": playback,
        }
        variables = {CERTIFICATE: str(folder / "certificate.pem")}
        opened = open_stage(
            "proof_story", folder / "stage", environment=variables, worker_module="proofs.story.worker", **changes
        )
        try:
            async with opened as stage:
                await fund(stage)
                headers = stage.key.headers
                async with httpx.AsyncClient(base_url=stage.api.url, headers=headers, timeout=60) as client:
                    caller, hook = Caller(client), "/takes/story"
                    made = await caller.post("/v1/webhook-endpoints", url=f"https://{receiver.host}{hook}")
                    receiver.secrets[hook] = made["secret"]
                    yield Scene(stage, caller, mux, receiver, hook)
        finally:
            await receiver.stop()
            receiver.sender.close()


async def _tell(scene: Scene, film: Path) -> Told:
    started, before, uploads = time.monotonic(), len(scene.receiver.deliveries), len(scene.mux.uploads)
    asked = await ask_for_everything(scene.caller, film)
    jobs = await ended(scene.caller, list(asked.jobs.values()))
    for name, job_id in asked.jobs.items():
        if jobs[job_id]["status"] != "ready":
            print(name, json.dumps(jobs[job_id]), file=sys.stderr)
    url = await hosted(scene.caller, asked)
    seconds = time.monotonic() - started
    products = await take(scene.caller, asked, jobs, film=film)
    source = await asyncio.to_thread(film.read_bytes)
    mine = [held for held in scene.mux.uploads.values() if url == f"https://stream.mux.com/play{held.id}.m3u8"]
    once = len(scene.mux.uploads) - uploads == 1
    products["hosted, once and whole"] = once and len(mine) == 1 and bytes(mine[0].received) == source
    events = await _events(scene, asked, before)
    unverified = sum(not delivery.verified for delivery in scene.receiver.deliveries[before:])
    charged, twice = await _charged(scene.stage, asked)
    return Told(asked, products, events, unverified, charged, twice, seconds)


async def _events(scene: Scene, asked: Asked, before: int) -> dict[str, int]:
    """Of each job, how many different events said that it is ready. Deliveries may come twice, under one id."""
    deadline = time.monotonic() + EVENTS_SECONDS
    while True:
        ids: dict[str, set[str]] = defaultdict(set)
        for delivery in scene.receiver.deliveries[before:]:
            event = json.loads(delivery.body)
            if event["type"] == "job.ready":
                ids[event["data"]["id"]].add(delivery.message_id)
        if ids.keys() >= set(asked.jobs.values()) or time.monotonic() > deadline:
            return {job_id: len(found) for job_id, found in ids.items()}
        await asyncio.sleep(0.5)


async def _charged(stage: Stage, asked: Asked) -> tuple[int, list[str]]:
    """What was taken for these jobs, and which of them paid for more than they were asked to do."""
    connection = await _connect(stage)
    try:
        ids = list(asked.jobs.values())
        jobs = await connection.fetch("SELECT id, charge FROM jobs WHERE id = ANY($1)", ids)
        lines = await connection.fetch(
            "SELECT split_part(holder, '.', 1) AS job_id, millicredits FROM escrow_lines "
            "WHERE state = 'captured' AND split_part(holder, '.', 1) = ANY($1)",
            ids,
        )
    finally:
        await connection.close()
    taken = Counter(line["job_id"] for line in lines)
    items = {job["id"]: len(job["charge"]["items"]) if job["charge"] else 0 for job in jobs}
    return sum(line["millicredits"] for line in lines), [each for each in ids if taken[each] > items.get(each, 0)]


async def _books(stage: Stage) -> LedgerAudit:
    connection = await _connect(stage)
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            return await audit_ledger(connection, stage.person.library_id)
    finally:
        await connection.close()


async def _connect(stage: Stage) -> "asyncpg.Connection[asyncpg.Record]":
    """Anew each time: the stage's own died with the server."""
    assert stage.settings.owner_database_url is not None
    connection = await asyncpg.connect(stage.settings.owner_database_url.get_secret_value())
    await register_json_codec(connection)
    return connection


if __name__ == "__main__":
    sys.exit(prove("The story", proof, within=partial(own_services, port_base() + PORTS_BESIDE)))
