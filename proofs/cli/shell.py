"""Runs the command line as a person on a terminal and as a script, and checks what it prints and how it exits."""

import asyncio
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CUTROOM = str(Path(sys.executable).with_name("cutroom"))
LIMIT_SECONDS = 300.0
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


@dataclass(frozen=True)
class Ran:
    """One invocation."""

    arguments: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document on standard output."""
        try:
            found: dict[str, Any] = json.loads(self.out)
        except ValueError:
            message = f"cutroom {' '.join(self.arguments)} has not printed JSON: {self.out[-300:]}{self.err[-600:]}"
            raise AssertionError(message) from None
        return found

    @property
    def error(self) -> dict[str, Any]:
        """The JSON error on standard error."""
        for line in reversed(self.err.splitlines()):
            with suppress(ValueError, TypeError, KeyError):
                found: dict[str, Any] = json.loads(line)["error"]
                return found
        return {"message": self.err, "details": {}, "hint": "", "code": "", "exitCode": 0}


@dataclass
class Shell:
    """A shell of one person, and the tally of what their commands did."""

    environment: Mapping[str, str]
    folder: Path
    secrets: list[str] = field(default_factory=list)  # that no output may have
    invocations: int = 0
    wrong: list[str] = field(default_factory=list)
    wrong_codes: list[str] = field(default_factory=list)
    cpu_seconds: float = 0.0

    async def run(
        self, *arguments: str, code: int = 0, stdin: str = "", environment: Mapping[str, str] | None = None
    ) -> Ran:
        """Runs a command as a script does: no terminal anywhere."""
        started = self.start(*arguments, stdin=stdin, environment=environment)
        return self.judge(await asyncio.to_thread(started.wait), code=code)

    def start(self, *arguments: str, stdin: str = "", environment: Mapping[str, str] | None = None) -> "Started":
        """Starts a command that something else has to happen to before it ends."""
        return Started(self, arguments, stdin, {**self.environment, **(environment or {})})

    async def type(
        self,
        *arguments: str,
        answers: Sequence[tuple[str, str]] = (),
        code: int = 0,
        interrupt_at: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Ran:
        """Runs a command on a terminal; answers are typed when what precedes them has appeared."""
        terminal = Terminal({**self.environment, **(environment or {})}, self.folder)
        ran = await asyncio.to_thread(terminal.run, arguments, list(answers), interrupt_at)
        self.cpu_seconds += terminal.cpu_seconds
        return self.judge(ran, code=code)

    def judge(self, ran: Ran, *, code: int) -> Ran:
        self.invocations += 1
        name = " ".join(ran.arguments)
        if ran.code != code:
            self.wrong_codes.append(
                f"cutroom {name}: exit code {ran.code}, expected {code}: {ran.err[-300:]}{ran.out[-200:]}"
            )
        for secret in self.secrets:
            self.expect(f"cutroom {name} shows no secret", found=secret in ran.out + ran.err, expected=False)
        self.expect(f"cutroom {name} shows no traceback", found="Traceback" in ran.err + ran.out, expected=False)
        return ran

    def expect(self, name: str, *, found: object, expected: object = True) -> None:
        if found != expected:
            self.wrong.append(f"{name}: {found!r}, expected {expected!r}")


class Started:
    """A running command without a terminal. Its CPU time is counted when it ends."""

    def __init__(self, shell: Shell, arguments: tuple[str, ...], stdin: str, environment: Mapping[str, str]) -> None:
        self._shell = shell
        self._arguments = arguments
        self._out, self._err, source = (tempfile.TemporaryFile() for _ in range(3))  # noqa: SIM115 (closed in wait)
        source.write(stdin.encode())
        source.seek(0)
        self.process = subprocess.Popen(
            [CUTROOM, *arguments],
            cwd=shell.folder,
            env=dict(environment),
            stdin=source,
            stdout=self._out,
            stderr=self._err,
            start_new_session=True,
        )
        source.close()

    def output(self) -> str:
        return self._read(self._out) + self._read(self._err)

    async def until(self, text: str) -> str:
        """The output once it has a text."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while text not in (found := self.output()):
            if self.has_ended() or time.monotonic() > deadline:
                raise RuntimeError(f"cutroom {' '.join(self._arguments)} has not printed {text!r}: {found}")
            await asyncio.sleep(0.05)
        return found

    def has_ended(self) -> bool:
        """Without taking the exit code, which comes with the CPU time."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def send(self, sent: signal.Signals) -> None:
        os.killpg(self.process.pid, sent)

    def wait(self) -> Ran:
        code, seconds = reap(self.process)
        self._shell.cpu_seconds += seconds
        ran = Ran(self._arguments, code, self._read(self._out), self._read(self._err))
        self._out.close()
        self._err.close()
        return ran

    @staticmethod
    def _read(file: Any) -> str:  # noqa: ANN401 (a temporary file)
        return os.pread(file.fileno(), 10_000_000, 0).decode(errors="replace")


class Terminal:
    """A pseudo-terminal for one command."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self._environment = dict(environment)
        self._folder = folder
        self.cpu_seconds = 0.0

    def run(self, arguments: tuple[str, ...], answers: list[tuple[str, str]], interrupt_at: str | None) -> Ran:
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [CUTROOM, *arguments],
            cwd=self._folder,
            env=self._environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        shown, seen, deadline = "", 0, time.monotonic() + LIMIT_SECONDS
        while (text := self._more(master)) is not None:
            shown += _ESCAPES.sub("", text)
            if answers and answers[0][0] in shown[seen:]:
                seen = len(shown)
                os.write(master, answers.pop(0)[1].encode())
            if interrupt_at is not None and interrupt_at in shown:
                os.killpg(process.pid, signal.SIGINT)
                interrupt_at = None
            if time.monotonic() > deadline:
                os.killpg(process.pid, signal.SIGKILL)
        code, self.cpu_seconds = reap(process)
        os.close(master)
        return Ran(arguments, code, shown, "")

    @staticmethod
    def _more(master: int) -> str | None:
        """What has appeared; None when the command has closed the terminal."""
        ready, _, _ = select.select([master], [], [], 1.0)
        if not ready:
            return ""
        try:
            found = os.read(master, 65536)
        except OSError:  # how Linux reports the end
            return None
        return found.decode(errors="replace") if found else None


def reap(process: "subprocess.Popen[bytes]") -> tuple[int, float]:
    """The exit code, negative after a signal, and the CPU time of a process."""
    timer = time.monotonic() + LIMIT_SECONDS
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > timer:
            os.killpg(process.pid, signal.SIGKILL)
            timer += LIMIT_SECONDS
        time.sleep(0.02)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime
