"""What is requested after the retention policy has deleted intermediates, or the original, is made all the same."""

import subprocess
import zipfile
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.engines.recognition.port import VoiceActivityDetector
from cutroom.engines.registry import Engines
from cutroom.engines.types import TimeSpan
from cutroom.jobs.lifecycle import JobRef
from cutroom.library.rules import source_path, video_path
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.packager import PackagedTrack, find_packager
from cutroom.media.sandbox import Sandbox
from cutroom.media.shorts import SourceRange
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.products.downloads.activities import DownloadActivities, DownloadRef
from cutroom.products.dubs import mixdown, synthesis
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.mixing import MIX_RATE
from cutroom.products.dubs.script import DubLine, DubScript
from cutroom.products.playback import service as playback
from cutroom.products.playback.activities import PlaybackActivities
from cutroom.products.playback.plan import PlaybackRef
from cutroom.products.shorts import activities as shorts_activities
from cutroom.products.shorts.activities import ShortsActivities, ShortsRef
from cutroom.products.shorts.timeline import Timeline
from cutroom.products.shorts.visual_analysis import VisualAnalysis
from cutroom.products.thumbnails import activities as thumbnail_activities
from cutroom.products.thumbnails.activities import ThumbnailActivities
from cutroom.products.thumbnails.inputs import ThumbnailRef
from cutroom.products.transcripts.activities import TranscriptActivities
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import TranscribedVideo

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

SECONDS = 6.0
SOURCE = ("-f", "lavfi", "-i", f"testsrc2=s=320x180:r=25:d={SECONDS}", "-f", "lavfi", "-i", f"sine=300:d={SECONDS}")


class WholeRecordingDetector:
    """Takes all of a recording for speech."""

    name = "whole"

    def detect(self, blocks: "Iterable[Samples]") -> Iterator[TimeSpan]:
        yield TimeSpan(0.0, sum(map(len, blocks)) / 16_000)


class StubEngines(Engines):
    def __init__(self) -> None:
        pass

    def voice_activity_detector(self) -> VoiceActivityDetector:
        return WholeRecordingDetector()


@pytest.fixture
def cache(runtime: Runtime, tmp_path: Path) -> LocalMediaCache:
    return LocalMediaCache(runtime.storage, tmp_path / "cache", max_bytes=10**8)


@pytest.fixture
async def job(runtime: Runtime, transcribed: TranscribedVideo, accounts: Accounts, tmp_path: Path) -> JobRef:
    """A running job of a video of which only the original is left, besides documents."""
    library_id, video_id = transcribed.library_id, transcribed.video_id
    path = tmp_path / "source.mkv"
    encoding = ("-c:v", "libx264", "-preset", "ultrafast", "-c:a", "flac", "-shortest")
    subprocess.run(["ffmpeg", "-v", "error", "-y", *SOURCE, *encoding, path], check=True)
    await runtime.storage.put(source_path(library_id, video_id), path)
    await accounts.connection.execute(
        "UPDATE videos SET media_type = 'video', duration_seconds = $2, default_language_code = 'en' WHERE id = $1",
        video_id,
        SECONDS,
    )
    source = {"type": "upload", "is_active": True, "size_bytes": 100, "created_at": system_clock()}
    where = {"library_id": library_id, "video_id": video_id, "storage_path": source_path(library_id, video_id)}
    await insert(accounts.connection, "sources", {**where, **source})
    await transcribed.job(status="processing", finished_at=None, progress=0)
    return JobRef(library_id, f"transcript_{video_id}", 1)


def media_path(transcribed: TranscribedVideo, name: str) -> str:
    return video_path(transcribed.library_id, transcribed.video_id, name)


async def test_a_transcript_extracts_the_speech_again(
    runtime: Runtime, transcribed: TranscribedVideo, job: JobRef, cache: LocalMediaCache
) -> None:
    activities = TranscriptActivities(
        database=runtime.database,
        storage=runtime.storage,
        media_cache=cache,
        sandbox=Sandbox(),
        engines=StubEngines(),
        clock=system_clock,
        secret_box=runtime.secret_box,
    )
    plan = await ActivityEnvironment().run(activities.detect_speech, job, transcribed.video_id)
    assert plan.duration_seconds == pytest.approx(SECONDS, abs=0.1)
    assert len(plan.chunks) == 1
    assert await runtime.storage.size(media_path(transcribed, "speech.flac"))


def artifacts_of(runtime: Runtime, cache: LocalMediaCache) -> DubArtifacts:
    return DubArtifacts(runtime.storage, cache, Sandbox())


@pytest.mark.usefixtures("job")
async def test_a_dub_extracts_its_audio_again_and_an_edit_needs_none(
    runtime: Runtime, transcribed: TranscribedVideo, cache: LocalMediaCache
) -> None:
    """The loudness and the pitch of speakers are measured once; a later edit works without the original."""
    dub = DubRef(transcribed.library_id, transcribed.video_id, "pt", "plus")
    artifacts = artifacts_of(runtime, cache)
    line = DubLine(0, 1.0, 5.0, 5.0, "speaker_1", "source", ("text",))
    script = DubScript("pt", "plus", "en", "publishable", (), SECONDS, (line,), "separation")
    mixed = dub.shared_path("mixed/chunk.flac")
    tone = np.full((2, MIX_RATE), 0.1, np.float32) * np.sin(np.arange(MIX_RATE) / 20, dtype=np.float32)
    await artifacts.put_audio(mixed, tone, rate=MIX_RATE)

    async def publish() -> tuple[bytes, float | None]:
        profile = await synthesis._profile_speaker(artifacts, dub=dub, script=script, speaker="speaker_1")
        path, _ = await mixdown.publish_track(artifacts, dub=dub, chunks=[mixed], name="track.m4a", seconds=None)
        return await artifacts.read(path), profile.pitch_hz

    track, pitch_hz = await publish()
    for name in ("mix.mka", "speech.flac", "source"):
        assert await runtime.storage.size(media_path(transcribed, name))
        await runtime.storage.delete(media_path(transcribed, name))
    assert pitch_hz == pytest.approx(300, rel=0.05)
    assert await publish() == (track, pitch_hz)


@pytest.mark.usefixtures("job")
async def test_shorts_extract_frames_and_audio_from_the_original(
    runtime: Runtime, transcribed: TranscribedVideo, cache: LocalMediaCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def analyze(faces: object, shots: object, *_: object, **__: object) -> VisualAnalysis:
        seen.extend(each.path.stat().st_size for each in (faces, shots))  # type: ignore[attr-defined]
        return VisualAnalysis((), ())

    monkeypatch.setattr(shorts_activities, "analyze_frames", analyze)
    activities = ShortsActivities(runtime.database, runtime.storage, cache, Sandbox(), StubEngines(), system_clock)
    shorts = ShortsRef(transcribed.library_id, transcribed.video_id, "request", {"kind": "shorts"})
    info = await activities._info(shorts)
    assert info.media_type == "video"
    timeline = Timeline((SourceRange(1.0, 2.0),))
    await activities._analyze(shorts, info, timeline, report_progress=lambda _fraction: None)
    assert seen[0] == 2 * 5 * 320 * 180 * 3  # five frames a second
    assert seen[1]
    energy = await activities._energy(shorts, await activities._transcript(shorts))
    assert energy
    assert max(energy) > -40


@pytest.mark.usefixtures("job")
async def test_thumbnails_choose_frames_of_the_original(
    runtime: Runtime,
    transcribed: TranscribedVideo,
    job: JobRef,
    cache: LocalMediaCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[Path] = []

    async def select(path: Path, *_: object, **__: object) -> list[object]:
        opened.append(path)
        return []

    monkeypatch.setattr(thumbnail_activities, "select_best_frames", select)
    activities = ThumbnailActivities(
        database=runtime.database,
        storage=runtime.storage,
        media_cache=cache,
        sandbox=Sandbox(),
        engines=StubEngines(),
        egress=None,  # type: ignore[arg-type]
        clock=system_clock,
    )
    thumbnail = ThumbnailRef(transcribed.library_id, transcribed.video_id, "request", {})
    await ActivityEnvironment().run(activities.select_frames, job, thumbnail)
    assert len(opened) == 1


def downloads(runtime: Runtime, cache: LocalMediaCache) -> DownloadActivities:
    return DownloadActivities(runtime.database, runtime.storage, cache, Sandbox(), system_clock)


def download_ref(transcribed: TranscribedVideo, artifact: str) -> DownloadRef:
    return DownloadRef(transcribed.library_id, transcribed.video_id, "request", artifact, "en", "full")


async def test_a_language_video_extracts_the_mix_again(
    runtime: Runtime, transcribed: TranscribedVideo, job: JobRef, cache: LocalMediaCache
) -> None:
    download = download_ref(transcribed, "language_video")
    result = await ActivityEnvironment().run(downloads(runtime, cache).prepare_download, job, download)
    assert result["sizeBytes"] > 1000
    assert await runtime.storage.size(media_path(transcribed, "mix.mka"))


async def test_a_bundle_without_the_original_has_everything_else(
    runtime: Runtime, transcribed: TranscribedVideo, job: JobRef, cache: LocalMediaCache
) -> None:
    await runtime.storage.delete(media_path(transcribed, "source"))
    download = download_ref(transcribed, "bundle")
    result = await ActivityEnvironment().run(downloads(runtime, cache).prepare_download, job, download)
    data = b"".join([chunk async for chunk in runtime.storage.read(result["storagePath"])])
    names = zipfile.ZipFile(BytesIO(data)).namelist()
    assert any(name.startswith("subtitles/") for name in names)
    assert not any(name.startswith("source/") for name in names)


def playback_activities(runtime: Runtime, cache: LocalMediaCache) -> PlaybackActivities:
    sandbox = Sandbox(packager=find_packager(runtime.settings.packager))
    return PlaybackActivities(runtime.database, runtime.storage, cache, sandbox, system_clock)


@pytest.mark.usefixtures("job")
async def test_playback_extracts_the_mix_again(
    runtime: Runtime, transcribed: TranscribedVideo, cache: LocalMediaCache
) -> None:
    activities = playback_activities(runtime, cache)
    ref = PlaybackRef(transcribed.library_id, transcribed.video_id)
    plan = await ActivityEnvironment().run(activities.plan_playback, ref)
    assert plan is not None
    assert plan.renditions
    [original] = [each for each in plan.tracks if each.name == playback.ORIGINAL]
    await ActivityEnvironment().run(activities.package_track, ref, original)
    async with runtime.database.transaction(transcribed.library_id) as connection:
        tracks = await playback.track_sources(connection, transcribed.library_id, transcribed.video_id)
    assert ("audio", playback.ORIGINAL) in tracks


@pytest.mark.usefixtures("job")
async def test_playback_without_the_original_keeps_its_picture_and_adds_tracks(
    runtime: Runtime, transcribed: TranscribedVideo, cache: LocalMediaCache
) -> None:
    library_id, video_id = transcribed.library_id, transcribed.video_id
    await runtime.storage.delete(media_path(transcribed, "source"))
    activities, ref = playback_activities(runtime, cache), PlaybackRef(library_id, video_id)
    assert await ActivityEnvironment().run(activities.plan_playback, ref) is None
    async with runtime.database.transaction(library_id) as connection:
        packaged = PackagedTrack("v/360p", "codec", 1, 1, "<Representation/>")
        await playback.save_track(
            connection,
            library_id,
            video_id,
            track=("video", "360p", None),
            source="ladder",
            packaged=packaged,
            now=system_clock(),
        )
    plan = await ActivityEnvironment().run(activities.plan_playback, ref)
    assert plan is not None
    assert (plan.renditions, [(each.kind, each.language) for each in plan.tracks]) == ([], [("text", "en")])
