"""Creates, lists and revokes review links, and finds the link of a secret."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, invalid_field, not_found
from cutroom.library.service import get_video
from cutroom.library.trash import keep_video
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import is_id, new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.reviews.rules import DEFAULT_DAYS, MAX_DAYS, MAX_LINKS, MIN_DAYS, GuestRole
from cutroom.reviews.schemas import CreatedReviewLink, NewReviewLink, ReviewLink

LINK_PURPOSE = "review-link"
SECRET_PREFIX = "rev_"  # which logs redact  # noqa: S105
PATH = "/review/"
_SECRET_BYTES = 24
_COLUMNS = "id, video_id, role, label, created_by, created_at, expires_at"


@dataclass(frozen=True, slots=True)
class OpenReviewLink:
    """A link that works now, with what its library allows."""

    id: str
    library_id: str
    is_workspace: bool
    plan: str
    suspended: bool
    refuses_drafts: bool
    video_id: str
    video_title: str | None
    role: GuestRole
    created_by: str
    expires_at: datetime


async def create_link(
    connection: Connection,
    principal: Principal,
    video_id: str,
    new: NewReviewLink,
    *,
    secret_box: SecretBox,
    base_url: str,
    now: datetime,
) -> CreatedReviewLink:
    """Create a link; only a keyed hash of its secret is stored."""
    await get_video(connection, principal, video_id)
    await keep_video(connection, principal.library_id, video_id)
    expires_at = _expiry(new, now)
    await _make_room(connection, principal.library_id, video_id, now=now)
    secret = SECRET_PREFIX + secrets.token_hex(_SECRET_BYTES)
    link = ReviewLink(
        id=new_id(),
        video_id=video_id,
        role=new.role,
        label=new.label,
        created_by=principal.user_id,
        created_at=now,
        expires_at=expires_at,
    )
    row = {**link.model_dump(), "role": new.role.value, "library_id": principal.library_id}
    await insert(connection, "review_links", {**row, "label": new.label, "hash": hash_of(secret, secret_box)})
    return CreatedReviewLink(**link.model_dump(), url=f"{base_url.rstrip('/')}{PATH}{secret}")


def _expiry(new: NewReviewLink, now: datetime) -> datetime:
    if new.expires_at is None:
        return now + timedelta(days=new.expires_in_days or DEFAULT_DAYS)
    if not now + timedelta(days=MIN_DAYS) <= new.expires_at <= now + timedelta(days=MAX_DAYS):
        raise invalid_field("expiresAt", f"A link expires {MIN_DAYS} to {MAX_DAYS} days from now.")
    return new.expires_at


async def _make_room(connection: Connection, library_id: str, video_id: str, *, now: datetime) -> None:
    """Delete expired links of the video; raise FAILED_PRECONDITION if it has as many active ones as it can have."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('review links ' || $1, 0))", video_id)
    await connection.execute(
        "DELETE FROM review_links WHERE library_id = $1 AND video_id = $2 AND expires_at <= $3",
        library_id,
        video_id,
        now,
    )
    active = await connection.fetchval(
        "SELECT count(*) FROM review_links WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )
    if active >= MAX_LINKS:
        message = f"A video has at most {MAX_LINKS} active review links. Revoke one first."
        details = {"reason": "quota", "limit": MAX_LINKS}
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details=details)


async def list_links(connection: Connection, principal: Principal, video_id: str, *, now: datetime) -> list[ReviewLink]:
    """The active links of a video, newest first."""
    await get_video(connection, principal, video_id)
    rows = await connection.fetch(
        f"""SELECT {_COLUMNS} FROM review_links
            WHERE library_id = $1 AND video_id = $2 AND expires_at > $3 ORDER BY id DESC LIMIT $4""",  # noqa: S608
        principal.library_id,
        video_id,
        now,
        MAX_LINKS,
    )
    return [ReviewLink(**dict(row)) for row in rows]


async def revoke_link(connection: Connection, principal: Principal, video_id: str, link_id: str) -> None:
    """Delete a link: it and the guests who opened it lose access at once. Their comments stay."""
    await get_video(connection, principal, video_id)
    found = await connection.fetchval(
        "DELETE FROM review_links WHERE library_id = $1 AND video_id = $2 AND id = $3 RETURNING true",
        principal.library_id,
        video_id,
        link_id if is_id(link_id) else "",
    )
    if not found:
        raise not_found()


def hash_of(secret: str, secret_box: SecretBox) -> bytes:
    return secret_box.keyed_hash(LINK_PURPOSE, secret)


async def find_open_link(connection: Connection, hashed: bytes, *, now: datetime) -> OpenReviewLink | None:
    """The link if it works now; the connection is then scoped to its library."""
    row = await connection.fetchrow("SELECT * FROM authenticate_review_link($1, $2)", hashed, now)
    if row is None:
        return None
    return OpenReviewLink(
        id=row["link_id"],
        library_id=row["library_id"],
        is_workspace=row["library_kind"] == "workspace",
        plan=row["plan"],
        suspended=row["suspended"],
        refuses_drafts=row["refuses_drafts"],
        video_id=row["video_id"],
        video_title=row["video_title"],
        role=GuestRole(row["role"]),
        created_by=row["created_by"],
        expires_at=row["expires_at"],
    )
