"""Hosting: plan checks, a single upload for repeated activations, and a failing provider."""

import asyncio
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs
from tests.support.servers.mux_server import Faults, MuxServer, mux_server
from tests.support.stage import Stage, make_video, open_stage, upload, wait_for_imports

WAIT_SECONDS = 180.0
CONCURRENCY = 10
ENDED = frozenset({"inactive", "ready"})


@dataclass
class HostingTest:
    """The API client, the fake Mux server, and the results of all cases."""

    stage: Stage
    client: httpx.AsyncClient
    mux: MuxServer
    videos: list[str]
    cases: list[tuple[str, object, object]] = field(default_factory=list)

    def check(self, name: str, *, expected: object, measured: object) -> None:
        self.cases.append((name, expected, measured))

    def path(self, video_id: str) -> str:
        return f"/v1/videos/{video_id}/professional-hosting"

    async def get(self, video_id: str) -> dict[str, Any]:
        found: dict[str, Any] = (await self.client.get(self.path(video_id))).json()
        return found

    async def activate(self, video_id: str) -> httpx.Response:
        return await self.client.post(self.path(video_id), json={})

    async def wait_until_done(
        self, video_id: str, *, while_waiting: Callable[[], None] | None = None
    ) -> tuple[dict[str, Any], list[str]]:
        """Poll until finished; returns the last response and the statuses seen."""
        seen: list[str] = []
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            self.stage.worker.keep_running()
            found = await self.get(video_id)
            if found["status"] not in seen:
                seen.append(found["status"])
            if found["status"] in ENDED or time.monotonic() > deadline:
                return found, seen
            if while_waiting is not None:
                while_waiting()
            await asyncio.sleep(0.2)


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        video = await asyncio.to_thread(make_video, folder / "video.mp4", 4 if short else 40)
        async with mux_server() as mux, open_stage("proof_hosting", folder / "stage", **mux.settings) as stage:
            headers = stage.key.headers
            async with httpx.AsyncClient(base_url=stage.api.url, headers=headers, timeout=60) as client:
                videos = [await upload(client, video) for _ in range(9)]
                await wait_for_imports(stage, videos, seconds=300)
                test = HostingTest(stage, client, mux, videos)
                await _prove_rules(test)
                await _prove_activation(report, test, video)
                await _prove_idempotency(test)
                await _prove_faults(test)
    _report(report, test)


def _report(report: Report, test: HostingTest) -> None:
    wrong = [check for check in test.cases if check[1] != check[2]]
    for name, expected, measured in test.cases:
        report.claim(name, expected=str(expected), measured=measured, holds=expected == measured)
    report.figures(cases=len(test.cases), wrong=len(wrong))


async def _prove_rules(test: HostingTest) -> None:
    video_id, connection = test.videos[0], test.stage.accounts.connection
    library_id = test.stage.person.library_id
    for plan, allowed in (("free", False), ("creator", False), ("pro", True), ("business", True)):
        await connection.execute("UPDATE libraries SET plan = $2 WHERE id = $1", library_id, plan)
        found = await test.get(video_id)
        expected = ("inactive", allowed, "shaka", None if allowed else "plan_required")
        response_summary = (found["status"], found["canActivate"], found["packagingProvider"], found.get("reason"))
        test.check(f"plan {plan}: status", expected=expected, measured=response_summary)
        if not allowed:
            error = (await test.activate(video_id)).json()["error"]
            test.check(
                "... activation",
                expected=("PERMISSION_DENIED", "plan_required"),
                measured=(error["code"], error["details"].get("reason")),
            )
    empty = (await test.client.post("/v1/videos", json={"source": {"type": "upload"}})).json()["videoId"]
    found, refused = await test.get(empty), await test.activate(empty)
    status = (found["status"], found["canActivate"], found.get("reason"))
    test.check("no file yet: status", expected=("inactive", False, "missing_input"), measured=status)
    error = refused.json()["error"]
    test.check(
        "... activation",
        expected=(400, "INVALID_ARGUMENT", "missing_input"),
        measured=(refused.status_code, error["code"], error["details"].get("reason")),
    )
    missing = await test.activate("nothing")
    test.check("no such video", expected=404, measured=missing.status_code)


async def _prove_activation(report: Report, test: HostingTest, video: Path) -> None:
    """Ten concurrent activations, then repeated ones, with slow processing and repeated provider events."""
    video_id = test.videos[0]
    test.mux.faults = Faults(preparing=3)
    responses = await asyncio.gather(*(test.activate(video_id) for _ in range(CONCURRENCY)))
    statuses = sorted(response.status_code for response in responses)
    test.check(f"{CONCURRENCY} concurrent activations", expected=[200] * (CONCURRENCY - 1) + [202], measured=statuses)
    states = {response.json()["status"] for response in responses}
    test.check("... all return queued or processing", expected=True, measured=states <= {"queued", "processing"})
    found, seen = await test.wait_until_done(video_id)
    test.check("... final status", expected=("ready", "mux"), measured=(found["status"], found["packagingProvider"]))
    test.check("... after", expected="processing", measured=seen[-2] if len(seen) > 1 else None)
    (hosted_upload,) = test.mux.uploads.values()
    test.check(
        "... the provider has the complete file",
        expected=video.read_bytes() == bytes(hosted_upload.received),
        measured=True,
    )
    url = (await test.client.get(f"/v1/videos/{video_id}")).json()["url"]
    test.check("... playback URL", expected=f"https://stream.mux.com/play{hosted_upload.id}.m3u8", measured=url)
    again = await test.activate(video_id)
    test.check("activated again", expected=(200, "ready"), measured=(again.status_code, again.json()["status"]))
    uploads = len(test.mux.uploads)
    test.check("... uploads in total", expected=1, measured=uploads)
    report.figures(uploads=uploads)
    delivered = await test.mux.deliver(test.stage.api.url, hosted_upload, times=3)
    test.check("its event, delivered three times afterwards", expected=[200, 200, 200], measured=delivered)
    body, headers = test.mux.event(hosted_upload)
    forged = await test.client.post("/hosting/mux/events", content=body + b" ", headers=headers)
    test.check("... with another body", expected=403, measured=forged.status_code)
    test.check("... status unchanged", expected="ready", measured=(await test.get(video_id))["status"])


async def _prove_idempotency(test: HostingTest) -> None:
    """All spellings of the path share the idempotency key."""
    test.mux.faults = Faults()
    video_id, key = test.videos[1], {"Idempotency-Key": "once"}
    path = test.path(video_id)
    first = await test.client.post(path, json={}, headers=key)
    test.check("activated with a key", expected=202, measured=first.status_code)
    for spelling in (path, f"{path}/", path.removeprefix("/v1"), f"{path.removeprefix('/v1')}/"):
        response = await test.client.post(spelling, json={}, headers=key)
        response_summary = (
            response.status_code,
            response.headers.get("idempotency-replayed"),
            response.json() == first.json(),
        )
        test.check(
            f"... replayed at {spelling.replace(video_id, '...')}",
            expected=(202, "true", True),
            measured=response_summary,
        )
    other = await test.client.post(path, json={"other": 1}, headers=key)
    test.check("... with another body", expected="IDEMPOTENCY_REPLAY", measured=other.json()["error"]["code"])
    await test.wait_until_done(video_id)


async def _prove_faults(test: HostingTest) -> None:
    """Provider failures: temporary ones are retried, permanent ones leave the video inactive."""
    table: list[tuple[str, Faults, str, int]] = [
        ("the provider is busy three times", Faults(busy=3), "ready", 1),
        ("the provider is unavailable three times", Faults(unavailable=3), "ready", 1),
        ("the response to the upload is lost", Faults(lose_response=1), "ready", 1),
        ("the connection breaks twice during the upload", Faults(break_upload=2), "ready", 1),
        ("the provider cannot process the file", Faults(asset_error=True), "inactive", 1),
        ("the upload times out at the provider", Faults(upload_status="timed_out"), "inactive", 1),
        ("the provider rejects our credentials", Faults(refuse_credentials=True), "inactive", 0),
    ]
    for (name, faults, expected, uploads), video_id in zip(table, test.videos[2:], strict=True):
        test.mux.faults, before = faults, len(test.mux.uploads)
        begun = await test.activate(video_id)
        found, _ = await test.wait_until_done(video_id)
        made = len(test.mux.uploads) - before
        response_summary = (begun.status_code, found["status"], found["canActivate"], made)
        test.check(name, expected=(202, expected, True, uploads), measured=response_summary)
        if expected == "inactive":
            test.mux.faults = Faults()
            again = await test.activate(video_id)
            found, _ = await test.wait_until_done(video_id)
            retried = (again.status_code, found["status"])
            test.check("... activated again after recovery", expected=(202, "ready"), measured=retried)


if __name__ == "__main__":
    sys.exit(prove("Hosting", proof, needs=Needs(programs=("ffmpeg",))))
