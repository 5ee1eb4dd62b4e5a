"""A software authenticator: creates passkeys and signs with them, as a browser and its device do (WebAuthn)."""

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass, field, replace
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

USER_PRESENT, USER_VERIFIED, ATTESTED = 0x01, 0x04, 0x40
AAGUID = bytes(16)


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class SoftwareAuthenticator:
    """One passkey on one device."""

    origin: str
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    sign_count: int = 0
    flags: int = USER_PRESENT | USER_VERIFIED

    def clone(self) -> "SoftwareAuthenticator":
        """A copy of the device, with the counter as it is now."""
        return replace(self)

    def create(self, options: dict[str, Any]) -> str:
        """What `navigator.credentials.create()` returns, as JSON."""
        numbers = self.key.public_key().public_numbers()
        public_key = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)})
        attested = AAGUID + len(self.credential_id).to_bytes(2) + self.credential_id + public_key
        data = self._authenticator_data(options["rp"]["id"], self.flags | ATTESTED) + attested
        response = {
            "clientDataJSON": encode(self._client_data("webauthn.create", options)),
            "attestationObject": encode(cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})),
            "transports": ["internal"],
        }
        return self._credential(response)

    def get(self, options: dict[str, Any]) -> str:
        """What `navigator.credentials.get()` returns, as JSON."""
        self.sign_count += 1
        data = self._authenticator_data(options["rpId"], self.flags)
        client_data = self._client_data("webauthn.get", options)
        signed = data + hashlib.sha256(client_data).digest()
        response = {
            "clientDataJSON": encode(client_data),
            "authenticatorData": encode(data),
            "signature": encode(self.key.sign(signed, ec.ECDSA(hashes.SHA256()))),
        }
        return self._credential(response)

    def _authenticator_data(self, host: str, flags: int) -> bytes:
        return hashlib.sha256(host.encode()).digest() + bytes([flags]) + self.sign_count.to_bytes(4)

    def _client_data(self, kind: str, options: dict[str, Any]) -> bytes:
        document = {"type": kind, "challenge": options["challenge"], "origin": self.origin, "crossOrigin": False}
        return json.dumps(document).encode()

    def _credential(self, response: dict[str, Any]) -> str:
        name = encode(self.credential_id)
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": response})
