"""Page tokens: where a list goes on, signed, and good in one library and one list only."""

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
    """Makes and reads page tokens."""

    secrecy: SecretBox

    def after(self, last_id: str, *, listing: str, library_id: str) -> str:
        """The token of the page that follows the item with this id."""
        signature = self.secrecy.sign(_PURPOSE, f"{listing} {library_id} {last_id}".encode())
        return base64.urlsafe_b64encode(last_id.encode() + signature).decode().rstrip("=")

    def read(self, token: str, *, listing: str, library_id: str) -> str:
        """The id to go on after; a token that we did not make for this list is the caller's mistake."""
        fault = invalid_field("pageToken", "This page token was not issued for this list.")
        try:
            payload = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
            last_id = payload[:26].decode("ascii")
        except (binascii.Error, UnicodeError, ValueError) as error:
            raise fault from error
        signed = f"{listing} {library_id} {last_id}".encode()
        if not is_id(last_id) or not self.secrecy.is_signed(_PURPOSE, signed, payload[26:]):
            raise fault
        return last_id
