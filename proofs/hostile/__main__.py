"""Nothing hostile gets further than the door: URLs at every sink, and files, through the API and a real worker.

Everything runs inside a network namespace that has no way out, with services of its own, so that a hole in the guard
could reach nothing real.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from cutroom.platform.clock import system_clock
from cutroom.platform.egress.client import Egress
from cutroom.web.body import MAX_FORM_BYTES
from cutroom.webhooks.rules import fault_in_url as fault_in_endpoint
from cutroom.webhooks.service import announce
from proofs.hostile.files import READY, prove_files
from proofs.stage.own_services import own_services
from proofs.stage.report import Report, prove
from tests.support.hostile_urls import Sink, own_sinks, prepare, prove_urls
from tests.support.network_namespace import enter, open_world
from tests.support.stage import Stage, open_stage, upload

MISSPELT = "400 INVALID_ARGUMENT"
END_SECONDS = 110.0
NO_END = "NO END"


class Doors:
    """The ways in that a caller of the API has."""

    def __init__(self, stage: Stage, client: httpx.AsyncClient) -> None:
        self.stage = stage
        self.client = client

    def sinks(self) -> list[Sink]:
        return [
            Sink("POST /videos", self.import_url, spelling_answer=MISSPELT),
            Sink("POST /voices/add", self.clone_url, spelling_answer=MISSPELT),
            Sink(
                "webhook delivery",
                self.deliver,
                follows_redirects=False,
                spelling_answer=MISSPELT,
                fault=fault_in_endpoint,
            ),
        ]

    async def import_url(self, url: str) -> str:
        """What a caller gets to see of an import, at once or from its job."""
        body = json.dumps({"source": {"type": "https", "url": url}})
        answer = await self.client.post("/v1/videos", content=body, headers={"Content-Type": "application/json"})
        if answer.status_code == 202:
            return await self.end_of_import(answer.json()["videoId"])
        error = answer.json()["error"]
        if answer.status_code == 400:
            return f"400 {error['code']}"
        return f"{error['code']} {error['message']}"

    async def end_of_import(self, video_id: str) -> str:
        job = await self._ended(f"import_{video_id}")
        return READY if "error" not in job else f"{job['error']['code']} {job['error']['message']}"

    async def clone_url(self, url: str) -> str:
        """What a caller gets to see of a clone."""
        body = json.dumps({"name": "hostile", "sample_url": url})
        made = await self.client.post("/v1/voices/add", content=body, headers={"Content-Type": "application/json"})
        if made.status_code != 200:
            return f"{made.status_code} {made.json()['error']['code']}"
        return await self._end_of_clone(made.json()["voice_id"])

    async def _end_of_clone(self, voice_id: str) -> str:
        deadline = time.monotonic() + END_SECONDS
        while time.monotonic() < deadline:
            voice = (await self.client.get(f"/v1/voices/{voice_id}")).json()
            if voice["status"] != "processing":
                return READY if voice["status"] == "ready" else str(voice["error"])
            await asyncio.sleep(0.05)
        return NO_END

    async def open_file(self, path: Path, file_name: str) -> str:
        """Upload a file and wait for its import: ready, or the reason it was refused for. Clone it as well."""
        if path.is_symlink() or not path.is_file():
            return "NOT_A_FILE"  # no client can send such a thing
        cloned = await self._clone_file(path)
        imported = await self._import_file(path, file_name)
        if cloned == NO_END or (cloned == READY and imported != READY):
            return f"CLONED: {cloned}"
        return imported

    async def _clone_file(self, path: Path) -> str:
        if path.stat().st_size > MAX_FORM_BYTES:
            return "TOO_LARGE"
        sent = await self.client.post("/v1/voices/add", data={"name": "hostile"}, files={"files": path.read_bytes()})
        if sent.status_code != 200:
            return f"{sent.status_code} {sent.json()['error']['code']}"
        return await self._end_of_clone(sent.json()["voice_id"])

    async def _import_file(self, path: Path, file_name: str) -> str:
        try:
            video_id = await upload(self.client, path, file_name=file_name)
        except httpx.HTTPStatusError as error:
            return f"REFUSED_{error.response.status_code}"  # at the door: a name that is a path, an empty file
        job = await self._ended(f"import_{video_id}")
        return READY if "error" not in job else str(job["error"]["details"].get("reason", job["error"]["code"]))

    async def _ended(self, job_id: str) -> dict[str, dict[str, dict[str, str]]]:
        deadline = time.monotonic() + END_SECONDS
        while time.monotonic() < deadline:
            job = (await self.client.get(f"/v1/jobs/{job_id}")).json()
            if job["status"] in {"ready", "failed"}:
                return dict(job)
            await asyncio.sleep(0.1)
        return {"error": {"code": {"x": NO_END}, "message": {}, "details": {}}}

    async def deliver(self, url: str) -> str:
        """Register an endpoint, let something happen, and see how the delivery went."""
        body = json.dumps({"url": url})
        made = await self.client.post(
            "/v1/webhook-endpoints", content=body, headers={"Content-Type": "application/json"}
        )
        if made.status_code != 201:
            return f"{made.status_code} {made.json()['error']['code']}"
        endpoint_id, library_id = made.json()["id"], self.stage.person.library_id
        connection = self.stage.accounts.connection
        async with connection.transaction():
            await announce(connection, library_id, type="job.ready", data={}, now=system_clock())
        outcome = "none"
        deadline = time.monotonic() + END_SECONDS
        while outcome == "none" and time.monotonic() < deadline:
            row = await connection.fetchrow(
                "SELECT outcome, status FROM delivery_attempts WHERE endpoint_id = $1 ORDER BY number LIMIT 1",
                endpoint_id,
            )
            outcome = f"{row['outcome']} {row['status']}" if row else "none"
            await asyncio.sleep(0.03)
        await self.client.delete(f"/v1/webhook-endpoints/{endpoint_id}")
        return outcome


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        async with open_world() as world:
            await prepare(world)
            trusted = {"SSL_CERT_FILE": str(world.authority.file)}
            async with (
                open_stage("proof_hostile", Path(name), environment=trusted, preflight_seconds=3.0) as stage,
                httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as client,
            ):
                doors = Doors(stage, client)
                egress = Egress(tls=world.authority.trust())
                sinks = [*own_sinks(egress), *doors.sinks()]
                await prove_urls(report, world, sinks)
                egress.close()
                await prove_files(report, doors.open_file, worker=stage.worker.pid, every=8 if short else 1)
                alive = stage.worker.process is not None and stage.worker.process.poll() is None
                report.claim("the worker that met them all", wanted="alive", measured=alive, holds=alive)


@contextmanager
def walled_in() -> Iterator[None]:
    """A fresh network with nothing in it but ourselves, and services of its own."""
    enter()
    with own_services(port_base=28400):
        yield


if __name__ == "__main__":
    sys.exit(prove("Hostile URLs and files", proof, walled_in))
