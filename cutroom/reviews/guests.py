"""Guest sessions: sealed tokens of browsers that opened a review link. The link is looked up on every request."""

import base64
import json
from dataclasses import dataclass
from datetime import datetime

from cutroom.accounts.plans import PlanName, Plans
from cutroom.accounts.principals import Principal, PrincipalKind, Role
from cutroom.platform.db import Connection
from cutroom.platform.ids import is_id, new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.reviews.links import OpenReviewLink, find_open_link, hash_of
from cutroom.reviews.rules import GuestRole

GUEST_PURPOSE = "review-guest"
MAX_TOKEN = 2_000


@dataclass(frozen=True, slots=True)
class Guest:
    """A person who opened a review link, with what the link allows now."""

    id: str  # of this browser
    name: str
    role: GuestRole
    link_id: str
    video_id: str
    principal: Principal


@dataclass(frozen=True, slots=True)
class GuestSessions:
    """Issues tokens of guests, and resolves them."""

    secret_box: SecretBox
    plans: Plans
    refuses_drafts: bool = False  # for all libraries

    def token(self, link: OpenReviewLink, secret: str, *, name: str) -> str:
        """A token for one browser. It begins with the library, which says to which cell its requests go."""
        document = {"link": hash_of(secret, self.secret_box).hex(), "id": new_id(), "name": name}
        sealed = self.secret_box.seal(GUEST_PURPOSE, json.dumps(document).encode(), _context(link))
        return f"{link.library_id}.{base64.urlsafe_b64encode(sealed).decode().rstrip('=')}"

    async def load(self, connection: Connection, token: str, video_id: str, *, now: datetime) -> Guest | None:
        """The guest, if the link is for this video and works now; the connection is then scoped to its library."""
        library_id, sealed = library_of(token), token.partition(".")[2]
        if library_id is None or len(token) > MAX_TOKEN:
            return None
        try:
            raw = base64.urlsafe_b64decode(sealed + "=" * (-len(sealed) % 4))
            document = json.loads(self.secret_box.unseal(GUEST_PURPOSE, raw, f"{library_id} {video_id}"))
        except ValueError:
            return None
        link = await find_open_link(connection, bytes.fromhex(document["link"]), now=now)
        if link is None or (link.library_id, link.video_id) != (library_id, video_id):
            return None
        return Guest(document["id"], document["name"], link.role, link.id, video_id, self._principal(link))

    def _principal(self, link: OpenReviewLink) -> Principal:
        return Principal(
            id=link.id,
            user_id=link.created_by,
            library_id=link.library_id,
            workspace_id=link.library_id if link.is_workspace else None,
            role=Role.EDITOR if link.role is GuestRole.EDIT else Role.VIEWER,
            plan=self.plans[PlanName(link.plan)],
            suspended=link.suspended,
            scopes=link.role.scopes,
            refuses_drafts=self.refuses_drafts or link.refuses_drafts,
            kind=PrincipalKind.GUEST,
            video_id=link.video_id,
        )


def library_of(token: str) -> str | None:
    """The library that a token names, which is verified when it is loaded."""
    found = token.partition(".")[0]
    return found if is_id(found) else None


def _context(link: OpenReviewLink) -> str:
    return f"{link.library_id} {link.video_id}"
