"""Cells: libraries move between two cells under load, their movers are killed, and then a whole cell is."""

import asyncio
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import asyncpg
import httpx

from cutroom.credits import ledger
from cutroom.platform.clock import system_clock
from proofs.cells.installation import Cells, open_cells, two_sets_of_services
from proofs.cells.load import Tenant
from proofs.cells.outcome import Outcome, read_outcome, wait_until_settled
from proofs.stage.report import Report, prove
from proofs.stage.requirements import GB, Needs
from proofs.stage.webhook_receiver import Receiver
from tests.support.stage import make_video

HOMES = {"mover": "red", "returner": "blue", "stayer": "red"}  # libraries and the cells that they start in
OTHER = {"red": "blue", "blue": "red"}
GRANT = 10_000_000
VOICES_SECONDS = 300.0
ROUND_SECONDS = 600.0
AVAILABLE_MS = 2_000
REFUSED_WITHIN_SECONDS = 5.0
CONTROL_ROUNDS = 2
AROUND_SECONDS = 0.1  # requests this close to a move are counted as those that it delayed


@dataclass(frozen=True, slots=True)
class Size:
    """How often each library moves, how often a mover is killed, and how much work there is between."""

    moves: int
    kills: int
    rounds: int


LONG = Size(moves=4, kills=3, rounds=2)
SHORT = Size(moves=1, kills=0, rounds=1)


@dataclass
class Stage:
    """The installation with its libraries."""

    cells: Cells
    tenants: dict[str, Tenant]
    receiver: Receiver
    homes: dict[str, str] = field(default_factory=lambda: dict(HOMES))
    killed_movers: int = 0

    def database(self, name: str) -> "asyncpg.Connection[asyncpg.Record]":
        return self.cells.cells[self.homes[name]].database


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    size = SHORT if short else LONG
    with TemporaryDirectory() as name:
        folder = Path(name)
        video = await asyncio.to_thread(_make_silent_video, folder / "video.mp4")
        async with _open_stage(folder, video, report) as stage:
            running = [asyncio.create_task(each.run()) for each in stage.tenants.values()]
            try:
                await _rounds(stage, running, size.rounds)
                with report.timed("moves"):
                    await asyncio.gather(*(_move_about(stage, each, size, running) for each in ("mover", "returner")))
                await _rounds(stage, running, size.rounds)
                for each in stage.tenants.values():
                    each.is_over = True
                await asyncio.gather(*running)
            finally:
                for task in running:
                    task.cancel()
            with report.timed("verification"):
                await _report_moves(report, stage)
            with report.timed("loss of a cell"):
                await _lose_a_cell(report, stage, lost=stage.homes["mover"])


def _make_silent_video(path: Path) -> Path:
    """Without speech, because no recognition engine runs here."""
    with_tone = make_video(path.with_name("tone.mp4"), 2, size="320x240")
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", str(with_tone), "-an", "-c", "copy", str(path)], check=True)
    return path


async def _rounds(stage: Stage, running: Sequence["asyncio.Task[None]"], count: int) -> None:
    """Until every library has done so much more work."""
    wanted = {name: tenant.rounds + count for name, tenant in stage.tenants.items()}
    async with asyncio.timeout(ROUND_SECONDS):
        while any(stage.tenants[name].rounds < rounds for name, rounds in wanted.items()):
            for task in running:
                if task.done():
                    await task
                    raise RuntimeError("the load ended early")
            await asyncio.sleep(POLL_SECONDS)


POLL_SECONDS = 0.2


async def _move_about(stage: Stage, name: str, size: Size, running: Sequence["asyncio.Task[None]"]) -> None:
    """There and back, with movers that are killed at any point."""
    chance, kills = random.Random(name), size.kills
    for _ in range(size.moves):
        target = OTHER[stage.homes[name]]
        arguments = ("move", stage.tenants[name].library_id, target, "--source", stage.homes[name])
        command = stage.cells.command(*arguments)
        if kills:
            kills -= 1
            await asyncio.sleep(chance.uniform(2.0, 12.0))
            if not command.has_ended:
                command.kill()
                stage.killed_movers += 1
                command = stage.cells.command(*arguments)  # as the one before: it may not have come to anything
        await command.succeed()
        stage.homes[name] = target
        for task in running:
            if task.done():
                await task


@asynccontextmanager
async def _open_stage(folder: Path, video: Path, report: Report) -> AsyncIterator[Stage]:
    receiver = Receiver(folder)
    await receiver.start()
    try:
        async with AsyncExitStack() as stack:
            with report.timed("start"):
                cells = await stack.enter_async_context(open_cells(folder, certificate=folder / "certificate.pem"))
                tenants = {name: await _open_tenant(stack, cells, name, video, receiver) for name in HOMES}
            yield Stage(cells, tenants, receiver)
    finally:
        await receiver.stop()
        receiver.sender.close()


async def _open_tenant(stack: AsyncExitStack, cells: Cells, name: str, video: Path, receiver: Receiver) -> Tenant:
    """A library in its cell; everything else through the router, which does not know it yet."""
    cell = cells.cells[HOMES[name]]
    person = await cell.accounts.person()
    key = await cell.accounts.key(person)
    await ledger.grant(cell.database, person.library_id, millicredits=GRANT, reference="proof", now=system_clock())
    http = await stack.enter_async_context(httpx.AsyncClient(base_url=cells.router.url, headers=key.headers))
    tenant = Tenant(name, person.library_id, http, video)
    endpoint = {"url": f"https://{receiver.host}/takes/{name}"}
    created = (await tenant.send("POST", "/v1/webhook-endpoints", body=endpoint)).json()
    receiver.secrets[f"/takes/{name}"] = created["secret"]
    async with asyncio.timeout(VOICES_SECONDS):
        while not (voices := (await tenant.send("GET", "/v2/voices")).json()["voices"]):
            await asyncio.sleep(POLL_SECONDS)
    tenant.voice = str(voices[0]["voice_id"])
    tenant.errors.clear()  # of processes that were still starting
    return tenant


async def _report_moves(report: Report, stage: Stage) -> None:
    outcomes: dict[str, Outcome] = {}
    for name, tenant in stage.tenants.items():
        settled = await wait_until_settled(stage.database(name), tenant.library_id)
        report.claim(f"{name}: all work has ended", expected="yes", measured=settled, holds=settled)
        outcomes[name] = await read_outcome(stage.database(name), tenant, stage.receiver)
        _claim(report, name, outcomes[name], tenant)
    await _claim_no_copies(report, stage)
    waits, moves = await _waits(stage)
    report.claim("requests that a move delayed", expected="> 0", measured=len(waits), holds=bool(waits))
    p99 = sorted(waits)[int(0.99 * (len(waits) - 1))] * 1000 if waits else 0.0
    report.claim_time(
        "... 99 of 100 waited at most",
        expected=f"{AVAILABLE_MS} ms",
        measured=f"{p99:.0f} ms",
        holds=p99 <= AVAILABLE_MS,
    )
    errors = [error for name in ("stayer",) for _, error in stage.tenants[name].errors]
    _note(report, "stayer", errors)
    report.claim("errors of a library that did not move", expected="0", measured=len(errors), holds=not errors)
    report.figures(
        lost=sum(len(each.lost) + len(each.unannounced) + len(each.ledger_faults) for each in outcomes.values()),
        double_charged=sum(len(each.double_charged) for each in outcomes.values()),
        failed_requests=sum(len(each.failures) for each in stage.tenants.values()),
        requests=sum(each.requests for each in stage.tenants.values()),
        retried_requests=sum(len(each.errors) for each in stage.tenants.values()),
        jobs=sum(each.jobs for each in outcomes.values()),
        webhooks=len(stage.receiver.deliveries),
        moves=len(moves),
        killed_movers=stage.killed_movers,
        delayed_requests=len(waits),
        unavailable_ms_p99=round(p99),
        frozen_ms_max=max(moves, default=0),
    )


def _claim(report: Report, name: str, outcome: Outcome, tenant: Tenant) -> None:
    report.claim(f"{name}: jobs promised to clients", expected="> 0", measured=outcome.jobs, holds=outcome.jobs > 0)
    for what, found in {
        "given up after retries": tenant.failures,
        "lost": outcome.lost,
        "charged twice": outcome.double_charged,
        "imports without one event": outcome.unannounced,
        "ledger faults": outcome.ledger_faults,
    }.items():
        _note(report, f"{name}: {what}", found)
        report.claim(f"... {what}", expected="0", measured=len(found), holds=not found)


def _note(report: Report, what: str, found: Sequence[str]) -> None:
    for each in found[:5]:
        report.note(f"{what}: {each}")


async def _claim_no_copies(report: Report, stage: Stage) -> None:
    """A library is in one cell only, with its rows and its objects."""
    found = 0
    for name, tenant in stage.tenants.items():
        for cell in stage.cells.cells.values():
            has = await cell.database.fetchval("SELECT count(*) FROM libraries WHERE id = $1", tenant.library_id)
            found += has and cell.name != stage.homes[name]
            found += not has and cell.name == stage.homes[name]
    report.claim("libraries in a cell that is not theirs", expected="0", measured=found, holds=not found)


async def _waits(stage: Stage) -> tuple[list[float], list[int]]:
    """Seconds of the requests that overlapped the freeze of their library, and the milliseconds of each freeze."""
    waits, milliseconds = [], []
    for name in ("mover", "returner"):
        tenant = stage.tenants[name]
        for flipped, frozen in await stage.cells.directory.flips(tenant.library_id):
            milliseconds.append(frozen)
            end = flipped.timestamp() + AROUND_SECONDS
            start = flipped.timestamp() - frozen / 1000
            waits += [each.ended - each.started for each in tenant.timed if each.started < end and each.ended > start]
    return waits, milliseconds


async def _lose_a_cell(report: Report, stage: Stage, *, lost: str) -> None:
    """Every process of a cell is killed while libraries of the other one are used."""
    others = [tenant for name, tenant in stage.tenants.items() if stage.homes[name] != lost]
    there = next(tenant for name, tenant in stage.tenants.items() if stage.homes[name] == lost)
    report.claim("libraries in the other cell", expected="> 0", measured=len(others), holds=bool(others))
    for tenant in others:
        tenant.is_over, tenant.rounds = False, 0
        tenant.errors.clear()
        tenant.failures.clear()
    running = [asyncio.create_task(each.run()) for each in others]
    try:
        await stage.cells.cells[lost].kill()
        started = time.monotonic()
        answer = await there.http.get("/v1/videos")
        seconds = time.monotonic() - started
        async with asyncio.timeout(ROUND_SECONDS):
            while any(each.rounds < CONTROL_ROUNDS for each in others):
                await asyncio.sleep(POLL_SECONDS)
        for tenant in others:
            tenant.is_over = True
        await asyncio.gather(*running)
    finally:
        for task in running:
            task.cancel()
    is_refused = answer.status_code == 500 and "retry-after" in answer.headers and "error" in answer.json()
    report.claim(
        "requests to the lost cell", expected="500 with Retry-After", measured=answer.status_code, holds=is_refused
    )
    report.claim_time(
        "... answered within",
        expected=f"{REFUSED_WITHIN_SECONDS:.0f} s",
        measured=f"{seconds:.2f} s",
        holds=seconds <= REFUSED_WITHIN_SECONDS,
    )
    errors = [each for tenant in others for _, each in tenant.errors] + [
        f for tenant in others for f in tenant.failures
    ]
    _note(report, "other cell", errors)
    report.claim("errors of libraries in the other cell", expected="0", measured=len(errors), holds=not errors)
    report.figures(other_cells_errors=len(errors), other_cells_rounds=sum(each.rounds for each in others))


if __name__ == "__main__":
    needs = Needs(programs=("ffmpeg", "ffprobe"), disk_bytes=3 * GB, short_disk_bytes=2 * GB)
    sys.exit(prove("Cells", proof, within=two_sets_of_services, needs=needs))
