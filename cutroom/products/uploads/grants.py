"""The right to begin one upload: a signed note that its bearer shows once, in the query of a URL or as a bearer token.

Both forms carry the same note. In a query it is called X-Goog-Signature, because by that name Google's clients
transcribe a signed URL and leave the request as the signature wants it.
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
_FORM = 1


@dataclass(frozen=True, slots=True)
class Grant:
    """Who may put what where, and until when. The type is what the object gets, whatever the client says."""

    library_id: str
    video_id: str
    storage_path: str
    content_type: str
    expires_at: int


def sign_start_url(secret_box: SecretBox, base_url: str, grant: Grant) -> str:
    """The URL that begins the upload; the signature covers this one POST and nothing after it."""
    return f"{upload_url(base_url, grant.video_id)}?{PARAMETER}={sign_grant(secret_box, grant)}"


def session_url(base_url: str, video_id: str, token: str) -> str:
    """The token stands in the query, which no log keeps."""
    return f"{upload_url(base_url, video_id)}?{SESSION_PARAMETER}={token}"


def upload_url(base_url: str, video_id: str) -> str:
    return f"{base_url.rstrip('/')}/uploads/{video_id}"


def sign_grant(secret_box: SecretBox, grant: Grant) -> str:
    payload = json.dumps([_FORM, *astuple(grant)], separators=(",", ":")).encode()
    return f"{_encode(payload)}.{_encode(secret_box.sign(_PURPOSE, payload))}"


def read_grant(secret_box: SecretBox, note: str, *, now: datetime) -> Grant:
    """Raises as Google does: 403 for a signature that is not ours, 400 for one whose time is over."""
    refusal = UploadError(403, "SignatureDoesNotMatch", "The URL was not signed by this service, or was changed.")
    first, _, second = note.partition(".")
    try:
        payload, signature = _decode(first), _decode(second)
    except (binascii.Error, ValueError):
        raise refusal from None
    if not secret_box.is_signed(_PURPOSE, payload, signature):
        raise refusal
    grant = Grant(*json.loads(payload)[1:])
    if now.timestamp() > grant.expires_at:
        raise UploadError(400, "ExpiredToken", "The URL's time is over. Ask for a new one.")
    return grant


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
