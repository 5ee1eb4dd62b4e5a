"""Signed grants that start one upload, passed in the query of a URL or as a bearer token.

The query parameter is X-Goog-Signature, because Google's clients recognize a signed URL by it and send the request
unchanged.
"""

import base64
import binascii
import json
from dataclasses import astuple, dataclass
from datetime import datetime

from cutroom.platform.secret_box import SecretBox
from cutroom.products.uploads.rules import UploadError

PARAMETER = "X-Goog-Signature"
SESSION_PARAMETER = "upload_id"
_PURPOSE = "upload-start"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Grant:
    """Permission to upload one file; the content type overrides the one the client sends."""

    library_id: str
    video_id: str
    storage_path: str
    content_type: str
    expires_at: int
    account_id: str = ""  # who was given it; bounds concurrent uploads


def sign_start_url(secret_box: SecretBox, base_url: str, grant: Grant) -> str:
    """Returns the URL that starts the upload; the signature covers only this POST."""
    return f"{upload_url(base_url, grant.video_id)}?{PARAMETER}={sign_grant(secret_box, grant)}"


def session_url(base_url: str, video_id: str, token: str) -> str:
    """Returns the session URL; its token is in the query, which is never logged."""
    return f"{upload_url(base_url, video_id)}?{SESSION_PARAMETER}={token}"


def upload_url(base_url: str, video_id: str) -> str:
    return f"{base_url.rstrip('/')}/uploads/{video_id}"


def sign_grant(secret_box: SecretBox, grant: Grant) -> str:
    payload = json.dumps([_VERSION, *astuple(grant)], separators=(",", ":")).encode()
    return f"{_encode(payload)}.{_encode(secret_box.sign(_PURPOSE, payload))}"


def read_grant(secret_box: SecretBox, token: str, *, now: datetime) -> Grant:
    """Verifies a grant; raises like Google: 403 for an invalid signature, 400 for an expired one."""
    invalid_signature = UploadError(
        403, "SignatureDoesNotMatch", "The URL was not signed by this service, or was changed."
    )
    encoded_payload, _, encoded_signature = token.partition(".")
    try:
        payload, signature = _decode(encoded_payload), _decode(encoded_signature)
    except (binascii.Error, ValueError):
        raise invalid_signature from None
    if not secret_box.is_signed(_PURPOSE, payload, signature):
        raise invalid_signature
    grant = Grant(*json.loads(payload)[1:])
    if now.timestamp() > grant.expires_at:
        raise UploadError(400, "ExpiredToken", "The URL has expired. Request a new one.")
    return grant


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
