"""Reads of another tenant, in a process of their own so that an attacker's load in ours does not distort them."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from urllib.parse import urlsplit

from dev.child_process import end_child, start_child

ADDRESS = "127.0.0.9"
PAUSE_SECONDS = 0.01
MIN_READS = 30  # per window
STOP_SECONDS = 10.0
WINDOW_SECONDS = 60.0
RECORD = "{:.6f} {:.6f} {}\n"  # on the monotonic clock, which processes share


@dataclass
class VictimReads:
    """Starts the reading process, and compares its latency during a load with that before."""

    url: str
    headers: dict[str, str]
    paths: list[str]
    baseline_seconds: float = 0.0
    failures: int = 0
    _log: int = field(default_factory=lambda: os.memfd_create("victim-reads"))
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        arguments = [self.url, self.headers["Authorization"], *self.paths]
        self._process = start_child([sys.executable, "-m", "proofs.hardening.victim", *arguments], output=self._log)

    def stop(self) -> None:
        end_child(self._process, signal.SIGTERM, seconds=STOP_SECONDS)

    async def measure_baseline(self, reads: int) -> None:
        """Measure while nothing else runs."""
        await self._wait(time.monotonic(), 5)  # connected
        self.baseline_seconds = await self._p95(time.monotonic(), reads)

    @asynccontextmanager
    async def during(self, load: str, ratios: dict[str, float]) -> AsyncIterator[None]:
        """Record the ratio of the 95th percentile while the body runs to that before; the body is the load."""
        started = time.monotonic()
        yield
        ratios[load] = round(await self._p95(started, MIN_READS, until=time.monotonic()) / self.baseline_seconds, 2)

    async def _p95(self, since: float, reads: int, *, until: float | None = None) -> float:
        found = await self._wait(since, reads)
        within = [each for each in found if until is None or each[0] <= until]
        if len(within) < MIN_READS:  # the load has ended early or has blocked the reads: count those that follow
            within = found
        self.failures += sum(status != 200 for _, _, status in within)
        latencies = sorted(seconds for _, seconds, _ in within)
        return latencies[int(0.95 * (len(latencies) - 1))]

    async def _wait(self, since: float, reads: int) -> list[tuple[float, float, int]]:
        """Wait for this many reads that started since then."""
        deadline = time.monotonic() + WINDOW_SECONDS
        while len(found := [each for each in self._records() if each[0] >= since]) < reads:
            if time.monotonic() > deadline or self._process is None or self._process.poll() is not None:
                raise RuntimeError(f"the victim's reads have stopped:\n{self._text()[-2000:]}")
            await asyncio.sleep(0.02)
        return found

    def _text(self) -> str:
        return os.pread(self._log, 50_000_000, 0).decode(errors="replace")

    def _records(self) -> list[tuple[float, float, int]]:
        lines = self._text().split("\n")[:-1]
        fields = [line.split() for line in lines]
        return [(float(each[0]), float(each[1]), int(each[2])) for each in fields if len(each) == 3]


def main(url: str, authorization: str, *paths: str) -> None:
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port or 80, timeout=30, source_address=(ADDRESS, 0))
    number = 0
    while True:
        started = time.monotonic()
        try:
            connection.request("GET", paths[number % len(paths)], headers={"Authorization": authorization})
            response = connection.getresponse()
            response.read()
            status = response.status
        except OSError:
            connection.close()  # connects again with the next request
            status = 0
        sys.stdout.write(RECORD.format(started, time.monotonic() - started, status))
        sys.stdout.flush()
        number += 1
        time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    main(*sys.argv[1:])
