"""The import's steps: fetch the source, look at it in the sandbox, and make what later products work from."""

import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import TypeAdapter
from temporalio import activity

from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import failure, job_step
from cutroom.library.rules import video_path
from cutroom.media import audio, video
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.poster import make_poster
from cutroom.media.probe import MediaInfo, probe
from cutroom.media.process import MediaError, Reason
from cutroom.media.remux import remux_tracks
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.storage.objects import Storage
from cutroom.products.ingest import service
from cutroom.products.ingest.rules import MediaKind, SourceType
from cutroom.products.ingest.sources import Found, ImportSource, SourceError
from cutroom.products.ingest.sources_youtube import YoutubeSource

MAX_SOURCE_BYTES = 100 * 1024**3

Kind = Literal["sound", "picture"]
INFO: TypeAdapter[MediaInfo] = TypeAdapter(MediaInfo)


@dataclass(frozen=True, slots=True)
class Inspected:
    """What the workflow needs to know of a source; `info` is a MediaInfo as JSON."""

    info: dict[str, Any]
    sound_pieces: int
    picture_pieces: int


@dataclass(frozen=True, slots=True)
class PreflightRequest:
    """A URL to look at; sealed, for it stays in Temporal's history."""

    video_id: str
    type: str
    sealed_url: str  # in base 64


@dataclass(frozen=True, slots=True)
class PreflightResult:
    """What was seen: nothing wrong, or why it is no use."""

    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class MediaChunkTask:
    """One piece of sound or picture to make."""

    kind: Kind
    index: int
    info: dict[str, Any]
    progress: int  # of the whole import once it is made


@dataclass(frozen=True, slots=True)
class IngestActivities:
    """Each writes to keys that follow from its input, so a repeat overwrites the same bytes."""

    database: Database
    storage: Storage
    media_cache: LocalMediaCache
    sandbox: Sandbox
    sources: Mapping[SourceType, ImportSource]
    youtube: YoutubeSource
    secret_box: SecretBox
    clock: Clock

    @activity.defn(name="look_at_source")
    async def look_at_source(self, wanted: PreflightRequest) -> PreflightResult:
        """A few seconds' look at a URL before its video is accepted."""
        sealed = base64.b64decode(wanted.sealed_url)
        url = self.secret_box.unseal(service.URL_PURPOSE, sealed, context=wanted.video_id).decode()
        kind = SourceType(wanted.type)
        try:
            await (self.youtube if kind is SourceType.YOUTUBE else self.sources[kind]).probe(url)
        except SourceError as error:
            return PreflightResult(refusal=str(error))
        return PreflightResult()

    @activity.defn(name="fetch_source")
    async def fetch_source(self, ref: JobRef, video_id: str) -> None:
        """Bring a source from its URL into the store; an upload is there already."""
        async with self.database.transaction(ref.library_id) as connection:
            source = await service.source_of(connection, ref.library_id, video_id)
        if source.type is SourceType.UPLOAD:
            return
        url = self.secret_box.unseal(service.URL_PURPOSE, source.sealed_url, context=video_id).decode()
        async with self._working(ref, "fetching", progress=2):
            with self.media_cache.temp_dir() as temp_dir:
                found, fetched = await self._download(source.type, url, temp_dir)
                await self.storage.put(source.storage_path, fetched)
        async with self.database.transaction(ref.library_id) as connection:
            title = found.title or found.file_name
            await service.record_found(connection, ref.library_id, video_id, title=title)

    async def _download(self, kind: SourceType, url: str, temp_dir: Path) -> tuple[Found, Path]:
        """The source as one file; YouTube sends picture and sound apart, which the sandbox puts together."""
        picture, sound = temp_dir / "source", temp_dir / "sound"
        with FileSink(picture) as to, FileSink(sound) as audio_to:
            if kind is SourceType.YOUTUBE:
                found = await self.youtube.probe(url)  # it alone knows the title
                await self.youtube.download(
                    url, to, audio_to=audio_to, max_bytes=MAX_SOURCE_BYTES, on_progress=_unheard, scratch=temp_dir
                )
            else:
                source = self.sources[kind]
                found = await source.download(url, to, max_bytes=MAX_SOURCE_BYTES, on_progress=_unheard)
        if not sound.stat().st_size:
            return found, picture
        return found, await remux_tracks(picture, sound, output=temp_dir, sandbox=self.sandbox)

    @activity.defn(name="inspect_source")
    async def inspect_source(self, ref: JobRef, video_id: str) -> Inspected:
        """Judge the file in the sandbox, and write down what it is."""
        async with self.database.transaction(ref.library_id) as connection:
            source = await service.source_of(connection, ref.library_id, video_id)
        async with self._working(ref, "reading", progress=8), self.media_cache.fetch(source.storage_path) as copy:
            info = await probe(copy.path, sandbox=self.sandbox)
            if source.lane is MediaKind.AUDIO:
                info = only_sound(info)
        async with self.database.transaction(ref.library_id) as connection:
            await service.record_media(
                connection, ref.library_id, video_id, info=info, size_bytes=copy.size_bytes, sha256=copy.sha256
            )
        return Inspected(
            info=INFO.dump_python(info, mode="json"),
            sound_pieces=len(audio.plan_audio(info)) if info.audio_streams else 0,
            picture_pieces=len(video.plan_proxy(info)) if info.media_type == "video" else 0,
        )

    @activity.defn(name="make_poster")
    async def make_poster(self, ref: JobRef, video_id: str, info: dict[str, Any]) -> None:
        path = service.source_path(ref.library_id, video_id)
        async with self._working(ref, "taking a poster", progress=12), self.media_cache.fetch(path) as copy:
            with self.media_cache.temp_dir() as temp_dir:
                poster = await make_poster(copy.path, INFO.validate_python(info), output=temp_dir, sandbox=self.sandbox)
                if poster is None:
                    return
                stored = video_path(ref.library_id, video_id, "poster.jpg")
                await self.storage.put(stored, poster)
        async with self.database.transaction(ref.library_id) as connection:
            await service.record_poster(connection, ref.library_id, video_id, path=stored)

    @activity.defn(name="make_piece")
    async def make_piece(self, ref: JobRef, video_id: str, order: MediaChunkTask) -> None:
        """One piece of at most a minute's work; its files get names of their own in the store."""
        info, path = INFO.validate_python(order.info), service.source_path(ref.library_id, video_id)
        stage = "copying the sound" if order.kind == "sound" else "copying the picture"
        async with self._working(ref, stage, progress=order.progress), self.media_cache.fetch(path) as copy:
            with self.media_cache.temp_dir() as temp_dir:
                for made in await self._make(order, info, copy.path, temp_dir):
                    await self.storage.put(_piece_path(ref, video_id, made.name), made)

    async def _make(self, order: MediaChunkTask, info: MediaInfo, source: Path, temp_dir: Path) -> list[Path]:
        if order.kind == "sound":
            piece = audio.plan_audio(info)[order.index]
            files = await audio.make_audio_chunk(source, info, piece, output=temp_dir, sandbox=self.sandbox)
            return [files.speech, files.mix, files.proxy]
        piece = video.plan_proxy(info)[order.index]
        return [await video.make_proxy_chunk(source, info, piece, output=temp_dir, sandbox=self.sandbox)]

    @activity.defn(name="join_sound")
    async def join_sound(self, ref: JobRef, video_id: str, info: dict[str, Any]) -> None:
        """Speech for recognition, the mix for dubs, and the proxy's own sound, each in one file."""
        pieces = audio.plan_audio(INFO.validate_python(info))
        async with self._working(ref, "joining the sound", progress=92):
            with self.media_cache.temp_dir() as temp_dir:
                made = [audio.audio_chunk_files(piece, temp_dir) for piece in pieces]
                for files in made:
                    await self._bring(ref, video_id, [files.speech, files.mix, files.proxy])
                whole = await audio.join_audio(made, output=temp_dir, sandbox=self.sandbox)
                for joined in (whole.speech, whole.mix, whole.proxy):
                    await self.storage.put(video_path(ref.library_id, video_id, joined.name), joined)

    @activity.defn(name="join_picture")
    async def join_picture(self, ref: JobRef, video_id: str, info: dict[str, Any]) -> None:
        """The seekable proxy, with sound where the source has some."""
        known = INFO.validate_python(info)
        async with self._working(ref, "joining the picture", progress=96):
            with self.media_cache.temp_dir() as temp_dir:
                pieces = [video.proxy_chunk_file(piece, temp_dir) for piece in video.plan_proxy(known)]
                await self._bring(ref, video_id, pieces)
                sound = temp_dir / "proxy.aac" if known.audio_streams else None
                if sound is not None:
                    await self._copy(video_path(ref.library_id, video_id, sound.name), sound)
                proxy = await video.join_proxy(pieces, known, audio=sound, output=temp_dir, sandbox=self.sandbox)
                await self.storage.put(video_path(ref.library_id, video_id, proxy.name), proxy)

    @activity.defn(name="clear_pieces")
    async def clear_pieces(self, ref: JobRef, video_id: str) -> None:
        await self.storage.delete_under(_piece_path(ref, video_id, ""))

    async def _bring(self, ref: JobRef, video_id: str, files: list[Path]) -> None:
        for file in files:
            await self._copy(_piece_path(ref, video_id, file.name), file)

    async def _copy(self, path: str, to: Path) -> None:
        with to.open("wb") as file:
            async for chunk in self.storage.read(path):
                file.write(chunk)

    @asynccontextmanager
    async def _working(self, ref: JobRef, stage: str, *, progress: int) -> AsyncIterator[None]:
        """A step of the job; failures are told in the job's own words."""
        try:
            async with job_step(self.database, self.clock, ref, stage, progress=progress):
                yield
        except SourceError as error:
            raise failure(error.code, str(error), reason="UNAVAILABLE", retry=error.retryable) from error


class FileSink:
    """A file that a download is written to."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()

    async def write(self, data: bytes) -> None:
        self._file.write(data)


def only_sound(info: MediaInfo) -> MediaInfo:
    """What was sent as audio is audio, whatever picture may come with it."""
    if not info.audio_streams:
        raise MediaError(Reason.NO_STREAMS, "The file was sent as audio, but has no sound.")
    return replace(info, media_type="audio")


async def _unheard(_received: int, _total: int | None) -> None:
    """The heartbeat says enough."""


def _piece_path(ref: JobRef, video_id: str, name: str) -> str:
    return video_path(ref.library_id, video_id, f"pieces/{ref.attempt}/{name}")
