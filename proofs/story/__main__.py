"""End to end: every product of one video with webhooks and charges, undisturbed and while processes are killed."""

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
from proofs.stage.loopback_worker import CERTIFICATE
from proofs.stage.own_services import own_services
from proofs.stage.report import Report, prove
from proofs.stage.requirements import GB, Needs
from proofs.stage.webhook_receiver import Receiver
from proofs.story.chaos import chaos
from proofs.story.client import (
    RetryingClient,
    StoryRequests,
    request_everything,
    wait_for_hosting,
    wait_for_jobs,
)
from proofs.story.products import check_products
from tests.support import shorts_video
from tests.support.dub_stage import fund
from tests.support.servers.mux_server import MuxServer, mux_server
from tests.support.stage import Stage, open_stage

EXAMPLE = PROJECT / "examples" / "launch.mp4"
SHORT_SECONDS = 21.2  # of the example: seven sentences, enough for a short of at least 15 seconds
CHAOS_SECONDS = {True: 60.0, False: 600.0}  # in the short form every process is killed once
EVENTS_SECONDS = 120.0
PORT_OFFSET = 20  # from the base port, between the ports of the shared services


@dataclass(frozen=True, slots=True)
class StoryStage:
    """A stage with a client, a fake external host and a webhook receiver."""

    stage: Stage
    client: RetryingClient
    mux: MuxServer
    receiver: Receiver
    path: str  # of the webhook endpoint at the receiver


@dataclass(frozen=True, slots=True)
class StoryResult:
    """The outcome of one run."""

    requests: StoryRequests
    products: dict[str, bool]
    events: dict[str, int]  # distinct `job.ready` events by job id
    unverified: int
    charged: int  # milli-credits
    overcharged: list[str]  # jobs with more captured lines than charged items
    uncharged: list[str]  # ready jobs with fewer
    seconds: float

    @property
    def missing(self) -> list[str]:
        return [name for name, is_valid in self.products.items() if not is_valid]

    @property
    def unannounced(self) -> list[str]:
        return [name for name, job_id in self.requests.jobs.items() if self.events.get(job_id) != 1]


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        video = await asyncio.to_thread(_make_video, folder, short=short)
        async with _open_story(folder, playback="off" if short else "on") as story:
            calm = None if short else await _run(story, video, short=short)
            if calm is not None:
                _claim(report, "calm", calm, story)
            async with chaos(story.stage, seconds=CHAOS_SECONDS[short]) as killer:
                chaotic = await _run(story, video, short=short)
            _claim(report, "with kills", chaotic, story)
            audit = await _audit(story.stage)
    kills = sum(killer.killed.values())
    by_process = ", ".join(f"{process} {count}" for process, count in sorted(killer.killed.items()))
    report.claim("processes killed with -9", expected="every 10 s", measured=f"{kills}: {by_process}", holds=kills > 0)
    is_exact = not chaotic.overcharged and not chaotic.uncharged
    if calm is not None:
        is_exact = is_exact and calm.charged == chaotic.charged
        measured = f"{calm.charged / 1000:g} and {chaotic.charged / 1000:g}"
        report.claim("credits charged in both runs", expected="the same", measured=measured, holds=is_exact)
    for fault in audit.faults:
        report.note(fault)
    report.claim("ledger faults", expected="0", measured=len(audit.faults), holds=not audit.faults)
    report.figures(
        products_ready=sum((calm or chaotic).products.values()),
        ledger_ok=not audit.faults and is_exact,
        kills=kills,
        chaos_lost=len(chaotic.missing) + len(chaotic.unannounced),
        chaos_double_charged=len(chaotic.overcharged),
        calm_seconds=round(calm.seconds) if calm is not None else None,  # the short form runs once, with kills
        chaos_seconds=round(chaotic.seconds),
        retried_requests=story.client.retried,
    )


def _claim(report: Report, when: str, result: StoryResult, story: StoryStage) -> None:
    valid, expected = sum(result.products.values()), len(result.products)
    for name in result.missing:
        report.note(f"{when}: missing: {name}")
    for name in result.unannounced:
        report.note(f"{when}: {result.events.get(result.requests.jobs[name], 0)} events for {name}")
    if result.missing:
        report.note(story.stage.worker.read_log()[-3000:])
    report.claim(
        f"{when}: products created and opened",
        expected="all",
        measured=f"{valid} of {expected}",
        holds=not result.missing,
    )
    total = len(result.requests.jobs)
    measured = f"{total - len(result.unannounced)} of {total} jobs, {result.unverified} unverified"
    holds = not result.unannounced and not result.unverified
    report.claim("... announced by one verified webhook each", expected="all", measured=measured, holds=holds)
    report.claim(
        "... charged more than once, or not at all",
        expected="0, 0",
        measured=f"{len(result.overcharged)}, {len(result.uncharged)}",
        holds=not result.overcharged and not result.uncharged,
    )


def _make_video(folder: Path, *, short: bool) -> Path:
    """The start of the example video, or a longer one with recorded speakers."""
    if not short:
        return shorts_video.make_video(folder, long=True).path
    path = folder / "video.mp4"
    command = ["ffmpeg", "-v", "error", "-y", "-i", str(EXAMPLE), "-t", str(SHORT_SECONDS), "-vf", "scale=640:-2"]
    subprocess.run([*command, "-c:v", "libx264", "-preset", "veryfast", "-c:a", "copy", str(path)], check=True)
    return path


@asynccontextmanager
async def _open_story(folder: Path, *, playback: str) -> AsyncIterator[StoryStage]:
    receiver = Receiver(folder)
    await receiver.start()
    async with mux_server() as mux:
        changes: dict[str, Any] = {**mux.settings, "playback": playback}
        variables = {CERTIFICATE: str(folder / "certificate.pem")}
        opened = open_stage(
            "proof_story",
            folder / "stage",
            environment=variables,
            worker_module="proofs.stage.loopback_worker",
            **changes,
        )
        try:
            async with opened as stage:
                await fund(stage)
                headers = stage.key.headers
                async with httpx.AsyncClient(base_url=stage.api.url, headers=headers, timeout=60) as http:
                    client, path = RetryingClient(http), "/takes/story"
                    endpoint = await client.post("/v1/webhook-endpoints", url=f"https://{receiver.host}{path}")
                    receiver.secrets[path] = endpoint["secret"]
                    yield StoryStage(stage, client, mux, receiver, path)
        finally:
            await receiver.stop()
            receiver.sender.close()


async def _run(story: StoryStage, video: Path, *, short: bool) -> StoryResult:
    started, before, uploads = time.monotonic(), len(story.receiver.deliveries), len(story.mux.uploads)
    requests = await request_everything(story.client, video, has_promo=not short)
    jobs = await wait_for_jobs(story.client, list(requests.jobs.values()))
    for name, job_id in requests.jobs.items():
        if jobs[job_id]["status"] != "ready":
            print(name, json.dumps(jobs[job_id]), file=sys.stderr)
    url = await wait_for_hosting(story.client, requests)
    seconds = time.monotonic() - started
    products = await check_products(story.client, requests, jobs, video=video)
    source = await asyncio.to_thread(video.read_bytes)
    uploaded = [held for held in story.mux.uploads.values() if url == f"https://stream.mux.com/play{held.id}.m3u8"]
    once = len(story.mux.uploads) - uploads == 1
    products["hosting, uploaded once, complete"] = once and len(uploaded) == 1 and bytes(uploaded[0].received) == source
    events = await _events(story, requests, before)
    unverified = sum(not delivery.verified for delivery in story.receiver.deliveries[before:])
    charged, overcharged, uncharged = await _charged(story.stage, requests)
    return StoryResult(requests, products, events, unverified, charged, overcharged, uncharged, seconds)


async def _events(story: StoryStage, requests: StoryRequests, before: int) -> dict[str, int]:
    """Distinct `job.ready` events by job id; repeated deliveries of an event share its message id."""
    deadline = time.monotonic() + EVENTS_SECONDS
    while True:
        ids: dict[str, set[str]] = defaultdict(set)
        for delivery in story.receiver.deliveries[before:]:
            event = json.loads(delivery.body)
            if event["type"] == "job.ready":
                ids[event["data"]["id"]].add(delivery.message_id)
        if ids.keys() >= set(requests.jobs.values()) or time.monotonic() > deadline:
            return {job_id: len(found) for job_id, found in ids.items()}
        await asyncio.sleep(0.5)


async def _charged(stage: Stage, requests: StoryRequests) -> tuple[int, list[str], list[str]]:
    """Milli-credits captured for these jobs, and the jobs with more or with fewer captured lines than items."""
    connection = await _connect(stage)
    try:
        ids = list(requests.jobs.values())
        jobs = await connection.fetch("SELECT id, charge FROM jobs WHERE id = ANY($1)", ids)
        lines = await connection.fetch(
            "SELECT split_part(holder, '.', 1) AS job_id, millicredits FROM escrow_lines "
            "WHERE state = 'captured' AND split_part(holder, '.', 1) = ANY($1)",
            ids,
        )
    finally:
        await connection.close()
    captured = Counter(line["job_id"] for line in lines)
    items = {job["id"]: len(job["charge"]["items"]) if job["charge"] else 0 for job in jobs}
    over = [each for each in ids if captured[each] > items.get(each, 0)]
    under = [each for each in ids if captured[each] < items.get(each, 0)]
    return sum(line["millicredits"] for line in lines), over, under


async def _audit(stage: Stage) -> LedgerAudit:
    connection = await _connect(stage)
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            return await audit_ledger(connection, stage.person.library_id)
    finally:
        await connection.close()


async def _connect(stage: Stage) -> "asyncpg.Connection[asyncpg.Record]":
    """Open a new connection each time, because the stage's own was closed when PostgreSQL was killed."""
    assert stage.settings.owner_database_url is not None
    connection = await asyncpg.connect(stage.settings.owner_database_url.get_secret_value())
    await register_json_codec(connection)
    return connection


if __name__ == "__main__":
    needs = Needs(
        model_set="ci", programs=("ffmpeg", "ffprobe", "apertium"), disk_bytes=4 * GB, short_disk_bytes=1 * GB
    )
    sys.exit(prove("End to end", proof, within=partial(own_services, port_base() + PORT_OFFSET), needs=needs))
