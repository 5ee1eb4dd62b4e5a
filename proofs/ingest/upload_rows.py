"""Creates videos that wait for an upload, directly in the database, and checks the result."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import obstore

from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.objects import Storage
from cutroom.products.uploads.grants import Grant, sign_grant, sign_start_url
from cutroom.products.uploads.rules import START_LIFETIME
from dev.scratch import Accounts

CONTENT_TYPE = "video/mp4"


@dataclass(frozen=True)
class UploadTarget:
    """A video that waits for its file, with signed upload URLs."""

    accounts: Accounts
    library_id: str
    video_id: str

    @property
    def storage_path(self) -> str:
        return f"libraries/{self.library_id}/videos/{self.video_id}/source"

    def start_url(self, base_url: str) -> str:
        return sign_start_url(self._secret_box(), base_url, self._grant())

    def grant_token(self) -> str:
        return sign_grant(self._secret_box(), self._grant())

    def _grant(self) -> Grant:
        until = int((system_clock() + START_LIFETIME).timestamp())
        return Grant(self.library_id, self.video_id, self.storage_path, content_type=CONTENT_TYPE, expires_at=until)

    def _secret_box(self) -> SecretBox:
        return SecretBox(self.accounts.settings.secret_key.get_secret_value())

    async def find_fault(self, file: Path) -> str | None:
        """What is wrong with the completed upload; None if nothing."""
        storage = Storage.connect(self.accounts.settings)
        stored = hashlib.sha256()
        async for chunk in storage.read(self.storage_path):
            stored.update(chunk)
        digest, size = _sum(file)
        if stored.digest() != digest:
            return "the bytes differ"
        objects = [each["path"] async for some in obstore.list(storage.store, self._folder()) for each in some]
        if objects != [self.storage_path]:
            return f"{len(objects)} objects"
        return await self._check_rows(size)

    def _folder(self) -> str:
        return f"libraries/{self.library_id}/"

    async def _check_rows(self, size: int) -> str | None:
        row = await self.accounts.connection.fetchrow(
            """SELECT s.size_bytes, j.depends_on, (SELECT count(*) FROM outbox o WHERE o.workflow_id = j.id) AS starts,
                   (SELECT array_agg(state) FROM upload_sessions u WHERE u.video_id = s.video_id) AS states
               FROM sources s JOIN jobs j ON j.video_id = s.video_id WHERE s.video_id = $1""",
            self.video_id,
        )
        assert row is not None
        found = tuple(row)
        return None if found == (size, [], 1, ["complete"]) else f"rows: {found}"

    async def delete(self) -> None:
        await Storage.connect(self.accounts.settings).delete(self.storage_path)


def _sum(file: Path) -> tuple[bytes, int]:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").digest(), file.stat().st_size


async def create_target(accounts: Accounts) -> UploadTarget:
    """Insert the rows that POST /videos creates for an upload, in a new library."""
    person, video_id, now = await accounts.person(), new_id(), system_clock()
    target = UploadTarget(accounts, person.library_id, video_id)
    own = {"library_id": person.library_id, "created_at": now}
    await insert(accounts.connection, "videos", {**own, "id": video_id, "status": "queued"})
    source = {"video_id": video_id, "type": "upload", "storage_path": target.storage_path}
    await insert(accounts.connection, "sources", {**own, **source})
    await accounts.connection.execute(
        """INSERT INTO jobs (library_id, id, type, status, video_id, attempt, plan, depends_on, progress, created_at,
               updated_at) VALUES ($1, $2, 'import', 'queued', $3, 1, '{}', ARRAY[$4], 0, $5, $5)""",
        person.library_id,
        f"import_{video_id}",
        video_id,
        f"upload_{video_id}",
        now,
    )
    return target
