"""The steps of an activation. What the host answered is written down at once, so that a repeat asks for it no more."""

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
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.objects import Storage
from cutroom.products.hosting import service
from cutroom.products.hosting.mux import (
    ERRORED,
    PLAYBACK_URL,
    READY,
    UPLOAD_ENDED,
    HostError,
    Mux,
    send_file,
)

URL_PURPOSE = "hosting-upload"
MOST_TRIES = 20  # of one call: some quarter of an hour


def mark_of(ref: JobRef) -> str:
    """What the host repeats to us: the attempt by which a workflow is found."""
    return f"{ref.library_id}.{ref.job_id}.{ref.attempt}"


@dataclass(frozen=True, slots=True)
class HostingActivities:
    """What the workflow of an activation calls."""

    database: Database
    storage: Storage
    secrecy: SecretBox
    host: Mux | None
    clock: Clock

    @activity.defn(name="open_hosting_upload")
    async def open_hosting_upload(self, ref: JobRef, video_id: str) -> None:
        """A place at the host for the source: made once, and found again if its answer was lost."""
        async with self.database.transaction(ref.library_id) as connection:
            known = await service.hosted(connection, ref.library_id, video_id, attempt=ref.attempt, now=self.clock())
        if known["upload_id"] is not None:
            return
        async with self._working(ref, "opening", progress=5):
            host = self._host()
            upload = await host.find_upload(mark_of(ref)) if activity.info().attempt > 1 else None
            upload = upload or await host.create_upload(mark_of(ref))
            sealed = self.secrecy.seal(URL_PURPOSE, (upload.url or "").encode(), context=video_id)
            async with self.database.transaction(ref.library_id) as connection:
                found = {"upload_id": upload.id, "sealed_url": sealed}
                await service.record(connection, ref.library_id, video_id, found=found, now=self.clock())

    @activity.defn(name="send_hosting_source")
    async def send_hosting_source(self, ref: JobRef, video_id: str) -> None:
        async with self.database.transaction(ref.library_id) as connection:
            known = await service.hosted(connection, ref.library_id, video_id, attempt=ref.attempt, now=self.clock())
        path = video_path(ref.library_id, video_id, "source")
        async with self._working(ref, "uploading", progress=60):
            size = await self.storage.size(path)
            if size is None:
                raise HostError("The source of this video is not there any more.", reason="NO_SOURCE", retry=False)
            url = self.secrecy.unseal(URL_PURPOSE, known["sealed_url"], context=video_id).decode()
            await send_file(url, size=size, read=partial(self._read, path), tell=activity.heartbeat)

    @activity.defn(name="check_hosting")
    async def check_hosting(self, ref: JobRef, video_id: str) -> bool:
        """Whether the host can play it by now; what it cannot make of it ends the activation."""
        async with self.database.transaction(ref.library_id) as connection:
            known = await service.hosted(connection, ref.library_id, video_id, attempt=ref.attempt, now=self.clock())
        async with self._working(ref, "transcoding", progress=90):
            host, asset_id = self._host(), known["asset_id"]
            if asset_id is None:
                upload = await host.get_upload(known["upload_id"])
                if upload.status in UPLOAD_ENDED:
                    raise HostError("The host gave up the upload.", reason=upload.status.upper(), retry=False)
                asset_id = upload.asset_id
            if asset_id is None:
                return False
            asset = await host.get_asset(asset_id)
            if asset.status == ERRORED:
                sentence = f"The host cannot play this video: {asset.error or 'it does not say why'}"
                raise HostError(sentence, reason="ASSET_ERRORED", retry=False)
            found = {"asset_id": asset_id, "playback_id": asset.playback_id}
            ready = asset.status == READY and asset.playback_id is not None
            async with self.database.transaction(ref.library_id) as connection:
                await service.record(connection, ref.library_id, video_id, found=found, now=self.clock())
                if ready:
                    url = PLAYBACK_URL.format(asset.playback_id)
                    await service.show(connection, ref.library_id, video_id, url=url)
            return ready

    async def _read(self, path: str, start: int, end: int) -> AsyncIterator[bytes]:
        async for chunk in self.storage.read(path, span=(start, end)):
            yield chunk

    def _host(self) -> Mux:
        if self.host is None:
            raise HostError("This worker has no hosting provider.", reason="NO_PROVIDER", retry=True)
        return self.host

    @asynccontextmanager
    async def _working(self, ref: JobRef, stage: str, *, progress: int) -> AsyncIterator[None]:
        """A host that is away may come back: it is waited for longer than a machine of ours."""
        try:
            async with job_step(self.database, self.clock, ref, stage, progress=progress):
                yield
        except HostError as error:
            patient = error.retry and activity.info().attempt < MOST_TRIES
            code = Code.INTERNAL if error.retry else Code.FAILED_PRECONDITION
            details = {"reason": error.reason}
            raise ApplicationError(str(error), details, type=code.value, non_retryable=not patient) from error
