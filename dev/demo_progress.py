"""Shows what the demo is doing: elapsed time on every line, and the progress and remaining time of its jobs."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from cutroom.jobs.estimates import describe_remaining

LINE_SECONDS = 10.0  # at least one line in this time where no bars can be drawn, such as in a log file

Monotonic = Callable[[], float]


@dataclass
class DemoProgress:
    """Prints lines with the time since the demo began; on a terminal, bars show running jobs."""

    console: Console
    monotonic: Monotonic = time.monotonic
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.monotonic()

    def say(self, text: str) -> None:
        self.console.print(f"[dim]{self.elapsed:>6}[/]  {text}")

    @property
    def elapsed(self) -> str:
        minutes, seconds = divmod(int(self.monotonic() - self.started), 60)
        return f"{minutes}:{seconds:02}"

    @contextmanager
    def jobs(self) -> Iterator["JobProgress"]:
        """Shows jobs until the block ends."""
        columns = (TextColumn("{task.description:<12}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
        bars = Progress(
            *columns,
            TextColumn("{task.fields[text]}"),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        with bars:
            yield JobProgress(self, bars)


@dataclass
class JobProgress:
    """The jobs that are waited for, as last read from the API."""

    progress: DemoProgress
    bars: Progress
    shown: dict[str, TaskID] = field(default_factory=dict)
    current: dict[str, Mapping[str, Any]] = field(default_factory=dict)  # unfinished jobs by name
    printed: float = 0.0
    changed: float = 0.0

    def __post_init__(self) -> None:
        self.printed = self.changed = self.progress.monotonic()

    def update(self, name: str, job: Mapping[str, Any]) -> None:
        """Shows a job as just read; prints a line of all jobs if nothing was printed for a while."""
        now = self.progress.monotonic()
        before = self.current.get(name, {})
        if any(before.get(key) != job.get(key) for key in ("status", "stage", "progress")):
            self.changed = now
        self.current[name] = job
        if name not in self.shown:
            self.shown[name] = self.bars.add_task(name, total=100, text="")
        self.bars.update(self.shown[name], completed=job.get("progress", 0), text=_state(job))
        if not self.progress.console.is_terminal and now - self.printed >= LINE_SECONDS:
            self._print()

    def finish(self, name: str, text: str) -> None:
        self.current.pop(name, None)
        self.bars.update(self.shown[name], visible=False)
        self.progress.say(text)
        self.printed = self.changed = self.progress.monotonic()

    @property
    def idle_seconds(self) -> float:
        """Seconds since any job last changed."""
        return self.progress.monotonic() - self.changed

    def _print(self) -> None:
        jobs = ", ".join(f"{name} {job.get('progress', 0)} %" for name, job in self.current.items())
        remaining = _remaining(*self.current.values())
        self.progress.say(f"{jobs}; {remaining}" if remaining else jobs)
        self.printed = self.progress.monotonic()


def _state(job: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, (job.get("stage", job["status"]), _remaining(job))))


def _remaining(*jobs: Mapping[str, Any]) -> str:
    """The time until the last of the jobs is ready, as far as the API estimates it."""
    estimates = [datetime.fromisoformat(job["estimatedReadyAt"]) for job in jobs if "estimatedReadyAt" in job]
    return describe_remaining(max(estimates, default=None), now=datetime.now(UTC))
