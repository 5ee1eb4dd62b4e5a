"""A sign-in between the password and the second factor, kept sealed in the form."""

import base64
import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from cutroom.accounts.sessions import AuthenticatedUser
from cutroom.platform.secret_box import SecretBox

PENDING_PURPOSE = "pending-sign-in"
LIFETIME = timedelta(minutes=5)
MAX_TEXT = 8_000


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """Whose password was verified, and which password it was: a new one ends the sign-in."""

    user_id: str
    library_id: str
    email: str
    target: str
    password_fingerprint: str
    expires_at: float

    @property
    def user(self) -> AuthenticatedUser:
        return AuthenticatedUser(self.user_id, self.library_id)

    def seal(self, secret_box: SecretBox, *, cookie: str) -> str:
        """Bound to the browser: without its cookie, the text is useless."""
        sealed = secret_box.seal(PENDING_PURPOSE, json.dumps(asdict(self)).encode(), cookie)
        return base64.urlsafe_b64encode(sealed).decode()


def unseal_pending(text: str, secret_box: SecretBox, *, cookie: str, now: datetime) -> PendingSignIn | None:
    """The sign-in, unless it has expired or was changed."""
    try:
        sealed = base64.urlsafe_b64decode(text[:MAX_TEXT].encode())
        pending = PendingSignIn(**json.loads(secret_box.unseal(PENDING_PURPOSE, sealed, cookie)))
    except ValueError:
        return None
    return pending if now < datetime.fromtimestamp(pending.expires_at, UTC) else None
