"""Hostile URLs and files, sent through the API to a real worker.

Everything runs with private services inside a network namespace without external access, so that a leak could not
reach a real host.
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
from cutroom.webhooks.publishing import publish_event
from cutroom.webhooks.rules import url_error as endpoint_url_error
from proofs.hostile.files import READY, prove_files
from proofs.hostile.urls import prove_urls
from proofs.stage.own_services import own_services
from proofs.stage.report import Report, prove
from proofs.stage.requirements import GB, Needs
from tests.support.hostile_urls import UrlSink, egress_sinks, serve_hostile_names
from tests.support.network_namespace import enter_namespace, open_internet
from tests.support.stage import Stage, open_stage, upload

NEEDS = Needs(
    programs=("ffmpeg", "ffprobe", "ip", "unshare", "bwrap"), short_disk_bytes=2 * GB, disk_bytes=2 * GB, root=True
)
MALFORMED = "400 INVALID_ARGUMENT"
END_SECONDS = 110.0
TIMED_OUT = "TIMED OUT"


class ApiSinks:
    """API operations that take URLs or files."""

    def __init__(self, stage: Stage, client: httpx.AsyncClient) -> None:
        self.stage = stage
        self.client = client

    def sinks(self) -> list[UrlSink]:
        return [
            UrlSink("POST /videos", self.import_url, malformed_response=MALFORMED),
            UrlSink("POST /voices/add", self.clone_url, malformed_response=MALFORMED),
            UrlSink(
                "webhook delivery",
                self.deliver_webhook,
                follows_redirects=False,
                malformed_response=MALFORMED,
                find_fault=endpoint_url_error,
            ),
        ]

    async def import_url(self, url: str) -> str:
        """What a caller sees of an import, from the response or from its job."""
        body = json.dumps({"source": {"type": "https", "url": url}})
        response = await self.client.post("/v1/videos", content=body, headers={"Content-Type": "application/json"})
        if response.status_code == 202:
            return await self.wait_for_import(response.json()["videoId"])
        error = response.json()["error"]
        if response.status_code == 400:
            return f"400 {error['code']}"
        return f"{error['code']} {error['message']}"

    async def wait_for_import(self, video_id: str) -> str:
        job = await self._wait_for_job(f"import_{video_id}")
        return READY if "error" not in job else f"{job['error']['code']} {job['error']['message']}"

    async def clone_url(self, url: str) -> str:
        """What a caller sees of a clone."""
        body = json.dumps({"name": "hostile", "sample_url": url})
        made = await self.client.post("/v1/voices/add", content=body, headers={"Content-Type": "application/json"})
        if made.status_code != 200:
            return f"{made.status_code} {made.json()['error']['code']}"
        return await self._wait_for_clone(made.json()["voice_id"])

    async def _wait_for_clone(self, voice_id: str) -> str:
        deadline = time.monotonic() + END_SECONDS
        while time.monotonic() < deadline:
            voice = (await self.client.get(f"/v1/voices/{voice_id}")).json()
            if voice["status"] != "processing":
                return READY if voice["status"] == "ready" else str(voice["error"])
            await asyncio.sleep(0.05)
        return TIMED_OUT

    async def import_file(self, path: Path, file_name: str) -> str:
        """Upload a file and wait for its import: ready, or the reason of its rejection. Also clone a voice from it."""
        if path.is_symlink() or not path.is_file():
            return "NOT_A_FILE"  # clients can only send regular files
        cloned = await self._clone_file(path)
        imported = await self._import_file(path, file_name)
        if cloned == TIMED_OUT or (cloned == READY and imported != READY):
            return f"CLONED: {cloned}"
        return imported

    async def _clone_file(self, path: Path) -> str:
        if path.stat().st_size > MAX_FORM_BYTES:
            return "TOO_LARGE"
        sent = await self.client.post("/v1/voices/add", data={"name": "hostile"}, files={"files": path.read_bytes()})
        if sent.status_code != 200:
            return f"{sent.status_code} {sent.json()['error']['code']}"
        return await self._wait_for_clone(sent.json()["voice_id"])

    async def _import_file(self, path: Path, file_name: str) -> str:
        try:
            video_id = await upload(self.client, path, file_name=file_name)
        except httpx.HTTPStatusError as error:
            return f"REFUSED_{error.response.status_code}"  # rejected by the upload: a path as name, or an empty file
        job = await self._wait_for_job(f"import_{video_id}")
        return READY if "error" not in job else str(job["error"]["details"].get("reason", job["error"]["code"]))

    async def _wait_for_job(self, job_id: str) -> dict[str, dict[str, dict[str, str]]]:
        deadline = time.monotonic() + END_SECONDS
        while time.monotonic() < deadline:
            job = (await self.client.get(f"/v1/jobs/{job_id}")).json()
            if job["status"] in {"ready", "failed"}:
                return dict(job)
            await asyncio.sleep(0.1)
        return {"error": {"code": {"x": TIMED_OUT}, "message": {}, "details": {}}}

    async def deliver_webhook(self, url: str) -> str:
        """Register an endpoint, publish an event, and return the outcome of its delivery."""
        body = json.dumps({"url": url})
        made = await self.client.post(
            "/v1/webhook-endpoints", content=body, headers={"Content-Type": "application/json"}
        )
        if made.status_code != 201:
            return f"{made.status_code} {made.json()['error']['code']}"
        endpoint_id, library_id = made.json()["id"], self.stage.person.library_id
        connection = self.stage.accounts.connection
        async with connection.transaction():
            await publish_event(connection, library_id, type="job.ready", data={}, now=system_clock())
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
        async with open_internet() as world:
            await serve_hostile_names(world)
            trusted = {"SSL_CERT_FILE": str(world.authority.file)}
            async with (
                open_stage("proof_hostile", Path(name), environment=trusted, preflight_seconds=3.0) as stage,
                httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as client,
            ):
                api_sinks = ApiSinks(stage, client)
                egress = Egress(tls=world.authority.trust())
                sinks = [*egress_sinks(egress), *api_sinks.sinks()]
                await prove_urls(report, world, sinks)
                egress.close()
                await prove_files(report, api_sinks.import_file, worker=stage.worker.pid, every=8 if short else 1)
                alive = stage.worker.process is not None and stage.worker.process.poll() is None
                report.claim("the worker after all files", expected="True", measured=alive, holds=alive)


@contextmanager
def isolated_network() -> Iterator[None]:
    """Enter a new network namespace and start private services in it."""
    enter_namespace()
    with own_services(port_base=28400):
        yield


if __name__ == "__main__":
    sys.exit(prove("Hostile URLs and files", proof, isolated_network, needs=NEEDS))
