"""Activities that send notifications, and delete old ones."""

from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr

from temporalio import activity

from cutroom.accounts.sessions import is_email
from cutroom.notifications.messages import mail_of
from cutroom.notifications.rules import RETENTION, NotificationOutcome
from cutroom.notifications.sending import Batch, collect, record_outcome
from cutroom.notifications.service import NotificationRef
from cutroom.notifications.unsubscribing import ALL_KINDS, Unsubscription
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.mail import MailRefusedError, MailServer
from cutroom.platform.secret_box import SecretBox

PURGE_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class NotificationActivities:
    """Sends notifications."""

    database: Database
    secret_box: SecretBox
    server: MailServer | None
    base_url: str
    clock: Clock

    @activity.defn(name="send_notification")
    async def send_notification(self, ref: NotificationRef) -> NotificationOutcome:
        """Send what is due and was not sent; after a crash a mail may be sent again, with the same message id."""
        async with self.database.transaction(ref.library_id) as connection:
            batch = await collect(connection, ref, now=self.clock())
        if batch is None:
            return NotificationOutcome.WITHDRAWN
        outcome = await self._send_mail(ref, batch)
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
