"""The worker process: relays the outbox, and runs the workflows and activities of its task queues."""

import asyncio
import logging
import signal
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial

from temporalio.worker import Worker
from temporalio.workflow import _Definition  # the SDK has no public way to read the name of a workflow

from cutroom.accounts.mails.activities import MailActivities
from cutroom.accounts.mails.workflow import SendAccountMailWorkflow
from cutroom.capabilities.publisher import publish_capabilities
from cutroom.credits.activities import CreditActivities
from cutroom.credits.pricing import load_prices
from cutroom.credits.workflow import CheckLedgersWorkflow, ExpireReservationWorkflow
from cutroom.entrypoints.hardware import require_hardware
from cutroom.events.activities import EventActivities
from cutroom.events.workflow import PurgeEventsWorkflow
from cutroom.jobs.activities import JobActivities
from cutroom.jobs.cancellation_activities import CancellationActivities
from cutroom.jobs.deletion_activities import DeletionActivities
from cutroom.jobs.metrics import JobMetrics
from cutroom.jobs.voice_priority import VoicePriority
from cutroom.jobs.worker import Activities, Activity, WorkerContext
from cutroom.jobs.workflow import CancelJobWorkflow, DeleteObjectsWorkflow, SweepJobsWorkflow
from cutroom.platform.db import Database
from cutroom.platform.egress.client import Egress
from cutroom.platform.key_ring import followed_key_ring
from cutroom.platform.mail import MailServer
from cutroom.platform.messages.broadcast import Broadcaster
from cutroom.platform.process.abandoned_threads import exit_despite_threads
from cutroom.platform.process.cpu_time import MeasuringThreadPool
from cutroom.platform.process.exit import run_and_exit
from cutroom.platform.process.health import PostgresCheck, Readiness, health_server
from cutroom.platform.process.memory import keep_freed_memory
from cutroom.platform.process.worker_metrics import ActivityMetrics, create_translation_series
from cutroom.platform.relay import Relay
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.telemetry import configure_logging, configure_tracing
from cutroom.platform.temporal import RecurringWorkflow, connect, ensure_schedules, metric_meter
from cutroom.platform.temporal_setup import has_library_attribute
from cutroom.platform.worker_versions import deployment_config, unversioned_build_id
from cutroom.products.catalog import PRODUCTS
from cutroom.retention import catalog as retention
from cutroom.retention.erasure.caches import sweep_forever
from cutroom.web.activities import IdempotencyActivities
from cutroom.web.workflow import PurgeIdempotencyRecordsWorkflow
from cutroom.webhooks.activities import DeliveryActivities
from cutroom.webhooks.workflow import DeliverWebhookWorkflow

CORE_WORKFLOWS: tuple[type, ...] = (
    CancelJobWorkflow,
    CheckLedgersWorkflow,
    DeleteObjectsWorkflow,
    ExpireReservationWorkflow,
    PurgeEventsWorkflow,
    PurgeIdempotencyRecordsWorkflow,
    SweepJobsWorkflow,
)
CORE_RECURRING = (
    RecurringWorkflow(workflow="check-ledgers", every=timedelta(hours=1)),
    RecurringWorkflow(workflow="purge-idempotency-records", every=timedelta(hours=1)),
    RecurringWorkflow(workflow="purge-events", every=timedelta(days=1)),
    RecurringWorkflow(workflow="sweep-jobs", every=timedelta(minutes=1)),
)
RECURRING = [*CORE_RECURRING, *retention.RECURRING, *(each for product in PRODUCTS for each in product.recurring)]
WORKFLOWS: Mapping[TaskQueue, Sequence[type]] = {
    TaskQueue.CONTROL: [
        *CORE_WORKFLOWS,
        *retention.WORKFLOWS,
        *(each for product in PRODUCTS for each in product.all_workflows),
    ],
    # Deliveries are one per event and endpoint: kept off the control queue.
    TaskQueue.EGRESS: [DeliverWebhookWorkflow, SendAccountMailWorkflow],
}
# The workflow of a job is named after its type, so this also says which product a job belongs to.
PRODUCTS_BY_WORKFLOW: Mapping[str, str] = {
    str(_Definition.must_from_class(workflow).name): product.name
    for product in PRODUCTS
    for workflow in product.all_workflows
}
SERVICE = "cutroom-worker"
RELAY_CONNECTIONS = 3  # to listen, to relay and to measure
# By default, 80 % of the heartbeat timeout: on a busy machine, a heartbeat that is 3 s late would lose the work. It is
# also how long an activity may run after its job was canceled, which it learns from the response to a heartbeat. Each
# heartbeat is a state transition of its workflow in Temporal.
MAX_HEARTBEAT_INTERVAL = timedelta(seconds=6)

_log = logging.getLogger(__name__)


def core_activities(context: WorkerContext) -> Activities:
    """Activities of the core services."""
    idempotency = IdempotencyActivities(database=context.database, clock=context.clock)
    credit = CreditActivities(database=context.database, clock=context.clock)
    events = EventActivities(database=context.database, clock=context.clock)
    deliveries = DeliveryActivities(
        database=context.database, sender=context.egress, secret_box=context.secret_box, clock=context.clock
    )
    mails = MailActivities(
        database=context.database,
        secret_box=context.secret_box,
        server=MailServer.of(context.settings),
        base_url=context.settings.base_url,
        clock=context.clock,
    )
    jobs = JobActivities(
        database=context.database,
        client=context.client,
        prices=load_prices(context.settings.prices_file),
        clock=context.clock,
        metrics=JobMetrics(PRODUCTS_BY_WORKFLOW),
        checks={job.job_type: job.check for product in PRODUCTS for job in product.jobs if job.check is not None},
        when_ready=retention.WHEN_READY,
    )
    cancellation = CancellationActivities(
        database=context.database,
        client=context.client,
        storage=context.storage,
        metrics=jobs.metrics,
        output_prefixes={
            job.job_type: job.output_prefix
            for product in PRODUCTS
            for job in product.jobs
            if job.output_prefix is not None
        },
    )
    deletions = DeletionActivities(database=context.database, storage=context.storage)
    return {
        TaskQueue.CONTROL: [
            cancellation.delete_canceled_output,
            cancellation.stop_canceled_job,
            credit.check_ledgers,
            credit.expire_reservation,
            deletions.delete_objects,
            events.purge_events,
            idempotency.purge_idempotency_records,
            jobs.start_job,
            jobs.complete_job,
            jobs.fail_job,
            jobs.sweep_jobs,
        ],
        TaskQueue.EGRESS: [deliveries.attempt_delivery, mails.send_account_mail],
    }


def build_workers(context: WorkerContext) -> list[Worker]:
    """Builds one Temporal worker for each task queue that the settings name."""
    settings = context.settings
    activities = _activities_by_queue(context)
    concurrency = {
        TaskQueue.MEDIA: settings.media_concurrency,
        TaskQueue.VISION: settings.media_concurrency,
        TaskQueue.SPEECH: settings.speech_concurrency,
        TaskQueue.VOICE: context.interactive.budget.voice_slots,
        TaskQueue.DOWNLOAD: settings.download_concurrency,
    }
    return [
        Worker(
            context.client,
            task_queue=queue,
            workflows=WORKFLOWS.get(queue, []),
            activities=activities[queue],
            max_concurrent_activities=concurrency.get(queue, 100),
            graceful_shutdown_timeout=timedelta(seconds=settings.shutdown_grace_seconds),
            deployment_config=deployment_config(settings, queue),
            build_id=unversioned_build_id(settings),
            max_heartbeat_throttle_interval=MAX_HEARTBEAT_INTERVAL,
            interceptors=[
                VoicePriority(context.interactive.lease, context.interactive.budget),
                ActivityMetrics(PRODUCTS_BY_WORKFLOW),
            ],
        )
        for queue in TaskQueue
        if queue in settings.worker_queues and activities[queue]
    ]


def _activities_by_queue(context: WorkerContext) -> dict[TaskQueue, list[Activity]]:
    found: dict[TaskQueue, list[Activity]] = defaultdict(list)
    for register in (core_activities, retention.register, *(product.worker for product in PRODUCTS)):
        for queue, activities in register(context).items():
            found[queue] += activities
    return found


async def run_together(stack: AsyncExitStack, workers: Sequence[Worker]) -> None:
    """Starts the workers, which all stop polling at once when the stack closes, and share one grace time."""
    for worker in workers:
        await stack.enter_async_context(worker)

    async def shut_down() -> None:
        await asyncio.gather(*(worker.shutdown() for worker in workers))

    stack.push_async_callback(shut_down)


async def run(settings: Settings, egress: Egress | None = None) -> None:
    """Runs until SIGINT or SIGTERM; proofs pass their own egress so that loopback is reachable."""
    await require_hardware(settings)
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    # asyncio.to_thread is for batch work; interactive speech has threads of its own.
    asyncio.get_running_loop().set_default_executor(MeasuringThreadPool(niceness=settings.batch_niceness))
    tracing = configure_tracing(settings, SERVICE)
    database = await Database.connect(
        settings.worker_database,
        settings.database_pool_size,
        application="cutroom-worker",
        pooler=settings.database_pooler,
    )
    broadcaster = Broadcaster(settings.redis_url.get_secret_value())
    database.announcer = broadcaster.send_all
    secret_box = SecretBox(settings.secret_key.get_secret_value())
    client = await connect(settings, database=database, secret_box=secret_box)
    relay_database = await Database.connect(
        settings.relay_database, RELAY_CONNECTIONS, application="cutroom-relay", pooler=settings.database_pooler
    )
    guarded = egress or Egress(denied=settings.egress_denied_networks)
    context = WorkerContext.of(settings, client, database, egress=guarded, secret_box=secret_box)
    await ensure_schedules(client, RECURRING)
    create_translation_series(metric_meter(settings), settings.translators)
    relay = Relay(
        relay_database,
        client,
        running_jobs_per_library=settings.running_jobs_per_library,
        meter=metric_meter(settings),
        sets_library_attribute=await has_library_attribute(client),
    )
    postgres = PostgresCheck(settings.worker_database)
    readiness = Readiness({"postgres": postgres, "temporal": client.service_client.check_health})
    async with AsyncExitStack() as stack:
        if tracing is not None:
            stack.callback(tracing.shutdown)
        stack.callback(postgres.close)
        stack.push_async_callback(broadcaster.close)
        stack.push_async_callback(database.close)
        stack.push_async_callback(relay_database.close)
        stack.push_async_callback(context.multipart.close)
        await stack.enter_async_context(followed_key_ring(database, secret_box))
        translators = partial(asyncio.to_thread, context.engines.translators)
        synthesizers = partial(context.interactive.threads.run, context.interactive.engines.synthesizers)
        publishing = publish_capabilities(
            database,
            translators=translators if TaskQueue.SPEECH in settings.worker_queues else None,
            synthesizers=synthesizers if TaskQueue.VOICE in settings.worker_queues else None,
            clock=context.clock,
        )
        sweeping = sweep_forever(database, context.media_cache)
        background = (relay.run(), relay.measure_backlog(), publishing, sweeping, readiness.watch())
        tasks = [asyncio.create_task(each) for each in background]
        await stack.enter_async_context(
            health_server(readiness, settings.worker_health_port, host=settings.metrics_host)
        )
        await run_together(stack, build_workers(context))
        readiness.start()
        _log.info("worker ready", extra={"queues": settings.worker_queues})
        await stopped.wait()
        readiness.stop()
        for task in tasks:
            task.cancel()
    await exit_despite_threads(context.interactive.threads)


def main() -> None:
    settings = Settings()
    configure_logging(settings.log_level)
    keep_freed_memory()
    run_and_exit(lambda: asyncio.run(run(settings)))


if __name__ == "__main__":
    main()
