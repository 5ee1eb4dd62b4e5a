"""Signed page tokens, each valid for one list of one library."""

import base64
import binascii
from dataclasses import dataclass

from cutroom.errors import invalid_field
from cutroom.platform.ids import is_id
from cutroom.platform.secret_box import SecretBox

MAX_PAGE = 100
DEFAULT_PAGE = 20
_PURPOSE = "page-token"


@dataclass(frozen=True, slots=True)
class PageTokens:
    """Issues and verifies page tokens."""

    secret_box: SecretBox

    def after(self, last_id: str, *, listing: str, library_id: str) -> str:
        """Return the token of the page after this item."""
        signature = self.secret_box.sign(_PURPOSE, f"{listing} {library_id} {last_id}".encode())
        return _encode(last_id.encode() + signature)

    def read(self, token: str, *, listing: str, library_id: str) -> str:
        """Return the last item id of the previous page; raise INVALID_ARGUMENT for a token of another list."""
        invalid = invalid_field("pageToken", "This page token was not issued for this list.")
        try:
            payload = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
            last_id = payload[:26].decode("ascii")
        except (binascii.Error, UnicodeError, ValueError) as error:
            raise invalid from error
        signed = f"{listing} {library_id} {last_id}".encode()
        if _encode(payload) != token:  # the last character has bits that do not count
            raise invalid
        if not is_id(last_id) or not self.secret_box.is_signed(_PURPOSE, signed, payload[26:]):
            raise invalid
        return last_id


def _encode(payload: bytes) -> str:
    return base64.urlsafe_b64encode(payload).decode().rstrip("=")
