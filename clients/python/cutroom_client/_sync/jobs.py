# Generated from `cutroom_client._async.jobs` by `just clients`. Do not edit.

"""Jobs: wait, cancel, retry, and download what they made."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutroom_client._sync.waiting import JobProgress, JobWaiter
from cutroom_client.models import Job, JobTimeline

if TYPE_CHECKING:
    from cutroom_client._sync.client import Cutroom
    from cutroom_client.calls import Credits
    from cutroom_client.transfers import SavedFile, TransferProgress


class JobHandle:
    """A job of a client. `data` is the job as it was last read."""

    def __init__(self, client: Cutroom, data: Job, *, request_id: str | None = None) -> None:
        self._client = client
        self.data = data
        self.request_id = request_id
        """The id of the shorts, thumbnail or download request that the job belongs to."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} {self.status}>"

    @property
    def id(self) -> str:
        return self.data.id

    @property
    def type(self) -> str:
        return self.data.type

    @property
    def status(self) -> str:
        return self.data.status

    @property
    def video_id(self) -> str | None:
        return self.data.video_id

    @property
    def language(self) -> str | None:
        return self.data.language

    @property
    def result(self) -> Mapping[str, Any]:
        """The output of a job that is ready."""
        return self.data.result or {}

    def refresh(self) -> JobHandle:
        self.data = self._client.operations.get_job(self.id)
        return self

    def wait(self, timeout: float | None = None, progress: JobProgress | None = None) -> JobHandle:
        """Waits until the job is ready. Raises JobFailedError if it fails, WaitTimeoutError after `timeout` seconds."""
        self.data = JobWaiter(self._client.transport, self.id, timeout, progress).finished()
        return self

    def cancel(self) -> JobHandle:
        """Cancels the job; its price is returned."""
        self.data = self._client.operations.cancel_job(self.id)
        return self

    def retry(self, *, max_credits: Credits | None = None) -> JobHandle:
        """Runs a failed job again, at the current price."""
        self.data = self._client.operations.retry_job(self.id, max_credits=max_credits)
        return self

    def timeline(self) -> JobTimeline:
        return self._client.operations.get_job_timeline(self.id)

    def download(self, path: str | Path, *, progress: TransferProgress | None = None) -> SavedFile:
        """Saves what the job made in a file, in a form that follows from the job and the ending of the name.

        A dub: the video in its language, or its audio for `.m4a`. Captions and transcripts: `.srt`, `.vtt`, or `.json`
        for a transcript. A download: its file. Jobs with several files have `download_all`.
        """
        return self._client.products.save(self, Path(path), progress=progress)

    def download_all(self, folder: str | Path, *, progress: TransferProgress | None = None) -> list[SavedFile]:
        """Saves every file of a job in a folder: shorts with their covers, or thumbnails."""
        return self._client.products.save_all(self, Path(folder), progress=progress)


class Jobs:
    """The jobs of the library."""

    def __init__(self, client: Cutroom) -> None:
        self._client = client

    def get(self, job_id: str) -> JobHandle:
        return JobHandle(self._client, self._client.operations.get_job(job_id))

    def wait(self, job_id: str, timeout: float | None = None, progress: JobProgress | None = None) -> JobHandle:
        return self.handle(job_id).wait(timeout, progress)

    def handle(self, job_id: str) -> JobHandle:
        """A handle of a job without a request."""
        return JobHandle(self._client, Job(id=job_id, type=job_id.partition("_")[0], status="queued"))
