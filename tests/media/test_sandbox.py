"""Tests that sandboxed programs cannot read, reach or change anything outside."""

import logging
import os
import shutil
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from cutroom.media import sandbox as sandbox_module
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import MIB, Sandbox, SandboxLimits, SandboxMode, _bubblewrap_options, input_url, require_file
from cutroom.platform.process.seccomp import ALLOW


@pytest.fixture
def shell(sandbox: Sandbox) -> Sandbox:
    """The same sandbox around a shell, which can attempt more than ffmpeg."""
    return replace(sandbox, ffmpeg=Path("/usr/bin/sh"))


async def run_script(
    shell: Sandbox, script: str, *, output: Path | None = None, limits: SandboxLimits | None = None
) -> str:
    finished = await shell.run("ffmpeg", ["-c", script], inputs={}, output=output, limits=limits)
    return finished.stdout.decode().strip()


async def test_only_the_input_is_readable(shell: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "media").write_text("media")
    (tmp_path / "secret").write_text("secret")
    script = f"cat /in/input; ls {tmp_path} /root /home /proc /sys /etc/passwd 2>/dev/null; ls /in"
    finished = await shell.run("ffmpeg", ["-c", script + "; true"], inputs={"input": tmp_path / "media"})
    assert finished.stdout == b"mediainput\n"


@pytest.mark.parametrize("path", ["/in/input", "/x", "/usr/x", "/dev/shm/x", "/dev/x", "/etc/x"])
async def test_only_the_output_is_writable(shell: Sandbox, tmp_path: Path, path: str) -> None:
    (tmp_path / "media").write_text("media")
    script = f"echo a > {path}"
    with pytest.raises(MediaError):
        await shell.run("ffmpeg", ["-c", script], inputs={"input": tmp_path / "media"})


async def test_output_files_belong_to_the_caller(shell: Sandbox, tmp_path: Path) -> None:
    await run_script(shell, "echo encoded > encoded.txt", output=tmp_path)
    assert (tmp_path / "encoded.txt").read_text() == "encoded\n"
    assert (tmp_path / "encoded.txt").stat().st_uid == os.getuid()


async def test_no_network_capabilities_or_environment(shell: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTROOM_SECRET_KEY", "hidden")
    output_text = await run_script(
        shell, "env; id -u; unshare -U true 2>/dev/null || echo denied; python3 -c 1 2>/dev/null; true"
    )
    assert "hidden" not in output_text
    assert "65534\ndenied" in output_text
    # bash implements /dev/tcp itself. Without the filter, the address is still unreachable, for lack of a route.
    tried = "bash -c 'echo > /dev/tcp/127.0.0.1/22' 2>&1; bash -c 'echo > /dev/tcp/1.1.1.1/53' 2>&1; true"
    assert (await run_script(shell, tried)).count("socket: Operation not permitted") == 2
    monkeypatch.setattr(sandbox_module, "compile_filter", lambda: struct.pack("=HBBI", 0x06, 0, 0, ALLOW))
    assert "unreachable" in await run_script(shell, tried)


@pytest.mark.parametrize(
    ("limits", "script", "reason"),
    [
        (SandboxLimits(cpu_seconds=1), "while :; do :; done", Reason.TOO_SLOW),
        (SandboxLimits(wall_seconds=0.5), "sleep 30", Reason.TIMED_OUT),
        (SandboxLimits(file_bytes=MIB), "head -c 5000000 /dev/zero > big", Reason.TOO_MUCH_OUTPUT),
        (
            SandboxLimits(address_space_bytes=64 * MIB),
            "dd if=/dev/zero of=/dev/null bs=200M count=1",
            Reason.UNREADABLE,
        ),
    ],
)
async def test_each_limit_stops_the_program(
    shell: Sandbox, tmp_path: Path, limits: SandboxLimits, script: str, reason: Reason
) -> None:
    with pytest.raises(MediaError) as caught:
        await run_script(shell, f"set -e; {script}", output=tmp_path, limits=limits)
    assert caught.value.reason is reason


async def test_without_bubblewrap_nothing_runs(sandbox: Sandbox, sample_audio: Path) -> None:
    broken = replace(sandbox, bubblewrap=Path("/usr/bin/no-bwrap"))
    with pytest.raises(MediaError) as caught:
        await broken.run("ffprobe", ["-version"], inputs={"input": sample_audio})
    assert caught.value.reason is Reason.TOOL_MISSING


async def test_sandbox_setup_failure_is_reported_as_such(sandbox: Sandbox, sample_audio: Path) -> None:
    with pytest.raises(MediaError) as caught:
        await sandbox.run("ffprobe", ["-version"], inputs={"input": sample_audio}, output=Path("/does/not/exist"))
    assert caught.value.reason is Reason.SANDBOX_UNAVAILABLE


async def test_silent_failure_of_bubblewrap_is_reported_as_such(sandbox: Sandbox) -> None:
    with pytest.raises(MediaError) as caught:
        await replace(sandbox, bubblewrap=Path("/usr/bin/false")).run("ffprobe", ["-version"], inputs={})
    assert caught.value.reason is Reason.SANDBOX_UNAVAILABLE


async def test_program_outside_usr_is_bound(sandbox: Sandbox, tmp_path: Path) -> None:
    program = Path(shutil.copy("/usr/bin/true", tmp_path / "ffmpeg"))
    await replace(sandbox, ffmpeg=program).run("ffmpeg", [], inputs={})


async def test_disabled_sandbox_runs_and_logs_a_warning(sample_audio: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        unsandboxed = Sandbox(mode=SandboxMode.OFF)
    assert "SANDBOX IS OFF" in caplog.text
    arguments = ["-v", "error", "-show_entries", "format=format_name", "-of", "csv", "-i", input_url()]
    assert (await unsandboxed.run("ffprobe", arguments, inputs={"input": sample_audio})).stdout == b"format,mp3\n"


@pytest.mark.parametrize("mode", SandboxMode)
async def test_programs_of_batch_work_have_a_lower_priority(shell: Sandbox, mode: SandboxMode) -> None:
    here = os.getpriority(os.PRIO_PROCESS, 0)
    for niceness in (0, 7):
        assert await run_script(replace(shell, mode=mode, niceness=niceness), "nice") == str(min(here + niceness, 19))


async def test_cpu_time_inside_is_counted(shell: Sandbox) -> None:
    finished = await shell.run("ffmpeg", ["-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; times"], inputs={})
    minutes, _, seconds = finished.stdout.decode().split()[0].rstrip("s").partition("m")
    used_seconds = 60 * int(minutes) + float(seconds)
    assert used_seconds > 0
    assert finished.cpu_seconds >= used_seconds


def test_only_regular_files_are_opened(tmp_path: Path, sample_audio: Path) -> None:
    (tmp_path / "link").symlink_to(sample_audio)
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", ".", "missing"):
        with pytest.raises(MediaError) as caught:
            require_file(tmp_path / name)
        assert caught.value.reason is Reason.NOT_A_FILE


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become as_nobody else")
def test_unprivileged_user_gets_the_same_sandbox() -> None:
    """Sandbox options do not depend on the user, so running bwrap as another user is sufficient."""
    options = _bubblewrap_options({}, None, scratch_bytes=MIB)
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    command = [*as_nobody, "bwrap", *options, "--remount-ro", "/", "ffprobe", "-version"]
    done = subprocess.run(command, check=False, capture_output=True, cwd="/", timeout=500)
    assert done.returncode == 0, done.stderr
