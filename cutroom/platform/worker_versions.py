"""Versions of workers in Temporal: which build runs new workflows, and which still has workflows to finish."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from temporalio.api.deployment.v1 import WorkerDeploymentInfo
from temporalio.api.enums.v1 import RoutingConfigUpdateState
from temporalio.api.enums.v1 import WorkerDeploymentVersionStatus as VersionStatus
from temporalio.api.workflowservice.v1 import (
    DescribeWorkerDeploymentRequest,
    SetWorkerDeploymentCurrentVersionRequest,
    SetWorkerDeploymentRampingVersionRequest,
)
from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import WorkerDeploymentConfig

from cutroom import __version__
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue

DEPLOYMENT = "cutroom"
WAITING_QUEUES = frozenset({TaskQueue.EGRESS})  # of webhook deliveries, which are retried for days
UNVERSIONED = ""  # Temporal's build id of workers without versioning
_STATUS = "WORKER_DEPLOYMENT_VERSION_STATUS_"
_ROUTING_SECONDS = 60.0  # until every task queue follows a change
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class WorkerBuild:
    """A build that has polled: `current`, `ramping`, `draining` (has workflows to finish), `drained` or `inactive`."""

    build_id: str
    status: str
    running_workflows: int  # that only this build can finish


@dataclass(frozen=True, slots=True)
class WorkerRouting:
    """Where new workflows go. Workers without versioning get those that no build gets."""

    current: str
    ramping: str
    ramping_percent: float
    builds: Sequence[WorkerBuild]


def build_id(settings: Settings) -> str:
    return settings.worker_build_id or __version__


def unversioned_build_id(settings: Settings) -> str | None:
    """What Temporal shows of a worker without versioning. The SDK's default, a hash of all code, slows each start."""
    return build_id(settings) if settings.worker_versioning == "off" else None


def deployment_config(settings: Settings, queue: TaskQueue) -> WorkerDeploymentConfig | None:
    """Workflows stay on the build that ran them first; those that wait for days follow the current build.

    The behavior is not in their definitions: Temporal refuses one from a worker without versioning.
    """
    if settings.worker_versioning == "off":
        return None
    behavior = VersioningBehavior.AUTO_UPGRADE if queue in WAITING_QUEUES else VersioningBehavior.PINNED
    return WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(DEPLOYMENT, build_id(settings)),
        use_worker_versioning=True,
        default_versioning_behavior=behavior,
    )


async def read_routing(client: Client) -> WorkerRouting:
    try:
        info = await _describe(client)
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:  # no versioned worker has polled yet
            return WorkerRouting(UNVERSIONED, UNVERSIONED, 0.0, [])
        raise
    routing = info.routing_config
    return WorkerRouting(
        current=routing.current_deployment_version.build_id,
        ramping=routing.ramping_deployment_version.build_id,
        ramping_percent=routing.ramping_version_percentage,
        builds=[
            WorkerBuild(
                build := each.deployment_version.build_id,
                VersionStatus.Name(each.status).removeprefix(_STATUS).lower(),
                await _count_pinned(client, build),
            )
            for each in info.version_summaries
        ],
    )


async def _describe(client: Client) -> WorkerDeploymentInfo:
    request = DescribeWorkerDeploymentRequest(namespace=client.namespace, deployment_name=DEPLOYMENT)
    response = await client.workflow_service.describe_worker_deployment(request)
    return response.worker_deployment_info


async def _count_pinned(client: Client, build: str) -> int:
    query = (
        f'TemporalWorkerDeploymentVersion = "{DEPLOYMENT}:{build}" '
        'AND TemporalWorkflowVersioningBehavior = "Pinned" AND ExecutionStatus = "Running"'
    )
    return (await client.count_workflows(query)).count


async def _wait_until_routed(client: Client) -> None:
    """Task queues learn of a change one after another."""
    async with asyncio.timeout(_ROUTING_SECONDS):
        while await _is_routing(client):  # noqa: ASYNC110 (the change is Temporal's)
            await asyncio.sleep(_POLL_SECONDS)


async def _is_routing(client: Client) -> bool:
    state = (await _describe(client)).routing_config_update_state
    return state == RoutingConfigUpdateState.ROUTING_CONFIG_UPDATE_STATE_IN_PROGRESS


async def make_current(client: Client, build: str, *, force: bool = False) -> None:
    """Routes new workflows to a build, or with `UNVERSIONED` to workers without versioning.

    Temporal refuses a build that has no worker, or none on a queue that the current one serves, unless forced.
    """
    await client.workflow_service.set_worker_deployment_current_version(
        SetWorkerDeploymentCurrentVersionRequest(
            namespace=client.namespace,
            deployment_name=DEPLOYMENT,
            build_id=build,
            ignore_missing_task_queues=force,
            allow_no_pollers=force,
        )
    )
    await _wait_until_routed(client)


async def ramp(client: Client, build: str, percent: float) -> None:
    """Routes a share of the new workflows to a build; 0 ends the ramp."""
    await client.workflow_service.set_worker_deployment_ramping_version(
        SetWorkerDeploymentRampingVersionRequest(
            namespace=client.namespace,
            deployment_name=DEPLOYMENT,
            build_id=build if percent else UNVERSIONED,
            percentage=percent,
        )
    )
    await _wait_until_routed(client)


async def roll_back(client: Client, build: str, *, force: bool = False) -> None:
    """Routes new workflows to an earlier build, or to workers without versioning, and ends a ramp."""
    routing = await read_routing(client)
    if routing.ramping_percent:
        await ramp(client, routing.ramping, 0)
    if routing.current != build:
        await make_current(client, build, force=force)
