"""Checks the programs that a worker runs, found through the code that runs them."""

import asyncio
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from cutroom.engines.synthesis import phonemes
from cutroom.engines.translation import apertium
from cutroom.entrypoints.doctor.component import Component, ComponentHealth, Repairs, find_version
from cutroom.entrypoints.hardware import Hardware, check_hardware
from cutroom.jobs.worker import media_sandbox
from cutroom.media.process import MediaError, Reason, run
from cutroom.media.sandbox import Sandbox, SandboxMode
from cutroom.platform.process.seccomp import ARCHITECTURES
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.ingest.sources_youtube import Tools

PROBE_SECONDS = 60.0
TRUE = Path("/usr/bin/true")  # a program that every system has
SANDBOXED = frozenset({TaskQueue.MEDIA, TaskQueue.SPEECH, TaskQueue.VOICE, TaskQueue.VISION})
SPOKEN = frozenset({TaskQueue.SPEECH, TaskQueue.VOICE})
FETCHED = frozenset({TaskQueue.EGRESS, TaskQueue.DOWNLOAD})
# Kernel settings by the value that forbids unprivileged user namespaces, and the value that allows them.
_NAMESPACE_SETTINGS = (
    ("kernel.unprivileged_userns_clone", "0", "1"),
    ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
    ("user.max_user_namespaces", "0", "15000"),
)


@dataclass(frozen=True, slots=True)
class Program:
    """A program, the arguments that print its version, and the command that installs it."""

    name: str
    path: Path
    arguments: tuple[str, ...]
    fix: str
    required: bool = True


async def check_programs(settings: Settings, *, repairs: Repairs) -> list[Component]:
    """Checks the programs that the task queues of this worker need."""
    queues, sandbox = set(settings.worker_queues), media_sandbox(settings)
    programs = [*_media_programs(settings, sandbox, repairs=repairs), *_other_programs(settings, repairs=repairs)]
    components = list(await asyncio.gather(*map(check_program, programs)))
    if queues & SANDBOXED:
        components.append(await check_sandbox(sandbox, repairs=repairs))
    components += [_hardware_component(each) for each in await check_hardware(settings)]
    if TaskQueue.SPEECH in queues and "apertium" in settings.translators:
        components.append(await check_apertium(repairs=repairs))
    return components


def _media_programs(settings: Settings, sandbox: Sandbox, *, repairs: Repairs) -> Iterator[Program]:
    queues = set(settings.worker_queues)
    if queues & SANDBOXED:
        for name, path in (("ffmpeg", sandbox.ffmpeg), ("ffprobe", sandbox.ffprobe)):
            is_default = path == Settings.model_fields[name].default
            fix = repairs.debian.format("ffmpeg") if is_default else f"unset CUTROOM_{name.upper()}"
            yield Program(name, path, ("-version",), fix)
        yield Program("prlimit", sandbox.prlimit, ("--version",), repairs.debian.format("util-linux"))
        if sandbox.mode is SandboxMode.REQUIRED:
            yield Program("bubblewrap", sandbox.bubblewrap, ("--version",), repairs.debian.format("bubblewrap"))
    if TaskQueue.MEDIA in queues and settings.playback == "on":
        fix = "unset CUTROOM_PACKAGER" if settings.packager else repairs.python.format("'cutroom[playback]'")
        yield Program("packager", sandbox.packager, ("--version",), fix)


def _other_programs(settings: Settings, *, repairs: Repairs) -> Iterator[Program]:
    queues = set(settings.worker_queues)
    if queues & SPOKEN and "kokoro" in settings.tts_engines:
        yield Program("espeak-ng", phonemes.PROGRAM, ("--version",), repairs.debian.format("espeak-ng"))
    if queues & FETCHED:
        fix = repairs.python.format("yt-dlp yt-dlp-ejs deno")
        try:
            tools = Tools.find()
        except (ImportError, FileNotFoundError):  # the package or its binary
            tools = Tools("", "")
        yield Program("yt-dlp", Path(tools.python), ("-I", "-m", "yt_dlp", "--version"), fix)
        yield Program("deno", Path(tools.deno), ("--version",), fix)


async def check_program(program: Program) -> Component:
    where = str(program.path)
    try:
        finished = await run([where, *program.arguments], seconds=PROBE_SECONDS, environment=os.environ)
    except MediaError as error:
        health = ComponentHealth.MISSING if error.reason is Reason.TOOL_MISSING else ComponentHealth.UNHEALTHY
        return Component(program.name, health, where=where, fix=program.fix, required=program.required)
    health = ComponentHealth.OK if finished.exit_code == 0 else ComponentHealth.UNHEALTHY
    version = find_version(finished.stdout.decode(errors="replace"))
    return Component(program.name, health, version, where=where, fix=program.fix, required=program.required)


async def check_sandbox(sandbox: Sandbox, *, repairs: Repairs) -> Component:
    """Runs a program in the sandbox: the kernel may forbid its namespaces, or lack system call filters."""
    kernel = platform.release()
    if sandbox.mode is SandboxMode.OFF:
        return Component("sandbox", ComponentHealth.OFF, kernel, where="kernel")
    try:
        await replace(sandbox, ffmpeg=TRUE).run("ffmpeg", [], inputs={})
    except MediaError as error:
        if error.reason is Reason.TOOL_MISSING:
            return Component(
                "sandbox", ComponentHealth.MISSING, kernel, where="kernel", fix=repairs.debian.format("bubblewrap")
            )
        if error.reason is Reason.SANDBOX_UNAVAILABLE:
            fix = _filter_fix(error.detail) or _namespace_fix()
            return Component("sandbox", ComponentHealth.UNHEALTHY, kernel, where="kernel", fix=fix)
    return Component("sandbox", ComponentHealth.OK, kernel, where="kernel")


def _hardware_component(found: Hardware) -> Component:
    health = ComponentHealth.MISSING if found.fault else ComponentHealth.OK
    return Component(found.name, health, where=found.fault or "GPU", fix=f"unset {found.variable}")


def _filter_fix(detail: str) -> str:
    """What allows the system call filter, if the sandbox failed for lack of it."""
    if platform.machine() not in ARCHITECTURES:
        return f"use a machine of the architecture {' or '.join(ARCHITECTURES)}"
    return "use a kernel with CONFIG_SECCOMP_FILTER=y" if "PR_SET_SECCOMP" in detail else ""


def _namespace_fix() -> str:
    for name, forbids, allows in _NAMESPACE_SETTINGS:
        file = Path("/proc/sys", *name.split("."))
        if file.is_file() and file.read_text().strip() == forbids:
            return f"sysctl -w {name}={allows}"
    return (
        "docker run --security-opt seccomp=deploy/kubernetes/seccomp-worker.json"  # the container's profile forbids it
    )


async def check_apertium(*, repairs: Repairs) -> Component:
    """Counts the language pairs that the translator offers: without any, Apertium translates nothing."""
    program = Program("apertium", apertium.PROGRAM, ("-V",), repairs.debian.format(apertium.PACKAGES))
    checked = await check_program(program)
    if checked.health is not ComponentHealth.OK:
        return checked
    routes = await asyncio.to_thread(apertium.ApertiumTranslator().routes)
    health = ComponentHealth.OK if routes else ComponentHealth.MISSING
    return replace(checked, health=health, where=f"{checked.where}, {len(routes)} language pairs")
