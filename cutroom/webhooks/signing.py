"""Signs deliveries according to Standard Webhooks."""

import base64
import hmac
from collections.abc import Sequence
from datetime import datetime

SECRET_PREFIX = "whsec_"  # noqa: S105 (a prefix, not a secret)
VERSION = "v1"


def signed_headers(secrets: Sequence[str], body: bytes, *, message_id: str, at: datetime) -> dict[str, str]:
    """Return the signature headers; during secret rotation, the body is signed with each secret."""
    timestamp = str(int(at.timestamp()))
    signed = b".".join((message_id.encode(), timestamp.encode(), body))
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"{VERSION},{_signature(secret, signed)}" for secret in secrets),
    }


def _signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    return base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
