"""Object versions and unfinished uploads on a real object store, with and without versioning."""

import httpx
import pytest

from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.storage.multipart import Multipart, Signer, bucket_url
from cutroom.platform.storage.objects import Storage
from cutroom.platform.storage.versions import ObjectVersions, PrefixContents

VERSIONING = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"


async def put(settings: Settings, path: str, content: bytes = b"") -> None:
    url = f"{bucket_url(settings)}/{path}"
    headers = Signer.of(settings).headers("PUT", url, signed={}, now=system_clock())
    async with httpx.AsyncClient(trust_env=False) as client:
        response = await client.put(url, headers=headers, content=content)
    assert response.status_code in {200, 409}, response.text


@pytest.fixture
async def versioned(settings: Settings) -> Settings:
    """A bucket with versioning."""
    own = settings.model_copy(update={"s3_bucket": "test-versions"})
    await put(own, "")
    await put(own, "?versioning=", VERSIONING)
    return own


@pytest.fixture
def prefix() -> str:
    return f"libraries/{new_id()}/"


async def test_all_versions_and_delete_markers_are_deleted(versioned: Settings, prefix: str) -> None:
    storage, versions = Storage.connect(versioned), ObjectVersions.connect(versioned)
    for content in (b"first", b"second"):
        await storage.put(f"{prefix}a b", content)
    await storage.delete(f"{prefix}a b")
    await storage.put(f"{prefix}c", b"third")
    assert await versions.measure(prefix) == PrefixContents(versions=4, size_bytes=16)
    await versions.delete_under(prefix)
    assert (await versions.measure(prefix)).is_empty
    await versions.close()


async def test_other_prefixes_stay(settings: Settings, prefix: str) -> None:
    storage, versions = Storage.connect(settings), ObjectVersions.connect(settings)
    neighbor = f"{prefix.rstrip('/')}0/"
    for each in (prefix, neighbor):
        await storage.put(f"{each}object", b"content")
    await versions.delete_under(prefix)
    assert await storage.names(prefix) == []
    assert await storage.names(neighbor) == [f"{neighbor}object"]
    await versions.close()


async def test_unfinished_uploads_are_aborted(settings: Settings, prefix: str) -> None:
    multipart, versions = Multipart.connect(settings), ObjectVersions.connect(settings)
    path = f"{prefix}upload"
    upload_id = await multipart.create(path, content_type="video/mp4", owner="owner")
    await multipart.put_part(path, upload_id, number=1, buffers=[b"part"])
    assert await versions.measure(prefix) == PrefixContents(uploads=1)
    await versions.delete_under(prefix)
    assert (await versions.measure(prefix)).is_empty
    await multipart.close()
    await versions.close()
