"""A stranger's first minutes: an empty home, a fresh clone, and exactly the commands that the README names."""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import httpx

from dev.environment import MODELS, PROJECT, port_base
from proofs.stage.report import Report, prove

HEADING = "## Five commands to a first dub"
REPOSITORY = "<this repository>"  # as the README calls the place to clone from
COMMANDS = 5
DUBBED, FINISHED = "dub is ready", "Sign in as"
GOAL_MINUTES = 5.0
DEADLINE_SECONDS = 1500.0
STOP_SECONDS = 120.0
PORTS_BESIDE = 20
# How this machine reaches its package registries is no part of a stranger's environment, but theirs would say it too.
KEPT = re.compile(r"(PATH|LANG|TERM|TMPDIR|SSL_.*|PIP_.*|UV_.*|.*_proxy|.*_PROXY)$")


@dataclass
class Demo:
    """The commands as they run, and what was read of them."""

    process: "subprocess.Popen[str]"
    started: float
    said: list[str]

    def until(self, words: str) -> float | None:
        """Seconds until a line with these words; nothing when there is none."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            print(line.rstrip(), file=sys.stderr)
            self.said.append(line.rstrip())
            if words in line:
                return time.monotonic() - self.started
            if time.monotonic() - self.started > DEADLINE_SECONDS:
                break
        return None

    def interrupt(self) -> int:
        """As Ctrl-C does: everything in the foreground is told."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        try:
            self.process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.wait()


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    commands = named_commands((PROJECT / "README.md").read_text(encoding="utf-8"))
    measured = "; ".join(commands)
    report.claim("commands that the README names", expected="5", measured=measured, holds=len(commands) == COMMANDS)
    await asyncio.to_thread(_prove, report, commands, short=short)


def _prove(report: Report, commands: Sequence[str], *, short: bool) -> None:
    with _home() as home:
        environment = _environment(home)
        if short:  # in the environment that is there: only what the last command does
            commands, place = commands[-1:], PROJECT
            environment |= {"CUTROOM_DATA_DIR": str(home / "data"), "UV_NO_SYNC": "1"}
        else:
            place = home
            subprocess.run([sys.executable, "-m", "venv", str(home / "tools")], check=True)
        demo = _start(commands, place, environment)
        try:
            seconds = demo.until(DUBBED)
            entered = short or (demo.until(FINISHED) is not None and _enter(demo.said))
        finally:
            code = demo.interrupt()
    minutes = round(seconds / 60, 2) if seconds is not None else None
    holds = minutes is not None and minutes <= GOAL_MINUTES
    report.claim("minutes until the first finished dub", expected="<= 5", measured=minutes, holds=holds)
    report.claim("the printed page, with the printed password", expected="opens", measured=entered, holds=entered)
    report.claim("Ctrl-C", expected="ends it with 0", measured=code, holds=code == 0)
    report.figures(minutes=minutes)


def named_commands(readme: str) -> list[str]:
    """Those of the first console block below the heading."""
    _, _, after = readme.partition(f"{HEADING}\n")
    block = after.partition("```console\n")[2].partition("```")[0]
    return [line[2:].partition("  #")[0].strip() for line in block.splitlines() if line.startswith("$ ")]


@contextmanager
def _home() -> Iterator[Path]:
    home = Path(mkdtemp(prefix="cutroom-quickstart-"))
    home.chmod(0o755)  # PostgreSQL runs as another user when we are root
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _environment(home: Path) -> dict[str, str]:
    """Nothing of the caller's but the way to its packages, with their caches warm."""
    kept = {name: value for name, value in os.environ.items() if KEPT.match(name) and name != "UV_NO_SYNC"}
    settings = Path.home() / ".config" / "pip" / "pip.conf"
    return {
        **({"PIP_CONFIG_FILE": str(settings)} if settings.exists() else {}),
        **kept,
        "HOME": str(home),
        "PATH": f"{home / 'tools' / 'bin'}:{kept['PATH']}",
        "UV_CACHE_DIR": _told("uv", "cache", "dir"),
        "PIP_CACHE_DIR": _told(sys.executable, "-m", "pip", "cache", "dir"),
        "CUTROOM_MODELS_DIR": os.environ.get("CUTROOM_MODELS_DIR") or str(MODELS),
        "CUTROOM_PORT_BASE": str(port_base() + PORTS_BESIDE),
        "PYTHONUNBUFFERED": "1",
    }


def _told(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _start(commands: Sequence[str], place: Path, environment: dict[str, str]) -> Demo:
    script = "\n".join(["set -e", *(command.replace(REPOSITORY, str(PROJECT)) for command in commands)])
    process = subprocess.Popen(
        ["bash", "-c", script],
        cwd=place,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    return Demo(process, time.monotonic(), [])


def _enter(said: Sequence[str]) -> bool:
    """Sign in with what was printed, as a browser does, and see the page of the video."""
    text = "\n".join(said)
    page = re.search(r"See it all at (\S+)", text)
    person = re.search(r"Sign in as (\S+) with the password (\S+)", text)
    if page is None or person is None:
        return False
    url = httpx.URL(page[1])
    origin = f"{url.scheme}://{url.netloc.decode()}"
    with httpx.Client(base_url=origin, follow_redirects=True, headers={"Origin": origin}, timeout=60) as browser:
        form = browser.get("/sign-in", params={"next": url.path})
        token = re.search(r'name="csrf" value="([^"]+)"', form.text)
        fields = {"email": person[1], "password": person[2], "next": url.path}
        shown = browser.post("/sign-in", data=fields | ({"csrf": token[1]} if token else {}))
    return shown.status_code == httpx.codes.OK and shown.url.path == url.path


if __name__ == "__main__":
    sys.exit(prove("Quick start", proof, within=nullcontext))
