"""Import activities: fetch and inspect the source, make its poster, and extract the audio that other products use."""

import base64
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

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
from cutroom.media import audio
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.poster import make_poster
from cutroom.media.probe import MediaInfo, probe
from cutroom.media.process import MediaError, Reason
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
DOWNLOADED_PERCENT, INSPECTED_PERCENT, POSTER_PERCENT, ENCODED_PERCENT, JOINED_PERCENT = 40, 50, 60, 95, 97

INFO: TypeAdapter[MediaInfo] = TypeAdapter(MediaInfo)


@dataclass(frozen=True, slots=True)
class SourceInspection:
    """Properties of a source that the workflow needs; `info` is a MediaInfo as JSON."""

    info: dict[str, Any]
    audio_chunks: int
    video_chunks: int = 0  # of imports that were started by version 0.1


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
class AudioChunkTask:
    """A chunk of audio to encode."""

    index: int
    info: dict[str, Any]
    total_chunks: int


@dataclass(frozen=True, slots=True)
class ChunkTask:
    """A chunk of an import that was started by version 0.1."""

    kind: str
    index: int
    info: dict[str, Any]
    total_chunks: int = 1


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
        """Probes the file in the sandbox, records its properties, and makes the poster of a video."""
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
        if info.media_type == "video":
            await self._make_poster(ref, video_id, info)
        audio_chunks = len(audio.plan_audio(info)) if info.audio_streams else 0
        return SourceInspection(INFO.dump_python(info, mode="json"), audio_chunks)

    async def _make_poster(self, ref: JobRef, video_id: str, info: MediaInfo) -> None:
        path = source_path(ref.library_id, video_id)
        async with self._step(ref, "creating poster", progress=POSTER_PERCENT), self.media_cache.fetch(path) as copy:
            with self.media_cache.temp_dir() as temp_dir:
                poster = await make_poster(copy.path, info, output=temp_dir, sandbox=self.sandbox)
                if poster is None:
                    return
                stored = poster_path(ref.library_id, video_id)
                await self.storage.put(stored, poster)
        async with self.database.transaction(ref.library_id) as connection:
            await set_poster(connection, ref.library_id, video_id, path=stored)

    @activity.defn(name="encode_audio_chunk")
    async def encode_audio_chunk(self, ref: JobRef, video_id: str, task: AudioChunkTask) -> None:
        """Extracts a chunk of the audio into its own objects; those of an earlier attempt stay.

        The only chunk of a recording is not joined with others, and is stored as the audio of the video.
        """
        await self._encode_audio_chunk(ref, video_id, task, is_joined=task.total_chunks == 1)

    async def _encode_audio_chunk(self, ref: JobRef, video_id: str, task: AudioChunkTask, *, is_joined: bool) -> None:
        info, path = INFO.validate_python(task.info), source_path(ref.library_id, video_id)
        chunk = audio.plan_audio(info)[task.index]
        names = [each.name for each in audio.audio_chunk_files(chunk, Path())]
        stored = [_chunk_path(ref, video_id, name) for name in names]
        if is_joined:
            stored = [video_path(ref.library_id, video_id, name) for name in audio.JOINED_NAMES]
        if all([await self.storage.size(each) is not None for each in stored]):
            return
        share = (ENCODED_PERCENT - POSTER_PERCENT) / task.total_chunks
        step = self._step(ref, "encoding audio", progress=ENCODED_PERCENT, share=share)
        async with step as report_progress, self.media_cache.fetch(path) as copy:
            with self.media_cache.temp_dir() as temp_dir:
                files = await audio.make_audio_chunk(
                    copy.path, info, chunk, output=temp_dir, sandbox=self.sandbox, on_fraction=report_progress
                )
                for stored_path, file in zip(stored, files, strict=True):
                    await self.storage.put(stored_path, file)

    @activity.defn(name="join_audio_chunks")
    async def join_audio_chunks(self, ref: JobRef, video_id: str, info: dict[str, Any]) -> None:
        """Joins the audio chunks into one file each for recognition and dubbing, and deletes them."""
        chunks = audio.plan_audio(INFO.validate_python(info))
        joined = [video_path(ref.library_id, video_id, name) for name in audio.JOINED_NAMES]
        async with self._step(ref, "joining audio", progress=JOINED_PERCENT):
            if not all([await self.storage.size(each) is not None for each in joined]):
                with self.media_cache.temp_dir() as temp_dir:
                    chunk_files = [audio.audio_chunk_files(chunk, temp_dir) for chunk in chunks]
                    for files in chunk_files:
                        await self._fetch_chunks(ref, video_id, files)
                    made = await audio.join_audio(chunk_files, output=temp_dir, sandbox=self.sandbox)
                    for path, file in zip(joined, made, strict=True):
                        await self.storage.put(path, file)
            await self.storage.delete_under(_chunk_path(ref, video_id, ""))

    # The activities of imports that were started by version 0.1, which also made a proxy of the video.

    @activity.defn(name="make_poster")
    async def make_poster(self, ref: JobRef, video_id: str, info: dict[str, Any]) -> None:
        await self._make_poster(ref, video_id, INFO.validate_python(info))

    @activity.defn(name="encode_chunk")
    async def encode_chunk(self, ref: JobRef, video_id: str, task: ChunkTask) -> None:
        if task.kind == "audio":
            await self._encode_audio_chunk(
                ref, video_id, AudioChunkTask(task.index, task.info, task.total_chunks), is_joined=False
            )

    @activity.defn(name="join_video_chunks")
    async def join_video_chunks(self, ref: JobRef, video_id: str, info: dict[str, Any]) -> None:
        """Does nothing."""

    @activity.defn(name="delete_import_chunks")
    async def delete_import_chunks(self, ref: JobRef, video_id: str) -> None:
        await self.storage.delete_under(_chunk_path(ref, video_id, ""))

    async def _fetch_chunks(self, ref: JobRef, video_id: str, files: Iterable[Path]) -> None:
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
