"""Creates the Temporal namespace, its search attributes and its first worker version; corrects what has drifted."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    DescribeNamespaceResponse,
    DescribeWorkerDeploymentRequest,
    RegisterNamespaceRequest,
    SetWorkerDeploymentCurrentVersionRequest,
    UpdateNamespaceRequest,
)
from temporalio.client import Client
from temporalio.common import SearchAttributeKey
from temporalio.service import RPCError, RPCStatusCode

LIBRARY_ID = SearchAttributeKey.for_keyword("LibraryId")  # the relay sets it on every workflow that it starts
SEARCH_ATTRIBUTES: Mapping[str, IndexedValueType.ValueType] = MappingProxyType(
    {LIBRARY_ID.name: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD}
)
WORKER_DEPLOYMENT = "cutroom"
USABLE_SECONDS = 60.0  # a frontend caches namespaces for ten seconds, and every node of a cluster has its own cache
POLL_SECONDS = 0.2
NOT_YET = frozenset({RPCStatusCode.NOT_FOUND, RPCStatusCode.UNAVAILABLE, RPCStatusCode.FAILED_PRECONDITION})


class SetupError(Exception):
    """The namespace differs in a way that cannot be corrected."""


@dataclass(frozen=True, slots=True)
class NamespaceSpec:
    """What an installation needs of Temporal."""

    name: str
    retention: timedelta
    build_id: str | None = None  # of versioned workers; becomes current only if no version is


async def set_up(client: Client, spec: NamespaceSpec) -> list[str]:
    """Applies the specification; returns the changes made, which is empty if there were none."""
    changes = await _ensure_namespace(client, spec)
    changes += await _ensure_search_attributes(client, spec.name)
    if spec.build_id is not None:
        changes += await _ensure_current_version(client, spec.name, build_id=spec.build_id)
    return changes


async def _ensure_namespace(client: Client, spec: NamespaceSpec) -> list[str]:
    found = await _describe(client, spec.name)
    if found is None:
        request = RegisterNamespaceRequest(namespace=spec.name)
        request.workflow_execution_retention_period.FromTimedelta(spec.retention)
        try:
            await client.workflow_service.register_namespace(request)
        except RPCError as error:
            if error.status is not RPCStatusCode.ALREADY_EXISTS:
                raise
            # Another setup has registered it meanwhile, perhaps with another retention.
            return await _ensure_namespace(client, spec)
        return [f"namespace {spec.name} created"]
    current = found.config.workflow_execution_retention_ttl.ToTimedelta()
    if current == spec.retention:
        return []
    change = UpdateNamespaceRequest(namespace=spec.name)
    change.config.workflow_execution_retention_ttl.FromTimedelta(spec.retention)
    await client.workflow_service.update_namespace(change)
    return [f"retention changed from {_hours(current)} to {_hours(spec.retention)}"]


async def _describe(client: Client, name: str) -> DescribeNamespaceResponse | None:
    try:
        return await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=name))
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        raise


async def _ensure_search_attributes(client: Client, namespace: str) -> list[str]:
    """Adds those that are missing, and waits until the namespace and the attributes are usable."""
    added: list[str] = []
    missing: Mapping[str, IndexedValueType.ValueType] = SEARCH_ATTRIBUTES
    deadline = time.monotonic() + USABLE_SECONDS
    while True:
        try:
            missing = await _missing_search_attributes(client, namespace)
            if not missing:
                return [f"search attribute {name} added" for name in added]
            request = AddSearchAttributesRequest(namespace=namespace, search_attributes=missing)
            await client.operator_service.add_search_attributes(request)
            added = [name for name in SEARCH_ATTRIBUTES if name in {*added, *missing}]
        except RPCError as error:
            if error.status not in {*NOT_YET, RPCStatusCode.ALREADY_EXISTS} or time.monotonic() > deadline:
                raise
        if time.monotonic() > deadline:
            raise SetupError(f"search attributes of {namespace} are not usable after {USABLE_SECONDS:.0f} s: {missing}")
        await asyncio.sleep(POLL_SECONDS)


async def has_library_attribute(client: Client) -> bool:
    """Whether workflows can be started with a LibraryId; not in a namespace that was created without `set_up`."""
    try:
        return LIBRARY_ID.name not in await _missing_search_attributes(client, client.namespace)
    except (RPCError, SetupError):  # Temporal Cloud has no operator service
        return False


async def _missing_search_attributes(client: Client, namespace: str) -> dict[str, IndexedValueType.ValueType]:
    request = ListSearchAttributesRequest(namespace=namespace)
    present = (await client.operator_service.list_search_attributes(request)).custom_attributes
    for name, kind in SEARCH_ATTRIBUTES.items():
        if present.get(name, kind) != kind:
            found, needed = (IndexedValueType.Name(each) for each in (present[name], kind))
            raise SetupError(f"search attribute {name} is {found} and cannot become {needed}: remove or rename it")
    return {name: kind for name, kind in SEARCH_ATTRIBUTES.items() if name not in present}


async def _ensure_current_version(client: Client, namespace: str, *, build_id: str) -> list[str]:
    """Makes a build current where none is, before its workers poll: a later build is promoted by its rollout."""
    if await _current_build(client, namespace):
        return []
    request = SetWorkerDeploymentCurrentVersionRequest(
        namespace=namespace,
        deployment_name=WORKER_DEPLOYMENT,
        build_id=build_id,
        allow_no_pollers=True,
        identity=client.identity,
    )
    await client.workflow_service.set_worker_deployment_current_version(request)
    return [f"worker version {WORKER_DEPLOYMENT}:{build_id} made current"]


async def _current_build(client: Client, namespace: str) -> str | None:
    request = DescribeWorkerDeploymentRequest(namespace=namespace, deployment_name=WORKER_DEPLOYMENT)
    try:
        found = await client.workflow_service.describe_worker_deployment(request)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        raise
    return found.worker_deployment_info.routing_config.current_deployment_version.build_id or None


def _hours(duration: timedelta) -> str:
    return f"{duration.total_seconds() / 3600:g} h"
