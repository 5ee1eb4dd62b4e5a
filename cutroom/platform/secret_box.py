"""Keyed hashes, signatures and encryption with keys derived from the root secret and the key ring."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from cutroom.platform.clock import Clock, system_clock

INITIAL_KEY = 0  # the id of the root secret itself
_KEY_ID_BYTES = 4
_NONCE_BYTES = 12
_WRAPPING_PURPOSE = "key-ring"


@dataclass(frozen=True, slots=True)
class RingKey:
    """A key of the ring, from which the keys of all purposes are derived."""

    id: int
    secret: bytes
    active_from: datetime | None = None  # signs and encrypts from then on, until a later key does
    verifies_until: datetime | None = None  # None: no later key exists


class SecretBox:
    """Derives a separate key for each purpose.

    Signatures and sealed values begin with the id of their key. They are made with the latest active key of the ring;
    signatures of earlier keys are valid until the key's grace period ends, sealed values can always be read. Hashes,
    public signatures and the wrapping of the ring use the root secret, which is also the ring's initial key.
    """

    def __init__(self, secret_key: str, clock: Clock = system_clock) -> None:
        self._root = secret_key.encode()
        self._clock = clock
        self._derived: dict[tuple[int, str], bytes] = {}
        self._ring: dict[int, RingKey] = {INITIAL_KEY: RingKey(INITIAL_KEY, self._root)}

    def install(self, keys: Iterable[RingKey]) -> None:
        """Replaces the ring; keys are in the order of their ids, and the initial one is the root secret."""
        ring = {key.id: key for key in keys} or {INITIAL_KEY: RingKey(INITIAL_KEY, self._root)}
        if {key.id: key.secret for key in ring.values()} != {key.id: key.secret for key in self._ring.values()}:
            self._derived = {}
        self._ring = ring

    @property
    def signing_key_id(self) -> int:
        return self._current().id

    def _current(self) -> RingKey:
        """The latest key that is active."""
        now = self._clock() if len(self._ring) > 1 else None
        for key in reversed(self._ring.values()):
            if now is None or key.active_from is None or key.active_from <= now:
                return key
        return next(iter(self._ring.values()))

    def _key(self, purpose: str, key_id: int = INITIAL_KEY) -> bytes:
        key = self._derived.get((key_id, purpose))
        if key is None:
            secret = self._root if key_id == INITIAL_KEY else self._ring[key_id].secret
            key = self._derived[key_id, purpose] = hmac.digest(secret, f"cutroom/{purpose}".encode(), "sha256")
        return key

    def keyed_hash(self, purpose: str, text: str) -> bytes:
        """Hashes a credential for storage; the hash cannot be brute-forced without the root secret."""
        return hmac.digest(self._key(purpose), text.encode(), "sha256")

    def sign(self, purpose: str, payload: bytes) -> bytes:
        return self._signature(purpose, payload, self._current().id)

    def _signature(self, purpose: str, payload: bytes, key_id: int) -> bytes:
        return key_id.to_bytes(_KEY_ID_BYTES) + hmac.digest(self._key(purpose, key_id), payload, "sha256")[:16]

    def is_signed(self, purpose: str, payload: bytes, signature: bytes) -> bool:
        key = self._ring.get(int.from_bytes(signature[:_KEY_ID_BYTES]))
        if key is None or (key.verifies_until is not None and self._clock() >= key.verifies_until):
            return False
        return hmac.compare_digest(self._signature(purpose, payload, key.id), signature)

    def verification_keys(self, purpose: str) -> dict[int, bytes]:
        """The derived keys of a purpose that verify now, by key id, for a verifier elsewhere such as a CDN."""
        now = self._clock()
        valid = [key.id for key in self._ring.values() if key.verifies_until is None or key.verifies_until > now]
        return {key_id: self._key(purpose, key_id) for key_id in valid}

    def sign_publicly(self, purpose: str, payload: bytes) -> bytes:
        """Signs with Ed25519, so that anyone with the public key can verify the signature."""
        return Ed25519PrivateKey.from_private_bytes(self._key(purpose)).sign(payload)

    def public_key(self, purpose: str) -> bytes:
        return Ed25519PrivateKey.from_private_bytes(self._key(purpose)).public_key().public_bytes_raw()

    def seal(self, purpose: str, plain: bytes, context: str) -> bytes:
        """Encrypts a value; `context`, such as the row's id, is authenticated and needed to decrypt it."""
        key_id = self._current().id
        return key_id.to_bytes(_KEY_ID_BYTES) + _encrypt(self._key(purpose, key_id), plain, context)

    def unseal(self, purpose: str, sealed: bytes, context: str) -> bytes:
        key_id = int.from_bytes(sealed[:_KEY_ID_BYTES])
        if key_id not in self._ring:
            raise ValueError("the value was sealed with a key that is not in the key ring")
        return _decrypt(self._key(purpose, key_id), sealed[_KEY_ID_BYTES:], context)

    def wrap(self, key_id: int, secret: bytes) -> bytes:
        """Encrypts a key of the ring with the root secret, for storage."""
        return _encrypt(self._key(_WRAPPING_PURPOSE), secret, str(key_id))

    def unwrap(self, key_id: int, wrapped: bytes | None) -> bytes:
        """Decrypts a stored key of the ring; the initial one is not stored."""
        return self._root if wrapped is None else _decrypt(self._key(_WRAPPING_PURPOSE), wrapped, str(key_id))


def _encrypt(key: bytes, plain: bytes, context: str) -> bytes:
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, plain, context.encode())


def _decrypt(key: bytes, sealed: bytes, context: str) -> bytes:
    try:
        return AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], context.encode())
    except InvalidTag as error:
        raise ValueError("the sealed value was modified, or sealed with another key or context") from error


def is_publicly_signed(public_key: bytes, payload: bytes, signature: bytes) -> bool:
    """Whether the owner of an Ed25519 key has signed this."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, payload)
    except (InvalidSignature, ValueError):
        return False
    return True


def content_hash(payload: bytes) -> bytes:
    return hashlib.sha256(payload).digest()
