"""Tests versioned workers and their commands on Temporal, with workers of several builds."""

import asyncio
import json
from contextlib import AsyncExitStack
from datetime import timedelta

from temporalio import activity, workflow
from temporalio.client import Client, WorkflowHandle
from temporalio.common import VersioningBehavior
from temporalio.worker import Worker
from typer.testing import CliRunner

from cutroom.entrypoints.cli import app
from cutroom.entrypoints.worker import run_together
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import connect
from cutroom.platform.worker_versions import UNVERSIONED, deployment_config, make_current, ramp, read_routing, roll_back

GRACE = timedelta(seconds=60)


# The sandbox would import this module again, with C extensions that cannot be loaded twice.
@workflow.defn(name="wait-for-signal", sandboxed=False)
class WaitForSignal:
    """Returns the build that finishes it."""

    def __init__(self) -> None:
        self._is_signaled = False

    @workflow.signal
    def go_on(self) -> None:
        self._is_signaled = True

    @workflow.update
    async def started(self) -> None:
        """Completes in the first workflow task, which assigns the workflow to a build."""

    @workflow.run
    async def run(self) -> str:
        await workflow.wait_condition(lambda: self._is_signaled)
        version = workflow.info().get_current_deployment_version()
        return version.build_id if version and version.deployment_name else ""


def versioned_worker(client: Client, settings: Settings, queue: str, *, build: str | None) -> Worker:
    changes = {"worker_versioning": "on" if build else "off", "worker_build_id": build}
    config = deployment_config(settings.model_copy(update=changes), TaskQueue.CONTROL)
    return Worker(client, task_queue=queue, workflows=[WaitForSignal], deployment_config=config)


async def running_workflows(client: Client) -> dict[str, int]:
    return {each.build_id: each.running_workflows for each in (await read_routing(client)).builds}


async def wait_for_builds(client: Client, builds: set[str]) -> None:
    """Temporal knows a build once its workers have polled."""
    async with asyncio.timeout(60):
        while (await running_workflows(client)).keys() < builds:
            await asyncio.sleep(0.05)


def test_only_queues_of_workflows_that_wait_for_days_follow_the_current_build(settings: Settings) -> None:
    versioned = settings.model_copy(update={"worker_versioning": "on"})
    configs = {queue: deployment_config(versioned, queue) for queue in TaskQueue}
    following = {
        queue
        for queue, config in configs.items()
        if config is not None and config.default_versioning_behavior is VersioningBehavior.AUTO_UPGRADE
    }
    assert following == {TaskQueue.EGRESS}
    assert deployment_config(settings, TaskQueue.EGRESS) is None


async def test_workflows_stay_on_their_build_while_new_ones_are_routed(
    settings: Settings,
) -> None:
    client, queue = await connect(settings), new_id()

    async def start() -> WorkflowHandle[WaitForSignal, str]:
        handle = await client.start_workflow(WaitForSignal.run, id=new_id(), task_queue=queue)
        await handle.execute_update(WaitForSignal.started)
        return handle

    async with AsyncExitStack() as stack:
        builds = [versioned_worker(client, settings, queue, build=build) for build in (None, "1", "2")]
        await run_together(stack, builds)
        await wait_for_builds(client, {"1", "2"})
        unversioned = await start()
        await make_current(client, "1")
        first = await start()
        await make_current(client, "2")
        assert await running_workflows(client) == {"1": 1, "2": 0}
        second = await start()
        await ramp(client, "1", 100)
        ramped = await start()
        routing = await read_routing(client)
        assert (routing.current, routing.ramping, routing.ramping_percent) == ("2", "1", 100)
        await roll_back(client, UNVERSIONED)
        returned = await start()
        routing = await read_routing(client)
        assert (routing.current, routing.ramping_percent) == (UNVERSIONED, 0)
        handles = [unversioned, first, second, ramped, returned]
        for handle in handles:
            await handle.signal(WaitForSignal.go_on)
        assert [await handle.result() for handle in handles] == ["", "1", "2", "1", ""]


def test_build_without_workers_is_refused(environment: dict[str, str]) -> None:
    result = CliRunner().invoke(app, ["workers", "promote", "no-such-build"], env=environment)
    assert result.exit_code == 1
    assert "Temporal refused it" in result.output


def test_builds_are_shown(environment: dict[str, str]) -> None:
    result = CliRunner().invoke(app, ["workers", "show"], env=environment)
    shown = json.loads(result.output)
    assert (shown["current"], shown["ramping"], shown["rampingPercent"]) == ("unversioned", None, 0)


async def test_workers_stop_at_once_and_share_their_grace_time(settings: Settings) -> None:
    """Each activity ends only when the other one's worker is stopping too."""
    client, queues = await connect(settings), [new_id(), new_id()]
    started = asyncio.Barrier(len(queues) + 1)
    stopping = asyncio.Barrier(len(queues))

    @activity.defn(name="wait-for-both")
    async def wait_for_both() -> str:
        await started.wait()
        await activity.wait_for_worker_shutdown()
        await stopping.wait()
        return "finished"

    async with AsyncExitStack() as stack:
        await run_together(
            stack,
            [
                Worker(client, task_queue=queue, activities=[wait_for_both], graceful_shutdown_timeout=GRACE)
                for queue in queues
            ],
        )
        handles = [
            await client.start_activity(
                wait_for_both, id=new_id(), task_queue=queue, start_to_close_timeout=timedelta(minutes=5)
            )
            for queue in queues
        ]
        await started.wait()
    assert [await handle.result() for handle in handles] == ["finished", "finished"]
