"""One video: what can be made of it, and what was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutroom_client import models
from cutroom_client._async.jobs import AsyncJobHandle
from cutroom_client._async.waiting import JobProgress
from cutroom_client.transfers import SavedFile, TransferProgress

if TYPE_CHECKING:
    from cutroom_client._async.client import AsyncCutroom
    from cutroom_client.calls import Credits


class AsyncVideoHandle:
    """A video of the library. `data` is the video as it was last read."""

    def __init__(self, client: AsyncCutroom, data: models.Video) -> None:
        self._client = client
        self._operations = client.operations
        self.data = data

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} {self.data.title!r} {self.data.status}>"

    @property
    def id(self) -> str:
        return self.data.id

    @property
    def title(self) -> str | None:
        return self.data.title

    @property
    def status(self) -> str:
        return self.data.status

    async def refresh(self) -> AsyncVideoHandle:
        self.data = await self._operations.get_video(self.id)
        return self

    async def wait(self, timeout: float | None = None, progress: JobProgress | None = None) -> AsyncVideoHandle:
        """Waits until the video is imported. Products can be requested before that: they start when they can."""
        await self._client.jobs.wait(f"import_{self.id}", timeout, progress)
        return await self.refresh()

    async def update(self, *, if_match: str | None = None, **changes: Any) -> AsyncVideoHandle:  # noqa: ANN401
        """Changes the title, description, default_language_code, folder_ids or labels; None clears."""
        self.data = await self._operations.update_video(self.id, models.VideoPatch(**changes), if_match=if_match)
        return self

    async def delete(self, *, permanently: bool = False) -> None:
        """Moves the video to the trash; with `permanently`, removes it for good."""
        await self._operations.delete_video(self.id, permanently=permanently or None)

    async def restore(self) -> AsyncVideoHandle:
        """Takes the video out of the trash."""
        self.data = await self._operations.restore_video(self.id)
        return self

    async def jobs(self) -> list[AsyncJobHandle]:
        """Every job of the video, newest first."""
        return [AsyncJobHandle(self._client, each) for each in (await self._operations.list_video_jobs(self.id)).jobs]

    async def transcribe(self, language: str | None = None, *, max_credits: Credits | None = None) -> AsyncJobHandle:
        """The job of the transcript, which every video gets; with a language, the speech is recognized again in it."""
        if language is None:
            return await self._client.jobs.get(f"transcript_{self.id}")
        newest = (await self._operations.list_revisions(self.id, limit=1)).revisions
        body = models.RecognitionRequest(revision=newest[0].revision if newest else 1, language=language)
        started = await self._operations.recognize_transcript(self.id, body, max_credits=max_credits)
        return AsyncJobHandle(self._client, started.job)

    async def transcript(self) -> models.Transcript:
        """The transcript, or its status while it is being made."""
        return await self._operations.get_transcript(self.id)

    async def subtitles(self, language: str, path: str | Path) -> SavedFile:
        """Saves the subtitles of a language; the ending of the name is `.srt` or `.vtt`."""
        job = models.Job(id=f"captions_{self.id}_{language}", type="captions", status="ready", video_id=self.id)
        job.language = language
        return await AsyncJobHandle(self._client, job).download(path)

    async def captions(self, language: str, *, max_credits: Credits | None = None, **options: Any) -> AsyncJobHandle:  # noqa: ANN401
        """Translates the captions into a language."""
        body = models.NewCaptions(languages=[language], **options)
        created = await self._operations.create_captions(self.id, body, max_credits=max_credits)
        return AsyncJobHandle(self._client, created.jobs[0])

    async def dub(self, language: str, *, max_credits: Credits | None = None, **options: Any) -> AsyncJobHandle:  # noqa: ANN401
        """Dubs the video into a language. `product="premium"` keeps the speakers' voices."""
        return (await self.dubs([language], max_credits=max_credits, **options))[0]

    async def dubs(
        self,
        languages: Sequence[str],
        *,
        max_credits: Credits | None = None,
        **options: Any,  # noqa: ANN401
    ) -> list[AsyncJobHandle]:
        """Dubs the video into several languages, in one request with one limit."""
        body = models.NewDubs(languages=list(languages), **options)
        created = await self._operations.create_dubs(self.id, body, max_credits=max_credits)
        return [AsyncJobHandle(self._client, each) for each in created.jobs]

    async def shorts(
        self,
        kind: str = "shorts",
        *,
        max_credits: Credits | None = None,
        **options: Any,  # noqa: ANN401
    ) -> AsyncJobHandle:
        """Cuts `shorts`, a `promo` or `clips` out of the video. `download_all` of the job saves them."""
        shapes: Mapping[str, type[models.NewShorts | models.NewPromo | models.NewClips]] = {
            "shorts": models.NewShorts,
            "promo": models.NewPromo,
            "clips": models.NewClips,
        }
        body = shapes[kind](kind=kind, **options)
        asked = await self._operations.create_shorts(self.id, body, max_credits=max_credits)
        job = await self._operations.get_job(asked.job_id)
        return AsyncJobHandle(self._client, job, request_id=asked.shorts_request_id)

    async def thumbnails(
        self,
        prompt: str | None = None,
        *,
        max_credits: Credits | None = None,
        **options: Any,  # noqa: ANN401
    ) -> AsyncJobHandle:
        """Renders thumbnails, from a prompt or from the video itself. `download_all` of the job saves them."""
        body = models.NewThumbnail(prompt=prompt, **options) if prompt else models.NewThumbnail(**options)
        asked = await self._operations.create_thumbnail(self.id, body, max_credits=max_credits)
        request = getattr(asked, "thumbnail_request_id", None)
        return AsyncJobHandle(self._client, await self._operations.get_job(asked.job_id), request_id=request)

    async def package(
        self,
        *,
        title: str | None = "catchy",
        description: str | None = None,
        max_credits: Credits | None = None,
        **options: Any,  # noqa: ANN401
    ) -> list[AsyncJobHandle]:
        """Writes a title and a description in the given styles; one job for each."""
        if title is not None:
            options["generate_title"] = models.GenerateTitle(enabled=True, title_type=title)
        if description is not None:
            options["generate_description"] = models.GenerateDescription(enabled=True, description_type=description)
        created = await self._operations.create_packaging(
            self.id, models.NewPackaging(**options), max_credits=max_credits
        )
        return [AsyncJobHandle(self._client, each) for each in created.jobs]

    async def downloads(
        self, artifact: str = "source", language: str | None = None, *, uncut: bool = False
    ) -> AsyncJobHandle:
        """Prepares `source`, a `language_video` or a `bundle`. `download` of the job saves it."""
        body = models.NewDownload(artifact=artifact)
        if language is not None:
            body.language = language
        if uncut:
            body.uncut = True
        asked = await self._operations.create_download(self.id, body)
        job = await self._operations.get_job(asked.job_id)
        return AsyncJobHandle(self._client, job, request_id=asked.download_request_id)

    async def download(
        self,
        path: str | Path,
        *,
        artifact: str = "source",
        language: str | None = None,
        progress: TransferProgress | None = None,
    ) -> SavedFile:
        """Prepares a file and saves it. After a crash, the same call continues."""
        body = models.NewDownload(artifact=artifact)
        if language is not None:
            body.language = language
        return await self._client.products.save_prepared(self.id, body, Path(path), progress=progress)

    async def playback(self) -> models.PlaybackState:
        return await self._operations.get_playback(self.id)

    async def quote(self, **work: Any) -> models.Quote:  # noqa: ANN401
        """What work would cost: the fields of a credit bundle, such as `dubs` or `caption_language_codes`."""
        return await self._client.credits.quote(self.id, **work)
