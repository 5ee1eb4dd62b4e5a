"""Deleted dubs and captions leave the stream: manifests, files and languages, packaged for real."""

import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Worker

from cutroom.engines.translation.port import Quality
from cutroom.jobs.worker import Activity, media_sandbox
from cutroom.library.rules import video_path
from cutroom.media.local_cache import LocalMediaCache
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.platform.relay import Relay
from cutroom.platform.settings import Settings
from cutroom.platform.task_queues import TaskQueue
from cutroom.platform.temporal import connect
from cutroom.products.captions.service import save_captions
from cutroom.products.dubs.service import dub_path
from cutroom.products.playback import service
from cutroom.products.playback.activities import PlaybackActivities
from cutroom.products.playback.plan import PlaybackRef
from cutroom.products.playback.service import TrackSource
from cutroom.products.playback.workflow import PlaybackWorkflow
from cutroom.products.transcripts.service import subtitle_path
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import TranscribedVideo

SUBTITLES = b"WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nGuten Tag.\n"


def encode_tone(path: Path, codec: str) -> bytes:
    command = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "sine=440:d=2", "-ac", "2", "-c:a", codec]
    subprocess.run([*command, str(path)], check=True)
    return path.read_bytes()


@dataclass(frozen=True)
class Stage:
    """A spoken recording with dubs and captions, and a worker that packages it."""

    runtime: Runtime
    client: Client
    video: TranscribedVideo
    activities: PlaybackActivities
    audio: bytes

    @property
    def ref(self) -> PlaybackRef:
        return PlaybackRef(self.video.library_id, self.video.video_id)

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[None]:
        made, workflows = self.activities, [PlaybackWorkflow]
        control: list[Activity] = [made.acquire_playback_lease, made.publish_playback, made.fail_playback]
        media: list[Activity] = [made.plan_playback, made.package_track, made.delete_obsolete_tracks]
        async with AsyncExitStack() as stack:
            for queue, activities in ((TaskQueue.CONTROL, control), (TaskQueue.MEDIA, media)):
                worker = Worker(self.client, task_queue=queue, workflows=workflows, activities=activities)
                await stack.enter_async_context(worker)
            yield

    async def package(self) -> None:
        handle = await self.client.start_workflow(
            PlaybackWorkflow.run, self.ref, id=f"playback_{new_id()}", task_queue=TaskQueue.CONTROL
        )
        await handle.result(rpc_timeout=timedelta(minutes=2))

    async def package_after_deletion(self, job_id: str) -> None:
        """Runs the workflow that the deletion has put into the outbox."""
        await Relay(self.runtime.database, self.client, running_jobs_per_library=10).relay_once()
        handle = self.client.get_workflow_handle(f"playback_{job_id}_deleted")
        await handle.result(rpc_timeout=timedelta(minutes=2))

    async def add_dub(self, language: str, product: str) -> str:
        key = {"library_id": self.video.library_id, "video_id": self.video.video_id, "language": language}
        path = dub_path(*self._video, f"{language}-{product}/0123-track.m4a")
        await self.runtime.storage.put(path, self.audio)
        row = {"completion": "complete", "segments": [], "speakers": [], "edits": {}, "sync": {}, "audio_path": path}
        connection = self.video.accounts.connection
        await insert(connection, "dubs", {**key, **row, "product": product, "updated_at": system_clock()})
        await self._add_job(f"dub_{self.video.video_id}_{language}_{product}", "dub", language, product)
        return path

    async def add_captions(self, language: str) -> None:
        path = subtitle_path(*self._video, language=language, format_="vtt")
        await self.runtime.storage.put(path, SUBTITLES)
        segment = {"start": 0, "end": 1, "speaker": "speaker_1", "text": "Guten Tag.", "deleted": False, "words": 0}
        async with self.runtime.database.transaction(self.video.library_id) as connection:
            await save_captions(
                connection,
                *self._video,
                language=language,
                segments=[segment],
                quality=Quality.PUBLISHABLE,
                now=system_clock(),
            )
        await self._add_job(f"captions_{self.video.video_id}_{language}", "captions", language, None)

    async def _add_job(self, job_id: str, type_: str, language: str, product: str | None) -> None:
        now = system_clock()
        row = {"library_id": self.video.library_id, "video_id": self.video.video_id, "id": job_id, "type": type_}
        state = {"status": "ready", "attempt": 1, "plan": {}, "depends_on": [], "progress": 100}
        key = {"language": language, "product": product}
        times = {"created_at": now, "updated_at": now, "finished_at": now}
        await insert(self.video.accounts.connection, "jobs", {**row, **key, **state, **times})

    @property
    def _video(self) -> tuple[str, str]:
        return self.video.library_id, self.video.video_id

    async def files(self) -> set[str]:
        """Manifests, and the folders of tracks."""
        names = await self.runtime.storage.names(self.ref.path(""))
        return {"/".join(name.removeprefix(self.ref.path("")).split("/")[:2]).split("-")[0] for name in names}

    async def manifest(self, name: str) -> str:
        return b"".join([chunk async for chunk in self.runtime.storage.read(self.ref.path(name))]).decode()

    async def track(self, name: str) -> tuple[str, str]:
        """Source and folder of a track."""
        row = await self.video.accounts.connection.fetchrow(
            """SELECT source, packaged ->> 'name' FROM playback_tracks
               WHERE video_id = $1 AND kind = 'audio' AND name = $2""",
            self.video.video_id,
            name,
        )
        assert row is not None
        return row[0], row[1]

    async def languages(self) -> list[str]:
        found: list[str] = await self.video.accounts.connection.fetchval(
            "SELECT playback_languages FROM videos WHERE id = $1", self.video.video_id
        )
        return found


@pytest.fixture
async def stage(
    settings: Settings, runtime: Runtime, accounts: Accounts, transcribed: TranscribedVideo, tmp_path: Path
) -> Stage:
    await accounts.connection.execute("DELETE FROM outbox")
    audio = encode_tone(tmp_path / "tone.m4a", "aac")
    library_id, video_id = transcribed.library_id, transcribed.video_id
    await runtime.storage.put(video_path(library_id, video_id, "source"), audio)
    await runtime.storage.put(video_path(library_id, video_id, "mix.mka"), encode_tone(tmp_path / "mix.mka", "flac"))
    source = {"type": "upload", "storage_path": "source", "size_bytes": len(audio), "sha256": b"0" * 32}
    row = {"library_id": library_id, "video_id": video_id, "created_at": system_clock(), **source}
    await insert(accounts.connection, "sources", row)
    change = "UPDATE videos SET default_language_code = 'en', duration_seconds = 2 WHERE id = $1"
    await accounts.connection.execute(change, video_id)
    media_cache = LocalMediaCache(runtime.storage, tmp_path / "cache", max_bytes=100_000_000)
    activities = PlaybackActivities(
        runtime.database, runtime.storage, media_cache, media_sandbox(settings), system_clock
    )
    return Stage(runtime, await connect(settings), transcribed, activities, audio)


async def test_deleted_dub_and_captions_leave_the_stream(stage: Stage, api: httpx.AsyncClient) -> None:
    for language in ("de", "pt"):
        await stage.add_dub(language, "plus")
        await stage.add_captions(language)
    video_id = stage.video.video_id
    async with stage.worker():
        await stage.package()
        assert await stage.languages() == ["en", "de", "pt"]
        assert {"master.de.m3u8", "manifest.de.mpd", "a/de", "t/de"} <= await stage.files()
        assert (await api.delete(f"/videos/{video_id}/dubs/de")).status_code == 204
        await stage.package_after_deletion(f"dub_{video_id}_de_plus")
        assert await stage.languages() == ["en", "pt"]
        assert 'TYPE=AUDIO,GROUP-ID="audio",NAME="de"' not in await stage.manifest("master.m3u8")
        assert 'TYPE=SUBTITLES,GROUP-ID="text",NAME="de"' in await stage.manifest("master.m3u8")
        assert (await api.delete(f"/videos/{video_id}/captions/de")).status_code == 204
        await stage.package_after_deletion(f"captions_{video_id}_de")
    for name in ("master.m3u8", "master.pt.m3u8", "manifest.mpd", "manifest.pt.mpd"):
        text = await stage.manifest(name)
        assert '"de"' not in text
        assert text.count('"pt"') >= 2  # audio and subtitles
    names = {"master", "master.en", "master.pt"}
    manifests = {f"{name}.m3u8" for name in names} | {f"{name.replace('master', 'manifest')}.mpd" for name in names}
    assert await stage.files() == manifests | {"a/original", "a/pt", "t/en", "t/pt"}
    assert (await api.get(f"/videos/{video_id}")).json()["urlMulti"].keys() == {"en", "pt"}


async def test_other_dub_of_the_language_replaces_the_deleted_one(stage: Stage, api: httpx.AsyncClient) -> None:
    await stage.add_dub("pt", "plus")
    premium = await stage.add_dub("pt", "premium")
    video_id = stage.video.video_id
    async with stage.worker():
        await stage.package()
        source, folder = await stage.track("pt")
        assert source == premium
        await api.delete(f"/videos/{video_id}/dubs/pt?product=premium")
        await stage.package_after_deletion(f"dub_{video_id}_pt_premium")
    source, replaced = await stage.track("pt")
    assert "pt-plus" in source
    assert await stage.runtime.storage.names(stage.ref.path(f"{folder}/")) == []
    assert await stage.runtime.storage.names(stage.ref.path(f"{replaced}/")) != []
    assert await stage.languages() == ["en", "pt"]


async def test_dub_that_is_made_again_keeps_its_track(stage: Stage) -> None:
    """While a line is spoken again, only the preview of the dub is complete."""
    await stage.add_dub("pt", "plus")
    async with stage.worker():
        await stage.package()
    connection = stage.video.accounts.connection
    change = "UPDATE dubs SET completion = 'preview_ready' WHERE video_id = $1"
    await connection.execute(change, stage.video.video_id)
    async with stage.runtime.database.transaction(stage.ref.library_id) as scoped:
        video = (stage.ref.library_id, stage.ref.video_id)
        expected = await service.expected_tracks(scoped, *video, language="en", has_audio=True)
        assert [each.name for each in expected] == ["original", "en"]
        assert await service.obsolete_tracks(scoped, *video, expected=expected) == []


async def test_track_that_is_deleted_before_it_is_packaged_is_skipped(stage: Stage) -> None:
    path = dub_path(stage.ref.library_id, stage.ref.video_id, "pt-plus/gone.m4a")
    await ActivityEnvironment().run(
        stage.activities.package_track, stage.ref, TrackSource("audio", "pt", "pt", path, path)
    )
    find = "SELECT count(*) FROM playback_tracks WHERE video_id = $1"
    assert await stage.video.accounts.connection.fetchval(find, stage.ref.video_id) == 0
