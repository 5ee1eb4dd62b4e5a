"""Writes the manifest of an archive, and summarizes it."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from cutroom.library.exported_files import SUBTITLE_TEXT
from cutroom.retention.exports.archive_state import ArchivedFile
from cutroom.retention.exports.rules import (
    FORMAT_VERSION,
    LEFT_OUT_COLUMNS,
    LEFT_OUT_PREFIXES,
    LEFT_OUT_TABLES,
    ExportRef,
)


def manifest_lines(ref: ExportRef, files: Sequence[ArchivedFile], *, created_at: datetime) -> Iterator[bytes]:
    """The manifest as JSON with one line for each file; the same for the same files."""
    header = {
        "formatVersion": FORMAT_VERSION,
        "libraryId": ref.library_id,
        "exportId": ref.export_id,
        "createdAt": created_at.isoformat(),
        "leftOut": {
            "tables": LEFT_OUT_TABLES,
            "columns": LEFT_OUT_COLUMNS,
            "objects": LEFT_OUT_PREFIXES,
        },
        "missing": [each.name for each in files if _is_lost(each)],
    }
    yield json.dumps(header, ensure_ascii=False, indent=1)[:-2].encode()
    yield b',\n "files": [\n'
    present = [each for each in files if not each.is_missing]
    for number, each in enumerate(present, 1):
        entry = {"path": each.name, "kind": each.kind, "bytes": each.size_bytes, "sha256": each.sha256}
        yield f"  {json.dumps(entry, ensure_ascii=False)}{',' if number < len(present) else ''}\n".encode()
    yield b" ]\n}\n"


def summarize(files: Sequence[ArchivedFile]) -> dict[str, Any]:
    kinds: dict[str, dict[str, int]] = {}
    for each in files:
        if not each.is_missing:
            kind = kinds.setdefault(each.kind, {"files": 0, "bytes": 0})
            kind["files"] += 1
            kind["bytes"] += each.size_bytes or 0
    trashed = kinds.get("trashed_video", {}).get("files", 0)
    return {
        "formatVersion": FORMAT_VERSION,
        "videos": kinds.get("video", {}).get("files", 0) + trashed,
        "trashedVideos": trashed,
        "missingFiles": sum(map(_is_lost, files)),
        "kinds": dict(sorted(kinds.items())),
    }


def _is_lost(file: ArchivedFile) -> bool:
    return file.is_missing and file.kind != SUBTITLE_TEXT
