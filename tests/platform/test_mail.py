"""Tests the mail client against a real SMTP server, with TLS as the settings require it."""

import ipaddress
import smtplib
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from cutroom.platform.mail import MailRefusedError, MailServer
from tests.support.servers.smtp_server import HOST, SmtpServer, smtp_server

SENDER = "Cutroom <cutroom@example.com>"


@pytest.fixture
async def smtp() -> AsyncIterator[SmtpServer]:
    async with smtp_server() as server:
        yield server


@pytest.fixture
def message() -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = SENDER, "ada@example.com", "Hello"
    made.set_content("Grüße")
    return made


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A self-signed certificate of the server's address, with its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = tmp_path / "certificate.pem"
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    return path


def plain(server: SmtpServer) -> MailServer:
    return MailServer(HOST, server.port, "off", SENDER)


async def test_mail_is_sent(smtp: SmtpServer, message: EmailMessage) -> None:
    await plain(smtp).send(message)
    [received] = smtp.mails
    assert (received["From"], received.get_content().strip()) == (SENDER, "Grüße")


async def test_server_without_tls_gets_no_mail(smtp: SmtpServer, message: EmailMessage) -> None:
    with pytest.raises(smtplib.SMTPNotSupportedError):
        await MailServer(HOST, smtp.port, "starttls", SENDER).send(message)
    assert smtp.mails == []


async def test_certificate_is_verified(
    certificate: Path, message: EmailMessage, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    async with smtp_server(context) as smtp:
        server = MailServer(HOST, smtp.port, "starttls", SENDER)
        with pytest.raises(ssl.SSLCertVerificationError):
            await server.send(message)
        assert smtp.mails == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        await server.send(message)
        assert len(smtp.mails) == 1


@pytest.mark.parametrize(
    ("response", "expected"), [("550 No such user", MailRefusedError), ("451 Later", smtplib.SMTPRecipientsRefused)]
)
async def test_refused_recipient_is_permanent_only_if_the_server_says_so(
    smtp: SmtpServer, message: EmailMessage, response: str, expected: type[Exception]
) -> None:
    smtp.recipient_responses = [response]
    with pytest.raises(expected):
        await plain(smtp).send(message)


@pytest.mark.parametrize(
    ("response", "expected"), [("554 Spam", MailRefusedError), ("452 Full", smtplib.SMTPDataError)]
)
async def test_refused_content_is_permanent_only_if_the_server_says_so(
    smtp: SmtpServer, message: EmailMessage, response: str, expected: type[Exception]
) -> None:
    smtp.data_responses = [response]
    with pytest.raises(expected):
        await plain(smtp).send(message)


async def test_client_signs_in(smtp: SmtpServer, message: EmailMessage) -> None:
    smtp.users["cutroom"] = "secret"
    await MailServer(HOST, smtp.port, "off", SENDER, "cutroom", "secret").send(message)
    assert len(smtp.mails) == 1
    with pytest.raises(smtplib.SMTPAuthenticationError):
        await MailServer(HOST, smtp.port, "off", SENDER, "cutroom", "wrong").send(message)
