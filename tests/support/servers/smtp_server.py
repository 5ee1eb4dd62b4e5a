"""A real SMTP server on localhost that keeps the mails it receives."""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

HOST = "127.0.0.1"
ACCEPTED = "250 OK"
_LINK = re.compile(r"https?://[^\s/]+(/(?:verify-email|reset-password)/\S+)")


@dataclass
class SmtpServer:
    """The received mails, and the responses of the server, which tests change."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    recipient_responses: list[str] = field(default_factory=list)  # of the next attempts; then all are accepted
    data_responses: list[str] = field(default_factory=list)
    users: dict[str, str] = field(default_factory=dict)

    # The names of aiosmtpd's hooks.
    async def handle_RCPT(  # noqa: N802
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        response = self.recipient_responses.pop(0) if self.recipient_responses else ACCEPTED
        if response == ACCEPTED:
            envelope.rcpt_tos.append(address)
        return response

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        response = self.data_responses.pop(0) if self.data_responses else ACCEPTED
        if response == ACCEPTED:
            assert isinstance(envelope.content, bytes)
            message = message_from_bytes(envelope.content, policy=policy.default)
            assert isinstance(message, EmailMessage)
            self.mails.append(message)
        return response

    def authenticate(
        self, _server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, data: object
    ) -> AuthResult:
        known = isinstance(data, LoginPassword) and self.users.get(data.login.decode()) == data.password.decode()
        return AuthResult(success=known, handled=False)  # the server responds

    def sent_to(self, address: str) -> list[EmailMessage]:
        return [each for each in self.mails if each["To"] == address]


def link_in(mail: EmailMessage) -> str:
    """The path of the link in a mail."""
    found = _LINK.search(mail.get_content())
    assert found is not None, mail.get_content()
    return found[1]


@asynccontextmanager
async def smtp_server(tls: ssl.SSLContext | None = None) -> AsyncIterator[SmtpServer]:
    """Listens on a free port; with a TLS context it requires STARTTLS."""
    server = SmtpServer()

    def connected() -> SMTP:
        return SMTP(
            server,
            hostname="mail.test",
            tls_context=tls,
            require_starttls=tls is not None,
            authenticator=server.authenticate,
            auth_require_tls=False,
        )

    listener = await asyncio.get_running_loop().create_server(connected, HOST, 0)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        await listener.wait_closed()
