"""AWS's signature example, and multipart calls against a real object store."""

from datetime import UTC, datetime

import pytest

from cutroom.platform.storage.multipart import InvalidPartsError, MultipartUploadNotFoundError, Signer, StoreError
from cutroom.products.uploads.service import Gateway


def test_signature_matches_the_aws_example() -> None:
    signer = Signer("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", region="us-east-1")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    headers = signer.headers(
        "GET",
        "https://examplebucket.s3.amazonaws.com/test.txt",
        signed={"range": "bytes=0-9", "x-amz-content-sha256": empty},
        now=datetime(2013, 5, 24, tzinfo=UTC),
    )
    assert headers["authorization"].endswith("f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")


async def test_completed_object_has_its_owner(gateway: Gateway) -> None:
    store, path = gateway.multipart, "tests/uploads/a name (1) ü+&"
    upload_id = await store.create(path, content_type="video/mp4", owner="me")
    etags = [
        await store.put_part(path, upload_id, number=1, buffers=[b"a" * 5 * 1024 * 1024]),
        await store.put_part(path, upload_id, number=2, buffers=[b"b"]),
    ]
    with pytest.raises(InvalidPartsError):
        await store.complete(path, upload_id, etags=[etags[0], '"0123456789abcdef0123456789abcdef"'])
    await store.complete(path, upload_id, etags=etags)
    found = await store.find(path)
    assert found is not None
    assert (found.size_bytes, found.owner) == (5 * 1024 * 1024 + 1, "me")
    with pytest.raises(MultipartUploadNotFoundError):
        await store.put_part(path, upload_id, number=3, buffers=[b"c"])
    await gateway.storage.delete(path)


async def test_abort_is_idempotent(gateway: Gateway) -> None:
    store, path = gateway.multipart, "tests/uploads/aborted"
    upload_id = await store.create(path, content_type="video/mp4", owner="me")
    await store.abort(path, upload_id)
    await store.abort(path, upload_id)
    with pytest.raises(MultipartUploadNotFoundError):
        await store.complete(path, upload_id, etags=['"x"'])
    assert await store.find(path) is None


async def test_store_error_has_its_code(gateway: Gateway) -> None:
    with pytest.raises(StoreError, match="object store returned 404"):
        await gateway.multipart.put_part("tests/uploads/none", "none", number=1, buffers=[b"x"])
