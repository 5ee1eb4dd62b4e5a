"""The setup of the Temporal namespace: created, repeated, corrected."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    DeleteNamespaceRequest,
    ListSearchAttributesRequest,
)
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    DescribeWorkerDeploymentRequest,
    UpdateNamespaceRequest,
)
from temporalio.client import Client

from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.temporal_setup import WORKER_DEPLOYMENT, NamespaceSpec, SetupError, has_library_attribute, set_up

DAYS_3 = timedelta(days=3)


@pytest.fixture
async def client(settings: Settings) -> Client:
    return await Client.connect(settings.temporal_address)


@pytest.fixture
async def namespace(client: Client) -> AsyncIterator[str]:
    """A name that does not exist yet; deleted afterwards."""
    name = f"setup-{new_id()}"
    yield name
    await client.operator_service.delete_namespace(DeleteNamespaceRequest(namespace=name))


async def _retention(client: Client, namespace: str) -> timedelta:
    found = await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=namespace))
    return found.config.workflow_execution_retention_ttl.ToTimedelta()


async def _search_attributes(client: Client, namespace: str) -> dict[str, int]:
    request = ListSearchAttributesRequest(namespace=namespace)
    return dict((await client.operator_service.list_search_attributes(request)).custom_attributes)


async def _current_build(client: Client, namespace: str) -> str:
    request = DescribeWorkerDeploymentRequest(namespace=namespace, deployment_name=WORKER_DEPLOYMENT)
    found = await client.workflow_service.describe_worker_deployment(request)
    return found.worker_deployment_info.routing_config.current_deployment_version.build_id


async def test_creates_a_namespace_once(client: Client, namespace: str) -> None:
    spec = NamespaceSpec(namespace, retention=DAYS_3)
    assert await set_up(client, spec) == [f"namespace {namespace} created", "search attribute LibraryId added"]
    assert await _retention(client, namespace) == DAYS_3
    keyword = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
    assert (await _search_attributes(client, namespace))["LibraryId"] == keyword

    assert await set_up(client, spec) == []
    assert await has_library_attribute(
        await Client.connect(client.service_client.config.target_host, namespace=namespace)
    )


async def test_corrects_the_retention_and_keeps_search_attributes(client: Client, namespace: str) -> None:
    spec = NamespaceSpec(namespace, retention=DAYS_3)
    await set_up(client, spec)
    drift = UpdateNamespaceRequest(namespace=namespace)
    drift.config.workflow_execution_retention_ttl.FromTimedelta(timedelta(days=1))
    await client.workflow_service.update_namespace(drift)
    before = await _search_attributes(client, namespace)

    assert await set_up(client, spec) == ["retention changed from 24 h to 72 h"]
    assert await _retention(client, namespace) == DAYS_3
    assert await _search_attributes(client, namespace) == before


async def test_concurrent_setups_agree(client: Client, namespace: str) -> None:
    spec = NamespaceSpec(namespace, retention=DAYS_3)
    changes = await asyncio.gather(*(set_up(client, spec) for _ in range(4)))
    assert [f"namespace {namespace} created" in each for each in changes].count(True) == 1
    assert await set_up(client, spec) == []


async def test_refuses_a_search_attribute_of_another_type(client: Client, namespace: str) -> None:
    spec = NamespaceSpec(namespace, retention=DAYS_3)
    await set_up(client, spec)
    other = {"LibraryNumber": IndexedValueType.INDEXED_VALUE_TYPE_INT}
    await client.operator_service.add_search_attributes(
        AddSearchAttributesRequest(namespace=namespace, search_attributes=other)
    )
    attributes = {"LibraryNumber": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cutroom.platform.temporal_setup.SEARCH_ATTRIBUTES", attributes)
        with pytest.raises(SetupError, match="LibraryNumber is INDEXED_VALUE_TYPE_INT"):
            await set_up(client, spec)


async def test_makes_the_first_build_current_and_leaves_the_next_to_its_rollout(client: Client, namespace: str) -> None:
    first = NamespaceSpec(namespace, retention=DAYS_3, build_id="0.1.0")
    assert f"worker version {WORKER_DEPLOYMENT}:0.1.0 made current" in await set_up(client, first)
    assert await _current_build(client, namespace) == "0.1.0"

    assert await set_up(client, NamespaceSpec(namespace, retention=DAYS_3, build_id="0.2.0")) == []
    assert await _current_build(client, namespace) == "0.1.0"


async def test_the_command_needs_only_the_settings_of_temporal(
    settings: Settings, client: Client, namespace: str
) -> None:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("CUTROOM_")}
    variables |= {
        "CUTROOM_TEMPORAL_ADDRESS": settings.temporal_address,
        "CUTROOM_TEMPORAL_NAMESPACE": namespace,
        "CUTROOM_TEMPORAL_RETENTION_DAYS": "7",
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "cutroom.entrypoints.cli", "temporal", "setup"),
        env=variables,
        stdout=asyncio.subprocess.PIPE,
    )
    (output, _) = await process.communicate()
    assert process.returncode == 0
    changes = [f"namespace {namespace} created", "search attribute LibraryId added"]
    assert json.loads(output) == {"namespace": namespace, "changes": changes}
    assert await _retention(client, namespace) == timedelta(days=7)
