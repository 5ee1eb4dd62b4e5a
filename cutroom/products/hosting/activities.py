"""Activities of the hosting workflow; provider responses are saved immediately, so that retries do not repeat calls."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from temporalio import activity
from temporalio.exceptions import ApplicationError

from cutroom.errors import Code
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import job_step
from cutroom.library.rules import video_path
from cutroom.library.videos import set_hosted_url
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.objects import Storage
from cutroom.products.hosting import service
from cutroom.products.hosting.mux import (
    ERRORED,
    FAILED_UPLOAD_STATUSES,
    PLAYBACK_URL,
    READY,
    HostingError,
    Mux,
    send_file,
)

URL_PURPOSE = "hosting-upload"
MAX_ATTEMPTS = 20  # per call, about 15 minutes


def passthrough_for(job: JobRef) -> str:
    """The provider's passthrough value, from which the workflow id is derived."""
    return f"{job.library_id}.{job.job_id}.{job.attempt}"


@dataclass(frozen=True, slots=True)
class HostingActivities:
    """Activities of HostingWorkflow."""

    database: Database
    storage: Storage
    secret_box: SecretBox
    host: Mux | None
    clock: Clock

    @activity.defn(name="delete_hosted_assets")
    async def delete_hosted_assets(self, library_id: str) -> dict[str, int]:
        """Deletes what the provider holds for an erased library; returns how many assets were deleted and left.

        They are left if the provider is no longer configured; its other errors are retried.
        """
        async with self.database.transaction(library_id) as connection:
            assets = await service.list_assets(connection, library_id)
        if self.host is None:
            return {"deleted": 0, "left": len(assets)}
        for asset_id in assets:
            await self.host.delete_asset(asset_id)
            activity.heartbeat()
        return {"deleted": len(assets), "left": 0}

    @activity.defn(name="open_hosting_upload")
    async def open_hosting_upload(self, job: JobRef, video_id: str) -> None:
        """Creates an upload at the provider; on a retry, first looks for one whose response was lost."""
        async with self.database.transaction(job.library_id) as connection:
            hosting = await service.load_hosting(
                connection, job.library_id, video_id, attempt=job.attempt, now=self.clock()
            )
        if hosting["upload_id"] is not None:
            return
        async with self._job_step(job, "opening", progress=5):
            host = self._host()
            upload = await host.find_upload(passthrough_for(job)) if activity.info().attempt > 1 else None
            upload = upload or await host.create_upload(passthrough_for(job))
            sealed = self.secret_box.seal(URL_PURPOSE, (upload.url or "").encode(), context=video_id)
            async with self.database.transaction(job.library_id) as connection:
                values = {"upload_id": upload.id, "sealed_url": sealed}
                await service.update_hosting(connection, job.library_id, video_id, values=values, now=self.clock())

    @activity.defn(name="send_hosting_source")
    async def send_hosting_source(self, job: JobRef, video_id: str) -> None:
        async with self.database.transaction(job.library_id) as connection:
            hosting = await service.load_hosting(
                connection, job.library_id, video_id, attempt=job.attempt, now=self.clock()
            )
        path = video_path(job.library_id, video_id, "source")
        async with self._job_step(job, "uploading", progress=60):
            size = await self.storage.size(path)
            if size is None:
                raise HostingError("The source file of this video no longer exists.", reason="NO_SOURCE", retry=False)
            url = self.secret_box.unseal(URL_PURPOSE, hosting["sealed_url"], context=video_id).decode()
            await send_file(url, size=size, read=partial(self._read, path), on_progress=activity.heartbeat)

    @activity.defn(name="check_hosting")
    async def check_hosting(self, job: JobRef, video_id: str) -> bool:
        """Whether the video is playable at the provider; fails if it cannot be processed."""
        async with self.database.transaction(job.library_id) as connection:
            hosting = await service.load_hosting(
                connection, job.library_id, video_id, attempt=job.attempt, now=self.clock()
            )
        async with self._job_step(job, "transcoding", progress=90):
            host, asset_id = self._host(), hosting["asset_id"]
            if asset_id is None:
                upload = await host.get_upload(hosting["upload_id"])
                if upload.status in FAILED_UPLOAD_STATUSES:
                    raise HostingError(
                        "The hosting provider rejected the upload.", reason=upload.status.upper(), retry=False
                    )
                asset_id = upload.asset_id
            if asset_id is None:
                return False
            asset = await host.get_asset(asset_id)
            if asset.status == ERRORED:
                message = f"The hosting provider cannot process this video: {asset.error or 'no reason given'}"
                raise HostingError(message, reason="ASSET_ERRORED", retry=False)
            values = {"asset_id": asset_id, "playback_id": asset.playback_id}
            ready = asset.status == READY and asset.playback_id is not None
            async with self.database.transaction(job.library_id) as connection:
                await service.update_hosting(connection, job.library_id, video_id, values=values, now=self.clock())
                if ready:
                    url = PLAYBACK_URL.format(asset.playback_id)
                    await set_hosted_url(connection, job.library_id, video_id, url=url, now=self.clock())
            return ready

    async def _read(self, path: str, start: int, end: int) -> AsyncIterator[bytes]:
        async for chunk in self.storage.read(path, span=(start, end)):
            yield chunk

    def _host(self) -> Mux:
        if self.host is None:
            raise HostingError("This worker has no hosting provider configured.", reason="NO_PROVIDER", retry=True)
        return self.host

    @asynccontextmanager
    async def _job_step(self, job: JobRef, stage: str, *, progress: int) -> AsyncIterator[None]:
        """Reports progress; retries provider outages longer than other errors."""
        try:
            async with job_step(self.database, self.clock, job, stage, progress=progress):
                yield
        except HostingError as error:
            should_retry = error.retry and activity.info().attempt < MAX_ATTEMPTS
            code = Code.INTERNAL if error.retry else Code.FAILED_PRECONDITION
            details = {"reason": error.reason}
            raise ApplicationError(str(error), details, type=code.value, non_retryable=not should_retry) from error
