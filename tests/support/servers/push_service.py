"""A push service on localhost that checks requests and decrypts messages as a browser does (RFC 8030, 8291, 8292)."""

import asyncio
import base64
import json
import secrets
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

_CURVE = ec.SECP256R1()


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def from_base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class TestBrowser:
    """A subscription as a browser makes it, with the private key."""

    __test__ = False

    url: str
    private: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(_CURVE))
    auth: bytes = field(default_factory=lambda: secrets.token_bytes(16))

    @property
    def point(self) -> bytes:
        return self.private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    @property
    def form(self) -> dict[str, str]:
        return {"endpoint": self.url, "p256dh": base64url(self.point), "auth": base64url(self.auth)}

    def decrypt(self, body: bytes) -> dict[str, Any]:
        salt, record_bytes, length = body[:16], int.from_bytes(body[16:20]), body[20]
        sender, record = body[21 : 21 + length], body[21 + length :]
        assert len(record) <= record_bytes
        shared = self.private.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, sender))
        secret = HKDF(SHA256(), 32, self.auth, b"WebPush: info\x00" + self.point + sender).derive(shared)
        key = HKDF(SHA256(), 16, salt, b"Content-Encoding: aes128gcm\x00").derive(secret)
        nonce = HKDF(SHA256(), 12, salt, b"Content-Encoding: nonce\x00").derive(secret)
        padded = AESGCM(key).decrypt(nonce, record, None)
        text, delimiter, padding = padded.rpartition(b"\x02")
        assert delimiter == b"\x02"
        assert not padding.strip(b"\x00")
        found: dict[str, Any] = json.loads(text)
        return found


@dataclass
class PushService:
    """Accepts messages with a valid signature; the next responses can be chosen by path."""

    host: str
    public_key: str  # by which the application has subscribed
    responses: dict[str, list[int]] = field(default_factory=dict)
    received: dict[str, list[bytes]] = field(default_factory=dict)  # bodies by path
    attempts: dict[str, int] = field(default_factory=dict)

    def browser(self, name: str) -> TestBrowser:
        return TestBrowser(f"https://{self.host}/push/{name}")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, path, _ = head[0].split(" ")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
            body = await reader.readexactly(int(headers["content-length"]))
            status = self._respond(method, path, headers, body)
            writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: 0\r\nlocation: {path}/m\r\n\r\n".encode())
            await writer.drain()
        writer.close()

    def _respond(self, method: str, path: str, headers: dict[str, str], body: bytes) -> int:
        self.attempts[path] = self.attempts.get(path, 0) + 1
        if method != "POST" or headers.get("content-encoding") != "aes128gcm" or not headers.get("ttl", "").isdigit():
            return 400
        if not self._is_authorized(headers.get("authorization", "")):
            return 403
        chosen = self.responses.get(path)
        if chosen and (status := chosen.pop(0)) != 201:
            return status
        self.received.setdefault(path, []).append(body)
        return 201

    def _is_authorized(self, header: str) -> bool:
        scheme, _, rest = header.partition(" ")
        parameters = dict(each.strip().split("=", 1) for each in rest.split(",") if "=" in each)
        if scheme != "vapid" or parameters.get("k") != self.public_key:
            return False
        signed, _, signature = parameters["t"].rpartition(".")
        raw = from_base64url(signature)
        key = ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, from_base64url(self.public_key))
        der = encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:]))
        key.verify(der, signed.encode(), ec.ECDSA(SHA256()))
        claims = json.loads(from_base64url(signed.partition(".")[2]))
        contact = str(claims["sub"])
        return bool(claims["aud"] == f"https://{self.host}") and contact.startswith(("mailto:", "https://"))


@asynccontextmanager
async def push_service(host: str, port: int, tls: ssl.SSLContext, *, public_key: str) -> AsyncIterator[PushService]:
    """Listens with TLS; `host` is the name that subscriptions have."""
    service = PushService(f"{host}:{port}", public_key)
    server = await asyncio.start_server(service.serve, "127.0.0.1", port, ssl=tls)
    try:
        yield service
    finally:
        server.close()
        await server.wait_closed()
