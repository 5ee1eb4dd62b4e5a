"""The stage of the webhook proof: customers with endpoints, published events, a worker and a relay."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import asyncpg
from temporalio.client import Client
from temporalio.worker import Worker

from cutroom.accounts.plans import load_plans
from cutroom.accounts.principals import Authenticator, Principal
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database
from cutroom.platform.relay import Relay
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from cutroom.webhooks import service
from cutroom.webhooks.activities import DeliveryActivities
from cutroom.webhooks.deliveries import Delivery
from cutroom.webhooks.publishing import publish_event
from cutroom.webhooks.schemas import NewWebhookEndpoint
from cutroom.webhooks.workflow import DeliverWebhookWorkflow
from dev.scratch import Accounts, scratch
from proofs.stage.webhook_receiver import Receiver

RUNNING_JOBS = 10  # no job runs here
POLL_SECONDS = 0.1
RESULT_SECONDS = 180
JOB = {"id": "import_01j9z3k4m5n6p7q8r9s0t1v2w3", "type": "import", "status": "ready", "result": {"title": "Kühe 🎬"}}


@dataclass(frozen=True, slots=True)
class Customer:
    """A library with one endpoint."""

    principal: Principal
    endpoint_id: str
    path: str

    @property
    def library_id(self) -> str:
        return self.principal.library_id

    def delivery(self, event_id: str) -> Delivery:
        return Delivery(self.library_id, event_id, endpoint_id=self.endpoint_id)


@dataclass(frozen=True, slots=True)
class WebhookStage:
    """A fresh database and a webhook receiver."""

    settings: Settings
    accounts: Accounts
    database: Database
    secret_box: SecretBox
    receiver: Receiver

    async def customer(self, behavior: str) -> Customer:
        """Create a customer whose endpoint has this behavior."""
        key = await self.accounts.key(await self.accounts.person())
        authenticator = Authenticator(secret_box=self.secret_box, plans=load_plans(self.settings.plans_file))
        async with self.database.connection() as connection:
            principal = await authenticator.authenticate(connection, key.secret, now=system_clock(), speech=False)
        path = f"/{behavior}/{principal.library_id}"
        async with self.database.transaction(principal.library_id) as connection:
            endpoint = await service.create_endpoint(
                connection,
                principal,
                NewWebhookEndpoint(url=f"https://{self.receiver.host}{path}"),
                secret_box=self.secret_box,
                now=system_clock(),
            )
        self.receiver.secrets[path] = endpoint.secret
        return Customer(principal, endpoint.id, path=path)

    async def publish(self, customer: Customer) -> str:
        async with self.database.transaction(customer.library_id) as connection:
            return await publish_event(connection, customer.library_id, type="job.ready", data=JOB, now=system_clock())

    async def delete(self, customer: Customer) -> None:
        async with self.database.transaction(customer.library_id) as connection:
            await service.delete_endpoint(connection, customer.principal, customer.endpoint_id, now=system_clock())

    async def attempts(self, customer: Customer) -> list[asyncpg.Record]:
        return await self.accounts.connection.fetch(
            "SELECT * FROM delivery_attempts WHERE library_id = $1 ORDER BY event_id, number", customer.library_id
        )

    def relay(self, client: Client) -> Relay:
        return Relay(self.database, client, running_jobs_per_library=RUNNING_JOBS)

    def worker(self, client: Client) -> Worker:
        deliveries = DeliveryActivities(
            database=self.database, secret_box=self.secret_box, sender=self.receiver.sender, clock=system_clock
        )
        return Worker(
            client,
            task_queue=TaskQueue.EGRESS,
            workflows=[DeliverWebhookWorkflow],
            activities=[deliveries.attempt_delivery],
        )


@asynccontextmanager
async def open_stage() -> AsyncIterator[WebhookStage]:
    settings = await scratch("proof_webhooks")
    accounts = await Accounts.open(settings)
    database = await Database.connect(settings.database_url.get_secret_value(), 20, application="proof")
    with TemporaryDirectory() as folder:
        receiver = Receiver(Path(folder))
        await receiver.start()
        try:
            yield WebhookStage(
                settings, accounts, database, SecretBox(settings.secret_key.get_secret_value()), receiver
            )
        finally:
            await receiver.stop()
            receiver.sender.close()
            await database.close()
            await accounts.close()


@asynccontextmanager
async def run_worker(stage: WebhookStage, client: Client) -> AsyncIterator[None]:
    """Run a relay and a worker, as the worker process does."""
    relay = asyncio.create_task(stage.relay(client).run())
    try:
        async with stage.worker(client):
            yield
    finally:
        relay.cancel()
        with suppress(asyncio.CancelledError):
            await relay


async def until(condition: Callable[[], bool], *, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(POLL_SECONDS)
    return True


async def relay_all(stage: WebhookStage, client: Client) -> None:
    relay = stage.relay(client)
    while await relay.relay_once():
        pass


async def results_of(client: Client, deliveries: Sequence[Delivery]) -> list[str]:
    """Outcome of each delivery; where time is skipped, all must be complete, because waiting would skip more."""
    handles = [client.get_workflow_handle(each.workflow_id) for each in deliveries]
    return await asyncio.wait_for(asyncio.gather(*(handle.result() for handle in handles)), timeout=RESULT_SECONDS)
