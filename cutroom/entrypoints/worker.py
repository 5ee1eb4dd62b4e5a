"""The worker process: runs workflows and activities."""

import asyncio
import logging
import signal
from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Worker

from cutroom.platform.clock import Clock, system_clock
from cutroom.platform.db import Database
from cutroom.platform.settings import Settings
from cutroom.platform.telemetry import configure_logging
from cutroom.platform.temporal import Queue, Recurring, connect, ensure_schedules
from cutroom.web.activities import AnswerActivities
from cutroom.web.workflow import ForgetAnswers

RECURRING = (Recurring(workflow="forget-answers", every=timedelta(hours=1)),)
GRACE = timedelta(seconds=30)  # for what is running when the process is told to stop

_log = logging.getLogger(__name__)


def build_worker(client: Client, database: Database, *, clock: Clock = system_clock) -> Worker:
    answers = AnswerActivities(database=database, clock=clock)
    return Worker(
        client,
        task_queue=Queue.CONTROL,
        workflows=[ForgetAnswers],
        activities=[answers.forget_answers],
        graceful_shutdown_timeout=GRACE,
    )


async def run(settings: Settings) -> None:
    """Work until told to stop."""
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    client = await connect(settings)
    database = await Database.connect(
        settings.database_url.get_secret_value(), settings.database_pool_size, application="cutroom-worker"
    )
    try:
        await ensure_schedules(client, RECURRING)
        async with build_worker(client, database):
            _log.info("worker ready", extra={"queues": [Queue.CONTROL.value]})
            await stopped.wait()
    finally:
        await database.close()


def main() -> None:
    settings = Settings()
    configure_logging(settings.log_level)
    asyncio.run(run(settings))


if __name__ == "__main__":
    main()
