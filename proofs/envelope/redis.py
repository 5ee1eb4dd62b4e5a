"""Redis dies: keys go on working within limits kept in the process, and guessing at credentials is shut."""

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

from cutroom.accounts.keys import KEY_PREFIX, mint_credential
from cutroom.accounts.plans import PlanName
from dev.scratch import Accounts, environment_of, write_plans
from dev.server import Server, free_port
from proofs.stage.report import Report

TIGHT_LIMIT = 30
ASKED = 100


class OwnRedis:
    """A Redis of this proof's own, which it may kill."""

    def __init__(self) -> None:
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        for _ in range(250):
            if subprocess.run(["redis-cli", "-p", str(self.port), "ping"], capture_output=True, check=False).stdout:
                return
            time.sleep(0.02)
        raise RuntimeError("redis did not start")

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


async def prove_redis_away(report: Report, accounts: Accounts) -> None:
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
    stranger = {"Authorization": f"Bearer {mint_credential(KEY_PREFIX)}"}
    async with httpx.AsyncClient(base_url=f"{server.url}/v1", timeout=10) as client:
        with_redis = (await client.get("/folders", headers=stranger)).status_code
        assert (await client.get("/folders", headers=key.headers)).status_code == 200
        redis.kill()
        served, milliseconds = await _ask(client, key.headers)
        limited, _ = await _ask(client, tight.headers)
        guess = await client.get("/folders", headers=stranger)
        redis.start()
        await asyncio.sleep(1.5)  # longer than the pause before Redis is asked again
        again = await client.get("/folders", headers=stranger)
    report.claim("Redis killed: requests served", wanted=str(ASKED), measured=served, holds=served == ASKED)
    report.claim("... median time of a request, ms", wanted="< 50", measured=milliseconds, holds=milliseconds < 50)
    report.claim(
        f"... a key limited to {TIGHT_LIMIT} a minute, asked {ASKED} times: served",
        wanted=f"{TIGHT_LIMIT} or one more",
        measured=limited,
        holds=limited in {TIGHT_LIMIT, TIGHT_LIMIT + 1},
    )
    shut = (
        guess.status_code == 429 and guess.json()["error"]["code"] == "RATE_LIMITED" and "retry-after" in guess.headers
    )
    report.claim("... a guess at a key", wanted="429 RATE_LIMITED", measured=guess.status_code, holds=shut)
    statuses = (with_redis, again.status_code)
    report.claim(
        "... before, and when Redis is back", wanted="401, 401", measured=statuses, holds=statuses == (401, 401)
    )
    report.figures(redis_away_served=served, redis_away_limited=limited)


async def _ask(client: httpx.AsyncClient, headers: dict[str, str]) -> tuple[int, float]:
    """How many of a hundred requests were served, and the median milliseconds."""
    served, times = 0, []
    for _ in range(ASKED):
        started = time.perf_counter()
        with suppress(httpx.TransportError):
            served += (await client.get("/folders", headers=headers)).status_code == 200
        times.append((time.perf_counter() - started) * 1000)
    return served, round(statistics.median(times), 1)
