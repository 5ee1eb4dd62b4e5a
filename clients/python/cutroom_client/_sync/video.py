# Generated from `cutroom_client._async.video` by `just clients`. Do not edit.

"""One video: what can be made of it, and what was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutroom_client import models
from cutroom_client._sync.jobs import JobHandle
from cutroom_client._sync.waiting import JobProgress
from cutroom_client.transfers import SavedFile, TransferProgress

if TYPE_CHECKING:
    from cutroom_client._sync.client import Cutroom
    from cutroom_client.calls import Credits


class VideoHandle:
    """A video of the library. `data` is the video as it was last read."""

    def __init__(self, client: Cutroom, data: models.Video) -> None:
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

    def refresh(self) -> VideoHandle:
        self.data = self._operations.get_video(self.id)
        return self

    def wait(self, timeout: float | None = None, progress: JobProgress | None = None) -> VideoHandle:
        """Waits until the video is imported. Products can be requested before that: they start when they can."""
        self._client.jobs.wait(f"import_{self.id}", timeout, progress)
        return self.refresh()

    def update(self, *, if_match: str | None = None, **changes: Any) -> VideoHandle:  # noqa: ANN401
        """Changes the title, description, default_language_code, folder_ids or labels; None clears."""
        self.data = self._operations.update_video(self.id, models.VideoPatch(**changes), if_match=if_match)
        return self

    def delete(self, *, permanently: bool = False) -> None:
        """Moves the video to the trash; with `permanently`, removes it for good."""
        self._operations.delete_video(self.id, permanently=permanently or None)

    def restore(self) -> VideoHandle:
        """Takes the video out of the trash."""
        self.data = self._operations.restore_video(self.id)
        return self

    def jobs(self) -> list[JobHandle]:
        """Every job of the video, newest first."""
        return [JobHandle(self._client, each) for each in (self._operations.list_video_jobs(self.id)).jobs]

    def transcribe(self, language: str | None = None, *, max_credits: Credits | None = None) -> JobHandle:
        """The job of the transcript, which every video gets; with a language, the speech is recognized again in it."""
        if language is None:
            return self._client.jobs.get(f"transcript_{self.id}")
        newest = (self._operations.list_revisions(self.id, limit=1)).revisions
        body = models.RecognitionRequest(revision=newest[0].revision if newest else 1, language=language)
        started = self._operations.recognize_transcript(self.id, body, max_credits=max_credits)
        return JobHandle(self._client, started.job)

    def transcript(self) -> models.Transcript:
        """The transcript, or its status while it is being made."""
        return self._operations.get_transcript(self.id)

    def subtitles(self, language: str, path: str | Path) -> SavedFile:
        """Saves the subtitles of a language; the ending of the name is `.srt` or `.vtt`."""
        job = models.Job(id=f"captions_{self.id}_{language}", type="captions", status="ready", video_id=self.id)
        job.language = language
        return JobHandle(self._client, job).download(path)

    def captions(self, language: str, *, max_credits: Credits | None = None, **options: Any) -> JobHandle:  # noqa: ANN401
        """Translates the captions into a language."""
        body = models.NewCaptions(languages=[language], **options)
        created = self._operations.create_captions(self.id, body, max_credits=max_credits)
        return JobHandle(self._client, created.jobs[0])

    def dub(self, language: str, *, max_credits: Credits | None = None, **options: Any) -> JobHandle:  # noqa: ANN401
        """Dubs the video into a language. `product="premium"` keeps the speakers' voices."""
        return (self.dubs([language], max_credits=max_credits, **options))[0]

    def dubs(
        self,
        languages: Sequence[str],
        *,
        max_credits: Credits | None = None,
        **options: Any,  # noqa: ANN401
    ) -> list[JobHandle]:
        """Dubs the video into several languages, in one request with one limit."""
        body = models.NewDubs(languages=list(languages), **options)
        created = self._operations.create_dubs(self.id, body, max_credits=max_credits)
        return [JobHandle(self._client, each) for each in created.jobs]

    def shorts(
        self,
        kind: str = "shorts",
        *,
        max_credits: Credits | None = None,
        **options: Any,  # noqa: ANN401
    ) -> JobHandle:
        """Cuts `shorts`, a `promo` or `clips` out of the video. `download_all` of the job saves them."""
        shapes: Mapping[str, type[models.NewShorts | models.NewPromo | models.NewClips]] = {
            "shorts": models.NewShorts,
            "promo": models.NewPromo,
            "clips": models.NewClips,
        }
        body = shapes[kind](kind=kind, **options)
        asked = self._operations.create_shorts(self.id, body, max_credits=max_credits)
        job = self._operations.get_job(asked.job_id)
        return JobHandle(self._client, job, request_id=asked.shorts_request_id)

    def thumbnails(
        self,
        prompt: str | None = None,
        *,
        max_credits: Credits | None = None,
        **options: Any,  # noqa: ANN401
    ) -> JobHandle:
        """Renders thumbnails, from a prompt or from the video itself. `download_all` of the job saves them."""
        body = models.NewThumbnail(prompt=prompt, **options) if prompt else models.NewThumbnail(**options)
        asked = self._operations.create_thumbnail(self.id, body, max_credits=max_credits)
        request = getattr(asked, "thumbnail_request_id", None)
        return JobHandle(self._client, self._operations.get_job(asked.job_id), request_id=request)

    def package(
        self,
        *,
        title: str | None = "catchy",
        description: str | None = None,
        max_credits: Credits | None = None,
        **options: Any,  # noqa: ANN401
    ) -> list[JobHandle]:
        """Writes a title and a description in the given styles; one job for each."""
        if title is not None:
            options["generate_title"] = models.GenerateTitle(enabled=True, title_type=title)
        if description is not None:
            options["generate_description"] = models.GenerateDescription(enabled=True, description_type=description)
        created = self._operations.create_packaging(self.id, models.NewPackaging(**options), max_credits=max_credits)
        return [JobHandle(self._client, each) for each in created.jobs]

    def downloads(self, artifact: str = "source", language: str | None = None, *, uncut: bool = False) -> JobHandle:
        """Prepares `source`, a `language_video` or a `bundle`. `download` of the job saves it."""
        body = models.NewDownload(artifact=artifact)
        if language is not None:
            body.language = language
        if uncut:
            body.uncut = True
        asked = self._operations.create_download(self.id, body)
        job = self._operations.get_job(asked.job_id)
        return JobHandle(self._client, job, request_id=asked.download_request_id)

    def download(
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
        return self._client.products.save_prepared(self.id, body, Path(path), progress=progress)

    def playback(self) -> models.PlaybackState:
        return self._operations.get_playback(self.id)

    def quote(self, **work: Any) -> models.Quote:  # noqa: ANN401
        """What work would cost: the fields of a credit bundle, such as `dubs` or `caption_language_codes`."""
        return self._client.credits.quote(self.id, **work)
