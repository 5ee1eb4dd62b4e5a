"""The key ring is rotated while clients use what was signed before and after."""

import asyncio
import re
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from dev.scratch import environment_of
from proofs.hardening.attacks import Scene, Tenant
from proofs.hardening.offboarding import poster_url
from proofs.hardening.sources import import_url, wait_for_job
from proofs.hardening.uploads import NO_KEY, session_url
from proofs.stage.oauth_client import BrowserUser
from tests.support.stage import upload

FAMILY = "rotation"
COMMAND = (sys.executable, "-m", "cutroom.entrypoints.cli", "admin", "keys", "rotate")
ACTIVATION_SECONDS = 12  # longer than processes take to read the ring
NEW_KEY_SECONDS = 120.0
FILE_TOKEN = re.compile(r"/files/fl_[0-9a-f]{8}([0-9a-f]{8})")


@dataclass
class Rotation:
    """Requests that use signed URLs and forms, and those that failed."""

    tenant: Tenant
    browser: BrowserUser
    video_id: str
    requests: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    urls: dict[str, str] = field(default_factory=dict)  # the first of each key

    def check(self, name: str, outcome: int | str, *expected: int | str) -> None:
        self.requests[name] += 1
        if outcome not in expected:
            self.errors.append(f"{name}: {outcome}")

    async def run_round(self) -> None:
        client = self.tenant.client
        found = await client.get(f"/v1/videos/{self.video_id}")
        self.check("video", found.status_code, 200)
        if found.status_code == 200:
            url = str(found.json()["posterUrl"])
            token = FILE_TOKEN.search(url)
            self.urls.setdefault(token[1] if token else "", url)
        for url in self.urls.values():
            self.check("signed URL", (await client.get(url, headers=NO_KEY)).status_code, 200)
        form = {"csrf": await self.browser.csrf(), "drafts": "accept"}
        submitted = await self.browser.client.post("/credits/drafts", data=form)
        self.check("form", submitted.status_code, 200, 303)


@asynccontextmanager
async def rotated_keys(scene: Scene) -> AsyncIterator[None]:
    """Rotate at the start, and use the old and the new key while the body runs, at least until the new one signs."""
    tenant = await scene.tenant("127.0.9.1")
    browser = await BrowserUser.sign_in(scene.runtime, scene.stage.api.url, tenant.person)
    video_id = await upload(tenant.client, scene.video_file)
    await poster_url(tenant.client, video_id)
    rotation = Rotation(tenant, browser, video_id)
    session = await session_url(tenant.client)
    await rotation.run_round()
    command = [*COMMAND, "--activation-seconds", str(ACTIVATION_SECONDS)]
    environment = environment_of(scene.stage.settings)
    await asyncio.to_thread(subprocess.run, command, env=environment, check=True, capture_output=True, timeout=120)
    is_over = asyncio.Event()
    running = asyncio.create_task(_use_keys(rotation, is_over))
    try:
        yield
        is_over.set()
        async with asyncio.timeout(NEW_KEY_SECONDS):
            await running
        await _use_after(scene, rotation, session)
    finally:
        running.cancel()
        await browser.client.aclose()
        await tenant.client.aclose()
    scene.log.rotation_errors += rotation.errors
    for name, count in sorted(rotation.requests.items()):
        failed = [each for each in rotation.errors if each.startswith(name)]
        happened = f"{len(failed)} of {count} failed {failed[:2] or ''}"
        scene.log.add(FAMILY, f"{name} while keys are rotated", happened, succeeded=bool(failed))


async def _use_keys(rotation: Rotation, is_over: asyncio.Event) -> None:
    while not is_over.is_set() or len(rotation.urls) < 2:
        await rotation.run_round()
        await asyncio.sleep(0.25)


async def _use_after(scene: Scene, rotation: Rotation, session: str) -> None:
    """An upload that was started with the earlier key, and an import whose URL is sealed with the new one."""
    client = rotation.tenant.client
    status = await client.put(session, headers={**NO_KEY, "Content-Range": "bytes */*"})
    rotation.check("upload session", status.status_code, 200, 201, 308)
    created = await import_url(client, scene.host.url("rotation", "/video.mp4"))
    rotation.check("import", created.status_code, 202)
    if created.status_code == 202:
        ended = await wait_for_job(client, f"import_{created.json()['videoId']}")
        rotation.check("sealed URL of an import", ended, "ready")
