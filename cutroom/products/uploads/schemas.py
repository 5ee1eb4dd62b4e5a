"""Object resources and errors in the format of Google's JSON API."""

from typing import Any

from cutroom.products.uploads.rules import Session, UploadError, crc_text

BUCKET = "cutroom"  # the bucket name in the protocol, independent of the real one


def object_resource(session: Session) -> dict[str, Any]:
    """Returns a finished upload as a GCS object resource; stable across repeated requests."""
    assert session.completed_at is not None
    timestamp = session.completed_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    generation = str(int(session.completed_at.timestamp() * 1_000_000))
    resource = {
        "kind": "storage#object",
        "id": f"{BUCKET}/{session.storage_path}/{generation}",
        "name": session.storage_path,
        "bucket": BUCKET,
        "generation": generation,
        "metageneration": "1",
        "contentType": session.content_type,
        "size": str(session.received_bytes),
        "crc32c": crc_text(session.crc32c),
        "etag": session.id,
        "timeCreated": timestamp,
        "updated": timestamp,
    }
    if session.md5 is not None:
        resource["md5Hash"] = session.md5
    return resource


def hash_header(session: Session) -> str:
    crc32c = f"crc32c={crc_text(session.crc32c)}"
    return crc32c if session.md5 is None else f"{crc32c},md5={session.md5}"


def error_body(error: UploadError) -> dict[str, Any]:
    """Formats an error as Google's JSON API does."""
    detail = {"message": error.message, "domain": "global", "reason": error.reason}
    return {"error": {"code": error.status, "message": error.message, "errors": [detail]}}
