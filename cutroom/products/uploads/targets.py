"""Upload targets: our own gateway for S3, or direct uploads to Google Cloud Storage."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from cutroom.accounts.plans import Plans, load_plans
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.storage.gcs import Gcs
from cutroom.platform.storage.objects import Storage
from cutroom.products.ingest.service import lock_upload_source
from cutroom.products.uploads.grants import Grant, session_url
from cutroom.products.uploads.rules import SESSION_LIFETIME
from cutroom.products.uploads.service import (
    Gateway,
    extend_import_deadline,
    lock_source,
    open_session,
    release_import,
    require_storage,
)


class UploadTarget(Protocol):
    """Opens an upload session for a grant."""

    async def open(self, grant: Grant, *, total_bytes: int | None, origin: str | None) -> str:
        """Returns the session URL."""


@dataclass(frozen=True, slots=True)
class GatewayTarget:
    """Sessions on our gateway, for any S3-compatible store."""

    gateway: Gateway
    base_url: str

    async def open(self, grant: Grant, *, total_bytes: int | None, origin: str | None) -> str:  # noqa: ARG002
        token = await open_session(self.gateway, grant, total_bytes=total_bytes)
        return session_url(self.base_url, grant.video_id, token)


@dataclass(frozen=True, slots=True)
class GcsTarget:
    """GCS sessions; their bytes bypass the gateway, so the sweep detects finished ones with `release_if_stored`.

    Whether bytes arrive is not visible either, so the import waits for the whole lifetime of the session.
    """

    database: Database
    gcs: Gcs
    clock: Clock
    plans: Plans = field(default_factory=load_plans)

    async def open(self, grant: Grant, *, total_bytes: int | None, origin: str | None) -> str:
        async with self.database.transaction(grant.library_id) as connection:
            await lock_source(connection, grant)
            await extend_import_deadline(connection, grant, wait=SESSION_LIFETIME, now=self.clock())
            await require_storage(
                connection, grant.library_id, plans=self.plans, now=self.clock(), more_bytes=total_bytes or 0
            )
        return await self.gcs.open_session(
            grant.storage_path, content_type=grant.content_type, total_bytes=total_bytes, origin=origin
        )


async def release_if_stored(
    database: Database, storage: Storage, *, library_id: str, video_id: str, now: datetime
) -> bool:
    """Returns whether the file is in the store, and releases the import when it is first seen."""
    async with database.transaction(library_id) as connection:
        row = await lock_upload_source(connection, library_id, video_id)
    if row is None or row["size_bytes"] is not None:
        return row is not None
    size_bytes = await storage.size(row["storage_path"])  # objects appear only when complete
    if size_bytes is None:
        return False
    async with database.transaction(library_id) as connection:
        row = await lock_upload_source(connection, library_id, video_id)
        if row is not None and row["size_bytes"] is None:
            await release_import(connection, library_id, video_id, size_bytes=size_bytes, now=now)
    return row is not None
