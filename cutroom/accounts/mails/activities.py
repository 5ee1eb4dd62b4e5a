"""Activity that sends one mail of an account."""

from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr

from temporalio import activity
from temporalio.exceptions import ApplicationError

from cutroom.accounts.mails import service
from cutroom.accounts.mails.rules import MailOutcome, subject_of, text_of
from cutroom.accounts.mails.service import MailRef, OutgoingMail
from cutroom.accounts.sessions import is_email
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.mail import MailRefusedError, MailServer
from cutroom.platform.secret_box import SecretBox


@dataclass(frozen=True, slots=True)
class MailActivities:
    """Sends mails of accounts."""

    database: Database
    secret_box: SecretBox
    server: MailServer | None
    base_url: str
    clock: Clock

    @activity.defn(name="send_account_mail")
    async def send_account_mail(self, ref: MailRef) -> MailOutcome:
        """Send a mail that was not sent yet; after a crash it may be sent again, with the same message id."""
        async with self.database.transaction(ref.library_id) as connection:
            mail = await service.load_mail(connection, ref, secret_box=self.secret_box, now=self.clock())
        if mail is None:
            return MailOutcome.WITHDRAWN
        if self.server is None:
            raise ApplicationError("no mail server is configured")
        if is_email(mail.recipient):
            outcome = await self._send(self.server, self._message(self.server, ref, mail))
        else:  # of a user whom an operator created with another kind of name
            outcome = MailOutcome.REFUSED
        async with self.database.transaction(ref.library_id) as connection:
            await service.record_outcome(connection, ref, outcome)
        return outcome

    async def _send(self, server: MailServer, message: EmailMessage) -> MailOutcome:
        try:
            await server.send(message)
        except MailRefusedError:
            return MailOutcome.REFUSED
        return MailOutcome.SENT

    def _message(self, server: MailServer, ref: MailRef, mail: OutgoingMail) -> EmailMessage:
        message = EmailMessage()
        message["From"] = server.sender
        message["To"] = mail.recipient
        message["Subject"] = subject_of(mail.kind)
        message["Date"] = format_datetime(self.clock())
        message["Message-ID"] = f"<{ref.mail_id}@{parseaddr(server.sender)[1].rpartition('@')[2] or 'localhost'}>"
        message["Auto-Submitted"] = "auto-generated"  # no out-of-office replies
        message.set_content(text_of(mail.kind, base_url=self.base_url, secret=mail.secret))
        return message
