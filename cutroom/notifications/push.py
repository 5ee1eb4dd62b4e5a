"""Web Push: encrypts messages for a browser (RFC 8291) and signs requests to its push service (RFC 8292)."""

import base64
import json
import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from cutroom.platform.secret_box import SecretBox

TOKEN_LIFETIME = timedelta(hours=12)  # push services accept at most a day
KEPT_SECONDS = 24 * 60 * 60  # for which a push service keeps a message for a browser that is off
RECORD_BYTES = 4_096  # which is also the largest body that push services accept
AUTH_BYTES = 16
_PURPOSE = "vapid-key"
_CURVE = ec.SECP256R1()
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551  # of P-256
_LAST_RECORD = b"\x02"


@dataclass(frozen=True, slots=True)
class BrowserKeys:
    """The keys of a subscription, as the browser has made them."""

    p256dh: bytes  # an uncompressed point
    auth: bytes

    @classmethod
    def parse(cls, p256dh: str, auth: str) -> "BrowserKeys":
        """Raise ValueError for anything that no browser sends."""
        keys = cls(from_base64url(p256dh), from_base64url(auth))
        if len(keys.auth) != AUTH_BYTES:
            raise ValueError("the secret has the wrong size")
        try:
            ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, keys.p256dh)
        except UnsupportedAlgorithm as error:
            raise ValueError("the key is not on the curve") from error
        return keys


def encrypt(plaintext: bytes, keys: BrowserKeys, *, sender: ec.EllipticCurvePrivateKey | None = None) -> bytes:
    """The body of a push message: one record of `aes128gcm` (RFC 8188), with a new key and salt for each."""
    return _encrypt(plaintext, keys, sender or ec.generate_private_key(_CURVE), os.urandom(16))


def _encrypt(plaintext: bytes, keys: BrowserKeys, sender: ec.EllipticCurvePrivateKey, salt: bytes) -> bytes:
    receiver = ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, keys.p256dh)
    public = point_of(sender.public_key())
    shared = sender.exchange(ec.ECDH(), receiver)
    secret = _derive(shared, keys.auth, b"WebPush: info\x00" + keys.p256dh + public, 32)
    key = _derive(secret, salt, b"Content-Encoding: aes128gcm\x00", 16)
    nonce = _derive(secret, salt, b"Content-Encoding: nonce\x00", 12)
    header = salt + RECORD_BYTES.to_bytes(4) + len(public).to_bytes(1) + public
    return header + AESGCM(key).encrypt(nonce, plaintext + _LAST_RECORD, None)


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)


@dataclass(frozen=True, slots=True)
class VapidKey:
    """The key by which push services recognize this installation."""

    private: ec.EllipticCurvePrivateKey

    @classmethod
    def of(cls, secret_box: SecretBox) -> "VapidKey":
        """Derived from the root secret: subscriptions are bound to it and outlive the rotation of other keys."""
        seed = secret_box.keyed_hash(_PURPOSE, "1") + secret_box.keyed_hash(_PURPOSE, "2")
        return cls(ec.derive_private_key(int.from_bytes(seed) % (_ORDER - 1) + 1, _CURVE))

    @property
    def public(self) -> str:
        """What a browser needs to subscribe."""
        return to_base64url(point_of(self.private.public_key()))

    def authorization(self, url: str, *, contact: str, now: datetime) -> str:
        """The header of a request to the push service behind a URL."""
        parts = urlsplit(url)
        expires = int((now + TOKEN_LIFETIME).timestamp())
        claims = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": expires, "sub": contact}
        signed = f"{_json({'typ': 'JWT', 'alg': 'ES256'})}.{_json(claims)}"
        r, s = decode_dss_signature(self.private.sign(signed.encode(), ec.ECDSA(SHA256())))
        return f"vapid t={signed}.{to_base64url(r.to_bytes(32) + s.to_bytes(32))}, k={self.public}"


def point_of(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _json(document: dict[str, Any]) -> str:
    return to_base64url(json.dumps(document, separators=(",", ":")).encode())


def to_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def from_base64url(text: str) -> bytes:
    """Raise ValueError for anything else."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
