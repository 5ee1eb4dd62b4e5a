"""Keyed hashes, signatures and encryption with keys derived from the root secret."""

import hashlib
import hmac
import secrets

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES = 12


class SecretBox:
    """Derives a separate key for each purpose."""

    def __init__(self, secret_key: str) -> None:
        self._root = secret_key.encode()
        self._keys: dict[str, bytes] = {}

    def _key(self, purpose: str) -> bytes:
        key = self._keys.get(purpose)
        if key is None:
            key = self._keys[purpose] = hmac.digest(self._root, f"cutroom/{purpose}".encode(), "sha256")
        return key

    def keyed_hash(self, purpose: str, text: str) -> bytes:
        """Hashes a credential for storage; the hash cannot be brute-forced without the root secret."""
        return hmac.digest(self._key(purpose), text.encode(), "sha256")

    def sign(self, purpose: str, payload: bytes) -> bytes:
        return hmac.digest(self._key(purpose), payload, "sha256")[:16]

    def is_signed(self, purpose: str, payload: bytes, signature: bytes) -> bool:
        return hmac.compare_digest(self.sign(purpose, payload), signature)

    def sign_publicly(self, purpose: str, payload: bytes) -> bytes:
        """Signs with Ed25519, so that anyone with the public key can verify the signature."""
        return Ed25519PrivateKey.from_private_bytes(self._key(purpose)).sign(payload)

    def public_key(self, purpose: str) -> bytes:
        return Ed25519PrivateKey.from_private_bytes(self._key(purpose)).public_key().public_bytes_raw()

    def seal(self, purpose: str, plain: bytes, context: str) -> bytes:
        """Encrypts a value; `context`, such as the row's id, is authenticated and needed to decrypt it."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + AESGCM(self._key(purpose)).encrypt(nonce, plain, context.encode())

    def unseal(self, purpose: str, sealed: bytes, context: str) -> bytes:
        cipher = AESGCM(self._key(purpose))
        try:
            return cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], context.encode())
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
