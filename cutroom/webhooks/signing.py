"""Signs deliveries according to Standard Webhooks."""

import base64
import hmac
import secrets as random
from collections.abc import Sequence
from datetime import datetime

SECRET_PREFIX = "whsec_"  # noqa: S105 (a prefix, not a secret)
SECRET_PURPOSE = "webhook-secret"  # noqa: S105 (a purpose name, not a secret)
VERSION = "v1"
CONTENT_TYPE = "application/json"
_SECRET_BYTES = 32


def new_secret() -> str:
    """A signing secret in the form of Standard Webhooks."""
    return SECRET_PREFIX + base64.b64encode(random.token_bytes(_SECRET_BYTES)).decode()


def message_headers(*, message_id: str, at: datetime) -> dict[str, str]:
    """The headers that identify an attempt, without its signature."""
    return {"webhook-id": message_id, "webhook-timestamp": str(int(at.timestamp()))}


def signed_headers(secrets: Sequence[str], body: bytes, *, message_id: str, at: datetime) -> dict[str, str]:
    """Return the signature headers; during secret rotation, the body is signed with each secret."""
    identified = message_headers(message_id=message_id, at=at)
    signed = b".".join((message_id.encode(), identified["webhook-timestamp"].encode(), body))
    return {
        **identified,
        "webhook-signature": " ".join(f"{VERSION},{_signature(secret, signed)}" for secret in secrets),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    return base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
