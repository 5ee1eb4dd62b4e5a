"""Hosting: who may activate it, one upload however often it is asked for, and a provider that fails in every way."""

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
from tests.support.mux_server import Faults, MuxServer, mux_server
from tests.support.stage import Stage, ends, make_film, open_stage, upload

WAIT_SECONDS = 180.0
AT_ONCE = 10
ENDED = frozenset({"inactive", "ready"})


@dataclass
class Bench:
    """Who asks, whom they ask, and every case with what came of it."""

    stage: Stage
    client: httpx.AsyncClient
    mux: MuxServer
    videos: list[str]
    cases: list[tuple[str, object, object]] = field(default_factory=list)

    def case(self, name: str, *, wanted: object, measured: object) -> None:
        self.cases.append((name, wanted, measured))

    def path(self, video_id: str) -> str:
        return f"/v1/videos/{video_id}/professional-hosting"

    async def get(self, video_id: str) -> dict[str, Any]:
        found: dict[str, Any] = (await self.client.get(self.path(video_id))).json()
        return found

    async def activate(self, video_id: str) -> httpx.Response:
        return await self.client.post(self.path(video_id), json={})

    async def end(
        self, video_id: str, *, meanwhile: Callable[[], None] | None = None
    ) -> tuple[dict[str, Any], list[str]]:
        """How it stands at its end, and the states that were seen on the way."""
        seen: list[str] = []
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            self.stage.worker.keep_running()
            found = await self.get(video_id)
            if found["status"] not in seen:
                seen.append(found["status"])
            if found["status"] in ENDED or time.monotonic() > deadline:
                return found, seen
            if meanwhile is not None:
                meanwhile()
            await asyncio.sleep(0.2)


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        film = await asyncio.to_thread(make_film, folder / "film.mp4", 4 if short else 40)
        async with mux_server() as mux, open_stage("proof_hosting", folder / "stage", **mux.settings) as stage:
            headers = stage.key.headers
            async with httpx.AsyncClient(base_url=stage.api.url, headers=headers, timeout=60) as client:
                videos = [await upload(client, film) for _ in range(9)]
                await ends(stage, videos, seconds=300)
                bench = Bench(stage, client, mux, videos)
                await _prove_rules(bench)
                await _prove_life(report, bench, film)
                await _prove_replay(bench)
                await _prove_faults(bench)
    _tell(report, bench)


def _tell(report: Report, bench: Bench) -> None:
    wrong = [case for case in bench.cases if case[1] != case[2]]
    for name, wanted, measured in bench.cases:
        report.claim(name, wanted=str(wanted), measured=measured, holds=wanted == measured)
    report.figures(cases=len(bench.cases), wrong=len(wrong))


async def _prove_rules(bench: Bench) -> None:
    video_id, connection = bench.videos[0], bench.stage.accounts.connection
    library_id = bench.stage.person.library_id
    for plan, allowed in (("free", False), ("creator", False), ("pro", True), ("business", True)):
        await connection.execute("UPDATE libraries SET plan = $2 WHERE id = $1", library_id, plan)
        found = await bench.get(video_id)
        wanted = ("inactive", allowed, "shaka", None if allowed else "plan_required")
        told = (found["status"], found["canActivate"], found["packagingProvider"], found.get("reason"))
        bench.case(f"plan {plan}: how it stands", wanted=wanted, measured=told)
        if not allowed:
            error = (await bench.activate(video_id)).json()["error"]
            bench.case(
                "... and when it is activated",
                wanted=("PERMISSION_DENIED", "plan_required"),
                measured=(error["code"], error["details"].get("reason")),
            )
    empty = (await bench.client.post("/v1/videos", json={"source": {"type": "upload"}})).json()["videoId"]
    found, refused = await bench.get(empty), await bench.activate(empty)
    stands = (found["status"], found["canActivate"], found.get("reason"))
    bench.case("no file yet: how it stands", wanted=("inactive", False, "missing_input"), measured=stands)
    error = refused.json()["error"]
    bench.case(
        "... and when it is activated",
        wanted=(400, "INVALID_ARGUMENT", "missing_input"),
        measured=(refused.status_code, error["code"], error["details"].get("reason")),
    )
    missing = await bench.activate("nothing")
    bench.case("no such video", wanted=404, measured=missing.status_code)


async def _prove_life(report: Report, bench: Bench, film: Path) -> None:
    """Ten at once, then twice more; slow states, and each of the host's events delivered three times."""
    video_id = bench.videos[0]
    bench.mux.faults = Faults(preparing=3)
    answers = await asyncio.gather(*(bench.activate(video_id) for _ in range(AT_ONCE)))
    statuses = sorted(answer.status_code for answer in answers)
    bench.case(f"{AT_ONCE} activations at once", wanted=[200] * (AT_ONCE - 1) + [202], measured=statuses)
    states = {answer.json()["status"] for answer in answers}
    bench.case("... all of them say it is on its way", wanted=True, measured=states <= {"queued", "processing"})
    found, seen = await bench.end(video_id)
    bench.case("... and it ends", wanted=("ready", "mux"), measured=(found["status"], found["packagingProvider"]))
    bench.case("... after", wanted="processing", measured=seen[-2] if len(seen) > 1 else None)
    (held,) = bench.mux.uploads.values()
    bench.case("... with the whole file at the host", wanted=film.read_bytes() == bytes(held.received), measured=True)
    url = (await bench.client.get(f"/v1/videos/{video_id}")).json()["url"]
    bench.case("... played from", wanted=f"https://stream.mux.com/play{held.id}.m3u8", measured=url)
    again = await bench.activate(video_id)
    bench.case("activated again", wanted=(200, "ready"), measured=(again.status_code, again.json()["status"]))
    uploads = len(bench.mux.uploads)
    bench.case("... uploads in all", wanted=1, measured=uploads)
    report.figures(uploads=uploads)
    delivered = await bench.mux.deliver(bench.stage.api.url, held, times=3)
    bench.case("its event, delivered three times after the end", wanted=[200, 200, 200], measured=delivered)
    body, headers = bench.mux.event(held)
    forged = await bench.client.post("/hosting/mux/events", content=body + b" ", headers=headers)
    bench.case("... with another body", wanted=403, measured=forged.status_code)
    bench.case("... and nothing has changed", wanted="ready", measured=(await bench.get(video_id))["status"])


async def _prove_replay(bench: Bench) -> None:
    """Three spellings of the path are one."""
    bench.mux.faults = Faults()
    video_id, key = bench.videos[1], {"Idempotency-Key": "once"}
    path = bench.path(video_id)
    first = await bench.client.post(path, json={}, headers=key)
    bench.case("activated with a key", wanted=202, measured=first.status_code)
    for spelling in (path, f"{path}/", path.removeprefix("/v1"), f"{path.removeprefix('/v1')}/"):
        answer = await bench.client.post(spelling, json={}, headers=key)
        told = (answer.status_code, answer.headers.get("idempotency-replayed"), answer.json() == first.json())
        bench.case(f"... replayed at {spelling.replace(video_id, '...')}", wanted=(202, "true", True), measured=told)
    other = await bench.client.post(path, json={"other": 1}, headers=key)
    bench.case("... with another body", wanted="IDEMPOTENCY_REPLAY", measured=other.json()["error"]["code"])
    await bench.end(video_id)


async def _prove_faults(bench: Bench) -> None:
    """Six ways to fail: what passes is waited for, what does not leaves the video as it was."""
    table: list[tuple[str, Faults, str, int]] = [
        ("the host is busy three times", Faults(busy=3), "ready", 1),
        ("the host is away three times", Faults(away=3), "ready", 1),
        ("the answer to the upload is lost", Faults(lose_answer=1), "ready", 1),
        ("the connection breaks twice while sending", Faults(break_sending=2), "ready", 1),
        ("the host cannot play the file", Faults(asset_fails=True), "inactive", 1),
        ("the upload times out at the host", Faults(upload_ends="timed_out"), "inactive", 1),
        ("the host refuses our credentials", Faults(refuse_credentials=True), "inactive", 0),
    ]
    for (name, faults, wanted, uploads), video_id in zip(table, bench.videos[2:], strict=True):
        bench.mux.faults, before = faults, len(bench.mux.uploads)
        begun = await bench.activate(video_id)
        found, _ = await bench.end(video_id)
        made = len(bench.mux.uploads) - before
        told = (begun.status_code, found["status"], found["canActivate"], made)
        bench.case(name, wanted=(202, wanted, True, uploads), measured=told)
        if wanted == "inactive":
            bench.mux.faults = Faults()
            again = await bench.activate(video_id)
            found, _ = await bench.end(video_id)
            mended = (again.status_code, found["status"])
            bench.case("... and activated again once that is mended", wanted=(202, "ready"), measured=mended)


if __name__ == "__main__":
    sys.exit(prove("Hosting", proof))
