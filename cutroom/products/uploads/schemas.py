"""Google's shapes of objects and errors, as its clients read them."""

from typing import Any

from cutroom.products.uploads.rules import Session, UploadError, crc_text

BUCKET = "cutroom"  # the one bucket that callers see, whatever the store's is called


def object_resource(session: Session) -> dict[str, Any]:
    """A finished upload, as Google's JSON API describes an object; the same however often it is asked for."""
    assert session.completed_at is not None
    moment = session.completed_at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
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
        "timeCreated": moment,
        "updated": moment,
    }
    if session.md5 is not None:
        resource["md5Hash"] = session.md5
    return resource


def hash_header(session: Session) -> str:
    crc32c = f"crc32c={crc_text(session.crc32c)}"
    return crc32c if session.md5 is None else f"{crc32c},md5={session.md5}"


def error_body(error: UploadError) -> dict[str, Any]:
    """The shape of Google's errors, which its clients show to their callers."""
    fault = {"message": error.message, "domain": "global", "reason": error.reason}
    return {"error": {"code": error.status, "message": error.message, "errors": [fault]}}
