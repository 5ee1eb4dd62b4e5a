"""Where the bytes of an upload go: through our gateway, or straight to Google where the store is Google's."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from cutroom.platform.db import Database
from cutroom.platform.storage.gcs import Gcs
from cutroom.platform.storage.objects import Storage
from cutroom.products.uploads.grants import Grant, session_url
from cutroom.products.uploads.service import Gateway, begin, lock_source, release


class UploadTarget(Protocol):
    """Opens sessions for those who hold a grant."""

    async def open(self, grant: Grant, *, total_bytes: int | None, origin: str | None) -> str:
        """The URL that takes the bytes."""


@dataclass(frozen=True, slots=True)
class GatewayTarget:
    """Sessions of our own, for every store that speaks S3."""

    gateway: Gateway
    base_url: str

    async def open(self, grant: Grant, *, total_bytes: int | None, origin: str | None) -> str:  # noqa: ARG002
        token = await begin(self.gateway, grant, total_bytes=total_bytes)
        return session_url(self.base_url, grant.video_id, token)


@dataclass(frozen=True, slots=True)
class GcsTarget:
    """Google's own sessions; their bytes never pass us, so their end is found by `collect`."""

    database: Database
    gcs: Gcs

    async def open(self, grant: Grant, *, total_bytes: int | None, origin: str | None) -> str:
        async with self.database.transaction(grant.library_id) as connection:
            await lock_source(connection, grant)
            return await self.gcs.open_session(
                grant.storage_path, content_type=grant.content_type, total_bytes=total_bytes, origin=origin
            )


async def collect(database: Database, storage: Storage, *, library_id: str, video_id: str, now: datetime) -> bool:
    """Whether the file is in the store; the first to see it there releases the import."""
    async with database.transaction(library_id) as connection:
        row = await connection.fetchrow(
            """SELECT storage_path, size_bytes FROM sources
               WHERE library_id = $1 AND video_id = $2 AND type = 'upload' FOR UPDATE""",
            library_id,
            video_id,
        )
        if row is None or row["size_bytes"] is not None:
            return row is not None
        size_bytes = await storage.size(row["storage_path"])  # an object appears when it is whole
        if size_bytes is None:
            return False
        await release(connection, library_id, video_id, size_bytes=size_bytes, now=now)
    return True
