"""Quick start: runs exactly the README's commands in an empty home directory with a fresh clone."""

import asyncio
import json
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
from proofs.stage.busy_processes import busy_processes
from proofs.stage.report import Report, prove
from proofs.stage.requirements import GB, Needs

HEADING = "## Five commands to a first dub"
REPOSITORY = "<this repository>"  # the README's placeholder for the clone URL
COMMANDS = 5
DUBBED, FINISHED = "dub is ready", "Sign in as"
GOAL_MINUTES = 5.0
DEADLINE_SECONDS = 1500.0
STOP_SECONDS = 120.0
BUSY_PROCESSES = 8
PORT_OFFSET = 60  # from the base port, apart from the story proof, which runs at the same time in CI
# Variables that a new user's environment would have too: how to reach package registries.
INHERITED = re.compile(r"(PATH|LANG|TERM|TMPDIR|SSL_.*|PIP_.*|UV_.*|.*_proxy|.*_PROXY)$")


@dataclass
class Demo:
    """The running commands and their output."""

    process: "subprocess.Popen[str]"
    started: float
    output: list[str]

    def until(self, text: str) -> float | None:
        """Seconds until an output line contains the text; None if none does in time."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            print(line.rstrip(), file=sys.stderr)
            self.output.append(line.rstrip())
            if text in line:
                return time.monotonic() - self.started
            if time.monotonic() - self.started > DEADLINE_SECONDS:
                break
        return None

    def interrupt(self) -> int:
        """Send SIGINT to the process group, as Ctrl-C does."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        try:
            self.process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.wait()


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    commands = readme_commands((PROJECT / "README.md").read_text(encoding="utf-8"))
    measured = "; ".join(commands)
    report.claim("commands in the README", expected="5", measured=measured, holds=len(commands) == COMMANDS)
    await asyncio.to_thread(_prove, report, commands, short=short)


def _prove(report: Report, commands: Sequence[str], *, short: bool) -> None:
    with _home() as home:
        environment = _environment(home)
        if short:  # only the last command, in the existing environment
            commands, folder = commands[-1:], PROJECT
            environment |= {"CUTROOM_DATA_DIR": str(home / "data"), "UV_NO_SYNC": "1"}
        else:
            folder = home
            subprocess.run([sys.executable, "-m", "venv", str(home / "tools")], check=True)
        demo = _start(commands, folder, environment)
        try:
            seconds = demo.until(DUBBED)
            signed_in = short or (demo.until(FINISHED) is not None and _sign_in(demo.output))
            spent = short or (signed_in and _use_command_line(demo.output, folder / "cutroom", environment))
        finally:
            code = demo.interrupt()
        if not short:
            _prove_busy(report, commands[-1], home, environment)
    minutes = round(seconds / 60, 2) if seconds is not None else None
    holds = minutes is not None and minutes <= GOAL_MINUTES
    report.claim("the demo finishes a dub", expected="yes", measured=minutes is not None, holds=minutes is not None)
    report.claim_time("minutes until the first finished dub", expected="<= 5", measured=minutes, holds=holds)
    report.claim("the printed URL, with the printed password", expected="opens", measured=signed_in, holds=signed_in)
    report.claim("the command line logs in and shows a price", expected="yes", measured=spent, holds=spent)
    report.claim("exit code after Ctrl-C", expected="0", measured=code, holds=code == 0)
    report.figures(minutes=minutes)


def _prove_busy(report: Report, command: str, home: Path, environment: dict[str, str]) -> None:
    """Run the demo again, from empty data, beside processes that keep every core busy."""
    with busy_processes(BUSY_PROCESSES):
        environment = environment | {"CUTROOM_DATA_DIR": str(home / "data"), "UV_NO_SYNC": "1"}
        demo = _start([command], home / "cutroom", environment)
        try:
            seconds = demo.until(FINISHED)
        finally:
            demo.interrupt()
    report.claim(
        f"the whole demo beside {BUSY_PROCESSES} busy processes",
        expected="ends",
        measured=f"after {seconds / 60:.1f} minutes" if seconds is not None else "did not end",
        holds=seconds is not None,
    )
    report.figures(busy_minutes=round(seconds / 60, 1) if seconds is not None else None)


def readme_commands(readme: str) -> list[str]:
    """Commands of the first console block below the heading."""
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
    """A clean environment with the caller's registry settings and warm package caches."""
    inherited = {name: value for name, value in os.environ.items() if INHERITED.match(name) and name != "UV_NO_SYNC"}
    pip_config = Path.home() / ".config" / "pip" / "pip.conf"
    return {
        **({"PIP_CONFIG_FILE": str(pip_config)} if pip_config.exists() else {}),
        **inherited,
        "HOME": str(home),
        "PATH": f"{home / 'tools' / 'bin'}:{inherited['PATH']}",
        "UV_CACHE_DIR": _output("uv", "cache", "dir"),
        "PIP_CACHE_DIR": _output(sys.executable, "-m", "pip", "cache", "dir"),
        "CUTROOM_MODELS_DIR": os.environ.get("CUTROOM_MODELS_DIR") or str(MODELS),
        "CUTROOM_PORT_BASE": str(port_base() + PORT_OFFSET),
        "PYTHONUNBUFFERED": "1",
    }


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _start(commands: Sequence[str], folder: Path, environment: dict[str, str]) -> Demo:
    script = "\n".join(["set -e", *(command.replace(REPOSITORY, str(PROJECT)) for command in commands)])
    process = subprocess.Popen(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    return Demo(process, time.monotonic(), [])


def _sign_in(output: Sequence[str]) -> bool:
    """Sign in through the form with the printed credentials and open the video's page."""
    with _browser(output) as (browser, path):
        return browser.get(path).url.path == path


@contextmanager
def _browser(output: Sequence[str]) -> Iterator[tuple[httpx.Client, str]]:
    """A browser that is signed in with the printed credentials, and the path of the video's page."""
    text = "\n".join(output)
    page = re.search(r"See it all at (\S+)", text)
    credentials = re.search(r"Sign in as (\S+) with the password (\S+)", text)
    assert page is not None, text
    assert credentials is not None, text
    url = httpx.URL(page[1])
    origin = f"{url.scheme}://{url.netloc.decode()}"
    with httpx.Client(base_url=origin, follow_redirects=True, headers={"Origin": origin}, timeout=60) as browser:
        form = browser.get("/sign-in", params={"next": url.path})
        fields = {"email": credentials[1], "password": credentials[2], "next": url.path, "csrf": _csrf(form.text)}
        browser.post("/sign-in", data=fields).raise_for_status()
        yield browser, url.path


def _csrf(page: str) -> str:
    token = re.search(r'name="csrf" value="([^"]+)"', page)
    return token[1] if token else ""


def _use_command_line(output: Sequence[str], checkout: Path, environment: dict[str, str]) -> bool:
    """Log in through the browser as the README says, and ask for the price of a dub of the demo's video."""
    with _browser(output) as (browser, path):
        command = ["uv", "run", "cutroom", "login", "--no-browser", "--base-url", str(browser.base_url)]
        login = subprocess.Popen(command, cwd=checkout, env=environment, stderr=subprocess.PIPE, text=True)
        assert login.stderr is not None
        asked = next((line.strip() for line in login.stderr if "/oauth/authorize" in line), "")
        consent = browser.get(asked).text
        fields = dict(httpx.URL(asked).params)
        library = re.search(r'name="library" value="([^"]+)"', consent)
        scopes = re.findall(r'name="scope_granted" value="([^"]+)"', consent)
        answer = {"csrf": _csrf(consent), "library": library[1] if library else "", "answer": "allow"}
        browser.post("/oauth/authorize", data={**fields, **answer, "scope_granted": scopes})
        if login.wait(timeout=STOP_SECONDS):
            return False
    video = path.rpartition("/")[2]
    quoted = ["uv", "run", "cutroom", "dub", video, "--to", "es", "--dry-run"]
    found = subprocess.run(quoted, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    return found.returncode == 0 and json.loads(found.stdout)["total"] > 0


if __name__ == "__main__":
    needs = Needs(model_set="demo", programs=("ffmpeg", "git"), disk_bytes=10 * GB)
    sys.exit(prove("Quick start", proof, within=nullcontext, needs=needs))
