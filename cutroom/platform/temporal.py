"""Temporal: the connection, the task queues, and the schedules that keep the house."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from functools import cache, partial

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)
from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    PrometheusConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)

from cutroom.platform.settings import Settings


class TaskQueue(StrEnum):
    """Task queues, by the resource that their work needs."""

    CONTROL = "control"  # short, on the database
    MEDIA = "media"  # FFmpeg
    SPEECH = "speech"  # speech engines
    VOICE = "voice"  # speech engines, for what somebody waits for
    VISION = "vision"  # picture engines
    EGRESS = "egress"  # the network, for seconds
    DOWNLOAD = "download"  # the network, for as long as it takes: apart, so that short calls never wait for it


@dataclass(frozen=True, slots=True)
class RecurringWorkflow:
    """A workflow that starts by itself, never twice at a time."""

    workflow: str
    every: timedelta
    queue: TaskQueue = TaskQueue.CONTROL


async def connect(settings: Settings) -> Client:
    """A client whose runtime tells its own metrics when settings name a port for them."""
    return await Client.connect(
        settings.temporal_address,
        namespace=settings.temporal_namespace,
        runtime=_runtime(settings.metrics_host, settings.worker_metrics_port),
    )


async def connect_lazily(settings: Settings) -> Client:
    """A client that connects when it is first used, for a process that must start without Temporal."""
    return await Client.connect(
        settings.temporal_address,
        namespace=settings.temporal_namespace,
        runtime=_runtime(settings.metrics_host, None),
        lazy=True,
    )


@cache
def _runtime(metrics_host: str, metrics_port: int | None) -> Runtime:
    """What Temporal's core has to say goes the way of all our log lines, and not to standard output by itself."""
    core = logging.getLogger("temporalio.core")
    logs = LoggingConfig(
        filter=TelemetryFilter(core_level="WARN", other_level="ERROR"),
        forwarding=LogForwardingConfig(core, append_target_to_name=False),
    )
    metrics = PrometheusConfig(bind_address=f"{metrics_host}:{metrics_port}") if metrics_port is not None else None
    return Runtime(telemetry=TelemetryConfig(logging=logs, metrics=metrics))


async def ensure_schedules(client: Client, recurring: Sequence[RecurringWorkflow]) -> None:
    """Create the schedules, or bring those that exist up to date."""
    for each in recurring:
        schedule = _schedule(each)
        try:
            await client.create_schedule(each.workflow, schedule)
        except ScheduleAlreadyRunningError:
            await client.get_schedule_handle(each.workflow).update(partial(_renewed, schedule))


def _renewed(schedule: Schedule, current: ScheduleUpdateInput) -> ScheduleUpdate:
    """What an operator paused stays paused."""
    return ScheduleUpdate(schedule=replace(schedule, state=current.description.schedule.state))


def _schedule(each: RecurringWorkflow) -> Schedule:
    return Schedule(
        action=ScheduleActionStartWorkflow(each.workflow, id=each.workflow, task_queue=each.queue),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=each.every)]),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP),
    )
