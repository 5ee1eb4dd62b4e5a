"""Activities of the playback workflow; storage keys derive from the inputs, so retries are idempotent."""

import asyncio
import hashlib
import logging
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from temporalio import activity

from cutroom.jobs.steps import heartbeating
from cutroom.library.derived_media import DerivedMedia
from cutroom.library.playback import MANIFEST, MASTER
from cutroom.library.service import has_picture
from cutroom.library.videos import set_playback_languages
from cutroom.media import ladder
from cutroom.media.audio import encode_mix
from cutroom.media.cutting.cues import cut_cues
from cutroom.media.cutting.samples import cut_audio
from cutroom.media.cutting.timeline import CutTimeline
from cutroom.media.formats import Container
from cutroom.media.ladder import SEGMENT_SECONDS, Rendition
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.packager import PackagedTrack, package_audio, package_text, package_video
from cutroom.media.probe import MediaInfo, probe_header
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import Clock
from cutroom.platform.db import Connection, Database
from cutroom.platform.storage.objects import Storage
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.cutting.tracks import make_cut_track
from cutroom.products.playback import edits, service
from cutroom.products.playback.edit_planning import find_timeline, plan_edit
from cutroom.products.playback.manifests import TrackKind, manifest, master_playlist
from cutroom.products.playback.plan import INFO, PlaybackPlan, PlaybackRef
from cutroom.products.playback.service import ObsoleteTrack, TrackSource

UPLOAD_CONCURRENCY = 8

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PlaybackActivities:
    """Activities of PlaybackWorkflow."""

    database: Database
    storage: Storage
    media_cache: LocalMediaCache
    sandbox: Sandbox
    clock: Clock
    is_enabled: bool = True

    @activity.defn(name="acquire_playback_lease")
    async def acquire_playback_lease(self, ref: PlaybackRef, lease_holder: str) -> int | None:
        if not self.is_enabled:
            return None
        async with self.database.transaction(ref.library_id) as connection:
            return await service.acquire_lease(
                connection, ref.library_id, ref.video_id, lease_holder=lease_holder, now=self.clock()
            )

    @activity.defn(name="plan_playback")
    async def plan_playback(self, ref: PlaybackRef) -> PlaybackPlan | None:
        """Compares expected and existing tracks; returns None until the import is complete."""
        async with self.database.transaction(ref.library_id) as connection:
            video = await service.load_playback_video(connection, ref.library_id, ref.video_id)
        if video is None or not video.is_ready:
            return None
        if await self.storage.size(ref.media_path("source")) is None:
            return await self._plan_without_original(ref, video)
        async with heartbeating():
            info = replace(await self._info(ref), duration_seconds=video.duration_seconds)
        has_video = info.media_type == "video"
        renditions = ladder.plan_ladder(info) if has_video else []
        useful = ladder.useful_renditions(info, renditions) if has_video else []
        edit = await plan_edit(self.database, self.storage, ref, info)
        fingerprint_input = (
            f"{ladder.VERSION}/{video.fingerprint}/{'/'.join(rendition.name for rendition in renditions)}"
        )
        fingerprint = _short_hash(fingerprint_input if edit.cut is None else f"{fingerprint_input}/{edit.cut}")
        info = replace(info, duration_seconds=edit.seconds or info.duration_seconds)
        async with self.database.transaction(ref.library_id) as connection:
            existing = await service.track_sources(connection, ref.library_id, ref.video_id)
            tracks = await service.expected_tracks(
                connection,
                ref.library_id,
                ref.video_id,
                language=video.language,
                has_audio=bool(info.audio_streams),
            )
            expected = [each.with_cut(edit.cut) for each in tracks]
            obsolete = await service.obsolete_tracks(connection, ref.library_id, ref.video_id, expected=expected)
            await service.set_original_language(connection, ref.library_id, ref.video_id, language=video.language)
        for each in obsolete:
            existing.pop((each.kind, each.name))
        is_current = all(existing.get(("video", rendition.name)) == fingerprint for rendition in useful)
        return PlaybackPlan(
            ladder=fingerprint,
            info=INFO.dump_python(info, mode="json"),
            renditions=[] if is_current else useful,
            chunk_count=0 if is_current else len(ladder.plan_ladder_chunks(info)),
            max_chunk_seconds=ladder.MAX_CHUNK_SECONDS,
            cut=edit.cut,
            tracks=[each for each in expected if existing.get((each.kind, each.name)) != each.source],
            obsolete=obsolete,
        )

    async def _plan_without_original(self, ref: PlaybackRef, video: service.PlaybackVideo) -> PlaybackPlan | None:
        """Keeps the packaged picture and original audio, and packages the other tracks that have changed."""
        async with self.database.transaction(ref.library_id) as connection:
            existing = await service.track_sources(connection, ref.library_id, ref.video_id)
            tracks = await service.expected_tracks(
                connection, ref.library_id, ref.video_id, language=video.language, has_audio=False
            )
            await edits.keep_packaged(connection, ref.library_id, ref.video_id)
            packaged = (await edits.find_edits(connection, ref.library_id, ref.video_id)).packaged
            await service.set_original_language(connection, ref.library_id, ref.video_id, language=video.language)
        if not existing:  # the stream was deleted too, and cannot be made again
            return None
        expected = [each.with_cut(packaged.cut if packaged is not None else None) for each in tracks]
        changed = [each for each in expected if existing.get((each.kind, each.name)) != each.source]
        return PlaybackPlan(ladder="", info={}, renditions=[], chunk_count=0, tracks=changed)

    async def _mix_path(self, ref: PlaybackRef) -> str:
        derived = DerivedMedia(self.storage, self.media_cache, self.sandbox)
        return await derived.require_audio(ref.library_id, ref.video_id, "mix.mka")

    async def _info(self, ref: PlaybackRef) -> MediaInfo:
        """The source's properties; media imported as audio counts as audio, even if it has cover video."""
        async with self.media_cache.fetch(ref.media_path("source")) as source:
            info = await probe_header(source.path, sandbox=self.sandbox)
        async with self.database.transaction(ref.library_id) as connection:
            has_video = await has_picture(connection, ref.library_id, ref.video_id)
        return info if has_video else replace(info, media_type="audio")

    @activity.defn(name="encode_ladder_chunk")
    async def encode_ladder_chunk(self, ref: PlaybackRef, plan: PlaybackPlan, index: int) -> None:
        """Encodes one chunk in every rendition; does nothing if it is stored already."""
        info, chunk = INFO.validate_python(plan.info), plan.chunks()[index]
        names = [ladder.rendition_file(rendition, chunk, Path()).name for rendition in plan.renditions]
        stored = [ref.path(plan.chunk_path(name)) for name in names]
        if all([await self.storage.size(path) is not None for path in stored]):
            return
        timeline = await find_timeline(self.storage, ref, plan.cut)
        async with heartbeating(), self.media_cache.fetch(ref.media_path("source")) as source:
            with self.media_cache.temp_dir() as temp_dir:
                encoded = await ladder.encode_ladder_chunk(
                    source.path,
                    info,
                    chunk,
                    renditions=plan.renditions,
                    output=temp_dir,
                    sandbox=self.sandbox,
                    timeline=timeline,
                )
                for path, file in zip(stored, encoded, strict=True):
                    await self.storage.put(path, file)

    @activity.defn(name="package_ladder")
    async def package_ladder(self, ref: PlaybackRef, plan: PlaybackPlan) -> None:
        """Joins the chunks of each rendition, packages them into segments, and deletes the chunks at last.

        An earlier attempt may have packaged some renditions, or all of them and deleted chunks.
        """
        async with heartbeating():
            async with self.database.transaction(ref.library_id) as connection:
                packaged = await service.track_sources(connection, ref.library_id, ref.video_id)
            for rendition in plan.renditions:
                if packaged.get(("video", rendition.name)) != plan.ladder:
                    await self._package_rendition(ref, plan, rendition)
            await self.storage.delete_under(ref.path(f"chunks/{plan.ladder}/"))

    @activity.defn(name="package_rendition")
    async def package_rendition(self, ref: PlaybackRef, plan: PlaybackPlan, number: int) -> None:
        """For workflows that were started by version 0.1."""
        async with heartbeating():
            await self._package_rendition(ref, plan, plan.renditions[number])

    @activity.defn(name="delete_ladder_chunks")
    async def delete_ladder_chunks(self, ref: PlaybackRef, plan: PlaybackPlan) -> None:
        """For workflows that were started by version 0.1."""
        async with heartbeating():
            await self.storage.delete_under(ref.path(f"chunks/{plan.ladder}/"))

    async def _package_rendition(self, ref: PlaybackRef, plan: PlaybackPlan, rendition: Rendition) -> None:
        chunks = plan.chunks()
        rate = chunks[0].rate
        seconds = float(Fraction(ladder.segment_frames(rate)) / rate)
        with self.media_cache.temp_dir() as temp_dir:
            for chunk in chunks:
                file = ladder.rendition_file(rendition, chunk, temp_dir)
                await self._fetch(ref.path(plan.chunk_path(file.name)), file)
            joined = await ladder.join_rendition(rendition, chunks, output=temp_dir, sandbox=self.sandbox)
            packaged = await package_video(
                f"v/{rendition.name}-{plan.ladder}",
                joined.name,
                segment_seconds=seconds,
                output=temp_dir,
                sandbox=self.sandbox,
            )
            await self._store(ref, packaged, temp_dir)
        await self._record(ref, ("video", rendition.name, None), source=plan.ladder, packaged=packaged)

    @activity.defn(name="package_track")
    async def package_track(self, ref: PlaybackRef, track: TrackSource) -> None:
        """Packages an audio or subtitle track without touching the others."""
        name = f"{track.kind[0]}/{track.name}-{_short_hash(track.source)}"
        language = track.language
        async with heartbeating():
            with self.media_cache.temp_dir() as temp_dir:
                path = await self._mix_path(ref) if track.name == service.ORIGINAL else track.path
                try:
                    fetched = await self._fetch(path, temp_dir / "track")
                except FileNotFoundError:  # deleted since it was planned; the deletion has requested another run
                    if track.name == service.ORIGINAL:
                        raise
                    _log.info("playback track skipped", extra={"video_id": ref.video_id, "track": name})
                    return
                options: dict[str, Any] = {
                    "segment_seconds": SEGMENT_SECONDS,
                    "output": temp_dir,
                    "sandbox": self.sandbox,
                }
                timeline = await find_timeline(self.storage, ref, track.cut)
                if track.kind == "text":
                    fetched = fetched.rename(temp_dir / "track.vtt")
                    if timeline is not None:
                        fetched.write_bytes(cut_cues(fetched.read_bytes().decode(), timeline).encode())
                    packaged = await package_text(name, fetched.name, language=language, **options)
                else:
                    made = await self._cut_dub(ref, track, timeline, temp_dir) if timeline is not None else None
                    if made is None and timeline is not None:
                        container = Container.MATROSKA if track.name == service.ORIGINAL else Container.MOV
                        fetched = await cut_audio(fetched, container, timeline, output=temp_dir, sandbox=self.sandbox)
                    if made is not None:
                        fetched = made
                    elif track.name == service.ORIGINAL or timeline is not None:
                        fetched = await encode_mix(fetched, output=temp_dir, sandbox=self.sandbox)
                    packaged = await package_audio(name, fetched.name, language=language, **options)
                await self._store(ref, packaged, temp_dir)
        await self._record(ref, (track.kind, track.name, language), source=track.source, packaged=packaged)

    async def _cut_dub(
        self, ref: PlaybackRef, track: TrackSource, timeline: CutTimeline, temp_dir: Path
    ) -> Path | None:
        """The track of a dub, made of its lines again; None if it is not one, or its lines were not recorded."""
        if track.name == service.ORIGINAL:
            return None
        artifacts = DubArtifacts(self.storage, self.media_cache, self.sandbox)
        dub = DubRef(ref.library_id, ref.video_id, track.language, "")
        return await make_cut_track(artifacts, self.database, dub, track.path, timeline=timeline, output=temp_dir)

    @activity.defn(name="publish_playback")
    async def publish_playback(self, ref: PlaybackRef, lease_holder: str, revision: int) -> int | None:
        """Writes manifests for all tracks, then releases the lease, or returns the new revision if there is one."""
        async with self.database.transaction(ref.library_id) as connection:
            await edits.publish_plan(connection, ref.library_id, ref.video_id)
            await self._write_manifests(connection, ref)
            return await service.release_lease(
                connection, ref.library_id, ref.video_id, lease_holder=lease_holder, revision=revision, now=self.clock()
            )

    async def _write_manifests(self, connection: Connection, ref: PlaybackRef) -> None:
        video = await service.load_playback_video(connection, ref.library_id, ref.video_id)
        tracks = await service.list_tracks(connection, ref.library_id, ref.video_id)
        if video is None or not tracks:
            return
        packaged = (await edits.find_edits(connection, ref.library_id, ref.video_id)).packaged
        seconds = (packaged.seconds if packaged is not None else None) or video.duration_seconds
        audio_languages = [each.language or "" for each in tracks if each.kind == "audio"]
        languages = sorted(set(audio_languages), key=lambda each: (each != video.language, each))
        for language in [None, *languages]:
            default_language = language or video.language
            playlist = master_playlist(tracks, default_language=default_language, original=video.language)
            await self.storage.put(ref.path(_with_language(MASTER, language)), playlist.encode())
            mpd = manifest(tracks, default_language=default_language, seconds=seconds)
            await self.storage.put(ref.path(_with_language(MANIFEST, language)), mpd.encode())
        await set_playback_languages(connection, ref.library_id, ref.video_id, languages=languages, now=self.clock())

    @activity.defn(name="delete_obsolete_tracks")
    async def delete_obsolete_tracks(self, ref: PlaybackRef, tracks: list[ObsoleteTrack]) -> None:
        """Removes tracks from the manifests, then deletes their files; the lease keeps them from being packaged."""
        async with heartbeating():
            async with self.database.transaction(ref.library_id) as connection:
                await service.delete_tracks(connection, ref.library_id, ref.video_id, tracks=tracks)
                await self._write_manifests(connection, ref)
                remaining = await service.list_tracks(connection, ref.library_id, ref.video_id)
            languages = {each.language for each in remaining if each.kind == "audio"}
            for each in tracks:
                await self.storage.delete_under(ref.path(f"{each.folder}/"))
                if each.kind == "audio" and each.language not in languages:
                    for name in (MASTER, MANIFEST):
                        await self.storage.delete(ref.path(_with_language(name, each.language)))

    @activity.defn(name="fail_playback")
    async def fail_playback(self, ref: PlaybackRef, lease_holder: str, error: str) -> None:
        async with self.database.transaction(ref.library_id) as connection:
            await service.fail_playback(
                connection, ref.library_id, ref.video_id, lease_holder=lease_holder, error=error, now=self.clock()
            )

    async def _record(
        self, ref: PlaybackRef, track: tuple[TrackKind, str, str | None], *, source: str, packaged: PackagedTrack
    ) -> None:
        async with self.database.transaction(ref.library_id) as connection:
            await service.save_track(
                connection,
                ref.library_id,
                ref.video_id,
                track=track,
                source=source,
                packaged=packaged,
                now=self.clock(),
            )

    async def _store(self, ref: PlaybackRef, packaged: PackagedTrack, temp_dir: Path) -> None:
        """Uploads a track's files, which are small and many."""
        limit = asyncio.Semaphore(UPLOAD_CONCURRENCY)

        async def put(file: Path) -> None:
            async with limit:
                await self.storage.put(ref.path(f"{packaged.name}/{file.name}"), file)

        await asyncio.gather(*(put(file) for file in sorted((temp_dir / packaged.name).iterdir())))

    async def _fetch(self, path: str, to: Path) -> Path:
        with to.open("wb") as file:
            async for chunk in self.storage.read(path):
                file.write(chunk)
        return to


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _with_language(name: str, language: str | None) -> str:
    stem, _, extension = name.partition(".")
    return name if language is None else f"{stem}.{language}.{extension}"
