"""The event log: nothing is missed, repeated or out of order, whatever is killed; waiting costs next to nothing."""

import asyncio
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx
from redis.asyncio import Redis

from cutroom.accounts.plans import PlanName
from cutroom.platform.db import Database
from cutroom.platform.settings import Settings
from dev.scratch import Accounts, environment_of, scratch, write_plans
from proofs.events.cursors import wrong_responses
from proofs.events.fleet import (
    API_PROCESSES,
    Child,
    Fleet,
    read_lines,
    restart_service,
    start_publishers,
    start_readers,
)
from proofs.events.idling import measure_waits
from proofs.events.outcome import Outcome, read_logs
from proofs.events.publisher import PublishingPlan
from proofs.events.reader import ReadingPlan
from proofs.events.slow_readers import SlowReader
from proofs.stage.own_services import own_services
from proofs.stage.report import Report, prove

PORT_BASE = 27900
LIBRARIES = 20
READERS = 10  # of each library
READER_PROCESSES = 2
PUBLISHERS = 3
POLLING = 0.1  # of the readers; the others stream
CUT_AFTER = 20  # events
SLOW_READERS = 20
SLOW_PAYLOAD_BYTES = 8_000
CHILD_SECONDS = 600.0
CATCH_UP_SECONDS = 120.0
PLAN = {"concurrent_requests": 32, "library_concurrent_requests": 96, "library_waits": 2_000}
MAX_P95_MS = 200
MAX_SLOW_MB = 64
MAX_ARRIVED = 0.1  # of what is published
MAX_WAIT_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Form:
    """How much is published, and how often what is killed."""

    undisturbed: int
    disturbed: int
    per_second: float
    rounds: int  # of killing everything
    slow_events: int
    wait_seconds: float


LONG = Form(undisturbed=10_000, disturbed=10_000, per_second=100, rounds=4, slow_events=4_000, wait_seconds=15)
SHORT = Form(undisturbed=360, disturbed=480, per_second=120, rounds=1, slow_events=600, wait_seconds=3)


@dataclass(slots=True)
class Scene:
    """A running installation, and libraries with readers."""

    settings: Settings
    accounts: Accounts
    fleet: Fleet
    folder: Path
    libraries: list[dict[str, str]]
    form: Form

    @property
    def environment(self) -> Mapping[str, str]:
        return environment_of(self.settings)

    def publish(self, events: int, *, seed: int, per_second: float | None = None) -> list[Child]:
        """Publishers that share the events."""
        plans = [
            PublishingPlan(
                [each["id"] for each in self.libraries],
                events // PUBLISHERS,
                (per_second or self.form.per_second) / PUBLISHERS,
                seed=seed + number,
            )
            for number in range(PUBLISHERS)
        ]
        return start_publishers(plans, self.folder, self.environment)


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    form = SHORT if short else LONG
    folder = Path(tempfile.mkdtemp(prefix="cutroom-events-"))
    plans = write_plans(folder / "plans.toml", free=PLAN)
    settings = (await scratch("proof_events")).model_copy(update={"plans_file": plans})
    accounts = await Accounts.open(settings)
    libraries = []
    for _ in range(LIBRARIES):
        person = await accounts.person(PlanName.FREE)
        libraries.append({"id": person.library_id, "key": (await accounts.key(person)).secret})
    fleet = Fleet.start(environment_of(settings))
    scene = Scene(settings, accounts, fleet, folder, libraries, form)
    try:
        with report.timed("cursors"):
            await prove_cursors(report, scene)
        with report.timed("waits"):
            await prove_waits(report, scene)
        with report.timed("slow readers"):
            await prove_slow_readers(report, scene)
        with report.timed("delivery"):
            await prove_delivery(report, scene)
    finally:
        fleet.stop()
        await scene.accounts.close()
        shutil.rmtree(folder, ignore_errors=True)


async def prove_cursors(report: Report, scene: Scene) -> None:
    database = await Database.connect(scene.settings.worker_database, 2, application="cutroom-proof")
    async with httpx.AsyncClient(base_url=scene.fleet.urls[0], timeout=30, trust_env=False) as client:
        wrong = await wrong_responses(scene.accounts, database, client)
    await database.close()
    for each in wrong:
        report.note(each)
    report.claim(
        "Expired, malformed, foreign and valid cursors, as parameter and header",
        expected="0 wrong",
        measured=len(wrong),
        holds=not wrong,
    )
    report.figures(expired_cursor_wrong=len(wrong))


async def prove_waits(report: Report, scene: Scene) -> None:
    person = await scene.accounts.person(PlanName.FREE)
    key = (await scene.accounts.key(person)).secret
    redis = Redis.from_url(scene.settings.redis_url.get_secret_value())
    held = f"slots:{{waits:{person.library_id}}}"
    idle = await measure_waits(
        scene.fleet,
        key,
        scene.accounts.connection,
        waiting=lambda: redis.zcard(held),
        seconds=scene.form.wait_seconds,
    )
    await redis.aclose()
    report.claim(
        "CPU time of 1,000 idle waits in 4 processes",
        expected=f"at most {MAX_WAIT_SHARE} of one core",
        measured=round(idle.cpu_share, 4),
        holds=idle.cpu_share <= MAX_WAIT_SHARE,
    )
    report.claim(
        "Ordinary requests of the same key beside them, where 32 may run at once",
        expected="0 refused",
        measured=idle.refused,
        holds=idle.refused == 0,
    )
    report.claim(
        "Database connections in use, and waits that ended early",
        expected="0 and 0",
        measured=f"{idle.busy_connections} and {idle.answered}",
        holds=idle.busy_connections == 0 and idle.answered == 0,
    )
    report.figures(wait_cpu_share=round(idle.cpu_share, 4), ordinary_refused=idle.refused)


async def prove_slow_readers(report: Report, scene: Scene) -> None:
    """The first library's log grows by far more than the limit, for each of several streams that are not read."""
    first, fleet = scene.libraries[0], scene.fleet
    warm = start_publishers(
        [PublishingPlan([first["id"]], 200, 1e6, SLOW_PAYLOAD_BYTES, seed=90)], scene.folder, scene.environment
    )
    warm[0].wait(CHILD_SECONDS)
    readers = [SlowReader(fleet.urls[number % API_PROCESSES], first["key"]) for number in range(SLOW_READERS)]
    for reader in readers:
        reader.open()
    before = fleet.memory_mb()
    plan = PublishingPlan([first["id"]], scene.form.slow_events, 1e6, SLOW_PAYLOAD_BYTES, seed=91)
    [publisher] = start_publishers([plan], scene.folder, scene.environment)
    growth = 0.0
    while publisher.process.poll() is None:
        growth = max(growth, *(now - then for now, then in zip(fleet.memory_mb(), before, strict=True)))
        await asyncio.sleep(0.2)
    publisher.wait(CHILD_SECONDS)
    arrived = max(each.arrived_bytes() for each in readers) / 1e6
    log = (await read_logs(scene.accounts.connection, [first["id"]]))[first["id"]]
    await asyncio.gather(*(asyncio.to_thread(each.read_to, log[-1]) for each in readers))
    complete = sum(each.received == log[-scene.form.slow_events :] for each in readers)
    for each in readers:
        each.close()
    one = scene.form.slow_events * SLOW_PAYLOAD_BYTES / 1e6
    report.claim(
        f"Memory of a process that has {one * SLOW_READERS / API_PROCESSES:.0f} MB for streams that are not read",
        expected=f"at most {MAX_SLOW_MB} MB more",
        measured=f"{growth:.0f} MB",
        holds=growth <= MAX_SLOW_MB,
    )
    report.claim(
        f"What had reached one of these readers when its {one:.0f} MB were published",
        expected=f"at most {MAX_ARRIVED:.0%}",
        measured=f"{arrived / one:.1%}",
        holds=arrived <= MAX_ARRIVED * one,
    )
    report.claim(
        "Slow readers that receive every event once, in order, when they read again",
        expected=f"{SLOW_READERS}",
        measured=complete,
        holds=complete == SLOW_READERS,
    )
    report.note(f"the slow readers needed {sum(each.connections for each in readers)} connections")
    report.figures(slow_reader_memory_mb=round(growth, 1), slow_readers_complete=complete)


async def prove_delivery(report: Report, scene: Scene) -> None:
    form, folder, children = scene.form, scene.folder, list[Child]()
    share = LIBRARIES // READER_PROCESSES
    readers = start_readers(
        [
            ReadingPlan(
                scene.fleet.urls, scene.libraries[start : start + share], READERS, POLLING, cut_after=20, seed=start
            )
            for start in range(0, LIBRARIES, share)
        ],
        folder,
        scene.environment,
    )
    children += readers
    try:
        for reader in readers:
            reader.await_file(".started", seconds=CHILD_SECONDS)
        known = await read_logs(scene.accounts.connection, [each["id"] for each in scene.libraries])
        calm = scene.publish(form.undisturbed, seed=1)
        children += calm
        await_calm(report, scene, calm)
        await asyncio.sleep(1)  # the last of them are delivered undisturbed too
        for reader in readers:
            reader.output.with_suffix(".cut").touch()
        disturbed = scene.publish(form.disturbed, seed=11)
        children += disturbed
        for each in disturbed:
            each.await_file(".started", seconds=CHILD_SECONDS)
        kills = await kill_everything(scene)
        for each in disturbed:
            each.wait(CHILD_SECONDS)
        logs = await read_logs(scene.accounts.connection, [each["id"] for each in scene.libraries])
        heads = {library_id: log[-1] for library_id, log in logs.items()}
        for reader in readers:
            reader.output.with_suffix(".heads").write_text(json.dumps({**heads, "seconds": str(CATCH_UP_SECONDS)}))
        for reader in readers:
            reader.wait(CHILD_SECONDS)
    finally:
        for child in children:
            child.end()
    committing_at = dict(line for each in calm for line in read_lines(each.output))
    confirmed = {line[0] for each in (*calm, *disturbed) for line in read_lines(each.output)}
    outcome = Outcome()
    for reader in readers:
        for received in read_lines(reader.output):
            library_id = received["library_id"]
            outcome.add(received, logs[library_id][len(known[library_id]) :], committing_at)
    lost = len(confirmed - {each for log in logs.values() for each in log})
    claim_delivery(report, outcome, kills=kills, lost=lost)


def await_calm(report: Report, scene: Scene, publishers: list[Child]) -> None:
    cpu, started = scene.fleet.cpu_seconds(), time.monotonic()
    for each in publishers:
        each.wait(CHILD_SECONDS)
    share = (scene.fleet.cpu_seconds() - cpu) / (time.monotonic() - started)
    report.note(f"{scene.form.per_second:.0f} events per second: the API processes use {share:.2f} cores")


async def kill_everything(scene: Scene) -> int:
    """While events are published: API processes in turn, Redis and PostgreSQL; return how many were killed."""
    kills, pause = 0, scene.form.disturbed / scene.form.per_second / scene.form.rounds / 8
    for number in range(scene.form.rounds):
        for killed in ("api", "redis", "api", "postgres"):
            if killed == "api":
                scene.fleet.restart((2 * number + kills) % API_PROCESSES)
            else:
                restart_service(killed)
            kills += 1
            await asyncio.sleep(pause)  # events go on
    scene.fleet.await_ready()
    scene.accounts = await Accounts.open(scene.settings)
    return kills


def claim_delivery(report: Report, outcome: Outcome, *, kills: int, lost: int) -> None:
    p95 = outcome.percentile_ms(95)
    report.note(
        f"{outcome.deliveries} deliveries to {outcome.readers} readers over {outcome.connections} connections, "
        f"{kills} kills, refused {outcome.statuses}, "
        f"p50 {outcome.percentile_ms(50)} ms, p99 {outcome.percentile_ms(99)} ms"
    )
    for name, value in (
        ("missed", outcome.missed),
        ("received twice", outcome.duplicated_ids),
        ("out of order", outcome.out_of_order),
        ("received that are not in the log", outcome.unknown),
    ):
        claim = f"Events {name}, with {kills} kills of API processes, Redis and PostgreSQL"
        report.claim(claim, expected="0", measured=value, holds=value == 0)
    report.claim("Confirmed events that are not in the log", expected="0", measured=lost, holds=lost == 0)
    report.claim_time(
        "p95 from the commit to the reader, undisturbed",
        expected=f"at most {MAX_P95_MS} ms",
        measured=f"{p95} ms",
        holds=p95 <= MAX_P95_MS,
    )
    report.figures(
        missed=outcome.missed,
        duplicated_ids=outcome.duplicated_ids,
        out_of_order=outcome.out_of_order,
        lost=lost,
        p95_ms=p95,
        readers=outcome.readers,
        deliveries=outcome.deliveries,
        connections=outcome.connections,
        kills=kills,
    )


if __name__ == "__main__":
    sys.exit(prove("Events", proof, within=lambda: own_services(PORT_BASE)))
