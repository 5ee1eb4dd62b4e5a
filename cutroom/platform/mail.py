"""Sends mails through an SMTP server."""

import asyncio
import smtplib
import ssl
from dataclasses import dataclass
from email.message import EmailMessage
from typing import Literal, Self

from cutroom.platform.settings import Settings

TIMEOUT_SECONDS = 30
_PERMANENT = 500


class MailRefusedError(Exception):
    """The server will never accept this mail: its recipient or its content was refused."""


@dataclass(frozen=True, slots=True)
class MailServer:
    """An SMTP server, and the address that mails are sent from."""

    host: str
    port: int
    security: Literal["starttls", "tls", "off"]
    sender: str
    user: str | None = None
    password: str = ""

    @classmethod
    def of(cls, settings: Settings) -> Self | None:
        if settings.smtp_host is None or settings.mail_from is None:
            return None
        return cls(
            host=settings.smtp_host,
            port=settings.smtp_port,
            security=settings.smtp_security,
            sender=settings.mail_from,
            user=settings.smtp_user,
            password=settings.smtp_password.get_secret_value(),
        )

    async def send(self, message: EmailMessage) -> None:
        """Raises MailRefusedError if another attempt is useless, and smtplib's errors or OSError otherwise."""
        await asyncio.to_thread(self._send, message)

    def _send(self, message: EmailMessage) -> None:
        with self._connect() as connection:
            if self.user is not None:
                connection.login(self.user, self.password)
            try:
                connection.send_message(message)
            except smtplib.SMTPRecipientsRefused as error:
                if all(code >= _PERMANENT for code, _ in error.recipients.values()):
                    raise MailRefusedError("the recipient was refused") from error
                raise
            except (smtplib.SMTPNotSupportedError, ValueError) as error:  # an address that the server cannot handle
                raise MailRefusedError("the recipient was refused") from error
            except smtplib.SMTPDataError as error:
                if error.smtp_code >= _PERMANENT:
                    raise MailRefusedError("the mail was refused") from error
                raise

    def _connect(self) -> smtplib.SMTP:
        """Without TLS only if the settings say so: a server that does not offer it gets no mail."""
        context = ssl.create_default_context()
        if self.security == "tls":
            return smtplib.SMTP_SSL(self.host, self.port, timeout=TIMEOUT_SECONDS, context=context)
        connection = smtplib.SMTP(self.host, self.port, timeout=TIMEOUT_SECONDS)
        if self.security == "starttls":
            try:
                connection.starttls(context=context)
            except BaseException:
                connection.close()
                raise
        return connection
