"""The walls hold: nothing outside is seen, reached or changed."""

import logging
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import MIB, Limits, Mode, Sandbox, _walls, inside, require_file


@pytest.fixture
def shell(sandbox: Sandbox) -> Sandbox:
    """The same walls around a shell, which can try more than ffmpeg does."""
    return replace(sandbox, ffmpeg=Path("/usr/bin/sh"))


async def say(shell: Sandbox, script: str, *, output: Path | None = None, limits: Limits | None = None) -> str:
    finished = await shell.run("ffmpeg", ["-c", script], inputs={}, output=output, limits=limits)
    return finished.stdout.decode().strip()


async def test_an_input_is_readable_and_nothing_beside_it(shell: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "film").write_text("film")
    (tmp_path / "secret").write_text("secret")
    script = f"cat /in/input; ls {tmp_path} /root /home /proc /sys /etc/passwd 2>/dev/null; ls /in"
    finished = await shell.run("ffmpeg", ["-c", script + "; true"], inputs={"input": tmp_path / "film"})
    assert finished.stdout == b"filminput\n"


@pytest.mark.parametrize("path", ["/in/input", "/x", "/usr/x", "/dev/shm/x", "/dev/x", "/etc/x"])
async def test_nothing_is_writable_but_the_output(shell: Sandbox, tmp_path: Path, path: str) -> None:
    (tmp_path / "film").write_text("film")
    script = f"echo a > {path}"
    with pytest.raises(MediaError):
        await shell.run("ffmpeg", ["-c", script], inputs={"input": tmp_path / "film"})


async def test_the_output_belongs_to_us(shell: Sandbox, tmp_path: Path) -> None:
    await say(shell, "echo made > made.txt", output=tmp_path)
    assert (tmp_path / "made.txt").read_text() == "made\n"
    assert (tmp_path / "made.txt").stat().st_uid == os.getuid()


async def test_there_is_no_network_no_rights_and_no_environment(
    shell: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUTROOM_SECRET_KEY", "hidden")
    said = await say(shell, "env; id -u; unshare -U true 2>/dev/null || echo walled; python3 -c 1 2>/dev/null; true")
    assert "hidden" not in said
    assert "65534\nwalled" in said
    # bash opens /dev/tcp by itself; without a route the address is out of reach.
    tried = "bash -c 'echo > /dev/tcp/127.0.0.1/22' 2>&1; bash -c 'echo > /dev/tcp/1.1.1.1/53' 2>&1; true"
    assert "unreachable" in await say(shell, tried)


@pytest.mark.parametrize(
    ("limits", "script", "reason"),
    [
        (Limits(cpu_seconds=1), "while :; do :; done", Reason.TOO_SLOW),
        (Limits(wall_seconds=0.5), "sleep 30", Reason.TIMED_OUT),
        (Limits(file_bytes=MIB), "head -c 5000000 /dev/zero > big", Reason.TOO_MUCH_OUTPUT),
        (Limits(address_space_bytes=64 * MIB), "dd if=/dev/zero of=/dev/null bs=200M count=1", Reason.UNREADABLE),
    ],
)
async def test_each_limit_ends_the_program(
    shell: Sandbox, tmp_path: Path, limits: Limits, script: str, reason: Reason
) -> None:
    with pytest.raises(MediaError) as caught:
        await say(shell, f"set -e; {script}", output=tmp_path, limits=limits)
    assert caught.value.reason is reason


async def test_without_bubblewrap_nothing_runs(sandbox: Sandbox, song: Path) -> None:
    broken = replace(sandbox, bubblewrap=Path("/usr/bin/no-bwrap"))
    with pytest.raises(MediaError) as caught:
        await broken.run("ffprobe", ["-version"], inputs={"input": song})
    assert caught.value.reason is Reason.TOOL_MISSING


async def test_walls_that_cannot_be_built_are_not_the_files_fault(sandbox: Sandbox, song: Path) -> None:
    with pytest.raises(MediaError) as caught:
        await sandbox.run("ffprobe", ["-version"], inputs={"input": song}, output=Path("/does/not/exist"))
    assert caught.value.reason is Reason.SANDBOX_UNAVAILABLE


async def test_a_program_elsewhere_is_let_in_alone(sandbox: Sandbox, tmp_path: Path) -> None:
    program = Path(shutil.copy("/usr/bin/true", tmp_path / "ffmpeg"))
    await replace(sandbox, ffmpeg=program).run("ffmpeg", [], inputs={})


async def test_off_runs_the_same_and_says_so_loudly(song: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        bare = Sandbox(mode=Mode.OFF)
    assert "SANDBOX IS OFF" in caplog.text
    arguments = ["-v", "error", "-show_entries", "format=format_name", "-of", "csv", "-i", inside()]
    assert (await bare.run("ffprobe", arguments, inputs={"input": song})).stdout == b"format,mp3\n"


def test_only_regular_files_are_opened(tmp_path: Path, song: Path) -> None:
    (tmp_path / "link").symlink_to(song)
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", ".", "missing"):
        with pytest.raises(MediaError) as caught:
            require_file(tmp_path / name)
        assert caught.value.reason is Reason.NOT_A_FILE


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become someone else")
def test_an_ordinary_user_gets_the_same_walls() -> None:
    """The walls are the same for everybody, so that to run them as somebody else is the whole test."""
    walls = _walls({}, None, scratch_bytes=MIB)
    someone = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    command = [*someone, "bwrap", *walls, "--remount-ro", "/", "ffprobe", "-version"]
    done = subprocess.run(command, check=False, capture_output=True, cwd="/", timeout=20)
    assert done.returncode == 0, done.stderr
