"""Reads, adds, changes and deletes comments of videos."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import asyncpg

from cutroom.accounts.principals import Principal, PrincipalKind
from cutroom.errors import Code, CutroomError, not_found
from cutroom.library.service import NEWEST, get_video
from cutroom.library.trash import keep_video
from cutroom.platform.db import Connection, insert, update
from cutroom.platform.ids import is_id, new_id
from cutroom.reviews.guests import Guest
from cutroom.reviews.rules import MAX_COMMENTS
from cutroom.reviews.schemas import NewReviewComment, ReviewComment, ReviewCommentPatch
from cutroom.web.revisions import Revised, require_match

_SELECT = """SELECT c.id, c.video_id, c.time_seconds, c.segment_id, c.language, c.text, c.author_kind, c.user_id,
        c.guest_id, coalesce(c.guest_name, u.name) AS author_name, c.link_id, c.resolved_at, c.created_at, c.revision
    FROM review_comments c LEFT JOIN users u ON u.id = c.user_id"""


@dataclass(frozen=True, slots=True)
class CommentAuthor:
    """Who reads and writes comments: a member, a key, or a guest."""

    principal: Principal
    guest: Guest | None = None

    @property
    def kind(self) -> str:
        """Tokens act for their user as keys do."""
        found = self.principal.kind
        return (PrincipalKind.KEY if found is PrincipalKind.TOKEN else found).value

    def wrote(self, row: asyncpg.Record) -> bool:
        if self.guest is not None:
            return bool(row["guest_id"] == self.guest.id)
        return bool(row["user_id"] == self.principal.user_id)


@dataclass(frozen=True, slots=True)
class ShownComment:
    """A comment, and whether the person who looks at it has written it."""

    comment: ReviewComment
    is_own: bool


async def list_comments(
    connection: Connection, principal: Principal, video_id: str, *, before: str | None, limit: int
) -> tuple[list[ReviewComment], bool]:
    """A page of comments, newest first, and whether there are more."""
    await get_video(connection, principal, video_id)
    rows = await connection.fetch(
        f"{_SELECT} WHERE c.library_id = $1 AND c.video_id = $2 AND c.id < $3 ORDER BY c.id DESC LIMIT $4",
        principal.library_id,
        video_id,
        before or NEWEST,
        limit + 1,
    )
    return [_comment(row) for row in rows[:limit]], len(rows) > limit


async def list_by_time(
    connection: Connection, author: CommentAuthor, video_id: str, *, limit: int
) -> tuple[list[ShownComment], int]:
    """Comments in the order of the video, and how many there are in all. Resolved ones are left out first."""
    principal = author.principal
    await get_video(connection, principal, video_id)
    rows = await connection.fetch(
        f"""{_SELECT} WHERE c.library_id = $1 AND c.video_id = $2
            ORDER BY c.resolved_at IS NOT NULL, c.time_seconds, c.id LIMIT $3""",
        principal.library_id,
        video_id,
        limit,
    )
    shown = [ShownComment(_comment(row), author.wrote(row)) for row in rows]
    shown.sort(key=lambda each: (each.comment.time, each.comment.id))
    total = len(shown)
    if total == limit:
        total = await _count(connection, principal.library_id, video_id)
    return shown, total


async def get_comment(
    connection: Connection, principal: Principal, video_id: str, comment_id: str
) -> Revised[ReviewComment]:
    await get_video(connection, principal, video_id)
    row = await _load(connection, principal.library_id, video_id, comment_id)
    return Revised(_comment(row), row["revision"])


async def create_comment(
    connection: Connection, author: CommentAuthor, video_id: str, new: NewReviewComment, *, now: datetime
) -> ReviewComment:
    principal = author.principal
    await get_video(connection, principal, video_id)
    await keep_video(connection, principal.library_id, video_id)
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('review comments ' || $1, 0))", video_id)
    if await _count(connection, principal.library_id, video_id) >= MAX_COMMENTS:
        message = f"A video has at most {MAX_COMMENTS:,} comments. Delete some first."
        details = {"reason": "quota", "limit": MAX_COMMENTS}
        raise CutroomError(Code.FAILED_PRECONDITION, message=message, details=details)
    comment_id, guest = new_id(), author.guest
    row: dict[str, Any] = {
        "library_id": principal.library_id,
        "id": comment_id,
        "video_id": video_id,
        "time_seconds": new.time,
        "segment_id": new.segment_id,
        "language": new.language,
        "text": new.text,
        "author_kind": author.kind,
        "user_id": principal.author_id,
        "guest_id": guest.id if guest is not None else None,
        "guest_name": guest.name if guest is not None else None,
        "link_id": guest.link_id if guest is not None else None,
        "created_at": now,
    }
    await insert(connection, "review_comments", row)
    return _comment(await _load(connection, principal.library_id, video_id, comment_id))


async def update_comment(
    connection: Connection,
    author: CommentAuthor,
    video_id: str,
    comment_id: str,
    patch: ReviewCommentPatch,
    *,
    if_match: str | None = None,
    now: datetime,
) -> Revised[ReviewComment]:
    """Change the text, which only its author may, or whether the comment is resolved."""
    principal = author.principal
    await get_video(connection, principal, video_id)
    row = await _lock(connection, principal.library_id, video_id, comment_id, if_match=if_match)
    columns: dict[str, Any] = {}
    if "text" in patch.model_fields_set:
        if not author.wrote(row) and row["text"] != patch.text:
            raise CutroomError(Code.PERMISSION_DENIED, message="Only its author can change the text of a comment.")
        columns["text"] = patch.text
    if "resolved" in patch.model_fields_set:
        columns["resolved_at"] = (row["resolved_at"] or now) if patch.resolved else None
    await update(connection, "review_comments", principal.library_id, comment_id, columns=columns)
    return await get_comment(connection, principal, video_id, comment_id)


async def delete_comment(
    connection: Connection,
    author: CommentAuthor,
    video_id: str,
    comment_id: str,
    *,
    if_match: str | None = None,
) -> None:
    """Delete a comment. Members may delete every one, guests only their own."""
    principal = author.principal
    await get_video(connection, principal, video_id)
    row = await _lock(connection, principal.library_id, video_id, comment_id, if_match=if_match)
    if author.guest is not None and not author.wrote(row):
        raise CutroomError(Code.PERMISSION_DENIED)
    await connection.execute(
        "DELETE FROM review_comments WHERE library_id = $1 AND id = $2", principal.library_id, comment_id
    )


async def _lock(
    connection: Connection, library_id: str, video_id: str, comment_id: str, *, if_match: str | None
) -> asyncpg.Record:
    row = await _load(connection, library_id, video_id, comment_id, lock="FOR UPDATE OF c")
    require_match(if_match, row["revision"])
    return row


async def _load(
    connection: Connection, library_id: str, video_id: str, comment_id: str, *, lock: str = ""
) -> asyncpg.Record:
    row = await connection.fetchrow(
        f"{_SELECT} WHERE c.library_id = $1 AND c.video_id = $2 AND c.id = $3 {lock}",
        library_id,
        video_id,
        comment_id if is_id(comment_id) else "",
    )
    if row is None:
        raise not_found()
    return row


async def _count(connection: Connection, library_id: str, video_id: str) -> int:
    found: int = await connection.fetchval(
        "SELECT count(*) FROM review_comments WHERE library_id = $1 AND video_id = $2", library_id, video_id
    )
    return found


def _comment(row: asyncpg.Record) -> ReviewComment:
    return ReviewComment(
        id=row["id"],
        video_id=row["video_id"],
        time=row["time_seconds"],
        segment_id=row["segment_id"],
        language=row["language"],
        text=row["text"],
        author_kind=row["author_kind"],
        author_name=row["author_name"],
        user_id=row["user_id"],
        link_id=row["link_id"],
        resolved=row["resolved_at"] is not None,
        created_at=row["created_at"],
    )
