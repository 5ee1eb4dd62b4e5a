"""A worker that is asked to stop under load loses nothing: others repeat its unfinished tasks at once."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest
from temporalio.api.failure.v1 import Failure
from temporalio.client import Client

from cutroom.platform.settings import Settings
from cutroom.platform.temporal import connect
from dev.scratch import drop_scratch
from dev.server import free_port
from tests.support.stage import Stage, WorkerProcess, make_video, open_stage, upload, wait_for_imports

VIDEOS = 2
VIDEO_SECONDS = 6
BOUND_SECONDS = 100.0
GRACE_SECONDS = 2


@pytest.fixture
async def stage(settings: Settings, tmp_path: Path) -> AsyncIterator[Stage]:
    """An API and a worker with a short grace time, on the services that `settings` has started."""
    assert settings.temporal_address
    name = f"drain_{os.getpid()}"  # concurrent runs, and workflows that an earlier one has left behind
    async with open_stage(
        name,
        tmp_path,
        shutdown_grace_seconds=GRACE_SECONDS,
        worker_health_port=free_port(),
        worker_metrics_port=None,
        metrics_port=None,
    ) as opened:
        yield opened
    await drop_scratch(name)


async def test_sigterm_under_load_hands_tasks_over(stage: Stage, tmp_path: Path) -> None:
    health = f"http://127.0.0.1:{stage.settings.worker_health_port}"
    video = make_video(tmp_path / "video.mp4", VIDEO_SECONDS)
    async with (
        httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as api,
        httpx.AsyncClient(base_url=health) as probes,
    ):
        await _until_ready(probes, stage.worker)
        video_ids = [await upload(api, video) for _ in range(VIDEOS)]
        await _stop_programs(stage.worker.pid)  # a task that cannot finish within the grace time

        first = stage.worker
        assert first.process is not None
        first.process.send_signal(signal.SIGTERM)
        successor = _successor(stage, tmp_path)
        successor.start()
        try:
            code = await asyncio.to_thread(first.process.wait, GRACE_SECONDS + 30)
            assert code == 0
            errors = [line for line in _logged(first) if line["level"] in {"ERROR", "CRITICAL"}]
            assert not [line for line in errors if str(line["logger"]).startswith("cutroom")]
            after = Stage(stage.settings, stage.accounts, stage.api, successor, person=stage.person, key=stage.key)
            statuses = await wait_for_imports(after, video_ids, seconds=BOUND_SECONDS)
        finally:
            successor.stop()
    assert statuses == dict.fromkeys(video_ids, "ready")
    handed_over = await _failures_of_repeated_tasks(await connect(stage.settings.model_copy(update=_NO_METRICS)))
    assert handed_over
    # A task whose worker vanished is repeated after its heartbeat timeout; these were given back instead.
    assert not [each for each in handed_over if each.HasField("timeout_failure_info")]


_NO_METRICS = {"worker_metrics_port": None}


def _successor(stage: Stage, folder: Path) -> WorkerProcess:
    """A second worker, as the next pod of a rollout on another node: it has a cache of its own."""
    variables = {"CUTROOM_WORKER_HEALTH_PORT": str(free_port()), "CUTROOM_CACHE_DIR": str(folder / "successor")}
    return WorkerProcess({**stage.worker.environment, **variables})


async def _until_ready(probes: httpx.AsyncClient, worker: WorkerProcess) -> None:
    while True:
        assert worker.process is not None
        assert worker.process.poll() is None, worker.read_log()[-3000:]
        with suppress(httpx.TransportError):  # not listening yet
            if (await probes.get("/ready")).status_code == 200:
                return
        await asyncio.sleep(0.2)


async def _stop_programs(pid: int) -> None:
    """Waits for an FFmpeg of the worker, and stops it so that it makes no progress."""
    while True:
        for child in psutil.Process(pid).children(recursive=True):
            try:
                if child.name() == "ffmpeg":
                    child.suspend()
                    return
            except psutil.NoSuchProcess:  # it has just ended
                continue
        await asyncio.sleep(0.02)


def _logged(worker: WorkerProcess) -> list[dict[str, object]]:
    return [json.loads(line) for line in worker.read_log().splitlines() if line.startswith("{")]


async def _failures_of_repeated_tasks(client: Client) -> list[Failure]:
    """Why each repeated task was repeated, in the histories of all workflows of the namespace."""
    found: list[Failure] = []
    async for workflow in client.list_workflows():
        handle = client.get_workflow_handle(workflow.id, run_id=workflow.run_id)
        async for event in handle.fetch_history_events():
            started = event.activity_task_started_event_attributes
            if started.HasField("last_failure"):
                found.append(started.last_failure)
    return found
