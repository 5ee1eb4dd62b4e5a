"""What tests of notifications need: a library with members, a mail server, a push service and the sending activity."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Address
from typing import Any

import asyncpg
import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.accounts.principals import Principal, Role
from cutroom.notifications.activities import NotificationActivities
from cutroom.notifications.push import VapidKey
from cutroom.notifications.rules import Channel, Frequency, NotificationKind, NotificationOutcome
from cutroom.notifications.service import NotificationRef, set_preferences
from cutroom.notifications.subscriptions import Browser, add_browser
from cutroom.platform.db import Database
from cutroom.platform.egress.addresses import Address, AddressDeniedError, Resolver
from cutroom.platform.egress.client import Egress
from cutroom.platform.mail import MailServer
from cutroom.web.runtime import Runtime
from cutroom.webhooks.publishing import publish_event
from dev.scratch import Accounts, Person
from dev.server import free_port
from tests.conftest import MovableClock
from tests.support.network_namespace import CertificateAuthority
from tests.support.servers.push_service import PushService, TestBrowser, push_service
from tests.support.servers.smtp_server import HOST, SmtpServer, smtp_server

PUSH_HOST = "push.example.com"
BASE_URL = "https://cutroom.example.com"
READY, FAILED = NotificationKind.READY, NotificationKind.FAILED


class LoopbackResolver(Resolver):
    """Resolves the push service to loopback, which the resolver denies by design, and denies all others."""

    async def resolve(self, host: str, port: int) -> list[Address]:
        if host != PUSH_HOST:
            raise AddressDeniedError(f"{host}:{port} is not the push service")
        return [IPv4Address("127.0.0.1")]


class LoopbackEgress(Egress):
    """The product's egress client, except that it may reach the push service on loopback."""

    def __init__(self, authority: CertificateAuthority) -> None:
        super().__init__(tls=authority.trust())
        self._resolver = LoopbackResolver()


@dataclass
class NotificationStage:
    """A workspace of one person, and the worker's side of its notifications."""

    accounts: Accounts
    runtime: Runtime
    clock: MovableClock
    owner: Person
    library_id: str
    smtp: SmtpServer
    push: PushService
    activities: NotificationActivities

    async def member(self, role: Role = Role.EDITOR) -> Person:
        person = await self.accounts.person()
        await self.accounts.member(self.library_id, person, role=role)
        return person

    async def prefer(
        self, person: Person, frequency: Frequency, kind: NotificationKind = READY, channel: Channel = Channel.MAIL
    ) -> None:
        async with self.runtime.database.transaction(self.library_id) as connection:
            chosen = {(kind, channel): frequency}
            await set_preferences(connection, self.library_id, person.user_id, chosen, now=self.clock())

    async def subscribe(self, person: Person, browser: TestBrowser) -> None:
        principal = await self.principal(person)
        async with self.runtime.database.transaction(self.library_id) as connection:
            await add_browser(
                connection,
                principal,
                Browser.parse(browser.url, p256dh=browser.form["p256dh"], auth=browser.form["auth"]),
                device="Firefox on Linux",
                secret_box=self.runtime.secret_box,
                now=self.clock(),
            )

    async def principal(self, person: Person) -> Principal:
        key = await self.accounts.key(person, library_id=self.library_id)
        async with self.runtime.database.connection() as connection:
            return await self.runtime.authenticator.authenticate(connection, key.secret, now=self.clock(), speech=False)

    async def publish(self, type_: str = "job.ready", **data: Any) -> str:  # noqa: ANN401 (JSON)
        job = {"id": "dub_x", "type": "dub", "language": "pt", "status": "ready", **data}
        async with self.runtime.database.transaction(self.library_id) as connection:
            return await publish_event(connection, self.library_id, type=type_, data=job, now=self.clock())

    async def rows(self) -> list[asyncpg.Record]:
        return await self.accounts.connection.fetch(
            "SELECT * FROM notifications WHERE library_id = $1 ORDER BY id", self.library_id
        )

    async def starts(self) -> list[NotificationRef]:
        """The workflows that wait to be started, removed from the outbox."""
        rows = await self.accounts.connection.fetch(
            "DELETE FROM outbox WHERE library_id = $1 AND workflow = 'send-notification' RETURNING id, argument",
            self.library_id,
        )
        rows.sort(key=lambda row: int(row["id"]))
        return [NotificationRef(**row["argument"]) for row in rows]

    async def send(self, ref: NotificationRef) -> NotificationOutcome:
        return await ActivityEnvironment().run(self.activities.send_notification, ref)

    async def send_all(self) -> list[NotificationOutcome]:
        return [await self.send(each) for each in await self.starts()]

    def at(self, moment: datetime) -> None:
        self.clock.shift += moment - self.clock()

    def mails_to(self, person: Person) -> list[str]:
        return [str(each["Subject"]) for each in self.smtp.sent_to(person.email)]


@pytest.fixture(scope="session")
async def authority(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return CertificateAuthority(tmp_path_factory.mktemp("push-authority"))


@pytest.fixture
async def stage(
    accounts: Accounts,
    runtime: Runtime,
    worker_database: Database,
    clock: MovableClock,
    person: Person,
    authority: CertificateAuthority,
) -> AsyncIterator[NotificationStage]:
    egress = LoopbackEgress(authority)
    public_key, tls = VapidKey.of(runtime.secret_box).public, authority.server_context([PUSH_HOST])
    async with smtp_server() as smtp, push_service(PUSH_HOST, free_port(), tls, public_key=public_key) as push:
        activities = NotificationActivities(
            database=worker_database,  # with the rights of a worker only
            secret_box=runtime.secret_box,
            server=MailServer(HOST, smtp.port, "off", "Cutroom <cutroom@example.com>"),
            sender=egress,
            base_url=BASE_URL,
            clock=clock,
        )
        library_id = await accounts.workspace(person)
        opened = NotificationStage(accounts, runtime, clock, person, library_id, smtp, push, activities)
        yield opened
        await accounts.connection.execute("DELETE FROM outbox WHERE library_id = $1", library_id)
    egress.close()
