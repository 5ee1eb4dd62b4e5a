"""Signatures against Amazon's own example, and single multipart calls against a real store."""

from datetime import UTC, datetime

import pytest

from cutroom.platform.storage.multipart import PartsUnfitError, Signer, StoreError, UploadGoneError
from cutroom.products.uploads.service import Gateway


def test_a_request_is_signed_as_amazon_documents_it() -> None:
    signer = Signer("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", region="us-east-1")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    headers = signer.headers(
        "GET",
        "https://examplebucket.s3.amazonaws.com/test.txt",
        signed={"range": "bytes=0-9", "x-amz-content-sha256": empty},
        now=datetime(2013, 5, 24, tzinfo=UTC),
    )
    assert headers["authorization"].endswith("f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")


async def test_an_object_is_put_together_once_and_names_its_owner(gateway: Gateway) -> None:
    store, path = gateway.multipart, "tests/uploads/a name (1) ü+&"
    upload_id = await store.create(path, content_type="video/mp4", owner="me")
    etags = [
        await store.put_part(path, upload_id, number=1, pieces=[b"a" * 5 * 1024 * 1024]),
        await store.put_part(path, upload_id, number=2, pieces=[b"b"]),
    ]
    with pytest.raises(PartsUnfitError):
        await store.complete(path, upload_id, etags=[etags[0], '"0123456789abcdef0123456789abcdef"'])
    await store.complete(path, upload_id, etags=etags)
    found = await store.find(path)
    assert found is not None
    assert (found.size_bytes, found.owner) == (5 * 1024 * 1024 + 1, "me")
    with pytest.raises(UploadGoneError):
        await store.put_part(path, upload_id, number=3, pieces=[b"c"])
    await gateway.storage.delete(path)


async def test_an_abort_can_be_repeated(gateway: Gateway) -> None:
    store, path = gateway.multipart, "tests/uploads/aborted"
    upload_id = await store.create(path, content_type="video/mp4", owner="me")
    await store.abort(path, upload_id)
    await store.abort(path, upload_id)
    with pytest.raises(UploadGoneError):
        await store.complete(path, upload_id, etags=['"x"'])
    assert await store.find(path) is None


async def test_a_refusal_says_its_code(gateway: Gateway) -> None:
    with pytest.raises(StoreError, match="the store answered 404"):
        await gateway.multipart.put_part("tests/uploads/none", "none", number=1, pieces=[b"x"])
