"""Writes mails of accounts for a workflow to send, and checks the links in them."""

import secrets
from dataclasses import asdict, dataclass
from datetime import datetime

from cutroom.accounts.mails.rules import KEPT, LINKS, MAX_PER_HOUR, RATE_PERIOD, MailKind, MailOutcome, lifetime_of
from cutroom.accounts.sessions import AuthenticatedUser, normalize_email
from cutroom.errors import not_found
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.task_queues import TaskQueue

SEND_WORKFLOW = "send-account-mail"
LINK_PURPOSE = "mail-link"
SECRET_PURPOSE = "mail-link-secret"  # noqa: S105 (the purpose of a key)
SECRET_PREFIX = "ml_"  # which logs redact  # noqa: S105
_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class MailRef:
    """Identifies a mail; ids only, because workflow histories contain it."""

    library_id: str
    mail_id: str

    @property
    def workflow_id(self) -> str:
        return f"mail_{self.mail_id}"


@dataclass(frozen=True, slots=True)
class OutgoingMail:
    """A mail to send, with the secret of its link."""

    kind: MailKind
    recipient: str
    secret: str | None


@dataclass(frozen=True, slots=True)
class MailLink:
    """A valid link, and the account that it was sent to."""

    ref: MailRef
    user: AuthenticatedUser
    email: str


async def find_account(connection: Connection, email: str) -> AuthenticatedUser | None:
    """The account of an address; callers must not reveal whether there is one."""
    row = await connection.fetchrow("SELECT * FROM find_account($1)", normalize_email(email))
    return None if row is None else AuthenticatedUser(row["user_id"], row["library_id"])


async def queue_mail(
    connection: Connection, library_id: str, kind: MailKind, *, recipient: str, secret_box: SecretBox, now: datetime
) -> bool:
    """Write a mail and start its workflow with the caller's transaction; False if too many were written lately.

    The transaction is in the personal library of the account. The secret of the link is stored as a hash, and sealed
    until the mail has been sent.
    """
    await connection.execute(
        "DELETE FROM account_mails WHERE library_id = $1 AND expires_at < $2", library_id, now - KEPT
    )
    count: int = await connection.fetchval(
        "SELECT count(*) FROM account_mails WHERE library_id = $1 AND kind = $2 AND created_at > $3",
        library_id,
        kind.value,
        now - RATE_PERIOD,
    )
    if count >= MAX_PER_HOUR:
        return False
    ref = MailRef(library_id, new_id())
    secret = SECRET_PREFIX + secrets.token_hex(_SECRET_BYTES) if kind in LINKS else None
    row = {
        "library_id": library_id,
        "id": ref.mail_id,
        "kind": kind.value,
        "recipient": recipient,
        "hash": secret_box.keyed_hash(LINK_PURPOSE, secret) if secret else None,
        "sealed_secret": secret_box.seal(SECRET_PURPOSE, secret.encode(), ref.mail_id) if secret else None,
        "created_at": now,
        "expires_at": now + lifetime_of(kind),
    }
    await insert(connection, "account_mails", row)
    start = WorkflowStart(library_id, SEND_WORKFLOW, ref.workflow_id, asdict(ref), queue=TaskQueue.EGRESS)
    await enqueue(connection, start)
    return True


async def load_mail(
    connection: Connection, ref: MailRef, *, secret_box: SecretBox, now: datetime
) -> OutgoingMail | None:
    """The mail, unless it was sent, has expired or was erased."""
    row = await connection.fetchrow(
        """SELECT kind, recipient, sealed_secret FROM account_mails
           WHERE library_id = $1 AND id = $2 AND outcome IS NULL AND used_at IS NULL AND expires_at > $3""",
        ref.library_id,
        ref.mail_id,
        now,
    )
    if row is None:
        return None
    sealed = row["sealed_secret"]
    secret = secret_box.unseal(SECRET_PURPOSE, sealed, ref.mail_id).decode() if sealed is not None else None
    return OutgoingMail(MailKind(row["kind"]), row["recipient"], secret)


async def record_outcome(connection: Connection, ref: MailRef, outcome: MailOutcome) -> None:
    """Record how sending ended, and drop the secret."""
    await connection.execute(
        "UPDATE account_mails SET outcome = $3, sealed_secret = NULL WHERE library_id = $1 AND id = $2",
        ref.library_id,
        ref.mail_id,
        outcome.value,
    )


async def find_link(
    connection: Connection, secret: str, kind: MailKind, *, secret_box: SecretBox, now: datetime
) -> MailLink:
    """The account of a link; not found if it was used, has expired or never existed."""
    link_hash = secret_box.keyed_hash(LINK_PURPOSE, secret)
    row = await connection.fetchrow("SELECT * FROM authenticate_mail_link($1, $2, $3)", link_hash, kind.value, now)
    if row is None:
        raise not_found()
    ref = MailRef(row["library_id"], row["mail_id"])
    return MailLink(ref, AuthenticatedUser(row["user_id"], row["library_id"]), row["email"])


async def use_link(connection: Connection, link: MailLink, kind: MailKind, *, now: datetime) -> None:
    """Use a link and end all others of its kind; not found if a concurrent request has used it."""
    done = await connection.execute(
        "UPDATE account_mails SET used_at = $3 WHERE library_id = $1 AND id = $2 AND used_at IS NULL",
        link.ref.library_id,
        link.ref.mail_id,
        now,
    )
    if done == "UPDATE 0":
        raise not_found()
    await connection.execute(
        """UPDATE account_mails SET used_at = $3, sealed_secret = NULL
           WHERE library_id = $1 AND kind = $2 AND used_at IS NULL""",
        link.ref.library_id,
        kind.value,
        now,
    )
