"""Import activities: fetch and inspect the source, then encode the audio and proxy video that other products use."""

import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import TypeAdapter
from temporalio import activity
from temporalio.exceptions import ApplicationError

from cutroom.accounts.plans import Plans
from cutroom.errors import Code, CutroomError
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.step_progress import ReportProgress
from cutroom.jobs.steps import failure, job_step
from cutroom.library.quotas import load_state
from cutroom.library.rules import poster_path, source_path, video_path
from cutroom.library.videos import set_poster
from cutroom.media import audio, video
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.poster import make_poster
from cutroom.media.probe import MediaInfo, probe
from cutroom.media.process import MediaError, OnFraction, Reason
from cutroom.media.remux import remux_tracks
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.slots import SlotsFullError
from cutroom.platform.storage.objects import Storage
from cutroom.products.ingest import service
from cutroom.products.ingest.import_slots import ImportSlots
from cutroom.products.ingest.rules import MediaKind, SourceType
from cutroom.products.ingest.sources import ImportSource, SourceError, SourceInfo
from cutroom.products.ingest.sources_youtube import YoutubeSource

MAX_SOURCE_BYTES = 100 * 1024**3
SLOT_RETRY = timedelta(seconds=5)
# Progress of an import after each step; uploads begin with the inspection.
DOWNLOADED_PERCENT, INSPECTED_PERCENT, POSTER_PERCENT, ENCODED_PERCENT = 20, 26, 28, 90
AUDIO_JOINED_PERCENT, JOINED_PERCENT = 93, 97

ChunkKind = Literal["audio", "video"]
INFO: TypeAdapter[MediaInfo] = TypeAdapter(MediaInfo)


@dataclass(frozen=True, slots=True)
class SourceInspection:
    """Properties of a source that the workflow needs; `info` is a MediaInfo as JSON."""

    info: dict[str, Any]
    audio_chunks: int
    video_chunks: int


@dataclass(frozen=True, slots=True)
class PreflightRequest:
    """A URL to check; encrypted, because it is stored in the workflow history."""

    video_id: str
    type: str
    sealed_url: str  # base64


@dataclass(frozen=True, slots=True)
class PreflightResult:
    """Why the source was rejected, or None."""

    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class ChunkTask:
    """An audio or video chunk to encode."""

    kind: ChunkKind
    index: int
    info: dict[str, Any]
    share: float  # of the import's progress in percent


@dataclass(frozen=True, slots=True)
class IngestActivities:
    """Import activities; each writes to keys derived from its input, so a retry overwrites the same objects."""

    database: Database
    storage: Storage
    media_cache: LocalMediaCache
    sandbox: Sandbox
    sources: Mapping[SourceType, ImportSource]
    youtube: YoutubeSource
    slots: ImportSlots
    secret_box: SecretBox
    clock: Clock
    plans: Plans

    @activity.defn(name="probe_source")
    async def probe_source(self, request: PreflightRequest) -> PreflightResult:
        """Checks a URL before its video is accepted."""
        sealed = base64.b64decode(request.sealed_url)
        url = self.secret_box.unseal(service.URL_PURPOSE, sealed, context=request.video_id).decode()
        kind = SourceType(request.type)
        try:
            await (self.youtube if kind is SourceType.YOUTUBE else self.sources[kind]).probe(url)
        except SourceError as error:
            return PreflightResult(refusal=str(error))
        return PreflightResult()

    @activity.defn(name="fetch_source")
    async def fetch_source(self, ref: JobRef, video_id: str) -> None:
        """Downloads the source into the object store; uploads, and files that were inspected before, are there."""
        async with self.database.transaction(ref.library_id) as connection:
            source = await service.get_source(connection, ref.library_id, video_id)
        if source.type is SourceType.UPLOAD or source.is_inspected:
            return
        url = self.secret_box.unseal(service.URL_PURPOSE, source.sealed_url, context=video_id).decode()
        async with (
            self._slot(ref, source.type, url),
            self._step(ref, "downloading", progress=DOWNLOADED_PERCENT) as report_progress,
        ):
            with self.media_cache.temp_dir() as temp_dir:
                info, path = await self._download(source.type, url, temp_dir, report_progress=report_progress)
                await self.storage.put(source.storage_path, path)
                await self._count_stored(ref, video_id, source.storage_path, size_bytes=path.stat().st_size)
        async with self.database.transaction(ref.library_id) as connection:
            await service.record_title(connection, ref.library_id, video_id, title=info.title or info.file_name)

    async def _count_stored(self, ref: JobRef, video_id: str, path: str, *, size_bytes: int) -> None:
        """Counts a downloaded file, or deletes it if the library may not store it."""
        try:
            async with self.database.transaction(ref.library_id) as connection:
                await service.set_source_size(connection, ref.library_id, video_id, size_bytes=size_bytes)
                (await load_state(connection, ref.library_id, self.plans)).require_within()
        except CutroomError:
            await self.storage.delete(path)
            raise

    @asynccontextmanager
    async def _slot(self, ref: JobRef, kind: SourceType, url: str) -> AsyncIterator[None]:
        """Holds a slot of the library and the host; without one, leaves the worker to others and tries again later."""
        try:
            async with self.slots.hold(ref.library_id, kind, url):
                yield
        except SlotsFullError as error:
            message = "Too many imports from this host or into this library are running."
            raise ApplicationError(
                message, {"reason": "UNAVAILABLE"}, type=Code.UNSUPPORTED_SOURCE.value, next_retry_delay=SLOT_RETRY
            ) from error

    async def _download(
        self, kind: SourceType, url: str, temp_dir: Path, *, report_progress: ReportProgress
    ) -> tuple[SourceInfo, Path]:
        """Downloads the source as one file; separate YouTube video and audio tracks are remuxed in the sandbox."""

        async def on_progress(received: int, total: int | None) -> None:
            if total:
                report_progress(received / total)

        video_file, audio_file = temp_dir / "source", temp_dir / "audio"
        with FileSink(video_file) as to, FileSink(audio_file) as audio_to:
            if kind is SourceType.YOUTUBE:
                info = await self.youtube.probe(url)  # only the probe returns the title
                await self.youtube.download(
                    url,
                    to,
                    audio_to=audio_to,
                    max_bytes=MAX_SOURCE_BYTES,
                    on_progress=on_progress,
                    scratch=temp_dir,
                )
            else:
                source = self.sources[kind]
                info = await source.download(url, to, max_bytes=MAX_SOURCE_BYTES, on_progress=on_progress)
        if not audio_file.stat().st_size:
            return info, video_file
        return info, await remux_tracks(video_file, audio_file, output=temp_dir, sandbox=self.sandbox)

    @activity.defn(name="inspect_source")
    async def inspect_source(self, ref: JobRef, video_id: str) -> SourceInspection:
        """Probes the file in the sandbox and records its properties."""
        async with self.database.transaction(ref.library_id) as connection:
            source = await service.get_source(connection, ref.library_id, video_id)
        async with (
            self._step(ref, "inspecting", progress=INSPECTED_PERCENT),
            self.media_cache.fetch(source.storage_path) as copy,
        ):
            info = await probe(copy.path, sandbox=self.sandbox)
            if source.media_kind is MediaKind.AUDIO:
                info = as_audio(info)
            async with self.database.transaction(ref.library_id) as connection:
                await service.record_media(
                    connection, ref.library_id, video_id, info=info, size_bytes=copy.size_bytes, sha256=copy.sha256
                )
                (await load_state(connection, ref.library_id, self.plans)).require_within()
        return SourceInspection(
            info=INFO.dump_python(info, mode="json"),
            audio_chunks=len(audio.plan_audio(info)) if info.audio_streams else 0,
            video_chunks=len(video.plan_proxy(info)) if info.media_type == "video" else 0,
        )

    @activity.defn(name="make_poster")
    async def make_poster(self, ref: JobRef, video_id: str, info: dict[str, Any]) -> None:
        path = source_path(ref.library_id, video_id)
        async with self._step(ref, "creating poster", progress=POSTER_PERCENT), self.media_cache.fetch(path) as copy:
            with self.media_cache.temp_dir() as temp_dir:
                poster = await make_poster(copy.path, INFO.validate_python(info), output=temp_dir, sandbox=self.sandbox)
                if poster is None:
                    return
                stored = poster_path(ref.library_id, video_id)
                await self.storage.put(stored, poster)
        async with self.database.transaction(ref.library_id) as connection:
            await set_poster(connection, ref.library_id, video_id, path=stored)

    @activity.defn(name="encode_chunk")
    async def encode_chunk(self, ref: JobRef, video_id: str, task: ChunkTask) -> None:
        """Encodes one chunk, at most about a minute of work, into its own objects; those of an earlier attempt stay."""
        info, path = INFO.validate_python(task.info), source_path(ref.library_id, video_id)
        stored = [_chunk_path(ref, video_id, file.name) for file in _chunk_files(task, info)]
        if all([await self.storage.size(each) is not None for each in stored]):
            return
        step = self._step(ref, f"encoding {task.kind}", progress=ENCODED_PERCENT, share=task.share)
        async with step as report_progress, self.media_cache.fetch(path) as copy:
            with self.media_cache.temp_dir() as temp_dir:
                for file in await self._encode(task, info, copy.path, temp_dir, on_fraction=report_progress):
                    await self.storage.put(_chunk_path(ref, video_id, file.name), file)

    async def _encode(
        self, task: ChunkTask, info: MediaInfo, source: Path, temp_dir: Path, *, on_fraction: OnFraction
    ) -> list[Path]:
        if task.kind == "audio":
            chunk = audio.plan_audio(info)[task.index]
            files = await audio.make_audio_chunk(
                source, info, chunk, output=temp_dir, sandbox=self.sandbox, on_fraction=on_fraction
            )
            return [files.speech, files.mix, files.proxy]
        chunk = video.plan_proxy(info)[task.index]
        proxy = await video.make_proxy_chunk(
            source, info, chunk, output=temp_dir, sandbox=self.sandbox, on_fraction=on_fraction
        )
        return [proxy]

    @activity.defn(name="join_audio_chunks")
    async def join_audio_chunks(self, ref: JobRef, video_id: str, info: dict[str, Any]) -> None:
        """Joins the audio chunks into one file each for recognition, dubbing and the proxy."""
        chunks = audio.plan_audio(INFO.validate_python(info))
        async with self._step(ref, "joining audio", progress=AUDIO_JOINED_PERCENT):
            with self.media_cache.temp_dir() as temp_dir:
                chunk_files = [audio.audio_chunk_files(chunk, temp_dir) for chunk in chunks]
                for files in chunk_files:
                    await self._fetch_chunks(ref, video_id, [files.speech, files.mix, files.proxy])
                joined = await audio.join_audio(chunk_files, output=temp_dir, sandbox=self.sandbox)
                for file in (joined.speech, joined.mix, joined.proxy):
                    await self.storage.put(video_path(ref.library_id, video_id, file.name), file)

    @activity.defn(name="join_video_chunks")
    async def join_video_chunks(self, ref: JobRef, video_id: str, info: dict[str, Any]) -> None:
        """Joins the video chunks into the seekable proxy, with audio if the source has any."""
        media_info = INFO.validate_python(info)
        async with self._step(ref, "joining video", progress=JOINED_PERCENT):
            with self.media_cache.temp_dir() as temp_dir:
                chunks = [video.proxy_chunk_file(chunk, temp_dir) for chunk in video.plan_proxy(media_info)]
                await self._fetch_chunks(ref, video_id, chunks)
                audio_file = temp_dir / "proxy.aac" if media_info.audio_streams else None
                if audio_file is not None:
                    await self._download_object(video_path(ref.library_id, video_id, audio_file.name), audio_file)
                proxy = await video.join_proxy(
                    chunks, media_info, audio=audio_file, output=temp_dir, sandbox=self.sandbox
                )
                await self.storage.put(video_path(ref.library_id, video_id, proxy.name), proxy)

    @activity.defn(name="delete_import_chunks")
    async def delete_import_chunks(self, ref: JobRef, video_id: str) -> None:
        await self.storage.delete_under(_chunk_path(ref, video_id, ""))

    async def _fetch_chunks(self, ref: JobRef, video_id: str, files: list[Path]) -> None:
        for file in files:
            await self._download_object(_chunk_path(ref, video_id, file.name), file)

    async def _download_object(self, path: str, to: Path) -> None:
        with to.open("wb") as file:
            async for chunk in self.storage.read(path):
                file.write(chunk)

    @asynccontextmanager
    async def _step(
        self, ref: JobRef, stage: str, *, progress: float, share: float | None = None
    ) -> AsyncIterator[ReportProgress]:
        """A job step that reports source errors as job failures."""
        async with job_step(self.database, self.clock, ref, stage, progress=progress, share=share) as report:
            try:
                yield report
            except SourceError as error:  # inside the step, which translates other errors
                raise failure(error.code, str(error), reason="UNAVAILABLE", retry=error.retryable) from error


class FileSink:
    """Writes a download to a file."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()

    async def write(self, data: bytes) -> None:
        self._file.write(data)


def as_audio(info: MediaInfo) -> MediaInfo:
    """Treats a file sent as audio as audio, even if it contains video, such as cover art."""
    if not info.audio_streams:
        raise MediaError(Reason.NO_STREAMS, "The file was sent as audio, but has no audio stream.")
    return replace(info, media_type="audio")


def _chunk_path(ref: JobRef, video_id: str, name: str) -> str:
    """The same for every attempt: a source that has been inspected does not change."""
    return video_path(ref.library_id, video_id, f"chunks/{name}")


def _chunk_files(task: ChunkTask, info: MediaInfo) -> list[Path]:
    if task.kind == "video":
        return [video.proxy_chunk_file(video.plan_proxy(info)[task.index], Path())]
    files = audio.audio_chunk_files(audio.plan_audio(info)[task.index], Path())
    return [files.speech, files.mix, files.proxy]
