"""Runs a media program where it can see one input, one output folder and nothing else, within fixed limits."""

import json
import logging
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal

from cutroom.media.process import Finished, MediaError, OnLine, Progress, Reason, check, run

log = logging.getLogger(__name__)

MIB = 1024 * 1024
GIB = 1024 * MIB
NOBODY = "65534"
INPUT = "input"  # what a lone input is called inside, whatever its owner called it
STATUS_LIMIT_BYTES = 16 * 1024

Program = Literal["ffmpeg", "ffprobe", "packager"]


class Mode(StrEnum):
    """`off` is only for containers that are themselves the sandbox."""

    REQUIRED = "required"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run of a program may use."""

    wall_seconds: float = 300.0
    cpu_seconds: int = 240
    # Also bounds resident memory: nothing else inside can be written to except the small scratch space.
    address_space_bytes: int = 1800 * MIB
    file_bytes: int = 2 * GIB
    scratch_bytes: int = 16 * MIB
    # Threads count too. The kernel holds nobody to this one who is root outside: run workers as an ordinary user.
    processes: int = 256
    open_files: int = 64


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Where the programs are, and whether they are walled in."""

    mode: Mode = Mode.REQUIRED
    ffmpeg: Path = Path("/usr/bin/ffmpeg")
    ffprobe: Path = Path("/usr/bin/ffprobe")
    packager: Path = Path("/usr/bin/packager")
    bubblewrap: Path = Path("/usr/bin/bwrap")
    prlimit: Path = Path("/usr/bin/prlimit")
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.mode is Mode.OFF:
            log.warning("THE MEDIA SANDBOX IS OFF: files from strangers are opened with the rights of this process")

    async def run(
        self,
        program: Program,
        arguments: Sequence[str],
        *,
        inputs: Mapping[str, Path],
        output: Path | None = None,
        limits: Limits | None = None,
        on_line: OnLine | None = None,
    ) -> Finished:
        """Run one of the programs; `inside(name)` names an input, a bare file name lies in the output folder."""
        limits = limits or self.limits
        for path in inputs.values():
            require_file(path)
        tool: Path = {"ffmpeg": self.ffmpeg, "ffprobe": self.ffprobe, "packager": self.packager}[program]
        if self.mode is Mode.OFF:
            bare = [str(tool), *_outside(arguments, inputs)]
            command = [*self._prlimit(limits), *bare]
            seconds = limits.wall_seconds
            return check(await run(command, seconds=seconds, environment=ENVIRONMENT, folder=output, on_line=on_line))
        return await self._run_inside(tool, arguments, inputs=inputs, output=output, limits=limits, on_line=on_line)

    async def _run_inside(
        self,
        tool: Path,
        arguments: Sequence[str],
        *,
        inputs: Mapping[str, Path],
        output: Path | None,
        limits: Limits,
        on_line: OnLine | None,
    ) -> Finished:
        reader, writer = os.pipe()
        try:
            walls = [
                str(self.bubblewrap),
                *_walls(inputs, output, scratch_bytes=limits.scratch_bytes),
                *_tool_binding(tool),
                *("--remount-ro", "/"),
                *("--json-status-fd", str(writer)),
                "--",
            ]
            command = [*walls, *self._prlimit(limits), _tool_inside(tool), *arguments]
            finished = await run(
                command, seconds=limits.wall_seconds, environment=ENVIRONMENT, on_line=on_line, pass_fds=(writer,)
            )
            os.set_blocking(reader, False)
            _require_started(os.read(reader, STATUS_LIMIT_BYTES), finished)
        finally:
            os.close(reader)
            os.close(writer)
        return check(finished)

    def _prlimit(self, limits: Limits) -> list[str]:
        return [
            str(self.prlimit),
            f"--as={limits.address_space_bytes}",
            # At the soft limit SIGXCPU tells us why it died; the hard one would be an unexplained SIGKILL.
            f"--cpu={limits.cpu_seconds}:{limits.cpu_seconds + 5}",
            f"--fsize={limits.file_bytes}",
            f"--nproc={limits.processes}",
            f"--nofile={limits.open_files}",
            "--core=0",
            "--",
        ]


ENVIRONMENT: Mapping[str, str] = {
    "PATH": "/usr/bin",
    "LANG": "C.UTF-8",
    "HOME": "/tmp",  # noqa: S108 (the scratch space inside)
    # Each arena of the C library reserves 64 MiB of address space, which would use up the limit for nothing.
    "MALLOC_ARENA_MAX": "2",
}

# What the programs need of the system: code, the links that Debian's libraries go through, fonts.
_SYSTEM_LINKS = ("/bin", "/lib", "/lib64", "/sbin")
_SYSTEM_FILES = ("/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache", "/var/cache/fontconfig")


def inside(name: str = INPUT) -> str:
    """The name of an input as the program sees it; `file:` keeps a name from being read as another protocol."""
    return f"file:/in/{name}"


def require_file(path: Path) -> int:
    """Only a regular file is opened, never what a link, a pipe or a device leads to; gives its size in bytes."""
    try:
        found = path.lstat()
    except (OSError, ValueError) as error:
        raise MediaError(Reason.NOT_A_FILE, "The file is missing.", detail=str(error)) from error
    if not stat.S_ISREG(found.st_mode):
        raise MediaError(Reason.NOT_A_FILE, "This is not a regular file.")
    return found.st_size


def _walls(inputs: Mapping[str, Path], output: Path | None, *, scratch_bytes: int) -> list[str]:
    """An empty root, no network, no other process in sight, no way to gain rights, and an end when we end."""
    walls = ["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"]
    walls += ["--uid", NOBODY, "--gid", NOBODY, "--cap-drop", "ALL", "--clearenv"]
    for name, value in ENVIRONMENT.items():
        walls += ["--setenv", name, value]
    walls += ["--ro-bind", "/usr", "/usr"]
    for link in _SYSTEM_LINKS:
        path = Path(link)
        walls += ["--symlink", str(path.readlink()), link] if path.is_symlink() else ["--ro-bind-try", link, link]
    for file in _SYSTEM_FILES:
        walls += ["--ro-bind-try", file, file]
    # There is no /proc: ffmpeg needs none, and containers often cannot mount one.
    walls += ["--dev", "/dev", "--remount-ro", "/dev", "--size", str(scratch_bytes), "--tmpfs", ENVIRONMENT["HOME"]]
    for name, path in inputs.items():
        walls += ["--ro-bind", str(path.absolute()), f"/in/{name}"]
    if output is None:
        return [*walls, "--chdir", ENVIRONMENT["HOME"]]
    return [*walls, "--bind", str(output.absolute()), "/out", "--chdir", "/out"]


def _tool_inside(tool: Path) -> str:
    return str(tool) if tool.is_relative_to("/usr") else f"/tools/{tool.name}"


def _tool_binding(tool: Path) -> list[str]:
    """A static build may lie anywhere; only that one file is let in."""
    return [] if tool.is_relative_to("/usr") else ["--ro-bind", str(tool.resolve()), _tool_inside(tool)]


def _outside(arguments: Sequence[str], inputs: Mapping[str, Path]) -> list[str]:
    names = {inside(name): f"file:{path.absolute()}" for name, path in inputs.items()}
    return [names.get(argument, argument) for argument in arguments]


def _require_started(status: bytes, finished: Finished) -> None:
    """Bubblewrap reports the program's exit code only when it could build the walls and start the program."""
    for line in status.splitlines():
        if "exit-code" in json.loads(line):
            return
    if finished.exit_code > 0 and finished.exit_code < 128:
        sentence = "The sandbox for media work is not available."
        raise MediaError(Reason.SANDBOX_UNAVAILABLE, sentence, detail=finished.stderr)


async def ffmpeg(
    sandbox: Sandbox,
    arguments: Sequence[str],
    *,
    inputs: Mapping[str, Path],
    output: Path | None = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> Progress:
    """Run ffmpeg and give what it said last about its progress."""
    progress = progress or Progress()
    # -nostdin: never wait for a key. -xerror is not given: a damaged spot need not end the work.
    start = ["-v", "error", "-hide_banner", "-nostdin", "-y", "-progress", "pipe:1", "-stats_period", "1"]
    limits = limits or sandbox.limits
    await sandbox.run(
        "ffmpeg", [*start, *arguments], inputs=inputs, output=output, limits=limits, on_line=progress.read_line
    )
    return progress
