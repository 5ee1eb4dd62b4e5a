"""A real Prometheus server that scrapes given processes with the configuration and rules of `deploy/monitoring`."""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml

from dev.child_process import end_child, start_child
from dev.environment import PROJECT
from dev.server import free_port

MONITORING = PROJECT / "deploy" / "monitoring"
START_SECONDS = 60.0
STOP_SECONDS = 30.0
INTERVAL = "1s"  # of scrapes and rules


@dataclass(frozen=True, slots=True)
class PrometheusServer:
    """Runs queries against what was scraped."""

    client: httpx.AsyncClient

    async def query(self, expression: str) -> list[dict[str, Any]]:
        """Series that the query returns now; raises for an invalid one."""
        answered = await self.client.get("/api/v1/query", params={"query": expression})
        assert answered.status_code == 200, f"{expression}: {answered.text}"
        result: list[dict[str, Any]] = answered.json()["data"]["result"]
        return result

    async def scrape_again(self, *, times: int = 2) -> None:
        """Wait until every target was scraped again, and the rules after it."""
        scrapes = "min(count_over_time(up[1h]))"
        before = await self._value(scrapes)
        await self.wait_for(f"{scrapes} >= {before + times}")
        await self.wait_for(f"min(timestamp(cutroom_requests:error_ratio)) > {time.time()}")

    async def _value(self, expression: str) -> float:
        found = await self.query(expression)
        return float(found[0]["value"][1]) if found else 0.0

    async def wait_for(self, expression: str) -> None:
        async with asyncio.timeout(START_SECONDS):
            while not await self.query(expression):
                await asyncio.sleep(0.1)


@asynccontextmanager
async def prometheus_server(folder: Path, targets: Mapping[str, int]) -> AsyncIterator[PrometheusServer]:
    """Run a server in `folder`; `targets` are the metrics ports by job name."""
    program = shutil.which("prometheus")
    assert program is not None, "prometheus is not installed: run dev/bootstrap"
    configuration = yaml.safe_load((MONITORING / "prometheus.yml").read_text())
    configuration["global"] = {"scrape_interval": INTERVAL, "evaluation_interval": INTERVAL}
    configuration["rule_files"] = [str(MONITORING / "rules.yml")]
    for scrape in configuration["scrape_configs"]:
        scrape["static_configs"] = [{"targets": [f"127.0.0.1:{targets[scrape['job_name']]}"]}]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(configuration))
    url = f"127.0.0.1:{free_port()}"
    command = [program, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
    log = os.memfd_create("prometheus-log")
    process = start_child([*command, f"--web.listen-address={url}"], output=log)
    try:
        async with httpx.AsyncClient(base_url=f"http://{url}") as client:
            deadline = time.monotonic() + START_SECONDS
            while not await _is_ready(client):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"Prometheus did not start:\n{os.pread(log, 100_000, 0).decode()}")
                await asyncio.sleep(0.1)
            yield PrometheusServer(client)
    finally:
        end_child(process, signal.SIGTERM, seconds=STOP_SECONDS)
        os.close(log)


async def _is_ready(client: httpx.AsyncClient) -> bool:
    try:
        return (await client.get("/-/ready")).status_code == 200
    except httpx.TransportError:
        return False
