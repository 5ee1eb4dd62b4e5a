"""Upload throughput of the gateway (curl) relative to the bare object store (obstore), measured alternately."""

import asyncio
import re
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import obstore
import psutil

from cutroom.platform.storage.objects import Storage
from dev.scratch import Accounts
from dev.server import Server
from proofs.ingest.upload_clients import start_with_curl
from proofs.ingest.upload_rows import create_target
from proofs.stage.report import Report

PART_BYTES = 8 * 1024 * 1024
MIN_RATIO = 0.6
MEBIBYTE = 1024 * 1024

Measure = Callable[[Accounts, Server, Path], Awaitable[float]]


async def prove_throughput(report: Report, accounts: Accounts, server: Server, *, file: Path, rounds: int) -> None:
    figures: dict[Measure, list[float]] = {_upload_to_store: [], _upload_to_gateway: []}
    mebibytes, process = _mebibytes(file), psutil.Process(server.pid)
    before = sum(process.cpu_times()[:2])
    for number in range(rounds):
        for measure in (_upload_to_store, _upload_to_gateway) if number % 2 else (_upload_to_gateway, _upload_to_store):
            figures[measure].append(mebibytes / await measure(accounts, server, file))
    cpu = (sum(process.cpu_times()[:2]) - before) / (rounds * mebibytes / 1024)
    # The best of each: other load on the machine can only reduce throughput.
    bare, through = (max(figures[measure]) for measure in (_upload_to_store, _upload_to_gateway))
    for name, each in (("bare", figures[_upload_to_store]), ("gateway", figures[_upload_to_gateway])):
        report.note(f"{name}: {[round(speed) for speed in each]} MiB/s")
    report.note(f"API: {cpu:.1f} CPU seconds per GiB, peak memory {_peak(server.pid)} MiB")
    measured = f"{through / bare:.2f} ({through:.0f} of {bare:.0f} MiB/s)"
    report.claim(
        f"gateway throughput relative to the bare store, best of {rounds}",
        expected=f">= {MIN_RATIO}",
        measured=measured,
        holds=through / bare >= MIN_RATIO,
    )
    report.figures(throughput_ratio=round(through / bare, 2), gateway_cpu_seconds_per_gib=round(cpu, 2))


def _mebibytes(file: Path) -> float:
    return file.stat().st_size / MEBIBYTE


def _peak(pid: int) -> int:
    match = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(match[1]) // 1024 if match else 0


async def _upload_to_store(accounts: Accounts, _server: Server, file: Path) -> float:
    store, path = Storage.connect(accounts.settings).store, "proofs/uploads/bare"
    began = time.perf_counter()
    await obstore.put_async(store, path, file, use_multipart=True, chunk_size=PART_BYTES)
    seconds = time.perf_counter() - began
    await obstore.delete_async(store, path)
    return seconds


async def _upload_to_gateway(accounts: Accounts, server: Server, file: Path) -> float:
    target = await create_target(accounts)
    location = await asyncio.to_thread(start_with_curl, target.start_url(server.url))
    command = ["curl", "-sS", "--fail", "-o", "/dev/null", "-T", str(file), location]
    began = time.perf_counter()
    await asyncio.to_thread(subprocess.run, command, check=True, timeout=600)
    seconds = time.perf_counter() - began
    await target.delete()
    return seconds
