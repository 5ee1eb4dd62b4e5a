"""Rows of a review link and of comments, for the fixtures of proofs."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from cutroom.platform.ids import new_id

LINK_DAYS = 14


def link_row(video_id: str, *, user_id: str) -> dict[str, Any]:
    """Columns of a link whose secret is unknown."""
    return {"video_id": video_id, "hash": new_id().encode(), "role": "comment", "created_by": user_id}


def comment_row(video_id: str, *, user_id: str, text: str) -> dict[str, Any]:
    row = {"video_id": video_id, "time_seconds": 1.5, "segment_id": "s1", "language": "pt", "text": text}
    return {**row, "author_kind": "key", "user_id": user_id}


def rows_of(
    base: Mapping[str, Any], ids: Mapping[str, str], *, user_id: str, marker: str
) -> list[tuple[str, dict[str, Any]]]:
    """A link, and enough comments for a second page."""
    video_id = ids["videoId"]
    expires_at = base["created_at"] + timedelta(days=LINK_DAYS)
    link = {**base, **link_row(video_id, user_id=user_id), "label": marker, "expires_at": expires_at}
    comment = {**base, **comment_row(video_id, user_id=user_id, text=marker)}
    return [
        ("review_links", {**link, "id": ids["linkId"]}),
        ("review_comments", {**comment, "id": ids["commentId"]}),
        ("review_comments", {**comment, "id": new_id()}),
    ]
