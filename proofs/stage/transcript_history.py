"""Revisions of a transcript with something to undo and to redo."""

from collections.abc import Mapping
from typing import Any

from cutroom.platform.ids import new_id

CURRENT = 4
COLUMNS = {"revision": CURRENT}  # of the transcript
_LINKS = {2: ("edit", 1, None), 3: ("edit", 2, None), 4: ("undo", 1, 3)}


def revision_rows(segment: Mapping[str, Any], *, user_id: str) -> list[dict[str, Any]]:
    """Two edits of the only segment and an undo of the second; the first revision has no row."""
    first = {"id": "s1", **{name: segment[name] for name in ("start", "end", "speaker", "text")}}
    contents = [first, {**first, "text": f"{first['text']} A"}, {**first, "text": f"{first['text']} B"}]
    changes = {2: (contents[0], contents[1]), 3: (contents[1], contents[2]), 4: (contents[2], contents[1])}
    return [
        {
            "revision": revision,
            "id": new_id(),
            "kind": kind,
            "actor_kind": "key",
            "user_id": user_id,
            "summary": {"replaceText": 1} if kind == "edit" else {},
            "splices": [{"at": 0, "removed": [changes[revision][0]], "inserted": [changes[revision][1]]}],
            "labels": [],
            "size_bytes": 400,
            "undo_to": undo_to,
            "redo_to": redo_to,
            "restored_from": 2 if kind == "undo" else None,
        }
        for revision, (kind, undo_to, redo_to) in _LINKS.items()
    ]


def revisions_of(transcript: Mapping[str, Any], *, user_id: str) -> list[tuple[str, dict[str, Any]]]:
    """The rows of a transcript's revisions with their table."""
    keys = {name: transcript[name] for name in ("library_id", "video_id", "created_at")}
    return [
        ("transcript_revisions", {**keys, **row}) for row in revision_rows(transcript["segments"][0], user_id=user_id)
    ]
