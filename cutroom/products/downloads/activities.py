"""Preparing a download. What is made lies under the request's own name, so a repeat writes the same again."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from temporalio import activity

from cutroom.errors import Code
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import ReportProgress, failure, job_step
from cutroom.library.rules import video_path
from cutroom.media.formats import Container
from cutroom.media.language_video import SoundTrack, SubtitleTrack, Tracks, make_language_video
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.probe import MediaInfo, probe_header
from cutroom.media.sandbox import Sandbox
from cutroom.media.subtitles import clip_srt
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.storage.objects import Storage
from cutroom.products.downloads import service
from cutroom.products.downloads.archive import Archive, Entry
from cutroom.products.downloads.contents import Holdings, derived_entries, holdings_of, source_name
from cutroom.products.downloads.rules import Artifact, DubState, Ground, Tier, cap_of

Maker = Callable[["DownloadRef", Holdings], Awaitable[tuple[str, str]]]

PREPARED_PERCENT = 95
TELL_SECONDS = 2.0
SAMPLED_KINDS = frozenset({"poster"})  # of what is derived, these are given whole with a sample


@dataclass(frozen=True, slots=True)
class DownloadRef:
    """What is to be prepared."""

    library_id: str
    video_id: str
    request_id: str
    artifact: str
    language: str
    tier: str

    @property
    def cap_seconds(self) -> float | None:
        return cap_of(Tier(self.tier))

    def path(self, name: str) -> str:
        return service.made_path(self.library_id, self.video_id, self.request_id, name)

    def film(self, name: str) -> str:
        return video_path(self.library_id, self.video_id, name)


@dataclass(frozen=True, slots=True)
class DownloadActivities:
    """What the workflow of a download calls."""

    database: Database
    storage: Storage
    workbench: LocalMediaCache
    sandbox: Sandbox
    clock: Clock

    @activity.defn(name="prepare_download")
    async def prepare_download(self, ref: JobRef, wanted: DownloadRef) -> dict[str, Any]:
        """One file that can be fetched; what the job's result tells of it."""
        async with self.database.transaction(ref.library_id) as connection:
            held = await holdings_of(connection, ref.library_id, wanted.video_id)
        async with job_step(self.database, self.clock, ref, "preparing", progress=PREPARED_PERCENT) as tell:
            if held.source_path is None or await self.storage.size(held.source_path) is None:
                sentence = "The source of this video is not there any more."
                raise failure(Code.FAILED_PRECONDITION, sentence, reason="NO_SOURCE", retry=False)
            makers: dict[Artifact, Maker] = {
                Artifact.SOURCE: self._source,
                Artifact.LANGUAGE_VIDEO: self._language_video,
                Artifact.BUNDLE: partial(self._bundle, tell),
            }
            path, name = await makers[Artifact(wanted.artifact)](wanted, held)
            size = await self.storage.size(path)
        return {
            "artifact": wanted.artifact,
            "language": wanted.language,
            "tier": wanted.tier,
            service.FILE_NAME: name,
            service.PATH: path,
            "sizeBytes": size,
        }

    async def _source(self, wanted: DownloadRef, held: Holdings) -> tuple[str, str]:
        """What was sent in, untouched where it lies; or a sample of it."""
        assert held.source_path is not None
        if wanted.cap_seconds is None:
            return held.source_path, await source_name(held, self.storage)
        return await self._store_sample(wanted, held)

    async def _store_sample(self, wanted: DownloadRef, held: Holdings) -> tuple[str, str]:
        async with self._film(wanted) as (source, info):
            sounds = []
            if info.audio_streams:
                sounds.append(SoundTrack(source, info.container, held.language, title="Original"))
            return await self._store(wanted, f"{held.title}-sample", source, info, Tracks(sounds))

    async def _language_video(self, wanted: DownloadRef, held: Holdings) -> tuple[str, str]:
        """The dub is heard first, the original can be chosen, and so can every language there are subtitles in."""
        dub = await self._dub(wanted, held)
        async with self._film(wanted) as (source, info):
            with self.workbench.drawer() as drawer:
                sounds = []
                if dub is not None:
                    assert dub.audio_path is not None
                    track = await self._fetch(dub.audio_path, drawer / "dub")
                    sounds.append(SoundTrack(track, Container.MOV, wanted.language, title=wanted.language, is_aac=True))
                if info.audio_streams:
                    mix = await self._fetch(wanted.film("mix.mka"), drawer / "mix")
                    sounds.append(SoundTrack(mix, Container.MATROSKA, held.language, title=f"Original {held.language}"))
                subtitles = await self._subtitles(wanted, held)
                name = f"{held.title}-{wanted.language}"
                return await self._store(wanted, name, source, info, Tracks(sounds), subtitles=subtitles)

    async def _dub(self, wanted: DownloadRef, held: Holdings) -> DubState | None:
        """The dub to take; none where the language is the one that is spoken."""
        if wanted.language == held.language:
            return None
        async with self.database.transaction(wanted.library_id) as connection:
            dub = await service.selected_dub(connection, wanted.library_id, wanted.video_id, language=wanted.language)
        if dub is None or dub.ground is not Ground.COMPLETE:
            sentence = "There is no finished dub in this language, and it is not the one that is spoken."
            raise failure(Code.FAILED_PRECONDITION, sentence, reason="NO_DUB", retry=False)
        return dub

    async def _subtitles(self, wanted: DownloadRef, held: Holdings) -> dict[str, bytes]:
        """SubRip by language, the language of the video first; a sample has no cue beyond its end."""
        ordered = sorted(held.subtitles, key=lambda each: each.language != wanted.language)
        found = {}
        for each in ordered:
            text = b"".join([chunk async for chunk in self.storage.read(each.srt_path)])
            if wanted.cap_seconds is not None:
                text = clip_srt(text.decode(), until_seconds=wanted.cap_seconds).encode()
            if text.strip():
                found[each.language] = text
        return found

    async def _store(
        self,
        wanted: DownloadRef,
        name: str,
        source: Path,
        info: MediaInfo,
        tracks: Tracks,
        *,
        subtitles: dict[str, bytes] | None = None,
    ) -> tuple[str, str]:
        with self.workbench.drawer() as drawer:
            texts = []
            for number, (language, content) in enumerate((subtitles or {}).items()):
                (drawer / f"{number}.srt").write_bytes(content)
                texts.append(SubtitleTrack(f"{number}.srt", language))
            made = await make_language_video(
                source,
                info,
                tracks=replace(tracks, subtitles=texts),
                cap_seconds=wanted.cap_seconds,
                output=drawer,
                sandbox=self.sandbox,
            )
            path = wanted.path(f"video{made.suffix}")
            await self.storage.put(path, made)
        return path, f"{name}{made.suffix}"

    async def _bundle(self, tell: ReportProgress, wanted: DownloadRef, held: Holdings) -> tuple[str, str]:
        """Streamed from the store through the archive into the store."""
        entries = derived_entries(held)
        if wanted.cap_seconds is None:
            assert held.source_path is not None
            name = await source_name(held, self.storage)
            entries.insert(0, Entry(f"source/{name}", "source", held.source_path, language=held.language))
        else:
            entries = await self._sampled(wanted, held, entries)
        about = {
            "videoId": wanted.video_id,
            "title": held.title,
            "language": held.language,
            "tier": wanted.tier,
            "truncated": wanted.cap_seconds is not None,
            "maxDurationSeconds": wanted.cap_seconds,
        }
        sizes = [len(entry.content) or (await self.storage.size(entry.path or "")) or 0 for entry in entries]
        path = wanted.path("bundle.zip")
        archive = Archive(self.storage, entries, about)
        chunks = counted(archive.chunks(), tell, expected_bytes=sum(sizes))
        await self.storage.put(path, chunks, expected_bytes=sum(sizes))
        return path, f"{held.title}.zip"

    async def _sampled(self, wanted: DownloadRef, held: Holdings, entries: list[Entry]) -> list[Entry]:
        """A sample of the source, subtitles up to its end, and the poster: nothing that lasts longer."""
        path, name = await self._store_sample(wanted, held)
        sampled = [Entry(f"source/{name}", "source", path, language=held.language)]
        sampled += [entry for entry in entries if entry.kind in SAMPLED_KINDS]
        for language, text in (await self._subtitles(wanted, held)).items():
            sampled.append(Entry(f"subtitles/{language}.srt", "subtitles", content=text, language=language))
        return sampled

    async def _fetch(self, path: str, to: Path) -> Path:
        with to.open("wb") as file:
            async for chunk in self.storage.read(path):
                file.write(chunk)
        return to

    @asynccontextmanager
    async def _film(self, wanted: DownloadRef) -> AsyncIterator[tuple[Path, MediaInfo]]:
        """The source on this machine, and what it holds; the picture of what was sent as sound is none."""
        async with self.workbench.fetch(wanted.film("source")) as source:
            info = await probe_header(source.path, sandbox=self.sandbox)
            has_picture = await self.storage.size(wanted.film("proxy.mp4")) is not None
            yield source.path, info if has_picture else replace(info, media_type="audio")


async def counted(chunks: AsyncIterator[bytes], tell: ReportProgress, *, expected_bytes: int) -> AsyncIterator[bytes]:
    """The same chunks; how much of them has been taken is told every few seconds."""
    taken, told_at = 0, monotonic()
    async for chunk in chunks:
        yield chunk
        taken += len(chunk)
        if monotonic() - told_at >= TELL_SECONDS:
            await tell(min(PREPARED_PERCENT * taken // max(expected_bytes, 1), PREPARED_PERCENT))
            told_at = monotonic()
