"""Signed links in mails that stop them without signing in."""

import hmac
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

import asyncpg

from cutroom.errors import not_found
from cutroom.notifications.rules import Channel, Frequency, NotificationKind
from cutroom.notifications.service import set_preferences
from cutroom.platform.db import Connection
from cutroom.platform.secret_box import SecretBox

PATH = "/notifications/unsubscribe"
ALL_KINDS = "all"
_PURPOSE = "unsubscribe-link"
_SIGNATURE_BYTES = 16


@dataclass(frozen=True, slots=True)
class Unsubscription:
    """Whose mails of which kinds a link stops, in one library."""

    library_id: str
    user_id: str
    kind: str

    @property
    def kinds(self) -> tuple[NotificationKind, ...]:
        return tuple(NotificationKind) if self.kind == ALL_KINDS else (NotificationKind(self.kind),)

    def path(self, secret_box: SecretBox) -> str:
        return f"{PATH}/{self.library_id}/{self.user_id}/{self.kind}/{self._signature(secret_box)}"

    def verify(self, signature: str, secret_box: SecretBox) -> None:
        """Not found, whatever is wrong with a link. Links do not expire, and survive the rotation of keys."""
        if not hmac.compare_digest(self._signature(secret_box).encode(), signature.encode()):
            raise not_found()

    def _signature(self, secret_box: SecretBox) -> str:
        signed = f"{self.library_id} {self.user_id} {self.kind}"
        return secret_box.keyed_hash(_PURPOSE, signed)[:_SIGNATURE_BYTES].hex()


async def unsubscribe(connection: Connection, link: Unsubscription, *, now: datetime) -> bool:
    """Stop the mails of a verified link; what is queued is not sent. Returns whether anything has changed."""
    preferences = dict.fromkeys(((kind, Channel.MAIL) for kind in link.kinds), Frequency.NEVER)
    with suppress(asyncpg.ForeignKeyViolationError):  # not a member any more: there is nothing to stop
        async with connection.transaction():
            return await set_preferences(connection, link.library_id, link.user_id, preferences, now=now)
    return False
