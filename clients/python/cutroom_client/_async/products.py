"""Finds the files that jobs made, and saves them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom_client import models
from cutroom_client._async import runtime
from cutroom_client._async.downloads import AsyncFileDownload
from cutroom_client._async.jobs import AsyncJobHandle
from cutroom_client.download_plan import DownloadPlan
from cutroom_client.errors import UnexpectedResponseError
from cutroom_client.transfers import SavedFile, TransferProgress, sha256_of

if TYPE_CHECKING:
    from cutroom_client._async.client import AsyncCutroom

AUDIO_ENDINGS = frozenset({".m4a", ".aac", ".mp3", ".wav"})
SUBTITLE_ENDINGS = frozenset({".srt", ".vtt"})


class AsyncProducts:
    """The files of finished jobs."""

    def __init__(self, client: AsyncCutroom) -> None:
        self._client = client
        self._operations = client.operations

    async def save(self, job: AsyncJobHandle, path: Path, *, progress: TransferProgress | None) -> SavedFile:
        """Saves the file of a job; what it is follows from the job's type and the ending of the name."""
        ending, video = path.suffix.lower(), job.video_id or job.id.split("_")[1]
        if job.type == "transcript" and ending == ".json":
            return await self._save_transcript(video, path)
        if job.type in {"captions", "transcript"}:
            return await self.save_url(partial(self._subtitles, video, job.language, ending), path, f"{job.id}{ending}")
        if job.type == "dub" and ending in AUDIO_ENDINGS:
            find = partial(self._dub_audio, video, str(job.language), job.data.product)
            return await self.save_url(find, path, f"{job.id}{ending}", progress=progress)
        if job.type == "dub":
            body = models.NewDownload(artifact="language_video", language=job.language)
            return await self.save_prepared(video, body, path, progress=progress)
        if job.type == "download":
            request = job.request_id or job.id.removeprefix("download_")
            return await self.save_url(partial(self._download_url, request), path, job.id, progress=progress)
        if job.type in {"shorts", "thumbnail"}:
            urls = await self._urls(job)
            if len(urls) != 1:
                raise ValueError(f"{job.id} has {len(urls)} files: use download_all")
            return await self.save_url(partial(self._url_at, job, 0), path, f"{job.id}:0", progress=progress)
        raise ValueError(f"a job of type {job.type} makes no file")

    async def save_all(
        self, job: AsyncJobHandle, folder: Path, *, progress: TransferProgress | None
    ) -> list[SavedFile]:
        """Saves every file of a job, numbered from 1."""
        saved = []
        for index, (_, ending) in enumerate(await self._urls(job)):
            target = folder / f"{job.type}-{index + 1}{ending}"
            saved.append(
                await self.save_url(partial(self._url_at, job, index), target, f"{job.id}:{index}", progress=progress)
            )
        return saved

    async def save_url(
        self,
        find_url: runtime.FindUrl,
        path: Path,
        identity: str,
        *,
        progress: TransferProgress | None = None,
    ) -> SavedFile:
        """Saves a file at a signed URL. An earlier attempt with the same identity is continued."""
        plan = DownloadPlan(path, identity)
        plan.load()
        return await AsyncFileDownload(self._client.transport, find_url, plan, progress).run()

    async def save_prepared(
        self, video_id: str, body: models.NewDownload, path: Path, *, progress: TransferProgress | None
    ) -> SavedFile:
        """Has a file prepared, and saves it; after a crash, the file that was prepared before."""
        plan = DownloadPlan(path, json.dumps([video_id, body.to_wire()]))
        plan.load()
        request = plan.notes.get("download_request_id")
        if request is None or (await self._operations.get_download(request)).status == "failed":
            asked = await self._operations.create_download(video_id, body)
            request = asked.download_request_id
            plan = DownloadPlan(path, plan.identity, notes={"download_request_id": request})
            await runtime.in_thread(plan.save)
        await self._client.jobs.wait(f"download_{request}")
        find = partial(self._download_url, request)
        return await AsyncFileDownload(self._client.transport, find, plan, progress).run()

    async def _save_transcript(self, video_id: str, path: Path) -> SavedFile:
        transcript = await self._operations.get_transcript(video_id)
        text = json.dumps(transcript.to_wire(), ensure_ascii=False, indent=2) + "\n"
        await runtime.in_thread(path.write_text, text, encoding="utf-8")
        return SavedFile(path, len(text.encode()), await runtime.in_thread(sha256_of, path))

    async def _download_url(self, request_id: str) -> str:
        return present((await self._operations.get_download(request_id)).url, "the download is not ready")

    async def _dub_audio(self, video_id: str, language: str, product: str | None) -> str:
        dub = await self._operations.get_dub(video_id, language, product=product)
        return present(dub.audio_url, "the dub is not ready")

    async def _subtitles(self, video_id: str, language: str | None, ending: str) -> str:
        if ending not in SUBTITLE_ENDINGS:
            raise ValueError("subtitles are saved as .srt or .vtt")
        if language is None:
            language = present((await self._operations.get_transcript(video_id)).language, "there is no transcript")
        found = await self._operations.get_subtitles(video_id, language, format=ending[1:])
        return present(found.download_url, "the subtitles are not ready")

    async def _urls(self, job: AsyncJobHandle) -> list[tuple[str, str]]:
        """URL and ending of each file."""
        request = job.request_id or job.id.partition("_")[2]
        if job.type == "shorts":
            shorts = await self._operations.get_shorts(request)
            files = [(each.video_url, ".mp4") for each in shorts.outputs]
            files += [(each.thumbnail_url, ".jpg") for each in shorts.outputs]
            return [(url, ending) for url, ending in files if url]
        if job.type == "thumbnail":
            return [(url, ".jpg") for url in (await self._operations.get_thumbnail(request)).output_image_urls]
        return []

    async def _url_at(self, job: AsyncJobHandle, index: int) -> str:
        return (await self._urls(job))[index][0]


def present(value: str | None, message: str) -> str:
    """A value that a finished product has."""
    if value is None:
        raise UnexpectedResponseError(message)
    return value
