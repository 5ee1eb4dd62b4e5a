"""The workflows of a library: found running in the cell it leaves, started again in the one it arrives in."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from cutroom.platform.db import Connection
from cutroom.platform.outbox import add_running_start, started_workflows

CONCURRENT_CALLS = 20
DELETION_SECONDS = 60.0
POLL_SECONDS = 0.1


class HistoryNotDeletedError(Exception):
    """The target still has histories of an earlier stay of the library."""


@dataclass(frozen=True, slots=True)
class RunningWorkflow:
    """A workflow with what it was started with."""

    name: str
    id: str
    queue: str
    argument: Any


@dataclass
class LibraryWorkflows:
    """The workflows of a library in one cell. Those that have been seen to end are not asked for again."""

    client: Client
    library_id: str
    running: dict[str, RunningWorkflow] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)

    async def refresh(self, source: Connection) -> None:
        """Ask Temporal for every workflow that may be running."""
        ids = [each for each in await started_workflows(source, self.library_id) if each not in self.ended]
        await _for_each(ids, self._look_at)

    async def terminate(self) -> None:
        async def stop(workflow_id: str) -> None:
            await self.client.get_workflow_handle(workflow_id).terminate("library moved to another cell")

        await _for_each(self.running, stop)

    async def delete_histories(self, workflow_ids: Iterable[str]) -> None:
        """Their ids can be used again afterwards."""
        remaining = set(workflow_ids)

        async def delete(workflow_id: str) -> None:
            execution = WorkflowExecution(workflow_id=workflow_id)
            await self.client.workflow_service.delete_workflow_execution(
                DeleteWorkflowExecutionRequest(namespace=self.client.namespace, workflow_execution=execution)
            )

        async def check(workflow_id: str) -> None:
            try:
                await self.client.get_workflow_handle(workflow_id).describe()
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
                remaining.discard(workflow_id)

        await _for_each(remaining, check)
        await _for_each(remaining, delete)
        deadline = asyncio.get_running_loop().time() + DELETION_SECONDS
        while remaining:
            await _for_each(list(remaining), check)
            if remaining and asyncio.get_running_loop().time() > deadline:
                raise HistoryNotDeletedError(f"{len(remaining)} histories")
            await asyncio.sleep(POLL_SECONDS)

    async def _look_at(self, workflow_id: str) -> None:
        handle = self.client.get_workflow_handle(workflow_id)
        try:
            description = await handle.describe()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            self._remember_ended(workflow_id)
            return
        if description.status is not WorkflowExecutionStatus.RUNNING:
            self._remember_ended(workflow_id)
        elif workflow_id not in self.running:
            self.running[workflow_id] = await self._read_start(workflow_id, description.task_queue)

    def _remember_ended(self, workflow_id: str) -> None:
        self.ended.add(workflow_id)
        self.running.pop(workflow_id, None)

    async def _read_start(self, workflow_id: str, queue: str) -> RunningWorkflow:
        """The argument is in the first event, encrypted with the library's data key."""
        handle = self.client.get_workflow_handle(workflow_id)
        event = await anext(handle.fetch_history_events(page_size=1))
        started = event.workflow_execution_started_event_attributes
        codec = self.client.data_converter.payload_codec
        assert codec is not None
        [payload] = await codec.decode(list(started.input.payloads))
        return RunningWorkflow(started.workflow_type.name, workflow_id, queue, json.loads(payload.data))


async def start_again(target: Connection, workflows: LibraryWorkflows) -> None:
    """Activities are idempotent and find what the first run has stored, so a job continues close to where it was."""
    for each in workflows.running.values():
        start = {
            "workflow": each.name,
            "workflow_id": each.id,
            "queue": each.queue,
            "argument": json.dumps(each.argument),
        }
        await add_running_start(target, workflows.library_id, start)


async def _for_each(ids: Iterable[str], act: Callable[[str], Awaitable[None]]) -> None:
    """Call Temporal for every workflow; those it does not know have ended long ago."""
    semaphore = asyncio.Semaphore(CONCURRENT_CALLS)

    async def call(workflow_id: str) -> None:
        async with semaphore:
            try:
                await act(workflow_id)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise

    await asyncio.gather(*(call(each) for each in list(ids)))
