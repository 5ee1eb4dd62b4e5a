"""Verifies webhook requests, as Standard Webhooks specifies."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cutroom_client.errors import WebhookVerificationError

TOLERANCE_SECONDS = 300.0
PREFIX = "whsec_"


@dataclass(frozen=True)
class WebhookEvent:
    """An event that was verified. `id` is the same in every attempt to deliver it."""

    id: str
    type: str
    timestamp: datetime | None
    data: dict[str, Any]


def verify(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance: float = TOLERANCE_SECONDS,
    now: float | None = None,
) -> WebhookEvent:
    """The event of a genuine request; raises WebhookVerificationError otherwise.

    `body` is the raw body, before any JSON parser. While a secret is rotated, pass both.
    """
    raw = body.encode() if isinstance(body, str) else body
    given = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, sent, signatures = (given[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        age = (time.time() if now is None else now) - int(sent)
    except (KeyError, ValueError) as error:
        raise WebhookVerificationError("a webhook header is missing or malformed") from error
    if abs(age) > tolerance:
        raise WebhookVerificationError("the request is too old, or its time lies in the future")
    secrets = [secret] if isinstance(secret, str) else list(secret)
    signed = f"{message_id}.{int(sent)}.".encode() + raw
    expected = [base64.b64encode(hmac.digest(_key(each), signed, hashlib.sha256)) for each in secrets]
    offered = [
        value.encode() for version, _, value in (each.partition(",") for each in signatures.split()) if version == "v1"
    ]
    # Every pair is compared, so that the time does not depend on which one matches.
    if not any([hmac.compare_digest(ours, theirs) for ours in expected for theirs in offered]):  # noqa: C419
        raise WebhookVerificationError("the signature does not match")
    return _event(message_id, raw)


def sign(body: bytes, secret: str, *, message_id: str, timestamp: int) -> dict[str, str]:
    """The headers of a request with this body, to forward events or to test a receiver."""
    signature = hmac.digest(_key(secret), f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(signature).decode()}",
    }


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (ValueError, binascii.Error) as error:
        raise ValueError("a webhook secret is whsec_ and base64") from error
    if not key:
        raise ValueError("the webhook secret is empty")
    return key


def _event(message_id: str, raw: bytes) -> WebhookEvent:
    try:
        event = json.loads(raw)
        kind, data = str(event["type"]), dict(event["data"])
    except (ValueError, KeyError, TypeError) as error:
        raise WebhookVerificationError("the body is not an event") from error
    try:
        moment = datetime.fromisoformat(str(event.get("timestamp")).replace("Z", "+00:00"))
    except ValueError:
        moment = None
    return WebhookEvent(message_id, kind, moment, data)
