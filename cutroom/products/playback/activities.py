"""The steps of playback. Each writes to names that follow from what goes in, so a repeat writes the same again."""

import asyncio
import hashlib
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from temporalio import activity

from cutroom.jobs.steps import heartbeating
from cutroom.library.playback import MANIFEST, MASTER
from cutroom.library.rules import video_path
from cutroom.media import ladder
from cutroom.media.audio import encode_mix
from cutroom.media.ladder import SEGMENT_SECONDS, Rung
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.packager import Packaged, package_picture, package_sound, package_text
from cutroom.media.probe import MediaInfo, probe_header
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database
from cutroom.platform.storage.objects import Storage
from cutroom.products.playback import service
from cutroom.products.playback.manifests import Kind, manifest, master_playlist
from cutroom.products.playback.service import TrackSource, playback_path

PUTS_AT_ONCE = 8
INFO: TypeAdapter[MediaInfo] = TypeAdapter(MediaInfo)


@dataclass(frozen=True, slots=True)
class PlaybackRef:
    """Whose playback; every step is told."""

    library_id: str
    video_id: str

    def path(self, name: str) -> str:
        return playback_path(self.library_id, self.video_id, name)

    def film(self, name: str) -> str:
        return video_path(self.library_id, self.video_id, name)


@dataclass(frozen=True, slots=True)
class PlaybackPlan:
    """What is missing; `info` is a MediaInfo as JSON."""

    ladder: str  # the fingerprint of source and sizes
    info: dict[str, Any]
    rungs: list[Rung]  # those that have to be made: all, or none
    pieces: int
    tracks: list[TrackSource]


@dataclass(frozen=True, slots=True)
class PlaybackActivities:
    """What the workflow of playback calls."""

    database: Database
    storage: Storage
    workbench: LocalMediaCache
    sandbox: Sandbox
    clock: Clock
    is_on: bool = True

    @activity.defn(name="claim_playback")
    async def claim_playback(self, ref: PlaybackRef, runner: str) -> int | None:
        if not self.is_on:
            return None
        async with self.database.transaction(ref.library_id) as connection:
            return await service.claim(connection, ref.library_id, ref.video_id, runner=runner, now=self.clock())

    @activity.defn(name="plan_playback")
    async def plan_playback(self, ref: PlaybackRef) -> PlaybackPlan | None:
        """Compare what there should be with what there is; nothing as long as the import has not ended."""
        async with self.database.transaction(ref.library_id) as connection:
            video = await service.video_to_play(connection, ref.library_id, ref.video_id)
        if video is None or not video.is_ready:
            return None
        async with heartbeating():
            info = replace(await self._info(ref), duration_seconds=video.duration_seconds)
        has_picture = info.media_type == "video"
        rungs = ladder.plan_ladder(info) if has_picture else []
        told = f"{ladder.VERSION}/{video.fingerprint}/{'/'.join(rung.name for rung in rungs)}"
        fingerprint = _short(told)
        async with self.database.transaction(ref.library_id) as connection:
            there = await service.sources_there(connection, ref.library_id, ref.video_id)
            wanted = await service.wanted_tracks(
                connection,
                ref.library_id,
                ref.video_id,
                language=video.language,
                has_sound=bool(info.audio_streams),
            )
            await service.name_original(connection, ref.library_id, ref.video_id, language=video.language)
        is_made = all(there.get(("picture", rung.name)) == fingerprint for rung in rungs)
        return PlaybackPlan(
            ladder=fingerprint,
            info=INFO.dump_python(info, mode="json"),
            rungs=[] if is_made else rungs,
            pieces=0 if is_made else len(ladder.plan_ladder_pieces(info)),
            tracks=[each for each in wanted if there.get((each.kind, each.name)) != each.source],
        )

    async def _info(self, ref: PlaybackRef) -> MediaInfo:
        """What the source holds; the picture of what was sent as sound was not imported, and is none."""
        async with self.workbench.fetch(ref.film("source")) as source:
            info = await probe_header(source.path, sandbox=self.sandbox)
        has_picture = await self.storage.size(ref.film("proxy.mp4")) is not None
        return info if has_picture else replace(info, media_type="audio")

    @activity.defn(name="encode_ladder_piece")
    async def encode_ladder_piece(self, ref: PlaybackRef, plan: PlaybackPlan, index: int) -> None:
        """One piece in every size; one that is there is not made again."""
        info = INFO.validate_python(plan.info)
        piece = ladder.plan_ladder_pieces(info)[index]
        names = [ladder.rung_file(rung, piece, Path()).name for rung in plan.rungs]
        stored = [ref.path(f"pieces/{plan.ladder}/{name}") for name in names]
        if all([await self.storage.size(path) is not None for path in stored]):
            return
        async with heartbeating(), self.workbench.fetch(ref.film("source")) as source:
            with self.workbench.drawer() as drawer:
                made = await ladder.encode_ladder_piece(
                    source.path, info, piece, rungs=plan.rungs, output=drawer, sandbox=self.sandbox
                )
                for path, file in zip(stored, made, strict=True):
                    await self.storage.put(path, file)

    @activity.defn(name="package_rung")
    async def package_rung(self, ref: PlaybackRef, plan: PlaybackPlan, number: int) -> None:
        """Join a rung's pieces, and cut them into segments."""
        rung = plan.rungs[number]
        pieces = ladder.plan_ladder_pieces(INFO.validate_python(plan.info))
        rate = pieces[0].rate
        seconds = float(Fraction(ladder.segment_frames(rate)) / rate)
        async with heartbeating():
            with self.workbench.drawer() as drawer:
                for piece in pieces:
                    file = ladder.rung_file(rung, piece, drawer)
                    await self._fetch(ref.path(f"pieces/{plan.ladder}/{file.name}"), file)
                joined = await ladder.join_rung(rung, pieces, output=drawer, sandbox=self.sandbox)
                packaged = await package_picture(
                    f"v/{rung.name}-{plan.ladder}",
                    joined.name,
                    segment_seconds=seconds,
                    output=drawer,
                    sandbox=self.sandbox,
                )
                await self._store(ref, packaged, drawer)
        await self._record(ref, ("picture", rung.name, None), source=plan.ladder, packaged=packaged)

    @activity.defn(name="package_track")
    async def package_track(self, ref: PlaybackRef, track: TrackSource) -> None:
        """A sound or a text beside those that are there; no picture is touched."""
        name = f"{track.kind[0]}/{track.name}-{_short(track.source)}"
        language = track.language
        async with heartbeating():
            with self.workbench.drawer() as drawer:
                fetched = await self._fetch(track.path, drawer / "track")
                how: dict[str, Any] = {"segment_seconds": SEGMENT_SECONDS, "output": drawer, "sandbox": self.sandbox}
                if track.kind == "text":
                    fetched = fetched.rename(drawer / "track.vtt")
                    packaged = await package_text(name, fetched.name, language=language, **how)
                else:
                    if track.name == service.ORIGINAL:
                        fetched = await encode_mix(fetched, output=drawer, sandbox=self.sandbox)
                    packaged = await package_sound(name, fetched.name, language=language, **how)
                await self._store(ref, packaged, drawer)
        await self._record(ref, (track.kind, track.name, language), source=track.source, packaged=packaged)

    @activity.defn(name="publish_playback")
    async def publish_playback(self, ref: PlaybackRef, runner: str, seen: int) -> int | None:
        """Write the lists of all that is there; then let go, or go on with what was asked meanwhile."""
        async with self.database.transaction(ref.library_id) as connection:
            video = await service.video_to_play(connection, ref.library_id, ref.video_id)
            tracks = await service.tracks_of(connection, ref.library_id, ref.video_id)
            if video is not None and tracks:
                spoken = [each.language or "" for each in tracks if each.kind == "sound"]
                languages = sorted(set(spoken), key=lambda each: (each != video.language, each))
                for first in [None, *languages]:
                    heard = first or video.language
                    playlist = master_playlist(tracks, first=heard, original=video.language)
                    await self.storage.put(ref.path(_named(MASTER, first)), playlist.encode())
                    listed = manifest(tracks, first=heard, seconds=video.duration_seconds)
                    await self.storage.put(ref.path(_named(MANIFEST, first)), listed.encode())
                await service.show(connection, ref.library_id, ref.video_id, languages=languages)
            return await service.release(
                connection, ref.library_id, ref.video_id, runner=runner, seen=seen, now=self.clock()
            )

    @activity.defn(name="give_up_playback")
    async def give_up_playback(self, ref: PlaybackRef, runner: str, error: str) -> None:
        async with self.database.transaction(ref.library_id) as connection:
            await service.give_up(
                connection, ref.library_id, ref.video_id, runner=runner, error=error, now=self.clock()
            )

    @activity.defn(name="clear_ladder_pieces")
    async def clear_ladder_pieces(self, ref: PlaybackRef, plan: PlaybackPlan) -> None:
        async with heartbeating():
            await self.storage.delete_under(ref.path(f"pieces/{plan.ladder}/"))

    async def _record(
        self, ref: PlaybackRef, track: tuple[Kind, str, str | None], *, source: str, packaged: Packaged
    ) -> None:
        async with self.database.transaction(ref.library_id) as connection:
            await service.put_track(
                connection,
                ref.library_id,
                ref.video_id,
                track=track,
                source=source,
                packaged=packaged,
                now=self.clock(),
            )

    async def _store(self, ref: PlaybackRef, packaged: Packaged, drawer: Path) -> None:
        """All files of a track; they are small and many."""
        gate = asyncio.Semaphore(PUTS_AT_ONCE)

        async def put(file: Path) -> None:
            async with gate:
                await self.storage.put(ref.path(f"{packaged.name}/{file.name}"), file)

        await asyncio.gather(*(put(file) for file in sorted((drawer / packaged.name).iterdir())))

    async def _fetch(self, path: str, to: Path) -> Path:
        with to.open("wb") as file:
            async for chunk in self.storage.read(path):
                file.write(chunk)
        return to


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _named(name: str, language: str | None) -> str:
    stem, _, ending = name.partition(".")
    return name if language is None else f"{stem}.{language}.{ending}"
