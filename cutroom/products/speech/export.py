"""The voice clones of a library with their recordings and consents, for an export."""

from collections.abc import Sequence
from typing import Any

from cutroom.library.exported_files import ExportedFile, exported_json
from cutroom.platform.db import Connection
from cutroom.products.speech.rules import voice_path


async def export_library(connection: Connection, library_id: str) -> Sequence[ExportedFile]:
    """Of a clone from a URL, the first sample is the fetched recording; deleted clones are left out."""
    rows = await connection.fetch(
        """SELECT v.id, v.name, v.description, v.labels, v.language, v.sample_count, v.reference_path, v.preview_path,
               v.created_at, c.user_id AS consent_user_id, c.principal_id AS consent_principal_id,
               c.samples_sha256 AS consent_samples_sha256, c.given_at AS consent_given_at
           FROM voices v LEFT JOIN voice_consents c ON c.library_id = v.library_id AND c.voice_id = v.id
           WHERE v.library_id = $1 AND v.deleted_at IS NULL AND v.samples_deleted_at IS NULL ORDER BY v.id""",
        library_id,
    )
    files: list[ExportedFile] = []
    for row in rows:
        folder = f"voices/{row['id']}"
        files.append(exported_json(f"{folder}/voice.json", "voice", _document(dict(row))))
        for number in range(row["sample_count"]):
            path = voice_path(library_id, row["id"], f"sample-{number}")
            files.append(ExportedFile(f"{folder}/sample-{number}", "voice_sample", path))
        if row["reference_path"] is not None:
            files.append(ExportedFile(f"{folder}/reference.wav", "voice_reference", row["reference_path"]))
        if row["preview_path"] is not None:
            files.append(ExportedFile(f"{folder}/preview.wav", "voice_preview", row["preview_path"]))
    return files


def _document(row: dict[str, Any]) -> dict[str, Any]:
    consent = None
    if row["consent_given_at"] is not None:
        consent = {
            "userId": row["consent_user_id"],
            "principalId": row["consent_principal_id"],
            "samplesSha256": row["consent_samples_sha256"],
            "givenAt": row["consent_given_at"].isoformat(),
        }
    described = {name: row[name] for name in ("id", "name", "description", "labels", "language")}
    return {**described, "createdAt": row["created_at"].isoformat(), "consent": consent}
