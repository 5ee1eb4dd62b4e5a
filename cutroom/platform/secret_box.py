"""Keys derived from the installation's one secret: keyed hashes, signatures and sealed values."""

import hashlib
import hmac
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES = 12


class SecretBox:
    """One object per process; the purpose given to each call separates the derived keys."""

    def __init__(self, secret_key: str) -> None:
        self._root = secret_key.encode()
        self._keys: dict[str, bytes] = {}

    def _key(self, purpose: str) -> bytes:
        key = self._keys.get(purpose)
        if key is None:
            key = self._keys[purpose] = hmac.digest(self._root, f"cutroom/{purpose}".encode(), "sha256")
        return key

    def keyed_hash(self, purpose: str, text: str) -> bytes:
        """What is kept of a credential: of no use to a reader of the database without the secret."""
        return hmac.digest(self._key(purpose), text.encode(), "sha256")

    def sign(self, purpose: str, payload: bytes) -> bytes:
        return hmac.digest(self._key(purpose), payload, "sha256")[:16]

    def is_signed(self, purpose: str, payload: bytes, signature: bytes) -> bool:
        return hmac.compare_digest(self.sign(purpose, payload), signature)

    def seal(self, purpose: str, plain: bytes, context: str) -> bytes:
        """Encrypt for rest; it opens only with the same context (say, the row's own id)."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + AESGCM(self._key(purpose)).encrypt(nonce, plain, context.encode())

    def unseal(self, purpose: str, sealed: bytes, context: str) -> bytes:
        cipher = AESGCM(self._key(purpose))
        try:
            return cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], context.encode())
        except InvalidTag as error:
            raise ValueError("a sealed value was changed, or sealed with another secret") from error


def content_hash(payload: bytes) -> bytes:
    return hashlib.sha256(payload).digest()
