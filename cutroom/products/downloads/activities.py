"""Activities of the download workflow; storage keys derive from the request, so retries are idempotent."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from temporalio import activity

from cutroom.errors import Code
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.step_progress import ReportProgress, portion
from cutroom.jobs.steps import failure, job_step
from cutroom.library.derived_media import DerivedMedia
from cutroom.library.rules import video_path
from cutroom.library.service import has_picture
from cutroom.media.cutting.cues import cut_cues
from cutroom.media.cutting.samples import cut_audio
from cutroom.media.cutting.timeline import CutTimeline
from cutroom.media.formats import Container
from cutroom.media.language_video import AudioTrack, MediaTracks, SubtitleTrack, make_language_video
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.probe import MediaInfo, probe_header
from cutroom.media.sandbox import Sandbox
from cutroom.media.subtitles import clip_srt
from cutroom.media.video import bounded_frame_rate
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.storage.objects import Storage
from cutroom.products.downloads import service
from cutroom.products.downloads.archive import ArchiveEntry, ZipArchive
from cutroom.products.downloads.contents import VideoAssets, derived_entries, load_assets, source_name
from cutroom.products.downloads.rules import Artifact, DubCandidate, DubReadiness, Tier, max_duration
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.cutting.tracks import make_cut_track
from cutroom.products.transcripts.cutting.timelines import SOUND_RATE, cut_transcript
from cutroom.products.transcripts.staleness.query import TRANSCRIPT_REVISION
from cutroom.products.transcripts.subtitles import complete_subtitles

Maker = Callable[["DownloadRef", VideoAssets, ReportProgress], Awaitable[tuple[str, str]]]

PREPARED_PERCENT = 95
MIN_CUT_RATE, MAX_CUT_RATE = 10, 120  # frames per second of a video whose deleted words are cut
SAMPLE_FRACTION = 0.9  # of the time that the bundle of a sample takes; the rest is spent on the archive
# Derived files included in a sample as they are.
SAMPLE_KINDS = frozenset({"title", "description", "chapters", "poster", "thumbnail"})


@dataclass(frozen=True, slots=True)
class DownloadRef:
    """Identifies a download request."""

    library_id: str
    video_id: str
    request_id: str
    artifact: str
    language: str
    tier: str
    uncut: bool = False

    @property
    def cap_seconds(self) -> float | None:
        return max_duration(Tier(self.tier))

    def path(self, name: str) -> str:
        return service.download_path(self.library_id, self.video_id, self.request_id, name)

    def media_path(self, name: str) -> str:
        return video_path(self.library_id, self.video_id, name)


@dataclass(frozen=True, slots=True)
class DownloadActivities:
    """Activities of DownloadWorkflow."""

    database: Database
    storage: Storage
    media_cache: LocalMediaCache
    sandbox: Sandbox
    clock: Clock

    @activity.defn(name="prepare_download")
    async def prepare_download(self, job: JobRef, download: DownloadRef) -> dict[str, Any]:
        """Prepares the downloadable file; returns the job result."""
        async with self.database.transaction(job.library_id) as connection:
            assets = await load_assets(connection, job.library_id, download.video_id)
        async with job_step(self.database, self.clock, job, "preparing", progress=PREPARED_PERCENT) as report_progress:
            if assets.source_path is None or await self.storage.size(assets.source_path) is None:
                assets = replace(assets, source_path=None)
            if assets.source_path is None and Artifact(download.artifact) is not Artifact.BUNDLE:
                message = "The source file of this video no longer exists."
                raise failure(Code.FAILED_PRECONDITION, message, reason="NO_SOURCE", retry=False)
            makers: dict[Artifact, Maker] = {
                Artifact.SOURCE: self._source,
                Artifact.LANGUAGE_VIDEO: self._language_video,
                Artifact.BUNDLE: self._bundle,
            }
            path, name = await makers[Artifact(download.artifact)](download, assets, report_progress)
            size = await self.storage.size(path)
        return {
            "artifact": download.artifact,
            "language": download.language,
            "tier": download.tier,
            **({TRANSCRIPT_REVISION: assets.transcript.published_revision} if assets.transcript is not None else {}),
            service.FILE_NAME: name,
            service.PATH: path,
            "sizeBytes": size,
        }

    async def _source(
        self, download: DownloadRef, assets: VideoAssets, report_progress: ReportProgress
    ) -> tuple[str, str]:
        """The original file as stored, or a sample of it."""
        assert assets.source_path is not None
        if download.cap_seconds is None:
            return assets.source_path, await source_name(assets, self.storage)
        return await self._store_sample(download, assets, report_progress)

    async def _store_sample(
        self, download: DownloadRef, assets: VideoAssets, report_progress: ReportProgress
    ) -> tuple[str, str]:
        async with self._open_source(download) as (source, info):
            audio = []
            if info.audio_streams:
                audio.append(AudioTrack(source, info.container, assets.language, title="Original"))
            tracks = MediaTracks(audio)
            return await self._store(download, f"{assets.stem}-sample", source, info, tracks, report_progress)

    async def _language_video(
        self, download: DownloadRef, assets: VideoAssets, report_progress: ReportProgress
    ) -> tuple[str, str]:
        """Muxes the dub as default audio, the original audio, and all subtitles."""
        dub = await self._dub(download, assets)
        async with self._open_source(download) as (source, info):
            timeline = await self._timeline(download, assets, info)
            with self.media_cache.temp_dir() as temp_dir:
                audio = []
                if dub is not None:
                    assert dub.audio_path is not None
                    track = await self._fetch(dub.audio_path, temp_dir / "dub")
                    audio.append(
                        AudioTrack(track, Container.MOV, download.language, title=download.language, is_aac=True)
                    )
                if info.audio_streams:
                    derived = DerivedMedia(self.storage, self.media_cache, self.sandbox)
                    mix_path = await derived.require_audio(download.library_id, download.video_id, "mix.mka")
                    mix = await self._fetch(mix_path, temp_dir / "mix")
                    audio.append(
                        AudioTrack(mix, Container.MATROSKA, assets.language, title=f"Original {assets.language}")
                    )
                if timeline is not None:
                    path = dub.audio_path if dub is not None else None
                    audio = [
                        await self._cut(download, each, timeline, temp_dir, dub_path=path if each.is_aac else None)
                        for each in audio
                    ]
                tracks = MediaTracks(audio, timeline=timeline)
                subtitles = await self._subtitles(download, assets, timeline)
                name = f"{assets.stem}-{download.language}"
                return await self._store(download, name, source, info, tracks, report_progress, subtitles=subtitles)

    async def _timeline(self, download: DownloadRef, assets: VideoAssets, info: MediaInfo) -> CutTimeline | None:
        """What remains without deleted words; None if that is all."""
        if download.uncut or assets.transcript is None:
            return None
        rate = bounded_frame_rate(info, at_least=MIN_CUT_RATE, at_most=MAX_CUT_RATE)
        async with self.database.transaction(download.library_id) as connection:
            cut = await cut_transcript(
                connection,
                self.storage,
                download.library_id,
                download.video_id,
                duration_seconds=assets.duration_seconds or info.duration_seconds,
                frame_rate=rate if info.media_type == "video" else SOUND_RATE,
            )
        return cut.timeline if cut is not None else None

    async def _cut(
        self,
        download: DownloadRef,
        track: AudioTrack,
        timeline: CutTimeline,
        temp_dir: Path,
        *,
        dub_path: str | None,
    ) -> AudioTrack:
        """A track without deleted words: a dub is made of its lines again, anything else is cut."""
        with self.media_cache.temp_dir() as output:
            if dub_path is not None:
                artifacts = DubArtifacts(self.storage, self.media_cache, self.sandbox)
                ref = DubRef(download.library_id, download.video_id, download.language, "")
                made = await make_cut_track(artifacts, self.database, ref, dub_path, timeline=timeline, output=output)
                if made is not None:
                    return replace(track, path=made.replace(temp_dir / f"{track.path.name}-cut"))
            cut = await cut_audio(track.path, track.container, timeline, output=output, sandbox=self.sandbox)
            path = cut.replace(temp_dir / f"{track.path.name}-cut")
        return replace(track, path=path, container=Container.MATROSKA, is_aac=False)

    async def _dub(self, download: DownloadRef, assets: VideoAssets) -> DubCandidate | None:
        """The dub to use; None if the language is the original one."""
        if download.language == assets.language:
            return None
        async with self.database.transaction(download.library_id) as connection:
            dub = await service.find_dub(connection, download.library_id, download.video_id, language=download.language)
        if dub is None or dub.readiness is not DubReadiness.COMPLETE:
            message = "There is no finished dub in this language."
            raise failure(Code.FAILED_PRECONDITION, message, reason="NO_DUB", retry=False)
        return dub

    async def _subtitles(
        self, download: DownloadRef, assets: VideoAssets, timeline: CutTimeline | None = None
    ) -> dict[str, bytes]:
        """SubRip files by language, the requested one first, clipped to the length of a sample."""
        ordered = sorted(assets.subtitles, key=lambda each: each.language != download.language)
        subtitles = {}
        for each in ordered:
            text = b"".join([chunk async for chunk in self.storage.read(each.srt_path)])
            if timeline is not None:
                text = cut_cues(text.decode(), timeline).encode()
            if download.cap_seconds is not None:
                text = clip_srt(text.decode(), until_seconds=download.cap_seconds).encode()
            if text.strip():
                subtitles[each.language] = text
        return subtitles

    async def _store(
        self,
        download: DownloadRef,
        name: str,
        source: Path,
        info: MediaInfo,
        tracks: MediaTracks,
        report_progress: ReportProgress,
        *,
        subtitles: dict[str, bytes] | None = None,
    ) -> tuple[str, str]:
        with self.media_cache.temp_dir() as temp_dir:
            subtitle_tracks = []
            for number, (language, content) in enumerate((subtitles or {}).items()):
                (temp_dir / f"{number}.srt").write_bytes(content)
                subtitle_tracks.append(SubtitleTrack(f"{number}.srt", language))
            encoded = await make_language_video(
                source,
                info,
                tracks=replace(tracks, subtitles=subtitle_tracks),
                cap_seconds=download.cap_seconds,
                output=temp_dir,
                sandbox=self.sandbox,
                on_fraction=report_progress,
            )
            path = download.path(f"video{encoded.suffix}")
            await self.storage.put(path, encoded)
        return path, f"{name}{encoded.suffix}"

    async def _bundle(
        self, download: DownloadRef, assets: VideoAssets, report_progress: ReportProgress
    ) -> tuple[str, str]:
        """Streams the archive from object storage to object storage; without the original if that has been deleted."""
        entries = await asyncio.to_thread(derived_entries, assets)
        labels = assets.transcript.labels if assets.transcript is not None else {}
        for each in assets.subtitles:
            await complete_subtitles(
                self.storage, download.library_id, download.video_id, language=each.language, labels=labels
            )
        if download.cap_seconds is None:
            if assets.source_path is not None:
                name = await source_name(assets, self.storage)
                source = ArchiveEntry(f"source/{name}", "source", assets.source_path, language=assets.language)
                entries.insert(0, source)
        else:
            sampled = portion(report_progress, 0.0, SAMPLE_FRACTION)
            entries = await self._sample_entries(download, assets, entries, report_progress=sampled)
        metadata = {
            "videoId": download.video_id,
            "title": assets.title,
            "language": assets.language,
            "tier": download.tier,
            "truncated": download.cap_seconds is not None,
            "maxDurationSeconds": download.cap_seconds,
        }
        sizes = [len(entry.content) or (await self.storage.size(entry.path or "")) or 0 for entry in entries]
        path = download.path("bundle.zip")
        archive = ZipArchive(self.storage, entries, metadata)
        chunks = with_progress(archive.chunks(), report_progress, expected_bytes=sum(sizes))
        await self.storage.put(path, chunks, expected_bytes=sum(sizes))
        return path, f"{assets.stem}.zip"

    async def _sample_entries(
        self,
        download: DownloadRef,
        assets: VideoAssets,
        entries: list[ArchiveEntry],
        *,
        report_progress: ReportProgress,
    ) -> list[ArchiveEntry]:
        """Entries of a sample: the clipped source, clipped subtitles, texts and images."""
        sampled = []
        if assets.source_path is not None:
            path, name = await self._store_sample(download, assets, report_progress)
            sampled.append(ArchiveEntry(f"source/{name}", "source", path, language=assets.language))
        sampled += [entry for entry in entries if entry.kind in SAMPLE_KINDS]
        for language, text in (await self._subtitles(download, assets)).items():
            sampled.append(ArchiveEntry(f"subtitles/{language}.srt", "subtitles", content=text, language=language))
        return sampled

    async def _fetch(self, path: str, to: Path) -> Path:
        with to.open("wb") as file:
            async for chunk in self.storage.read(path):
                file.write(chunk)
        return to

    @asynccontextmanager
    async def _open_source(self, download: DownloadRef) -> AsyncIterator[tuple[Path, MediaInfo]]:
        """A local copy of the source and its properties; media imported as audio counts as audio."""
        async with self.media_cache.fetch(download.media_path("source")) as source:
            info = await probe_header(source.path, sandbox=self.sandbox)
            async with self.database.transaction(download.library_id) as connection:
                has_video = await has_picture(connection, download.library_id, download.video_id)
            yield source.path, info if has_video else replace(info, media_type="audio")


async def with_progress(
    chunks: AsyncIterator[bytes], report_progress: ReportProgress, *, expected_bytes: int
) -> AsyncIterator[bytes]:
    """Passes chunks through, and reports the sent fraction."""
    sent = 0
    async for chunk in chunks:
        yield chunk
        sent += len(chunk)
        report_progress(sent / max(expected_bytes, 1))
