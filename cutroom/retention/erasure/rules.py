"""What an erasure destroys, the entries of the erasure log, and certificates."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

LIBRARY_PREFIX = "libraries/"


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """The argument of the workflow; ids only, because its history outlives the library."""

    erasure_id: str
    library_id: str
    user_ids: list[str]  # the owner of a personal library, whose account is erased with it
    requested_at: str

    @property
    def object_prefix(self) -> str:
        return object_prefix(self.library_id)


def object_prefix(library_id: str) -> str:
    return f"{LIBRARY_PREFIX}{library_id}/"


def library_of_path(path: str) -> str | None:
    """Return the library that a stored object belongs to."""
    if not path.startswith(LIBRARY_PREFIX):
        return None
    return path.removeprefix(LIBRARY_PREFIX).partition("/")[0]


@dataclass(frozen=True, slots=True)
class LibrarySurvey:
    """What a library consists of just before it is destroyed; counts only."""

    rows: dict[str, int] = field(default_factory=dict)
    object_versions: int = 0
    object_bytes: int = 0
    unfinished_uploads: int = 0
    workflow_histories: int = 0
    hosted_assets: dict[str, int] = field(default_factory=dict)
    millicredits: dict[str, int] = field(default_factory=dict)


def certificate(
    request: ErasureRequest, survey: LibrarySurvey, *, finished_at: datetime, backup_retention_days: int
) -> dict[str, Any]:
    """Return what was destroyed, and when the last backup that holds it expires."""
    expires = finished_at + timedelta(days=backup_retention_days)
    return {
        "erasureId": request.erasure_id,
        "libraryId": request.library_id,
        "userIds": request.user_ids,
        "requestedAt": request.requested_at,
        "finishedAt": finished_at.isoformat(),
        "rows": {table: count for table, count in survey.rows.items() if count},
        "objects": {
            "versions": survey.object_versions,
            "bytes": survey.object_bytes,
            "unfinishedUploads": survey.unfinished_uploads,
        },
        "workflowHistories": survey.workflow_histories,
        "hostedAssets": survey.hosted_assets,
        "caches": ["rate limits", "local media of workers"],
        "millicredits": survey.millicredits,
        "backups": {"retentionDays": backup_retention_days, "lastExpiresAt": expires.isoformat()},
    }


def canonical(document: Mapping[str, Any]) -> bytes:
    """The bytes that are signed."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
