"""An API process past its limit: it keeps its throughput, sheds the rest early, and stays fair among libraries."""

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from dev.scratch import Accounts, environment_of, scratch
from dev.server import Server
from proofs.saturation.figures import (
    MAX_RECOVERY_SECONDS,
    Round,
    Tally,
    accepted,
    claim_responses,
    claim_times,
    described,
    goodput,
    percentile,
    recovered_seconds,
)
from proofs.saturation.load import Load, send
from proofs.stage.report import Report, prove

LIBRARIES = 8  # of the load; the greedy library and the other one of the second part come in addition
VIDEOS = 20
CLOSED_CONNECTIONS = 10  # as many as a process runs at once, so that none waits and none is shed
BELOW_KNEE = 0.7
AFTER = 2  # times as long, to see when it has recovered
MODEST = 0.1  # of the knee: the rate of the library beside the greedy one
GENERATOR_NICENESS = 5
WARM_SECONDS = 1.5  # of a load, before queues are standing


@dataclass(frozen=True, slots=True)
class Form:
    """How long is measured."""

    rounds: int
    knee_seconds: float
    below_seconds: float
    over_seconds: float
    modest_seconds: float


LONG = Form(rounds=4, knee_seconds=4, below_seconds=4, over_seconds=8, modest_seconds=8)
SHORT = Form(rounds=1, knee_seconds=1.5, below_seconds=1.5, over_seconds=4, modest_seconds=3)


@dataclass(slots=True)
class Scene:
    """A running API, and requests of libraries."""

    server: Server
    libraries: list[list[str]]
    form: Form
    tally: Tally = field(default_factory=Tally)

    def load(self, requests: Sequence[str], *, seconds: float, rate: float = 0.0, closed: int = 0) -> Load:
        core = max(os.sched_getaffinity(0)) if len(os.sched_getaffinity(0)) > 1 else None
        return Load(
            self.server.port,
            requests,
            seconds=seconds,
            rate=rate,
            closed=closed,
            niceness=GENERATOR_NICENESS,
            core=core,
        )

    def cpu_seconds(self) -> float:
        times = psutil.Process(self.server.pid).cpu_times()
        return times.user + times.system

    def waited_seconds(self) -> float:
        """How long the event loop has been ready to run while other processes had its core."""
        _, waited, _ = Path(f"/proc/{self.server.pid}/schedstat").read_text().split()
        return int(waited) / 1e9


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    settings = await scratch("proof_saturation")
    accounts, server = await Accounts.open(settings), Server({**environment_of(settings), "CUTROOM_ADMISSION": "on"})
    form = SHORT if short else LONG
    try:
        libraries = [await library_requests(accounts) for _ in range(LIBRARIES + 2)]
        server.start()
        if len(cores := sorted(os.sched_getaffinity(0))) > 1:  # the service has one core, and the load another
            for thread in psutil.Process(server.pid).threads():
                os.sched_setaffinity(thread.id, {cores[0]})
        scene = Scene(server, libraries, form)
        await measure_knee(scene)  # warms up
        with report.timed("saturation"):
            rounds = [await measure_round(scene) for _ in range(form.rounds)]
        with report.timed("fairness"):
            knee = statistics.median(each.knee_rps for each in rounds)
            pairs = [await measure_fairness(scene, knee) for _ in range(form.rounds)]
    finally:
        server.stop()
        await accounts.close()
    claim(report, scene, rounds, pairs=pairs)


async def library_requests(accounts: Accounts) -> list[str]:
    """A new library with videos; the reads and writes of its key."""
    person = await accounts.person()
    key = await accounts.key(person)
    ids = [new_id() for _ in range(VIDEOS)]
    for video_id in ids:
        video = {
            "library_id": person.library_id,
            "id": video_id,
            "status": "ready",
            "title": "How a lens sees",
            "duration_seconds": 192.4,
            "media_type": "video",
            "default_language_code": "en",
            "import_status": "ready",
            "created_at": system_clock(),
        }
        await insert(accounts.connection, "videos", video)
    head = f"HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key.secret}\r\n"
    title = '{"title":"How a lens sees"}'
    described = f"Content-Type: application/json\r\nContent-Length: {len(title)}"
    write = f"PATCH /v1/videos/{ids[-1]} {head}{described}\r\n\r\n{title}"
    reads = [f"GET /v1/videos/{video_id} {head}\r\n" for video_id in ids[:4]]
    return [f"GET /v1/videos?limit=5 {head}\r\n"] * 4 + reads + [write]


async def measure_knee(scene: Scene) -> tuple[float, float]:
    """The most that the process serves: requests per second, and CPU time of each, without any queue."""
    seconds, requests = scene.form.knee_seconds, _mixed(scene)
    before = scene.cpu_seconds()
    outcome = scene.tally.add(await send(scene.load(requests, seconds=seconds, closed=CLOSED_CONNECTIONS)))
    return goodput(outcome, seconds), (scene.cpu_seconds() - before) / len(outcome.responses)


async def measure_round(scene: Scene) -> Round:
    form, requests = scene.form, _mixed(scene)
    knee, cost = await measure_knee(scene)
    below_load = scene.load(requests, seconds=form.below_seconds, rate=BELOW_KNEE * knee)
    over_load = scene.load(requests, seconds=form.over_seconds, rate=2 * knee)
    below = scene.tally.add(await send(below_load))
    before, waited, started = scene.cpu_seconds(), scene.waited_seconds(), time.monotonic()
    over = scene.tally.add(await send(replace(over_load, probes_health=True)))
    cpu, waited = scene.cpu_seconds() - before, scene.waited_seconds() - waited
    seconds = time.monotonic() - started
    shed = sum(status == 429 for _, _, status in over.responses)
    served = len(over.responses) - shed
    normal = accepted(below)
    recovered = await measure_recovery(scene, below_load, percentile(normal, 0.95))
    knee_after, cost_after = await measure_knee(scene)  # the speed of a shared machine changes within seconds
    knee, cost = (knee + knee_after) / 2, (cost + cost_after) / 2
    return Round(
        knee_rps=knee,
        throughput=goodput(over, form.over_seconds, since=WARM_SECONDS) / knee,
        p99_ratio=percentile(accepted(over, since=WARM_SECONDS), 0.99) / percentile(normal, 0.99),
        recovered_seconds=recovered,
        waited=waited / seconds,
        shed=shed,
        shed_cost=max(0.0, cpu / cost - served) / shed if shed else 0.0,
    )


async def measure_recovery(scene: Scene, load: Load, normal: float) -> float:
    """How long after an overload latencies are as before, at most a little more than the limit."""
    seconds, elapsed = AFTER * load.seconds, 0.0
    while elapsed <= MAX_RECOVERY_SECONDS:
        after = scene.tally.add(await send(replace(load, seconds=seconds)))
        if (recovered := recovered_seconds(after, seconds, normal)) is not None:
            return elapsed + recovered
        elapsed += seconds
    return elapsed


def _mixed(scene: Scene) -> list[str]:
    return [request for library in scene.libraries[:LIBRARIES] for request in library]


async def measure_fairness(scene: Scene, knee: float) -> tuple[list[float], list[float]]:
    """Latencies of a library alone, and beside another that asks for twice what the process can serve."""
    seconds = scene.form.modest_seconds
    greedy, modest = scene.libraries[LIBRARIES:]
    modest_load = replace(scene.load(modest, seconds=seconds, rate=MODEST * knee), niceness=0)
    alone = scene.tally.add(await send(modest_load))
    greedy_load = scene.load(greedy, seconds=seconds + 2 * WARM_SECONDS, rate=2 * knee)
    flood = asyncio.create_task(send(greedy_load))
    await asyncio.sleep(WARM_SECONDS)  # the load that is measured, not a wait for something to happen
    beside = scene.tally.add(await send(modest_load))
    scene.tally.add(await flood)
    return accepted(alone), accepted(beside)


def claim(
    report: Report, scene: Scene, rounds: Sequence[Round], *, pairs: Sequence[tuple[list[float], list[float]]]
) -> None:
    for each in rounds:
        report.note(str(each))
    for alone, beside in pairs:
        report.note(f"alone: {described(alone)}; beside the greedy library: {described(beside)}")
    claim_responses(report, scene.tally)
    claim_times(report, rounds, slowdown=statistics.median(percentile(b, 0.95) / percentile(a, 0.95) for a, b in pairs))


if __name__ == "__main__":
    sys.exit(prove("Saturation", proof))
