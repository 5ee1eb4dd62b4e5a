"""A file that an export of the library contains."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SUBTITLE_TEXT = "subtitle_text"  # files that releases before 0.2 did not make, so that none is missing


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file in an export: an object of the bucket, or content made for the export.

    Names are paths relative to the folder of the video, or to the top of the archive for files of no video. An output
    names the job that made it, after which it is copied to the library's own bucket.
    """

    name: str
    kind: str
    path: str | None = None
    content: bytes = b""
    job_id: str | None = None


def exported_json(name: str, kind: str, document: Mapping[str, Any], *, job_id: str | None = None) -> ExportedFile:
    content = f"{json.dumps(document, ensure_ascii=False, indent=1)}\n".encode()
    return ExportedFile(name, kind, content=content, job_id=job_id)
