"""Lists the objects of a library with the kinds that products declare."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from cutroom.platform.storage.objects import Storage
from cutroom.products.catalog import PRODUCTS
from cutroom.retention.policy.rules import StoredFile, UsageKind, classify

VIDEOS, UPLOADS = "videos/", "uploads/"
_NEXT = "0"  # sorts directly after the slash
# Declared here, because downloads and exports have lifetimes of their own.
DECLARED: Mapping[str, UsageKind] = {
    **{name: UsageKind(kind.value) for product in PRODUCTS for name, kind in product.owns.objects.items()},
    "downloads/": UsageKind.DOWNLOAD,
    "exports/": UsageKind.DOCUMENT,
}


@dataclass(frozen=True, slots=True)
class VideoFiles:
    """All objects of one video."""

    video_id: str
    files: list[StoredFile]


def library_prefix(library_id: str) -> str:
    return f"libraries/{library_id}/"


def kind_of(path: str) -> UsageKind:
    """The kind of an object of any library, by its path."""
    name = path.split("/", 2)[2]
    return classify(name.split("/", 2)[2] if name.startswith(VIDEOS) else name, DECLARED)


async def list_videos(storage: Storage, library_id: str, *, after: str | None) -> AsyncIterator[VideoFiles]:
    """The videos of a library in the order of their ids, each with all of its objects, which are listed in a row."""
    prefix = f"{library_prefix(library_id)}{VIDEOS}"
    start = None if after is None else f"{prefix}{after}{_NEXT}"
    current: VideoFiles | None = None
    async for file in _list(storage, prefix, after=start):
        video_id = file.path.removeprefix(prefix).partition("/")[0]
        if current is not None and current.video_id != video_id:
            yield current
            current = None
        current = current or VideoFiles(video_id, [])
        current.files.append(file)
    if current is not None:
        yield current


async def list_library_files(storage: Storage, library_id: str) -> AsyncIterator[StoredFile]:
    """The objects of a library that belong to no video."""
    for prefix in await storage.folders(library_prefix(library_id)):
        if prefix.removeprefix(library_prefix(library_id)) != VIDEOS:
            async for file in _list(storage, prefix):
                yield file


def upload_session_of(path: str) -> str | None:
    """The session that an object under `uploads/` belongs to; None for other objects."""
    folder, _, rest = path.split("/", 2)[2].partition("/")
    return rest.partition("/")[0] if f"{folder}/" == UPLOADS else None


async def _list(storage: Storage, prefix: str, *, after: str | None = None) -> AsyncIterator[StoredFile]:
    async for found in storage.list_objects(prefix, after=after):
        yield StoredFile(found.path, kind_of(found.path), found.size_bytes, found.changed_at)
