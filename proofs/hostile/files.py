"""Hostile files: each is rejected, or ready if harmless, within memory and time limits and without side reads."""

import asyncio
import ctypes
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from cutroom.media.audio import make_audio
from cutroom.media.ladder import encode_ladder_chunk, plan_ladder, plan_ladder_chunks
from cutroom.media.poster import make_poster
from cutroom.media.probe import probe
from cutroom.media.process import RETRYABLE, MediaError
from cutroom.media.sandbox import Sandbox
from proofs.hostile import files_audio_mkv, files_encoded, files_mp4, files_references
from proofs.hostile.file_cases import Bait, Case, ExpectedOutcome, Workspace
from proofs.stage.report import Report

ImportFile = Callable[[Path, str], Awaitable[str]]

READY = "ready"
HOSTILE_FILES = 50  # at least
MEMORY_LIMIT_MB = 2000
SECONDS_LIMIT = 180.0
SAMPLE_SECONDS = 0.05
# Retryable outcomes say nothing about the file; accepting them would make a broken sandbox look strict.
INCONCLUSIVE = frozenset({reason.value for reason in RETRYABLE})


@dataclass
class FileTally:
    """Failures, outcomes and peak resource usage."""

    bad: list[str] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    peak_mb: float = 0.0
    slowest_seconds: float = 0.0
    slowest: str = ""

    def spent(self, case: Case, seconds: float) -> None:
        if seconds > self.slowest_seconds:
            self.slowest_seconds, self.slowest = seconds, case.name


class AccessMonitor:
    """Detects opens of a secret file, in any mount namespace, and connections to a port."""

    def __init__(self, secret: Path) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._inotify = self._libc.inotify_init1(os.O_NONBLOCK)
        opened = 0x20
        if self._inotify < 0 or self._libc.inotify_add_watch(self._inotify, bytes(secret), opened) < 0:
            raise OSError(ctypes.get_errno(), "cannot watch the secret")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0)
        self.port = self._listener.getsockname()[1]

    def opened(self) -> bool:
        with suppress(BlockingIOError):
            return bool(os.read(self._inotify, 65536))
        return False

    def connected(self) -> bool:
        with suppress(BlockingIOError):
            self._listener.accept()[0].close()
            return True
        return False

    def close(self) -> None:
        os.close(self._inotify)
        self._listener.close()


async def prove_files(
    report: Report, import_file: ImportFile, *, outputs: Path | None = None, worker: int | None = None, every: int = 1
) -> None:
    """Run every n-th case; `outputs` is searched for the secret, and memory is measured in children of `worker`."""
    with _workspace() as (workspace, monitor):
        _require_detection(monitor, workspace.bait)
        tally = FileTally()
        cases = all_cases()[::every]
        for number, case in enumerate(cases):
            fault = await _run_case(
                case, workspace, monitor, import_file=import_file, tally=tally, number=number, worker=worker
            )
            if outputs is not None and _leaked(outputs, workspace.bait.secret):
                fault = "the secret is in an output"
            if fault is not None:
                tally.bad.append(f"{case.name}: {fault}")
                report.note(tally.bad[-1])
    _conclude(report, cases, tally, at_least=HOSTILE_FILES // every)


def all_cases() -> list[Case]:
    return [
        *files_encoded.cases(),
        *files_references.cases(),
        *files_mp4.cases(),
        *files_audio_mkv.cases(),
    ]


@contextmanager
def _workspace() -> Iterator[tuple[Workspace, AccessMonitor]]:
    """A folder with a secret next to the files, under the name that playlists refer to."""
    with tempfile.TemporaryDirectory(prefix="hostile") as name:
        folder = Path(name)
        secret = secrets.token_hex(32).encode()
        secret_path = folder / "canary.mp4"
        secret_path.write_bytes(secret * 100)
        monitor = AccessMonitor(secret_path)
        try:
            bait = Bait(secret_path, f"http://127.0.0.1:{monitor.port}/secret.mp4", secret)
            yield Workspace(folder, bait, files_encoded.make_good(folder)), monitor
        finally:
            monitor.close()


def _require_detection(monitor: AccessMonitor, bait: Bait) -> None:
    """Show first that an unprotected ffprobe opens the secret and connects, and that the monitor detects both."""
    playlist = bait.secret_path.with_name("bait.m3u8")
    for at, caught in ((str(bait.secret_path), monitor.opened), (bait.url, monitor.connected)):
        playlist.write_text(f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{at}\n#EXT-X-ENDLIST\n")
        protocols = ("-protocol_whitelist", "file,http,tcp")
        with suppress(subprocess.TimeoutExpired):
            command = ["ffprobe", "-v", "quiet", *protocols, "-f", "hls", "-i", str(playlist)]
            subprocess.run(command, check=False, timeout=3, stdin=subprocess.DEVNULL)
        if not caught():
            raise RuntimeError(f"access to {at} was not detected")


async def _run_case(
    case: Case,
    workspace: Workspace,
    monitor: AccessMonitor,
    *,
    import_file: ImportFile,
    tally: FileTally,
    number: int,
    worker: int | None,
) -> str | None:
    """Import one file; returns a fault, or None."""
    path = workspace.folder / f"upload{number}.mp4"
    case.write(workspace, path)
    monitor.opened()
    sampler = asyncio.create_task(_sample(tally, worker or os.getpid()))
    started = time.monotonic()
    try:
        async with asyncio.timeout(SECONDS_LIMIT):
            outcome = await import_file(path, case.file_name)
    except Exception as error:  # noqa: BLE001 (any exception is a finding)
        return f"raised {error!r}"
    finally:
        sampler.cancel()
        tally.spent(case, time.monotonic() - started)
        _remove(path)
    tally.outcomes[outcome] += 1
    return _find_fault(case, outcome, monitor)


def _find_fault(case: Case, outcome: str, monitor: AccessMonitor) -> str | None:
    if monitor.opened():
        return "the secret was opened"
    if monitor.connected():
        return "a connection was made"
    if outcome in INCONCLUSIVE:
        return f"inconclusive: {outcome}"
    if case.expected is ExpectedOutcome.EITHER or (outcome == READY) == (case.expected is ExpectedOutcome.READY):
        return None
    return f"expected {case.expected}, got {outcome}"


async def _sample(tally: FileTally, pid: int) -> None:
    """Sample the memory of all children; peaks between samples are bounded by the sandbox."""
    process = psutil.Process(pid)
    while True:
        used = 0
        for child in process.children(recursive=True):
            with suppress(psutil.Error):
                used += child.memory_info().rss
        tally.peak_mb = max(tally.peak_mb, used / 1e6)
        await asyncio.sleep(SAMPLE_SECONDS)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _leaked(outputs: Path, secret: bytes) -> bool:
    return any(secret in path.read_bytes() for path in outputs.rglob("*") if path.is_file())


def _conclude(report: Report, cases: list[Case], tally: FileTally, *, at_least: int) -> None:
    hostile = [case for case in cases if case.expected is not ExpectedOutcome.READY]
    report.note(f"files: {dict(tally.outcomes)}")
    bad, peak_mb, slowest = len(tally.bad), tally.peak_mb, tally.slowest_seconds
    report.claim(
        "hostile files",
        expected=f">= {at_least}",
        measured=f"{len(hostile)}, and {len(cases) - len(hostile)} controls",
        holds=len(hostile) >= at_least,
    )
    report.claim("files with a wrong outcome or outside access", expected="0", measured=bad, holds=bad == 0)
    report.claim(
        "peak memory of subprocesses",
        expected=f"< {MEMORY_LIMIT_MB} MB",
        measured=f"{peak_mb:.0f} MB",
        holds=peak_mb < MEMORY_LIMIT_MB,
    )
    report.claim(
        "slowest file",
        expected=f"< {SECONDS_LIMIT:.0f} s",
        measured=f"{slowest:.1f} s ({tally.slowest})",
        holds=slowest < SECONDS_LIMIT,
    )
    report.figures(files=len(hostile), files_bad=bad, peak_mb=round(peak_mb), slowest_seconds=round(slowest, 1))


async def _prove_alone(report: Report) -> None:
    """Run the import's media steps in this process, without a worker."""
    sandbox = Sandbox()
    with tempfile.TemporaryDirectory(prefix="outputs") as name:
        folder = Path(name)

        async def import_file(path: Path, _file_name: str) -> str:
            shutil.rmtree(folder, ignore_errors=True)  # outputs of the previous file have been searched
            outputs = folder
            await asyncio.to_thread(folder.mkdir)
            try:
                info = await probe(path, sandbox=sandbox)
                await make_poster(path, info, output=outputs, sandbox=sandbox)
                await make_audio(path, info, output=outputs, sandbox=sandbox)
                if info.media_type == "video":  # as playback does after the import
                    for chunk in plan_ladder_chunks(info):
                        await encode_ladder_chunk(
                            path, info, chunk, renditions=plan_ladder(info)[-1:], output=outputs, sandbox=sandbox
                        )
            except MediaError as error:
                return error.reason.value
            return READY

        await prove_files(report, import_file, outputs=folder)


def main() -> int:
    report = Report("Hostile files")
    asyncio.run(_prove_alone(report))
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
