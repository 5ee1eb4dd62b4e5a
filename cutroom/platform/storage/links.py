"""Signs URLs of objects.

Expiry and signature form one token in the path. The signature covers the object and the file name, so that a token is
valid for nothing else. A CDN that has the derived key can verify it too.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import parse_qs, quote, urlsplit

from cutroom.platform.secret_box import SecretBox

PREFIX = "/files"
NAME_PARAMETER = "name"
PURPOSE = "files"
LIFETIME = timedelta(hours=1)
FILE_TOKEN_PREFIX = "fl_"  # noqa: S105 (a prefix, not a secret); lets log redaction recognize tokens
_EXPIRY_DIGITS = 8
# Generated names only: no empty segment, none that starts with a dot, and nothing that needs percent-encoding.
_OBJECT_PATH = re.compile(r"libraries(?:/[A-Za-z0-9][A-Za-z0-9._-]*){2,}")


@dataclass(frozen=True, slots=True)
class FileLinks:
    """Issues and verifies signed URLs of objects."""

    secret_box: SecretBox
    base_url: str

    def url(self, path: str, *, now: datetime, file_name: str | None = None) -> str:
        """Returns the URL of an object; browsers save it as `file_name`, if one is given."""
        token = self.token(path, int((now + LIFETIME).timestamp()), file_name=file_name)
        return f"{self.base_url.rstrip('/')}{PREFIX}/{token}/{_target(path, file_name)}"

    def token(self, path: str, expires: int, *, file_name: str | None) -> str:
        return _token(expires, self.secret_box.sign(PURPOSE, _signed(path, expires, file_name)))

    def is_valid(self, token: str, path: str, *, file_name: str | None, now: datetime) -> bool:
        digits = token.removeprefix(FILE_TOKEN_PREFIX)
        try:
            expires, signature = int(digits[:_EXPIRY_DIGITS], 16), bytes.fromhex(digits[_EXPIRY_DIGITS:])
        except ValueError:
            return False
        if not is_object_path(path) or not self.secret_box.is_signed(
            PURPOSE, _signed(path, expires, file_name), signature
        ):
            return False
        # Reject non-canonical spellings, which would be cached twice.
        return token == _token(expires, signature) and expires > now.timestamp()


def _token(expires: int, signature: bytes) -> str:
    return f"{FILE_TOKEN_PREFIX}{expires:0{_EXPIRY_DIGITS}x}{signature.hex()}"


def issued_at(token: str) -> int:
    """When a valid token was signed, in seconds of the epoch."""
    return int(token.removeprefix(FILE_TOKEN_PREFIX)[:_EXPIRY_DIGITS], 16) - int(LIFETIME.total_seconds())


def is_object_path(path: str) -> bool:
    return _OBJECT_PATH.fullmatch(path) is not None


def saved_name(url: str) -> str:
    """The name under which browsers save the file of a URL that has one."""
    (name,) = parse_qs(urlsplit(url).query, keep_blank_values=True)[NAME_PARAMETER]
    return name


def _signed(path: str, expires: int, file_name: str | None) -> bytes:
    return f"{expires}/{_target(path, file_name)}".encode()


def _target(path: str, file_name: str | None) -> str:
    query = "" if file_name is None else f"?{NAME_PARAMETER}={quote(file_name, safe='', errors='ignore')}"
    return quote(path) + query
