"""Roles of guests, what each may do, and the limits of links and comments."""

import unicodedata
from enum import StrEnum

from cutroom.accounts.scopes import Scope

MAX_LINKS = 50  # active ones of a video
MIN_DAYS, MAX_DAYS, DEFAULT_DAYS = 1, 90, 14  # until a link expires
MAX_LABEL = 120
MAX_COMMENTS = 5_000  # of a video
MAX_TEXT = 2_000
MAX_GUEST_NAME = 60
MAX_TIME_SECONDS = 7 * 24 * 60 * 60
MAX_SEGMENT_ID = 64

_READING = frozenset({Scope.VIDEOS_READ, Scope.TRANSCRIPTS_READ})


class GuestRole(StrEnum):
    """What a review link allows, from the least to the most; each role includes those before it."""

    VIEW = "view"
    COMMENT = "comment"
    EDIT = "edit"

    def includes(self, minimum: "GuestRole") -> bool:
        roles = list(GuestRole)
        return roles.index(self) >= roles.index(minimum)

    @property
    def scopes(self) -> frozenset[Scope]:
        """Of the guest's principal. Comments need none: the pages that take them check the role."""
        return _READING | {Scope.DUBS_WRITE} if self is GuestRole.EDIT else _READING


def guest_name(text: str) -> str | None:
    """A name as it is shown to others; None if it is empty, too long, or has characters that cannot be seen."""
    name = " ".join(unicodedata.normalize("NFC", text).split())
    is_visible = all(unicodedata.category(each) not in {"Cc", "Cf", "Co", "Cn", "Cs"} for each in name)
    return name if 1 <= len(name) <= MAX_GUEST_NAME and is_visible else None
