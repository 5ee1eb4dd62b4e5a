"""Upgrade: the last release runs under load, is upgraded to this version step by step, and rolled back."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import asyncpg
import httpx
from temporalio.client import Client

from cutroom import __version__
from cutroom.platform.db import register_json_codec
from cutroom.platform.worker_versions import read_routing
from dev.environment import port_base
from dev.releases import Installation, install, released, working_tree
from dev.scratch import GENEROUS_PLANS
from dev.services import control
from proofs.stage.ledger_audit import audit_ledger
from proofs.stage.loopback_worker import CERTIFICATE
from proofs.stage.own_services import own_services
from proofs.stage.report import Report, prove
from proofs.stage.requirements import GB, Needs
from proofs.stage.webhook_receiver import Receiver
from proofs.upgrade.front import Front
from proofs.upgrade.installation import POLL_SECONDS, Version, VersionProcess
from proofs.upgrade.load import CLIENT_SECONDS, CountingClient, Load, Tally
from proofs.upgrade.outcome import RUNNING, Outcome, read_outcome, wait_until_settled
from tests.support.stage import make_video

PORT_OFFSET = 300  # from the base port, apart from the services of other proofs, which run at the same time in CI
EMAIL = "upgrade@example.com"
CREDITS = "1000000"
HOOK_PATH = "/takes/upgrade"
VOICES_SECONDS = 300.0
WORK_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Size:
    """How many clients there are, and how much work of theirs is ready before the next step."""

    clients: int
    rounds: int
    video_seconds: int
    pause_seconds: float  # of each client, between two rounds


LONG = Size(clients=8, rounds=60, video_seconds=20, pause_seconds=0.1)
SHORT = Size(clients=2, rounds=3, video_seconds=2, pause_seconds=0.7)
DIRECTIONS = ("up", "down")


@dataclass
class UpgradeStage:
    """Two versions on the same services, of which one serves the front."""

    old: Version
    new: Version
    front: Front
    receiver: Receiver
    database: "asyncpg.Connection[asyncpg.Record]"
    temporal: Client
    # Jobs in progress at a step of a switch, by direction.
    across: dict[str, set[str]] = field(default_factory=lambda: {each: set() for each in DIRECTIONS})
    drained: dict[str, float] = field(default_factory=dict)  # seconds until the previous process had ended


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    size = SHORT if short else LONG
    with TemporaryDirectory() as name:
        folder = Path(name)
        video = await asyncio.to_thread(_make_silent_video, folder / "video.mp4", size.video_seconds)
        async with _open_stage(folder) as stage:
            await stage.old.migrate()
            with report.timed("start of the release"):
                (api, port), worker = await asyncio.gather(stage.old.start_api(), stage.old.start_worker())
                stage.front.direct_to(port)
            async with _open_load(stage, video) as load:
                running = asyncio.create_task(load.run(size.clients, pause_seconds=size.pause_seconds))
                try:
                    await _until(running, load.wait_for(size.rounds))
                    with report.timed("upgrade"):
                        api, worker = await _upgrade(stage, api=api, worker=worker)
                    await _until(running, load.wait_for(load.tally.ready + size.rounds))
                    load.direction = "down"
                    await _until(running, load.wait_for(size.rounds))
                    with report.timed("rollback"):
                        await _roll_back(stage, api=api, worker=worker)
                    await _until(running, load.wait_for(load.tally.ready + size.rounds))
                    load.is_over = True
                    await running
                finally:
                    running.cancel()
                is_settled = await wait_until_settled(stage.database)
                await _report(report, stage, load, is_settled=is_settled)


def _make_silent_video(path: Path, seconds: int) -> Path:
    """Without speech, because the release is installed without its recognition engines."""
    with_tone = make_video(path.with_name("tone.mp4"), seconds)
    command = ["ffmpeg", "-v", "error", "-y", "-i", str(with_tone), "-an", "-c", "copy", str(path)]
    subprocess.run(command, check=True)
    return path


async def _until(running: asyncio.Task[None], waiting: Coroutine[None, None, None]) -> None:
    """Waits, unless the load ends first, which it does only by an error."""
    task = asyncio.create_task(waiting)
    await asyncio.wait([running, task], return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        task.cancel()
        await running
        raise RuntimeError("the load ended early")


async def _upgrade(
    stage: UpgradeStage, *, api: VersionProcess, worker: VersionProcess
) -> tuple[VersionProcess, VersionProcess]:
    """As docs/upgrade.md says: migrate, then the workers, then the API."""
    await stage.new.migrate()
    new_worker = await stage.new.start_worker()
    await _wait_for_work(stage, "up")
    await stage.new.command(["workers", "promote"])
    await _wait_for_work(stage, "up")
    stage.drained["worker of the release"] = await worker.drain()
    new_api, port = await stage.new.start_api()
    await _wait_for_work(stage, "up")
    stage.front.direct_to(port)
    stage.drained["API of the release"] = await api.drain()
    return new_api, new_worker


async def _roll_back(stage: UpgradeStage, *, api: VersionProcess, worker: VersionProcess) -> None:
    """The new worker runs until the workflows that it started have finished; the schema stays."""
    await stage.old.start_worker()
    await _wait_for_work(stage, "down")
    [routing] = await stage.new.command(["workers", "rollback", "unversioned"])
    assert routing["current"] == "unversioned", routing
    _, port = await stage.old.start_api()
    await _wait_for_work(stage, "down")
    stage.front.direct_to(port)
    stage.drained["API of this version"] = await api.drain()
    while any(each.running_workflows for each in (await read_routing(stage.temporal)).builds):
        await asyncio.sleep(POLL_SECONDS)
    stage.drained["worker of this version"] = await worker.drain()


async def _wait_for_work(stage: UpgradeStage, direction: str) -> None:
    """The load always has some; a step between two jobs would show nothing."""
    async with asyncio.timeout(WORK_SECONDS):
        while not (running := await stage.database.fetch(RUNNING)):
            await asyncio.sleep(POLL_SECONDS)
    stage.across[direction] |= {row["id"] for row in running}


@asynccontextmanager
async def _open_stage(folder: Path) -> AsyncIterator[UpgradeStage]:
    receiver, front = Receiver(folder), Front()
    await receiver.start()
    await front.start()
    settings = _settings(folder, front)
    old = Version(_release(), settings)
    new = Version(working_tree(__version__), {**settings, "CUTROOM_WORKER_VERSIONING": "on"})
    database = await asyncpg.connect(settings["CUTROOM_OWNER_DATABASE_URL"])
    await register_json_codec(database)
    temporal = await Client.connect(settings["CUTROOM_TEMPORAL_ADDRESS"])
    try:
        yield UpgradeStage(old, new, front, receiver, database, temporal)
    except BaseException:
        for process in (*old.running, *new.running):
            print(process.command, process.read_log()[-3000:], file=sys.stderr)
        raise
    finally:
        old.stop_all()
        new.stop_all()
        await database.close()
        await front.stop()
        await receiver.stop()
        receiver.sender.close()


def _settings(folder: Path, front: Front) -> dict[str, str]:
    variables = control.environment()
    del variables["CUTROOM_METRICS_PORT"], variables["CUTROOM_WORKER_METRICS_PORT"]  # versions run side by side
    return {
        **variables,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "CUTROOM_PUBLIC_URL": front.url,
        "CUTROOM_CACHE_DIR": str(folder / "work"),
        "CUTROOM_PLANS_FILE": str(GENEROUS_PLANS),
        "CUTROOM_ACCOUNT_REQUESTS_PER_MINUTE": "6000000",
        "CUTROOM_ACCOUNT_FREE_WORK_PER_DAY": "1000000",
        "CUTROOM_PREFLIGHT_SECONDS": "0",
        "CUTROOM_PLAYBACK": "off",
        "CUTROOM_TTS_ENGINES": "pico",
        CERTIFICATE: str(folder / "certificate.pem"),
    }


@asynccontextmanager
async def _open_load(stage: UpgradeStage, video: Path) -> AsyncIterator[Load]:
    """An account and a webhook endpoint made with the release, and its voice."""
    create = ["admin", "user", "create", EMAIL, "--plan", "business"]
    commands = (create, ["admin", "credits", "grant", EMAIL, CREDITS], ["admin", "key", "create", EMAIL])
    *_, key = await stage.old.command(*commands)
    headers = {"Authorization": f"Bearer {key['key']}"}
    async with httpx.AsyncClient(base_url=stage.front.url, headers=headers, timeout=CLIENT_SECONDS) as http:
        client = CountingClient(http)
        endpoint = await client.post("/v1/webhook-endpoints", url=f"https://{stage.receiver.host}{HOOK_PATH}")
        stage.receiver.secrets[HOOK_PATH] = endpoint["secret"]
        yield Load(client, video, await _voice(client))


async def _voice(client: CountingClient) -> str:
    """The worker publishes its voices soon after it starts."""
    async with asyncio.timeout(VOICES_SECONDS):
        while not (voices := (await client.get("/v2/voices"))["voices"]):
            await asyncio.sleep(POLL_SECONDS)
    return str(voices[0]["voice_id"])


async def _report(report: Report, stage: UpgradeStage, load: Load, *, is_settled: bool) -> None:
    outcomes = {each: await read_outcome(stage.database, load.tallies[each], stage.receiver) for each in DIRECTIONS}
    library_id = await stage.database.fetchval("SELECT library_id FROM jobs LIMIT 1")
    async with stage.database.transaction(isolation="repeatable_read", readonly=True):
        audit = await audit_ledger(stage.database, library_id)
    report.claim("all work has ended", expected="yes", measured="yes" if is_settled else "no", holds=is_settled)
    for direction in DIRECTIONS:
        _claim(report, direction, outcomes[direction], load.tallies[direction], across=len(stage.across[direction]))
    for fault in audit.faults:
        report.note(fault)
    report.claim("ledger faults", expected="0", measured=len(audit.faults), holds=not audit.faults)
    for process, seconds in stage.drained.items():
        report.note(f"{process}: stopped after {seconds:.1f} s")
    report.figures(
        **{f"lost_{each}": len(outcomes[each].lost) for each in DIRECTIONS},
        **{f"failed_requests_{each}": len(load.tallies[each].failures) for each in DIRECTIONS},
        **{f"double_charged_{each}": len(outcomes[each].double_charged) for each in DIRECTIONS},
        lost=sum(len(each.lost) for each in outcomes.values()),
        failed_requests=sum(len(each.failures) for each in load.tallies.values()),
        double_charged=sum(len(each.double_charged) for each in outcomes.values()),
        requests=load.client.requests,
        retried_requests=load.client.retried,
        jobs=sum(each.jobs for each in outcomes.values()),
        **{f"running_across_{each}": len(stage.across[each]) for each in DIRECTIONS},
        webhooks=len(stage.receiver.deliveries),
    )


def _claim(report: Report, direction: str, outcome: Outcome, tally: Tally, *, across: int) -> None:
    faults: Mapping[str, Sequence[str]] = {
        "failed after retries": tally.failures,
        "lost": outcome.lost,
        "charged twice": outcome.double_charged,
        "not charged": outcome.uncharged,
        "without one event": outcome.unannounced,
    }
    for name, found in faults.items():
        for each in found[:5]:
            report.note(f"{direction}: {name}: {each}")
    report.claim(
        f"{direction}: jobs promised to clients", expected="> 0", measured=outcome.jobs, holds=outcome.jobs > 0
    )
    report.claim("... in progress at a step of the switch", expected="> 0", measured=across, holds=across > 0)
    for name, found in faults.items():
        report.claim(f"... {name}", expected="0", measured=len(found), holds=not found)


@cache
def _release() -> Installation:
    return install(released()[-1])


@contextmanager
def services_and_release() -> Iterator[None]:
    """The release is installed in the data directory of the checkout, where the next run finds it."""
    _release()
    with own_services(port_base() + PORT_OFFSET):
        yield


if __name__ == "__main__":
    needs = Needs(programs=("ffmpeg", "ffprobe", "uv"), disk_bytes=3 * GB, short_disk_bytes=2 * GB)
    sys.exit(prove("Upgrade", proof, within=services_and_release, needs=needs))
