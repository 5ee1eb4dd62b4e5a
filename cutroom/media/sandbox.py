"""Runs programs on untrusted media and text in a bubblewrap sandbox, with a system call filter and rlimits.

It exposes only the inputs and one output directory.
"""

import json
import logging
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Literal

from cutroom.media.encoders import VideoEncoder, gpu_devices, needs_gpu
from cutroom.media.process import (
    FfmpegProgress,
    FinishedProcess,
    InheritedFiles,
    MediaError,
    OnLine,
    Reason,
    check_exit,
    run,
)
from cutroom.platform.process.seccomp import UnsupportedArchitectureError, compile_filter

log = logging.getLogger(__name__)

MIB = 1024 * 1024
GIB = 1024 * MIB
NOBODY = "65534"
_UNAVAILABLE = "The media sandbox is not available."
INPUT = "input"  # default name of a single input inside the sandbox
STATUS_LIMIT_BYTES = 16 * 1024
GPU_OPEN_FILES = 1024  # the driver opens its devices many times

Program = Literal["ffmpeg", "ffprobe", "packager"]


class SandboxMode(StrEnum):
    """`off` is only for containers that are themselves the sandbox."""

    REQUIRED = "required"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """Resource limits of one program run."""

    wall_seconds: float = 300.0
    cpu_seconds: int = 240
    # Also bounds resident memory: nothing is writable inside except the small scratch space.
    address_space_bytes: int = 1800 * MIB
    file_bytes: int = 2 * GIB
    scratch_bytes: int = 16 * MIB
    # Counts threads too. The kernel does not enforce it for root: run workers as an ordinary user.
    processes: int = 256
    open_files: int = 64


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Paths of the programs, and whether they are sandboxed."""

    mode: SandboxMode = SandboxMode.REQUIRED
    ffmpeg: Path = Path("/usr/bin/ffmpeg")
    ffprobe: Path = Path("/usr/bin/ffprobe")
    packager: Path = Path("/usr/bin/packager")
    bubblewrap: Path = Path("/usr/bin/bwrap")
    prlimit: Path = Path("/usr/bin/prlimit")
    nice: Path = Path("/usr/bin/nice")
    niceness: int = 0  # of the programs; greater is a lower scheduling priority
    encoder: VideoEncoder = VideoEncoder.LIBX264
    limits: SandboxLimits = field(default_factory=SandboxLimits)

    def __post_init__(self) -> None:
        if self.mode is SandboxMode.OFF:
            log.warning("MEDIA SANDBOX IS OFF: untrusted files are opened with the permissions of this process")

    async def run(
        self,
        program: Program,
        arguments: Sequence[str],
        *,
        inputs: Mapping[str, Path],
        output: Path | None = None,
        limits: SandboxLimits | None = None,
        on_line: OnLine | None = None,
    ) -> FinishedProcess:
        """Runs a program. `input_url(name)` refers to an input; unsandboxed file names are in the output directory."""
        limits, gpu = limits or self.limits, needs_gpu(arguments)
        for path in inputs.values():
            require_file(path)
        tool: Path = {"ffmpeg": self.ffmpeg, "ffprobe": self.ffprobe, "packager": self.packager}[program]
        if self.mode is SandboxMode.OFF:
            command = [*self._with_limits(limits, gpu=gpu), str(tool), *_without_sandbox(arguments, inputs)]
            return check_exit(
                await run(
                    command,
                    seconds=limits.wall_seconds,
                    environment=ENVIRONMENT,
                    folder=output,
                    on_line=on_line,
                    program=program,
                )
            )
        devices = gpu_devices() if gpu else []
        options = _bubblewrap_options(inputs, output, scratch_bytes=limits.scratch_bytes, devices=devices)
        command = [*self._with_limits(limits, gpu=gpu), _tool_inside(tool), *arguments]
        return check_exit(
            await self._run_inside(
                command,
                options=[*options, *_tool_binding(tool)],
                seconds=limits.wall_seconds,
                on_line=on_line,
                program=tool.name,
            )
        )

    async def run_on_text(
        self,
        tool: Path,
        arguments: Sequence[str],
        *,
        text: bytes = b"",
        seconds: float,
        folders: Sequence[Path] = (),
        pass_fds: Sequence[int] = (),
    ) -> FinishedProcess:
        """Runs a program with the text as its stdin, and returns whatever its exit code is.

        The folders outside /usr that the program consists of are readable at their own paths.
        """
        _require_tool(tool)
        limits = replace(self.limits, wall_seconds=seconds)
        command = [*self._with_limits(limits), str(tool), *arguments]
        with _anonymous_file(text) as stdin:
            files = InheritedFiles(stdin, pass_fds)
            if self.mode is SandboxMode.OFF:
                return await run(command, seconds=seconds, environment=ENVIRONMENT, files=files, program=tool.name)
            options = _bubblewrap_options({}, None, scratch_bytes=limits.scratch_bytes, folders=folders)
            return await self._run_inside(command, options=options, seconds=seconds, files=files, program=tool.name)

    async def _run_inside(
        self,
        command: Sequence[str],
        *,
        options: Sequence[str],
        seconds: float,
        program: str,
        on_line: OnLine | None = None,
        files: InheritedFiles | None = None,
    ) -> FinishedProcess:
        files = files or InheritedFiles()
        reader, writer = os.pipe()
        try:
            with _anonymous_file(_system_call_filter()) as system_call_filter:
                sandboxed = [
                    str(self.bubblewrap),
                    *options,
                    *("--remount-ro", "/"),
                    *("--seccomp", str(system_call_filter)),
                    *("--json-status-fd", str(writer)),
                    *("--", *_INIT, *command),
                ]
                finished = await run(
                    sandboxed,
                    seconds=seconds,
                    environment=ENVIRONMENT,
                    on_line=on_line,
                    files=replace(files, others=(writer, system_call_filter, *files.others)),
                    program=program,
                )
            _require_started(_read_status(reader), finished)
        finally:
            os.close(reader)
            os.close(writer)
        return finished

    def _with_limits(self, limits: SandboxLimits, *, gpu: bool = False) -> list[str]:
        priority = [str(self.nice), "-n", str(self.niceness)] if self.niceness else []
        return [
            *priority,
            str(self.prlimit),
            # CUDA reserves address space for all memory of the machine and its GPUs.
            f"--as={'unlimited' if gpu else limits.address_space_bytes}",
            # SIGXCPU at the soft limit identifies the cause; the hard limit would be an unexplained SIGKILL.
            f"--cpu={limits.cpu_seconds}:{limits.cpu_seconds + 5}",
            f"--fsize={limits.file_bytes}",
            f"--nproc={limits.processes}",
            f"--nofile={GPU_OPEN_FILES if gpu else limits.open_files}",
            "--core=0",
            "--",
        ]


ENVIRONMENT: Mapping[str, str] = {
    "PATH": "/usr/bin",
    "LANG": "C.UTF-8",
    "HOME": "/tmp",  # noqa: S108 (the scratch space of the sandbox)
    # Each malloc arena reserves 64 MiB of address space, which would exhaust the limit.
    "MALLOC_ARENA_MAX": "2",
}

# A shell is process 1 of the sandbox. Bubblewrap's own does not pass on the CPU time of the program, and the program
# itself would be exempt from signals. Not the last command, or the shell would replace itself with the program.
_INIT = ("/bin/sh", "-c", '"$@"; exit "$?"', "sh")

# System paths that the programs need: binaries, the symlinks of Debian's libraries, fonts.
_SYSTEM_LINKS = ("/bin", "/lib", "/lib64", "/sbin")
_SYSTEM_FILES = ("/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache", "/var/cache/fontconfig")


def input_url(name: str = INPUT) -> str:
    """URL of an input inside the sandbox; `file:` keeps a name from being parsed as another protocol."""
    return f"file:/in/{name}"


def require_file(path: Path) -> int:
    """Requires a regular file (no symlink, pipe or device) and returns its size in bytes."""
    try:
        found = path.lstat()
    except (OSError, ValueError) as error:
        raise MediaError(Reason.NOT_A_FILE, "The file is missing.", detail=str(error)) from error
    if not stat.S_ISREG(found.st_mode):
        raise MediaError(Reason.NOT_A_FILE, "This is not a regular file.")
    return found.st_size


def _bubblewrap_options(
    inputs: Mapping[str, Path],
    output: Path | None,
    *,
    scratch_bytes: int,
    folders: Sequence[Path] = (),
    devices: Sequence[Path] = (),
) -> list[str]:
    """An empty root, no network, own PID namespace, no capabilities, killed with the parent."""
    options = ["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"]
    options += ["--as-pid-1"]
    options += ["--uid", NOBODY, "--gid", NOBODY, "--cap-drop", "ALL", "--clearenv"]
    for name, value in ENVIRONMENT.items():
        options += ["--setenv", name, value]
    options += ["--ro-bind", "/usr", "/usr"]
    for link in _SYSTEM_LINKS:
        path = Path(link)
        options += ["--symlink", str(path.readlink()), link] if path.is_symlink() else ["--ro-bind-try", link, link]
    for file in _SYSTEM_FILES:
        options += ["--ro-bind-try", file, file]
    # No /proc: the programs do not need it, and containers often cannot mount one.
    options += ["--dev", "/dev"]
    for device in devices:
        options += ["--dev-bind", str(device), f"/dev/{device.name}"]
    options += ["--remount-ro", "/dev", "--size", str(scratch_bytes), "--tmpfs", ENVIRONMENT["HOME"]]
    for folder in folders:
        options += ["--ro-bind", str(folder), str(folder)]
    for name, path in inputs.items():
        options += ["--ro-bind", str(path.absolute()), f"/in/{name}"]
    if output is None:
        return [*options, "--chdir", ENVIRONMENT["HOME"]]
    return [*options, "--bind", str(output.absolute()), "/out", "--chdir", "/out"]


def _require_tool(tool: Path) -> None:
    if not tool.is_file():
        raise MediaError(Reason.TOOL_MISSING, "A required program is not installed.", detail=str(tool))


def _tool_inside(tool: Path) -> str:
    return str(tool) if tool.is_relative_to("/usr") else f"/tools/{tool.name}"


def _tool_binding(tool: Path) -> list[str]:
    """A static build outside /usr is bind-mounted by itself."""
    return [] if tool.is_relative_to("/usr") else ["--ro-bind", str(tool.resolve()), _tool_inside(tool)]


@contextmanager
def _anonymous_file(content: bytes) -> Iterator[int]:
    """A file in memory, invisible to other processes, to be read from its beginning."""
    file = os.memfd_create("cutroom")
    try:
        with os.fdopen(os.dup(file), "wb") as stream:
            stream.write(content)
        os.lseek(file, 0, os.SEEK_SET)
        yield file
    finally:
        os.close(file)


def _system_call_filter() -> bytes:
    try:
        return compile_filter()
    except UnsupportedArchitectureError as error:
        raise MediaError(Reason.SANDBOX_UNAVAILABLE, _UNAVAILABLE, detail=str(error)) from error


def _without_sandbox(arguments: Sequence[str], inputs: Mapping[str, Path]) -> list[str]:
    names = {input_url(name): f"file:{path.absolute()}" for name, path in inputs.items()}
    return [names.get(argument, argument) for argument in arguments]


def _read_status(reader: int) -> bytes:
    os.set_blocking(reader, False)
    with suppress(BlockingIOError):  # bubblewrap may end without having written anything
        return os.read(reader, STATUS_LIMIT_BYTES)
    return b""


def _require_started(status: bytes, finished: FinishedProcess) -> None:
    """Bubblewrap reports an exit code only if it could set up the sandbox and start the program."""
    for line in status.splitlines():
        if "exit-code" in json.loads(line):
            return
    if finished.exit_code > 0 and finished.exit_code < 128:
        raise MediaError(Reason.SANDBOX_UNAVAILABLE, _UNAVAILABLE, detail=finished.stderr)


async def ffmpeg(
    sandbox: Sandbox,
    arguments: Sequence[str],
    *,
    inputs: Mapping[str, Path],
    output: Path | None = None,
    progress: FfmpegProgress | None = None,
    limits: SandboxLimits | None = None,
) -> FfmpegProgress:
    """Runs ffmpeg and returns its final progress report."""
    progress = progress or FfmpegProgress()
    # -nostdin: never wait for a key press. No -xerror: damage in one place need not fail the whole run.
    start = ["-v", "error", "-hide_banner", "-nostdin", "-y", "-progress", "pipe:1", "-stats_period", "1"]
    limits = limits or sandbox.limits
    await sandbox.run(
        "ffmpeg", [*start, *arguments], inputs=inputs, output=output, limits=limits, on_line=progress.read_line
    )
    return progress
