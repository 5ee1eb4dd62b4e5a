"""Revoked keys and a suspended library: everything ends, running jobs included."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx

from cutroom.accounts import service
from cutroom.jobs.states import CANCELLED
from cutroom.platform.clock import system_clock
from dev.scratch import environment_of
from proofs.hardening.attacks import Scene, Tenant, client_at
from proofs.hardening.offboarding import poster_url
from proofs.hardening.sources import import_url, publish, wait_for_job
from proofs.hardening.uploads import NO_KEY, session_url, start_url
from proofs.stage.oauth_client import BrowserUser
from tests.support.stage import upload

FAMILY = "revocation"
LIMIT_SECONDS = 60.0
Attempt = Callable[[], Awaitable[httpx.Response]]
COMMAND = (sys.executable, "-m", "cutroom.entrypoints.cli", "admin", "library", "suspend")


async def attack_with_revoked_key(scene: Scene) -> None:
    tenant = await scene.tenant("127.0.8.1")
    replayed = {"Idempotency-Key": "revocation"}
    (await tenant.client.post("/v1/folders", json={"name": "Kept"}, headers=replayed)).raise_for_status()
    async with scene.lock:
        await service.revoke_key(scene.accounts.connection, tenant.key.id, now=system_clock())
    log, secret = scene.log, tenant.key.secret
    log.expect(FAMILY, "a revoked key, reading", await tenant.client.get("/v1/videos"), 401)
    again = await tenant.client.post("/v1/folders", json={"name": "Kept"}, headers=replayed)
    log.expect(FAMILY, "a revoked key, replaying a stored response", again, 401)
    async with scene.anonymous as client:
        log.expect(FAMILY, "… as X-API-Key", await client.get("/v1/videos", headers={"X-API-Key": secret}), 401)
        spoken = await client.get("/v1/voices", headers={"xi-api-key": secret})
        log.expect(FAMILY, "… as xi-api-key of the speech API", spoken, 401)
        basic = httpx.BasicAuth("user", secret)
        log.expect(FAMILY, "… as a basic password", await client.get("/v1/videos", auth=basic), 401)
    await tenant.client.aclose()


@dataclass(frozen=True)
class SuspendedLibrary:
    """A library that was suspended at a time, and what its owner still holds."""

    tenant: Tenant
    browser: BrowserUser
    at: float
    poster: str
    start_url: str
    session: str
    running_job: str


async def _suspend_library(scene: Scene) -> SuspendedLibrary:
    """Suspend a library by the operator's command while one of its jobs runs."""
    tenant = await scene.tenant("127.0.8.2")
    client = tenant.client
    browser = await BrowserUser.sign_in(scene.runtime, scene.stage.api.url, tenant.person)
    video_id = await upload(client, scene.video_file)
    poster = await poster_url(client, video_id)
    (await client.get(poster, headers=NO_KEY)).raise_for_status()
    hook = {"url": scene.host.url("suspended", "/hook/suspended")}
    (await client.post("/v1/webhook-endpoints", json=hook)).raise_for_status()
    await wait_for_job(client, f"import_{video_id}")
    _, url = await start_url(client)
    session = await session_url(client)
    slow = await import_url(client, scene.host.url("suspended", "/steady/suspended.mp4"))
    async with asyncio.timeout(LIMIT_SECONDS):
        while not scene.host.downloading["suspended"]:
            await asyncio.sleep(0.02)
    command = [*COMMAND, tenant.library_id]
    await asyncio.to_thread(
        subprocess.run, command, env=environment_of(scene.stage.settings), check=True, capture_output=True, timeout=120
    )
    job_id = f"import_{slow.json()['videoId']}"
    return SuspendedLibrary(tenant, browser, time.monotonic(), poster, url, session, job_id)


async def attack_suspended_library(scene: Scene) -> None:
    """Try everything until it is refused, for up to a minute after the suspension."""
    suspended = await _suspend_library(scene)
    received = scene.host.requests["/hook/suspended"]
    await publish(scene, suspended.tenant.library_id)
    async with client_at(scene.stage.api.url, "127.0.8.3") as anonymous:
        for tried, attempt in _attempts(scene, suspended, anonymous).items():
            while (status := (await attempt()).status_code) < 400 and time.monotonic() - suspended.at < LIMIT_SECONDS:
                await asyncio.sleep(0.25)
            happened = f"{status} after {time.monotonic() - suspended.at:.1f} s"
            scene.log.add(FAMILY, f"a suspended library: {tried}", happened, succeeded=status < 400)
    await _check_work(scene, suspended, received)
    await suspended.tenant.client.aclose()
    await suspended.browser.client.aclose()


def _attempts(scene: Scene, suspended: SuspendedLibrary, anonymous: httpx.AsyncClient) -> dict[str, Attempt]:
    client = suspended.tenant.client
    return {
        "reading": lambda: client.get("/v1/videos"),
        "an import": lambda: import_url(client, scene.host.url("suspended", "/video.mp4")),
        "a change": lambda: client.post("/v1/folders", json={"name": "More"}),
        "a page of the web app": lambda: suspended.browser.client.get("/library"),
        "the signed URL of a file": lambda: anonymous.get(suspended.poster),
        "an upload URL": lambda: anonymous.post(suspended.start_url, headers={"x-goog-resumable": "start"}),
        "an open upload session": lambda: anonymous.put(suspended.session, content=b"x"),
    }


async def _check_work(scene: Scene, suspended: SuspendedLibrary, received: int) -> None:
    """The running job has ended and its download with it, and nothing was delivered."""
    (job,) = await scene.fetch("SELECT status, error_code FROM jobs WHERE id = $1", suspended.running_job)
    happened = f"{job['status']} {job['error_code'] or ''}"
    ended = happened == f"failed {CANCELLED}"
    scene.log.add(FAMILY, "a suspended library: a running job", happened, succeeded=not ended)
    while scene.host.downloading["suspended"] and time.monotonic() - suspended.at < LIMIT_SECONDS:
        await asyncio.sleep(0.1)
    left = scene.host.downloading["suspended"]
    scene.log.add(FAMILY, "a suspended library: a running download", f"{left} running", succeeded=left > 0)
    waiting = "SELECT 1 FROM outbox WHERE library_id = $1 AND workflow = 'deliver-webhook'"
    while await scene.fetch(waiting, suspended.tenant.library_id) and time.monotonic() - suspended.at < LIMIT_SECONDS:
        await asyncio.sleep(0.1)
    delivered = scene.host.requests["/hook/suspended"] - received
    scene.log.add(FAMILY, "a suspended library: a webhook", f"{delivered} received", succeeded=delivered > 0)
