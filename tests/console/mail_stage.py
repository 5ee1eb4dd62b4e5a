"""An API that sends mail, the worker that sends it, and the SMTP server that receives it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage

import httpx
from prometheus_client import CollectorRegistry
from temporalio.client import Client
from temporalio.worker import Worker

from cutroom.accounts.mails.activities import MailActivities
from cutroom.accounts.mails.workflow import SendAccountMailWorkflow
from cutroom.entrypoints.api import build_app
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.mail import MailServer
from cutroom.platform.relay import Relay
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.telemetry import AccessLog
from cutroom.platform.temporal import connect
from cutroom.web.outer_middleware import RequestMiddleware
from cutroom.web.runtime import Runtime, open_runtime
from dev.scratch import Accounts
from tests.console.conftest import Browser, new_address
from tests.support.servers.smtp_server import HOST, SmtpServer, smtp_server

PUBLIC_URL = "http://cutroom.localhost"  # where browsers allow passkeys without TLS


@dataclass
class MailStage:
    """What a test of mails needs."""

    settings: Settings
    service: RequestMiddleware
    runtime: Runtime
    smtp: SmtpServer
    client: Client
    accounts: Accounts
    worker_database: Database
    relay_database: Database
    opened: list[httpx.AsyncClient] = field(default_factory=list)

    def browser(self) -> Browser:
        """A browser without a session, at an address of its own."""
        transport = httpx.ASGITransport(app=self.service, client=(new_address(), 4000))
        client = httpx.AsyncClient(transport=transport, base_url=PUBLIC_URL)
        self.opened.append(client)
        return Browser(client)

    async def deliver(self) -> None:
        """Sends every mail that was written: relay, workflow and activity as in a worker process."""
        relay = Relay(self.relay_database, self.client, running_jobs_per_library=8)
        mails = MailActivities(
            database=self.worker_database,
            secret_box=self.runtime.secret_box,
            server=MailServer.of(self.settings),
            base_url=self.settings.base_url,
            clock=self.runtime.clock,
        )
        rows = await self.accounts.connection.fetch(
            "SELECT workflow_id FROM outbox WHERE workflow = 'send-account-mail'"
        )
        async with Worker(
            self.client,
            task_queue=TaskQueue.EGRESS,
            workflows=[SendAccountMailWorkflow],
            activities=[mails.send_account_mail],
        ):
            while await relay.relay_once():
                pass
            for row in rows:
                await self.client.get_workflow_handle(row["workflow_id"]).result()

    async def mails_to(self, address: str) -> list[EmailMessage]:
        """All mails that an address has received, after sending those that wait."""
        await self.deliver()
        return self.smtp.sent_to(address)


@asynccontextmanager
async def open_mail_stage(settings: Settings, accounts: Accounts, clock: Clock) -> AsyncIterator[MailStage]:
    async with smtp_server() as smtp:
        changes = {
            "smtp_host": HOST,
            "smtp_port": smtp.port,
            "smtp_security": "off",
            "mail_from": "Cutroom <cutroom@example.com>",
            "public_url": PUBLIC_URL,
            "sign_up": "open",
        }
        changed = settings.model_copy(update=changes)
        app = build_app(lambda: open_runtime(changed, clock))
        async with open_runtime(changed, clock) as runtime, app.router.lifespan_context(app):
            service = RequestMiddleware(app, registry=CollectorRegistry(), tracer=None, access_log=AccessLog("WARNING"))
            worker = await Database.connect(changed.worker_database, 2, application="cutroom-tests")
            relay = await Database.connect(changed.relay_database, 2, application="cutroom-tests")
            stage = MailStage(changed, service, runtime, smtp, await connect(changed), accounts, worker, relay)
            yield stage
            for client in stage.opened:
                await client.aclose()
            await worker.close()
            await relay.close()
