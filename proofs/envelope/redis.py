"""Redis outage: requests are served with in-process limits, and unknown credentials are rate-limited."""

import asyncio
import signal
import statistics
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
from pydantic import SecretStr

from cutroom.accounts.keys import KEY_PREFIX, generate_credential
from cutroom.accounts.plans import PlanName
from dev.child_process import start_child
from dev.scratch import Accounts, environment_of, write_plans
from dev.server import Server, free_port
from proofs.stage.report import Report

TIGHT_LIMIT = 30
WAIT_SECONDS = 60
REQUESTS = 100


class OwnRedis:
    """A private Redis that the proof may kill."""

    def __init__(self) -> None:
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self.process = start_child(command)
        for _ in range(250):
            if subprocess.run(["redis-cli", "-p", str(self.port), "ping"], capture_output=True, check=False).stdout:
                return
            time.sleep(0.02)
        raise RuntimeError("redis did not start")

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


async def prove_redis_outage(report: Report, accounts: Accounts) -> None:
    redis = OwnRedis()
    redis.start()
    with TemporaryDirectory() as folder:
        plans = write_plans(Path(folder) / "plans.toml", free={"requests_per_minute": TIGHT_LIMIT})
        changes = {"redis_url": SecretStr(f"redis://127.0.0.1:{redis.port}/0"), "plans_file": plans}
        server = Server(environment_of(accounts.settings.model_copy(update=changes)))
        server.start()
        try:
            await _observe(report, accounts, redis, server)
        finally:
            server.stop()
            redis.kill()


async def _observe(report: Report, accounts: Accounts, redis: OwnRedis, server: Server) -> None:
    key = await accounts.key(await accounts.person())
    tight = await accounts.key(await accounts.person(PlanName.FREE))
    unknown_key = {"Authorization": f"Bearer {generate_credential(KEY_PREFIX)}"}
    async with httpx.AsyncClient(base_url=f"{server.url}/v1", timeout=10) as client:
        with_redis = (await client.get("/folders", headers=unknown_key)).status_code
        assert (await client.get("/folders", headers=key.headers)).status_code == 200
        redis.kill()
        served, milliseconds = await _send_requests(client, key.headers)
        limited, _ = await _send_requests(client, tight.headers)
        rejected = await client.get("/folders", headers=unknown_key)
        redis.start()
        restored = await client.get("/folders", headers=unknown_key)
        deadline = time.monotonic() + WAIT_SECONDS
        while restored.status_code == 429 and time.monotonic() < deadline:  # until Redis is tried again
            await asyncio.sleep(0.5)
            restored = await client.get("/folders", headers=unknown_key)
    report.claim("Redis killed: requests served", expected=str(REQUESTS), measured=served, holds=served == REQUESTS)
    report.claim_time("... median response time, ms", expected="< 50", measured=milliseconds, holds=milliseconds < 50)
    report.claim(
        f"... a key limited to {TIGHT_LIMIT} per minute, of {REQUESTS} requests: served",
        expected=f"{TIGHT_LIMIT} or one more",
        measured=limited,
        holds=limited in {TIGHT_LIMIT, TIGHT_LIMIT + 1},
    )
    shut = (
        rejected.status_code == 429
        and rejected.json()["error"]["code"] == "RATE_LIMITED"
        and "retry-after" in rejected.headers
    )
    report.claim("... an unknown key", expected="429 RATE_LIMITED", measured=rejected.status_code, holds=shut)
    statuses = (with_redis, restored.status_code)
    report.claim(
        "... before, and after Redis is back", expected="401, 401", measured=statuses, holds=statuses == (401, 401)
    )
    report.figures(redis_away_served=served, redis_away_limited=limited)


async def _send_requests(client: httpx.AsyncClient, headers: dict[str, str]) -> tuple[int, float]:
    """Number of served requests, and the median response time in milliseconds."""
    served, times = 0, []
    for _ in range(REQUESTS):
        started = time.perf_counter()
        with suppress(httpx.TransportError):
            served += (await client.get("/folders", headers=headers)).status_code == 200
        times.append((time.perf_counter() - started) * 1000)
    return served, round(statistics.median(times), 1)
