"""The demo's output."""

from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from rich.console import Console

from dev import demo_walkthrough
from dev.demo_progress import LINE_SECONDS, DemoProgress
from dev.demo_walkthrough import DemoError, Step, Walkthrough


class FakeTime:
    """A monotonic clock that advances when the demo sleeps."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.fixture
def fake_time(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    clock = FakeTime()
    monkeypatch.setattr(demo_walkthrough, "time", clock)
    return clock


class FakeJobs:
    """An API with one job that is ready after some seconds, or never."""

    def __init__(self, clock: FakeTime, *, seconds: float | None) -> None:
        self.clock, self.seconds = clock, seconds

    def __call__(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=self._job(), request=request)

    def _job(self) -> dict[str, Any]:
        if self.seconds is None:
            return {"status": "processing", "stage": "synthesizing", "progress": 8}
        if self.clock.seconds >= self.seconds:
            return {"status": "ready", "result": {"receipt": {"captured": 2.5}}}
        ready_at = datetime.now(UTC) + timedelta(seconds=self.seconds - self.clock.seconds)
        progress = int(100 * self.clock.seconds / self.seconds)
        return {
            "status": "processing",
            "stage": "synthesizing",
            "progress": progress,
            "estimatedReadyAt": ready_at.isoformat(),
        }


def open_walkthrough(jobs: FakeJobs, clock: FakeTime, output: StringIO) -> Walkthrough:
    client = httpx.Client(transport=httpx.MockTransport(jobs), base_url="http://127.0.0.1")
    console = Console(file=output, width=100, soft_wrap=True)
    return Walkthrough(client, DemoProgress(console, clock.monotonic), output_dir=Path())


def test_a_log_file_shows_progress_and_the_time_left_at_least_every_ten_seconds(fake_time: FakeTime) -> None:
    output = StringIO()
    walkthrough = open_walkthrough(FakeJobs(fake_time, seconds=300), fake_time, output)
    walkthrough.wait([Step("dub", "dub_1", started=0.0)])
    lines = output.getvalue().splitlines()
    times = [_seconds(line.split()[0]) for line in lines]
    assert max(after - before for before, after in zip([0, *times], times, strict=False)) <= LINE_SECONDS + 1
    assert "  1:00  dub 20 %; about 4 min left" in lines
    assert lines[-1] == "  5:00  dub is ready after 300 s, 2.5 credits"


@pytest.fixture
def _rare_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """For waits of many minutes."""
    monkeypatch.setattr(demo_walkthrough, "POLL_SECONDS", 10.0)


@pytest.mark.usefixtures("_rare_polls")
def test_a_slow_job_that_still_moves_is_waited_for(fake_time: FakeTime) -> None:
    output = StringIO()
    walkthrough = open_walkthrough(FakeJobs(fake_time, seconds=20 * demo_walkthrough.IDLE_SECONDS), fake_time, output)
    walkthrough.wait([Step("captions", "captions_1")])
    assert "captions are ready" in output.getvalue()


@pytest.mark.usefixtures("_rare_polls")
def test_a_job_that_stands_still_ends_the_demo(fake_time: FakeTime) -> None:
    walkthrough = open_walkthrough(FakeJobs(fake_time, seconds=None), fake_time, StringIO())
    with pytest.raises(DemoError, match="dub has made no progress for 15 minutes"):
        walkthrough.wait([Step("dub", "dub_1", started=0.0)])


def _seconds(elapsed: str) -> int:
    minutes, _, seconds = elapsed.partition(":")
    return 60 * int(minutes) + int(seconds)
