"""The worker process: relays the outbox, and runs workflows and activities of the queues it serves."""

import asyncio
import logging
import signal
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta

import asyncpg
from temporalio.worker import Worker

from cutroom.credits.activities import CreditActivities
from cutroom.credits.pricing import load_prices
from cutroom.credits.workflow import CheckLedgersWorkflow, ExpireReservationWorkflow
from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.jobs.activities import JobActivities
from cutroom.jobs.worker import Activities, Activity, WorkerContext, WorkerRegistration
from cutroom.jobs.workflow import SweepJobsWorkflow
from cutroom.platform.db import Database
from cutroom.platform.egress.addresses import parse_networks
from cutroom.platform.egress.client import Egress
from cutroom.platform.relay import Relay
from cutroom.platform.settings import Settings
from cutroom.platform.telemetry import configure_logging
from cutroom.platform.temporal import Queue, Recurring, connect, ensure_schedules
from cutroom.products.captions.service import ROUTES_EVERY, publish_routes
from cutroom.products.captions.worker import WORK as CAPTIONS
from cutroom.products.characters.worker import WORK as CHARACTERS
from cutroom.products.downloads.worker import WORK as DOWNLOADS
from cutroom.products.dubs.worker import WORK as DUBS
from cutroom.products.hosting.worker import WORK as HOSTING
from cutroom.products.ingest.worker import WORK as INGEST
from cutroom.products.packaging.worker import WORK as PACKAGING
from cutroom.products.playback.worker import WORK as PLAYBACK
from cutroom.products.shorts.worker import WORK as SHORTS
from cutroom.products.speech.service import publish_voices
from cutroom.products.speech.worker import WORK as SPEECH
from cutroom.products.thumbnails.worker import WORK as THUMBNAILS
from cutroom.products.transcripts.worker import WORK as TRANSCRIPTS
from cutroom.products.uploads.worker import WORK as UPLOADS
from cutroom.web.activities import IdempotencyActivities
from cutroom.web.workflow import PurgeIdempotencyRecordsWorkflow
from cutroom.webhooks.activities import DeliveryActivities
from cutroom.webhooks.workflow import DeliverWebhookWorkflow, PurgeEventsWorkflow


def _house(parts: WorkerContext) -> Activities:
    """What belongs to no product."""
    answers = IdempotencyActivities(database=parts.database, clock=parts.clock)
    credit = CreditActivities(database=parts.database, clock=parts.clock)
    deliveries = DeliveryActivities(
        database=parts.database, sender=parts.egress, secrecy=parts.secrecy, clock=parts.clock
    )
    jobs = JobActivities(
        database=parts.database, client=parts.client, prices=load_prices(parts.settings.prices_file), clock=parts.clock
    )
    return {
        Queue.CONTROL: [
            answers.purge_idempotency_records,
            credit.check_ledgers,
            credit.expire_reservation,
            deliveries.purge_events,
            jobs.start_job,
            jobs.complete_job,
            jobs.fail_job,
            jobs.sweep_jobs,
        ],
        Queue.EGRESS: [deliveries.attempt_delivery],
    }


HOUSE = WorkerRegistration(
    workflows=[
        CheckLedgersWorkflow,
        ExpireReservationWorkflow,
        PurgeIdempotencyRecordsWorkflow,
        PurgeEventsWorkflow,
        SweepJobsWorkflow,
    ],
    activities=_house,
    recurring=[
        Recurring(workflow="check-ledgers", every=timedelta(hours=1)),
        Recurring(workflow="purge-idempotency-records", every=timedelta(hours=1)),
        Recurring(workflow="purge-events", every=timedelta(days=1)),
        Recurring(workflow="sweep-jobs", every=timedelta(minutes=1)),
    ],
)
ALL = (
    HOUSE,
    CAPTIONS,
    CHARACTERS,
    DOWNLOADS,
    DUBS,
    HOSTING,
    INGEST,
    PACKAGING,
    PLAYBACK,
    SHORTS,
    SPEECH,
    THUMBNAILS,
    TRANSCRIPTS,
    UPLOADS,
)
RECURRING = [each for work in ALL for each in work.recurring]
WORKFLOWS: Mapping[Queue, Sequence[type]] = {
    Queue.CONTROL: [workflow for work in ALL for workflow in work.workflows],
    Queue.EGRESS: [DeliverWebhookWorkflow],  # one for each event and endpoint: they crowd nothing but themselves
}
GRACE = timedelta(seconds=30)  # for what is running when the process is told to stop

_log = logging.getLogger(__name__)


def build_workers(parts: WorkerContext) -> list[Worker]:
    """One worker for each queue that settings name."""
    settings = parts.settings
    served = _served(settings)
    activities = _activities(parts)
    at_once = {
        Queue.MEDIA: settings.media_concurrency,
        Queue.VISION: settings.media_concurrency,
        Queue.SPEECH: settings.speech_concurrency,
        Queue.VOICE: settings.speech_concurrency,
        Queue.DOWNLOAD: settings.download_concurrency,
    }
    return [
        Worker(
            parts.client,
            task_queue=queue,
            workflows=WORKFLOWS.get(queue, []),
            activities=activities[queue],
            max_concurrent_activities=at_once.get(queue, 100),
            graceful_shutdown_timeout=GRACE,
        )
        for queue in Queue
        if queue in served and activities[queue]
    ]


def _served(settings: Settings) -> set[Queue]:
    return {Queue(name.strip()) for name in settings.worker_queues.split(",")}


def _activities(parts: WorkerContext) -> dict[Queue, list[Activity]]:
    found: dict[Queue, list[Activity]] = {queue: [] for queue in Queue}
    for work in ALL:
        for queue, activities in work.activities(parts).items():
            found[queue] += activities
    return found


async def run(settings: Settings, egress: Egress | None = None) -> None:
    """Runs until a signal; proofs pass their own egress so that loopback is reachable."""
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    client = await connect(settings)
    database = await Database.connect(
        settings.database_url.get_secret_value(), settings.database_pool_size, application="cutroom-worker"
    )
    way_out = egress or Egress(denied=parse_networks(settings.egress_denied_networks))
    parts = WorkerContext.of(settings, client, database, egress=way_out)
    await ensure_schedules(client, RECURRING)
    relay = Relay(database, client, running_jobs_per_library=settings.running_jobs_per_library)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(database.close)
        stack.push_async_callback(parts.multipart.close)
        tasks = [asyncio.create_task(relay.run()), asyncio.create_task(_tell(parts))]
        for worker in build_workers(parts):
            await stack.enter_async_context(worker)
        _log.info("worker ready", extra={"queues": settings.worker_queues})
        await stopped.wait()
        for task in tasks:
            task.cancel()


async def _tell(parts: WorkerContext) -> None:
    """Tell the API what this worker's engines can do, again and again while it lives."""
    served = _served(parts.settings)
    while served & {Queue.SPEECH, Queue.VOICE}:
        try:
            if Queue.SPEECH in served:
                translators = await asyncio.to_thread(parts.engines.translators)
                async with parts.database.connection() as connection, connection.transaction():
                    await publish_routes(connection, translators, now=parts.clock())
            if Queue.VOICE in served:
                speaker = await asyncio.to_thread(parts.engines.speaker)
                async with parts.database.connection() as connection, connection.transaction():
                    await publish_voices(connection, speaker, now=parts.clock())
        except EngineUnavailableError as error:
            _log.warning("an engine is not there", extra={"error": str(error)})
        except (EngineError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError):
            _log.exception("what the engines can do could not be told")
        await asyncio.sleep(ROUTES_EVERY.total_seconds())


def main() -> None:
    settings = Settings()
    configure_logging(settings.log_level)
    asyncio.run(run(settings))


if __name__ == "__main__":
    main()
