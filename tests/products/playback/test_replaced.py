"""Files of replaced tracks go when no playback URL can reach them any more, and nothing else does."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from cutroom.library.playback import PlaybackLinks
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database, insert
from cutroom.platform.secret_box import SecretBox
from cutroom.products.playback.replaced import REACHABLE, delete_replaced
from cutroom.products.playback.service import playback_path
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import TranscribedVideo

OLD, NEW = "a/pt-00000001", "a/pt-00000002"
CURRENT = {
    "master.m3u8",
    "manifest.mpd",
    "master.pt.m3u8",
    f"{NEW}/0.m4s",
    f"{NEW}/index.m3u8",
    "v/360p-1/0.m4s",
    "cuts/aa.json",
}
REPLACED = {f"{OLD}/0.m4s", f"{OLD}/index.m3u8", "v/360p-0/0.m4s", "t/pt-0/0.vtt", "cuts/bb.json"}
OTHERS = {"chunks/l/0.mp4", "unknown"}  # not of a track


@pytest.fixture
async def stream(accounts: Accounts, runtime: Runtime, transcribed: TranscribedVideo) -> TranscribedVideo:
    where = {"library_id": transcribed.library_id, "video_id": transcribed.video_id}
    edit = {"revision": 2, "uncut": False, "deleted": [], "cut": "aa", "seconds": 9.0}
    now = system_clock()
    row = {**where, "state": "ready", "revision": 1, "updated_at": now, "planned_edit": edit, "packaged_edit": edit}
    await insert(accounts.connection, "playbacks", row)
    for kind, name, folder in (("audio", "pt", NEW), ("video", "360p", "v/360p-1")):
        track = {"kind": kind, "name": name, "language": "pt", "source": "x", "packaged": {"name": folder}}
        await insert(accounts.connection, "playback_tracks", {**where, **track, "created_at": now})
    for name in CURRENT | REPLACED | OTHERS:
        await runtime.storage.put(playback_path(transcribed.library_id, transcribed.video_id, name), b"x")
    return transcribed


async def stored(runtime: Runtime, video: TranscribedVideo) -> dict[str, datetime]:
    prefix = playback_path(video.library_id, video.video_id, "")
    return {each.path: each.changed_at async for each in runtime.storage.list_objects(prefix)}


def names(files: Mapping[str, Any], video: TranscribedVideo) -> set[str]:
    prefix = playback_path(video.library_id, video.video_id, "")
    return {path.removeprefix(prefix) for path in files}


async def sweep(database: Database, runtime: Runtime, video: TranscribedVideo, *, after: timedelta) -> set[str]:
    files = await stored(runtime, video)
    now = max(files.values()) + after
    found = await delete_replaced(database, runtime.storage, video.library_id, video.video_id, files, now)
    return names(dict.fromkeys(found), video)


async def test_replaced_files_go_when_their_urls_have_expired(
    worker_database: Database, runtime: Runtime, stream: TranscribedVideo
) -> None:
    assert await sweep(worker_database, runtime, stream, after=REACHABLE - timedelta(minutes=1)) == set()
    assert names(await stored(runtime, stream), stream) == CURRENT | REPLACED | OTHERS
    assert await sweep(worker_database, runtime, stream, after=REACHABLE + timedelta(minutes=1)) == REPLACED
    assert names(await stored(runtime, stream), stream) == CURRENT | OTHERS


def test_no_playback_url_is_valid_for_longer() -> None:
    links, now = PlaybackLinks(SecretBox("k" * 64), "https://cutroom.example.com"), system_clock()
    token = links.url("l", "v", "master.m3u8", now=now).split("/media/")[1].split("/")[0]
    assert links.is_valid(token, "l", "v", now=now)
    assert not links.is_valid(token, "l", "v", now=now + REACHABLE)


@pytest.mark.parametrize("changes", [("ready", "run"), ("failed", None), ("processing", None)])
async def test_nothing_goes_while_a_stream_is_packaged_or_after_that_has_failed(
    changes: tuple[str, str | None],
    worker_database: Database,
    runtime: Runtime,
    accounts: Accounts,
    stream: TranscribedVideo,
) -> None:
    update = "UPDATE playbacks SET state = $2, lease_holder = $3 WHERE video_id = $1"
    await accounts.connection.execute(update, stream.video_id, *changes)
    assert await sweep(worker_database, runtime, stream, after=REACHABLE * 2) == set()
    assert names(await stored(runtime, stream), stream) == CURRENT | REPLACED | OTHERS


async def test_a_killed_sweep_is_finished_by_the_next_one(
    worker_database: Database, runtime: Runtime, stream: TranscribedVideo, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage, calls = type(runtime.storage), list[str]()
    delete_under = storage.delete_under

    async def killed(self: object, prefix: str) -> None:
        if calls:
            raise ConnectionAbortedError
        calls.append(prefix)
        await delete_under(self, prefix)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(storage, "delete_under", killed)
        with pytest.raises(ConnectionAbortedError):
            await sweep(worker_database, runtime, stream, after=REACHABLE * 2)
    left = names(await stored(runtime, stream), stream)
    assert CURRENT | OTHERS < left < CURRENT | REPLACED | OTHERS
    await sweep(worker_database, runtime, stream, after=REACHABLE * 2)
    assert names(await stored(runtime, stream), stream) == CURRENT | OTHERS
