"""Connects to Temporal and maintains its schedules."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
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
from temporalio.common import MetricMeter
from temporalio.contrib.opentelemetry import TracingInterceptor
from temporalio.converter import DataConverter
from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    PrometheusConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)

from cutroom.platform.data_keys import DataKeys
from cutroom.platform.db import Database, single_connection
from cutroom.platform.payload_codec import encrypting_converter
from cutroom.platform.process.worker_metrics import HISTOGRAM_BUCKETS
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue


@dataclass(frozen=True, slots=True)
class RecurringWorkflow:
    """A workflow started by a schedule; overlapping runs are skipped."""

    workflow: str
    every: timedelta
    queue: TaskQueue = TaskQueue.CONTROL


async def connect(
    settings: Settings, *, database: Database | None = None, secret_box: SecretBox | None = None
) -> Client:
    """Connects to Temporal; serves the SDK's own metrics if `worker_metrics_port` is set."""
    return await Client.connect(
        settings.temporal_address,
        namespace=settings.temporal_namespace,
        interceptors=_interceptors(settings),
        runtime=_runtime(settings.metrics_host, settings.worker_metrics_port),
        data_converter=data_converter(settings, database=database, secret_box=secret_box),
    )


async def connect_plainly(settings: Settings) -> Client:
    """Connects without the keys of payloads, for calls that carry none."""
    return await Client.connect(settings.temporal_address, namespace=settings.temporal_namespace)


async def connect_lazily(
    settings: Settings, *, database: Database | None = None, secret_box: SecretBox | None = None
) -> Client:
    """Returns a client that connects on first use, so that the process starts without Temporal."""
    return await Client.connect(
        settings.temporal_address,
        namespace=settings.temporal_namespace,
        interceptors=_interceptors(settings),
        runtime=_runtime(settings.metrics_host, None),
        data_converter=data_converter(settings, database=database, secret_box=secret_box),
        lazy=True,
    )


def data_converter(
    settings: Settings, *, database: Database | None = None, secret_box: SecretBox | None = None
) -> DataConverter:
    """Encrypts payloads; tools without a pool open a connection for each data key."""
    url = settings.database_url.get_secret_value()
    connections = database.connection if database is not None else partial(single_connection, url)
    return encrypting_converter(DataKeys(connections, secret_box or SecretBox(settings.secret_key.get_secret_value())))


def metric_meter(settings: Settings) -> MetricMeter:
    """Return the meter of metrics that are recorded outside activities; they are served with the SDK's own."""
    return _runtime(settings.metrics_host, settings.worker_metrics_port).metric_meter


def _interceptors(settings: Settings) -> list[TracingInterceptor]:
    """Traces workflows and activities, if traces are exported."""
    return [TracingInterceptor()] if settings.otlp_endpoint is not None else []


@cache
def _runtime(metrics_host: str, metrics_port: int | None) -> Runtime:
    """Forwards the logs of the SDK core to our logger; by default it writes to standard output itself."""
    core = logging.getLogger("temporalio.core")
    logs = LoggingConfig(
        filter=TelemetryFilter(core_level="WARN", other_level="ERROR"),
        forwarding=LogForwardingConfig(core, append_target_to_name=False),
    )
    metrics = None
    if metrics_port is not None:
        metrics = PrometheusConfig(
            bind_address=f"{metrics_host}:{metrics_port}",
            durations_as_seconds=True,
            histogram_bucket_overrides=HISTOGRAM_BUCKETS,
        )
    return Runtime(telemetry=TelemetryConfig(logging=logs, metrics=metrics))


async def ensure_schedules(client: Client, recurring: Sequence[RecurringWorkflow]) -> None:
    """Creates or updates one schedule for each recurring workflow."""
    for each in recurring:
        schedule = _schedule(each)
        try:
            await client.create_schedule(each.workflow, schedule)
        except ScheduleAlreadyRunningError:
            await client.get_schedule_handle(each.workflow).update(partial(_updated, schedule))


def _updated(schedule: Schedule, current: ScheduleUpdateInput) -> ScheduleUpdate:
    """Keeps the state, so that a schedule paused by an operator stays paused."""
    return ScheduleUpdate(schedule=replace(schedule, state=current.description.schedule.state))


def _schedule(recurring: RecurringWorkflow) -> Schedule:
    return Schedule(
        action=ScheduleActionStartWorkflow(recurring.workflow, id=recurring.workflow, task_queue=recurring.queue),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=recurring.every)]),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP),
    )
