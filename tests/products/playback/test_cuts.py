"""Streams without deleted words: requested, packaged for real, refreshed in the same places, and made whole again."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.jobs.worker import media_sandbox
from cutroom.library.rules import video_path
from cutroom.media.local_cache import LocalMediaCache
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.settings import Settings
from cutroom.products.playback import edits, service
from cutroom.products.playback.activities import PlaybackActivities
from cutroom.products.playback.plan import PlaybackPlan, PlaybackRef
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import TranscribedVideo

SECONDS = 8.0
DELETE_FIRST = {"op": "delete", "ids": ["s1"]}
HOLDER = "test"


@dataclass(frozen=True)
class CutStage:
    """A video of some seconds, and the steps of the workflow that packages it."""

    api: httpx.AsyncClient
    runtime: Runtime
    video: TranscribedVideo
    activities: PlaybackActivities

    @property
    def url(self) -> str:
        return f"/videos/{self.video.video_id}/playback"

    @property
    def ref(self) -> PlaybackRef:
        return PlaybackRef(self.video.library_id, self.video.video_id)

    async def package(self) -> PlaybackPlan:
        """The steps of the workflow."""
        environment, made = ActivityEnvironment(), self.activities
        revision = await environment.run(made.acquire_playback_lease, self.ref, HOLDER)
        assert revision is not None
        plan: PlaybackPlan | None = await environment.run(made.plan_playback, self.ref)
        assert plan is not None
        if plan.obsolete:
            await environment.run(made.delete_obsolete_tracks, self.ref, plan.obsolete)
        for index in range(plan.chunk_count):
            await environment.run(made.encode_ladder_chunk, self.ref, plan, index)
        if plan.renditions:
            await environment.run(made.package_ladder, self.ref, plan)
        for track in plan.tracks:
            await environment.run(made.package_track, self.ref, track)
        assert await environment.run(made.publish_playback, self.ref, HOLDER, revision) is None
        return plan

    async def edit(self, revision: int, *operations: dict[str, Any]) -> None:
        body = {"revision": revision, "operations": list(operations)}
        response = await self.api.patch(f"/videos/{self.video.video_id}/transcript", json=body)
        assert response.status_code == 200, response.text

    async def request(self, **body: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        response = await self.api.post(self.url, json=body)
        assert response.status_code == 202, response.text
        state: dict[str, Any] = response.json()
        return state

    async def durations(self) -> Mapping[str, float]:
        """The seconds of each HLS playlist, by the kind and name of its track."""
        rows = await self.video.accounts.connection.fetch(
            "SELECT kind, name, packaged ->> 'name' AS folder FROM playback_tracks WHERE video_id = $1",
            self.video.video_id,
        )
        found = {}
        for row in rows:
            playlist = await self.read(f"{row['folder']}/index.m3u8")
            lengths = [line.split(":")[1].rstrip(",") for line in playlist.splitlines() if line.startswith("#EXTINF")]
            found[f"{row['kind']} {row['name']}"] = sum(float(each) for each in lengths)
        return found

    async def read(self, name: str) -> str:
        path = self.ref.path(name)
        return b"".join([chunk async for chunk in self.runtime.storage.read(path)]).decode()


@pytest.fixture
async def stage(
    api: httpx.AsyncClient,
    settings: Settings,
    runtime: Runtime,
    accounts: Accounts,
    transcribed: TranscribedVideo,
    tmp_path: Path,
) -> CutStage:
    picture = ("-f", "lavfi", "-i", f"testsrc=s=160x120:r=25:d={SECONDS}")
    sound = ("-f", "lavfi", "-i", f"sine=440:r=48000:d={SECONDS}")
    source, mix = tmp_path / "source.mp4", tmp_path / "mix.mka"
    for arguments in (
        [*picture, *sound, "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", str(source)],
        [*sound, "-ac", "2", "-c:a", "flac", str(mix)],
    ):
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *arguments], check=True)
    library_id, video_id = transcribed.library_id, transcribed.video_id
    await runtime.storage.put(video_path(library_id, video_id, "source"), source)
    await runtime.storage.put(video_path(library_id, video_id, "mix.mka"), mix)
    columns = {"type": "upload", "storage_path": "source", "size_bytes": source.stat().st_size, "sha256": b"0" * 32}
    row = {"library_id": library_id, "video_id": video_id, "created_at": system_clock(), **columns}
    await insert(accounts.connection, "sources", row)
    change = "UPDATE videos SET default_language_code = 'en', duration_seconds = $2, media_type = 'video' WHERE id = $1"
    await accounts.connection.execute(change, video_id, SECONDS)
    cache = LocalMediaCache(runtime.storage, tmp_path / "cache", max_bytes=100_000_000)
    sandbox = media_sandbox(settings)
    activities = PlaybackActivities(runtime.database, runtime.storage, cache, sandbox, system_clock)
    return CutStage(api, runtime, transcribed, activities)


async def test_a_stream_leaves_out_deleted_words_until_it_is_made_whole(stage: CutStage, accounts: Accounts) -> None:
    await stage.package()
    whole = await stage.durations()
    assert whole["video 120p"] == pytest.approx(SECONDS, abs=0.05)
    assert (await stage.api.get(stage.url)).json() == {
        "videoId": stage.video.video_id,
        "status": "ready",
        "duration": SECONDS,
    }
    await stage.edit(1, DELETE_FIRST)
    assert (await stage.package()).renditions == []  # nothing was requested
    stale = (await stage.api.get(f"/videos/{stage.video.video_id}/stale-products")).json()["products"]
    assert [(each["product"], each["reasons"]) for each in stale] == [("playback", ["cutsChanged"])]

    state = await stage.request(transcriptRevision=2)
    assert state["requested"] == {"transcriptRevision": 2, "uncut": False}
    start = await accounts.connection.fetchval(
        "SELECT argument FROM outbox WHERE workflow = 'playback' AND library_id = $1", stage.video.library_id
    )
    assert start["video_id"] == stage.video.video_id
    plan = await stage.package()
    state = (await stage.api.get(stage.url)).json()
    assert "requested" not in state
    assert state["transcriptRevision"] == 2
    [first, second] = state["kept"]
    assert (first["start"], second["end"]) == (0.0, SECONDS)
    removed = second["start"] - first["end"]
    assert 0.5 < removed < 1.0
    assert state["duration"] == pytest.approx(SECONDS - removed)
    cut = await stage.durations()
    for track in ("video 120p", "audio original"):
        assert cut[track] == pytest.approx(state["duration"], abs=0.05), track
    assert f'mediaPresentationDuration="PT{state["duration"]:.3f}S"' in await stage.read("manifest.mpd")
    assert (await stage.api.get(f"/videos/{stage.video.video_id}/stale-products")).json()["products"] == []
    assert plan.cut is not None

    assert (await stage.package()).tracks == []  # up to date
    await stage.request(uncut=True)
    await stage.package()
    assert await stage.durations() == pytest.approx(whole, abs=0.01)
    assert "kept" not in (await stage.api.get(stage.url)).json()
    assert (await stage.api.get(f"/videos/{stage.video.video_id}/stale-products")).json()["products"] == []


async def test_a_later_track_is_cut_in_the_same_places(stage: CutStage, accounts: Accounts) -> None:
    """Also after other words were deleted: picture and sound were not packaged with those cuts."""
    await stage.edit(1, DELETE_FIRST)
    await stage.request()
    cut = (await stage.package()).cut
    await stage.edit(2, {"op": "delete", "ids": ["s2"]})
    await accounts.connection.execute("UPDATE transcripts SET created_at = created_at + interval '1 s'")
    plan = await stage.package()
    assert [(each.kind, each.cut) for each in plan.tracks] == [("text", cut)]
    assert plan.renditions == []


async def test_what_cannot_be_cut_is_refused(stage: CutStage, accounts: Accounts) -> None:
    response = await stage.api.post(stage.url, json={"transcriptRevision": 2})
    assert (response.status_code, response.json()["error"]["details"]) == (409, {"revision": 1})
    await stage.edit(1, {"op": "delete", "ids": ["s1", "s2"]})
    response = await stage.api.post(stage.url, json={})
    assert (response.status_code, response.json()["error"]["details"]["reason"]) == (409, "nothing_left")
    body = {"artifact": "language_video", "language": "en"}
    response = await stage.api.post(f"/videos/{stage.video.video_id}/downloads", json=body)
    assert (response.status_code, response.json()["error"]["details"]["reason"]) == (409, "nothing_left")
    response = await stage.api.post(f"/videos/{stage.video.video_id}/downloads", json=body | {"uncut": True})
    assert response.status_code == 202
    await accounts.connection.execute(
        "UPDATE jobs SET status = 'processing', finished_at = NULL WHERE id = $1",
        f"transcript_{stage.video.video_id}",
    )
    response = await stage.api.post(stage.url, json={"uncut": True})
    assert (response.status_code, response.json()["error"]["details"]["reason"]) == (409, "transcript")


async def test_without_the_original_new_tracks_have_the_cuts_of_the_packaged_picture(stage: CutStage) -> None:
    await stage.edit(1, DELETE_FIRST)
    await stage.request()
    cut = (await stage.package()).cut
    library_id, video_id = stage.video.library_id, stage.video.video_id
    await stage.runtime.storage.delete(video_path(library_id, video_id, "source"))
    async with stage.runtime.database.transaction(library_id) as connection:
        await edits.request_edit(
            connection, library_id, video_id, edit=edits.RequestedEdit(2, uncut=True), now=system_clock()
        )
        await connection.execute("UPDATE transcripts SET created_at = created_at + interval '1 s'")
    plan = await stage.package()
    assert [(each.kind, each.cut) for each in plan.tracks] == [("text", cut)]
    async with stage.runtime.database.transaction(library_id) as connection:
        found = await edits.find_edits(connection, library_id, video_id)
    assert found.packaged is not None
    assert found.packaged.cut == cut


def test_only_the_place_of_cuts_makes_no_track_obsolete() -> None:
    track = service.TrackSource("text", "en", "en", "path", source="2026")
    assert track.with_cut(None) is track
    assert track.with_cut("ab").source == "2026#cut=ab"
