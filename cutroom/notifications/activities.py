"""Activities that send notifications, and delete old ones."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr
from typing import Protocol

from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from cutroom.accounts.sessions import is_email
from cutroom.notifications.messages import Message, mail_of
from cutroom.notifications.push import KEPT_SECONDS, VapidKey, encrypt
from cutroom.notifications.rules import RETENTION, Channel, NotificationOutcome
from cutroom.notifications.sending import Batch, collect, record_outcome
from cutroom.notifications.service import NotificationRef
from cutroom.notifications.subscriptions import Browser, forget_browser, load_browsers
from cutroom.notifications.unsubscribing import ALL_KINDS, Unsubscription
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.egress.client import UnreachableError
from cutroom.platform.mail import MailRefusedError, MailServer
from cutroom.platform.secret_box import SecretBox

PURGE_BATCH = 1_000
_ACCEPTED = frozenset({200, 201, 202, 204})
_GONE = frozenset({404, 410})
_BUSY = frozenset({408, 425, 429})
_SERVER_ERROR = 500
_BENIGN = ApplicationErrorCategory.BENIGN


class PushResponse(Protocol):
    """The response of a push service."""

    @property
    def status(self) -> int: ...


class PushSender(Protocol):
    """Sends requests to URLs of callers: to public addresses only, without redirects, and with a timeout."""

    async def post(self, url: str, body: bytes, *, headers: Mapping[str, str]) -> PushResponse:
        """Raise UnreachableError if there is no response."""
        ...


@dataclass(frozen=True, slots=True)
class NotificationActivities:
    """Sends notifications."""

    database: Database
    secret_box: SecretBox
    server: MailServer | None
    sender: PushSender
    base_url: str
    clock: Clock

    @activity.defn(name="send_notification")
    async def send_notification(self, ref: NotificationRef) -> NotificationOutcome:
        """Send what is due and was not sent; after a crash a mail may be sent again, with the same message id."""
        async with self.database.transaction(ref.library_id) as connection:
            batch = await collect(connection, ref, now=self.clock())
        if batch is None:
            return NotificationOutcome.WITHDRAWN
        outcome = await (self._send_mail if batch.channel is Channel.MAIL else self._push)(ref, batch)
        async with self.database.transaction(ref.library_id) as connection:
            await record_outcome(connection, ref, outcome, now=self.clock())
        return outcome

    async def _send_mail(self, ref: NotificationRef, batch: Batch) -> NotificationOutcome:
        if self.server is None:  # none was configured, or it no longer is
            return NotificationOutcome.WITHDRAWN
        if not is_email(batch.address.email):  # of a user whom an operator created with another kind of name
            return NotificationOutcome.REFUSED
        try:
            await self.server.send(self._mail(self.server, ref, batch))
        except MailRefusedError:
            return NotificationOutcome.REFUSED
        return NotificationOutcome.SENT

    def _mail(self, server: MailServer, ref: NotificationRef, batch: Batch) -> EmailMessage:
        kinds = {each.kind for each in batch.messages}
        kind = batch.messages[0].kind.value if len(kinds) == 1 else ALL_KINDS
        link = Unsubscription(ref.library_id, batch.user_id, kind)
        mail = mail_of(
            batch.messages,
            base_url=self.base_url,
            library_name=batch.address.library_name,
            unsubscribe_path=link.path(self.secret_box),
        )
        mail["From"] = server.sender
        mail["To"] = batch.address.email
        mail["Date"] = format_datetime(self.clock())
        domain = parseaddr(server.sender)[1].rpartition("@")[2] or "localhost"
        mail["Message-ID"] = f"<{ref.notification_id}@{domain}>"
        return mail

    async def _push(self, ref: NotificationRef, batch: Batch) -> NotificationOutcome:
        """Send to every browser of the person. Those that a failed attempt has reached are left out of the next."""
        async with self.database.transaction(ref.library_id) as connection:
            browsers = await load_browsers(connection, ref.library_id, batch.user_id, secret_box=self.secret_box)
        reached: set[str] = set(*activity.info().heartbeat_details)
        is_busy = False
        for subscription_id, browser in browsers.items():
            if subscription_id in reached:
                continue
            status = await self._post(browser, batch.messages[0], tag=ref.notification_id)
            if status in _ACCEPTED:
                reached.add(subscription_id)
                activity.heartbeat(sorted(reached))
            elif status in _GONE:
                async with self.database.transaction(ref.library_id) as connection:
                    await forget_browser(connection, ref.library_id, subscription_id)
            elif status is None or status in _BUSY or status >= _SERVER_ERROR:
                is_busy = True
        if is_busy:
            raise ApplicationError("a push service did not accept the message yet", category=_BENIGN)
        return NotificationOutcome.SENT if reached else NotificationOutcome.REFUSED

    async def _post(self, browser: Browser, message: Message, *, tag: str) -> int | None:
        """The status of the push service, or None if there was no response."""
        document = {"title": message.text, "path": message.path, "tag": tag}
        headers = {
            "content-type": "application/octet-stream",
            "content-encoding": "aes128gcm",
            "ttl": str(KEPT_SECONDS),
            "urgency": "normal",
            "authorization": VapidKey.of(self.secret_box).authorization(
                browser.url, contact=self.contact, now=self.clock()
            ),
        }
        body = encrypt(json.dumps(document, ensure_ascii=False).encode(), browser.keys)
        try:
            response = await self.sender.post(browser.url, body, headers=headers)
        except UnreachableError:
            return None
        return response.status

    @property
    def contact(self) -> str:
        """Whom a push service can ask about our requests."""
        return f"mailto:{parseaddr(self.server.sender)[1]}" if self.server is not None else self.base_url

    @activity.defn(name="purge_notifications")
    async def purge_notifications(self) -> int:
        """Delete old notifications in batches; return how many."""
        before, deleted = self.clock() - RETENTION, 0
        while True:
            async with self.database.connection() as connection:
                batch: int = await connection.fetchval("SELECT purge_notifications($1, $2)", before, PURGE_BATCH)
            deleted += batch
            activity.heartbeat(deleted)
            if batch < PURGE_BATCH:
                return deleted
