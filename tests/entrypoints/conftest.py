"""Fixtures for entry point tests: process environments and a separate Temporal namespace."""

from collections.abc import AsyncIterator

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from cutroom.entrypoints.worker import RECURRING
from cutroom.platform.settings import Settings
from cutroom.platform.temporal import connect
from dev.scratch import environment_of

NAMESPACE = "tests"
RETENTION_SECONDS = 24 * 3600  # Temporal's minimum


@pytest.fixture
def environment(settings: Settings) -> dict[str, str]:
    """Environment variables for a subprocess."""
    return environment_of(settings)


@pytest.fixture
async def temporal(settings: Settings) -> AsyncIterator[Client]:
    """A client for a test namespace without schedules."""
    client = await connect(settings)
    retention = Duration(seconds=RETENTION_SECONDS)
    request = RegisterNamespaceRequest(namespace=NAMESPACE, workflow_execution_retention_period=retention)
    try:
        await client.workflow_service.register_namespace(request)
    except RPCError as error:
        if error.status is not RPCStatusCode.ALREADY_EXISTS:
            raise
    client = await connect(settings.model_copy(update={"temporal_namespace": NAMESPACE}))
    await delete_schedules(client)
    yield client
    await delete_schedules(client)


async def delete_schedules(client: Client) -> None:
    for each in RECURRING:
        try:
            await client.get_schedule_handle(each.workflow).delete()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
