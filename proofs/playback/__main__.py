"""Playback: valid HLS and DASH, real players in a browser, added languages, and signed URLs that deletion revokes."""

import asyncio
import json
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import defaultdict
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urljoin

import httpx
import m3u8

from cutroom.library.live_videos import VALID_SECONDS
from cutroom.platform.ids import new_id
from dev.environment import data_dir
from proofs.playback.players import (
    OPEN_HLS,
    OPEN_SHAKA,
    Viewer,
    ensure_players,
    open_browser,
    page_server,
    players_folder,
)
from proofs.playback.stage import PlaybackUser, expire_token, make_spoken_video
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs
from tests.support.dub_stage import fund
from tests.support.stage import Stage, make_video, open_stage, upload

DASH = "{urn:mpeg:dash:schema:mpd:2011}"
SPOKEN, DUBBED = "en", "pt"
SCREENSHOTS = data_dir() / "proofs" / "playback"
MAX_WAIT_SECONDS = 600  # for the first chunk
MAX_REVOCATION_SECONDS = VALID_SECONDS + 3
MIN_CHANGE = 2.0  # mean pixel difference, of 255


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        seconds, size = (14, "640x360") if short else (44, "1280x720")
        path = await asyncio.to_thread(make_spoken_video, folder / "video.mp4", seconds=seconds, size=size)
        async with open_stage("proof_playback", folder / "stage", playback="on") as stage:
            await fund(stage)
            async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
                user = PlaybackUser(stage, client, await upload(client, path))
                first = await user.until(lambda video: "url" in video)
                report.note(f"playable: {first['url']}")
                await _add_languages(report, user)
                video = await user.video()
                await _prove_manifests(report, video, seconds=seconds)
                await _prove_signatures(report, stage, video)
                await _prove_file_urls(report, stage, video)
                await _prove_revocation(report, stage, video)
                await _prove_browser(report, video, folder / "page")
                await _prove_kill(report, stage, client, folder, seconds=300 if short else 600)


async def _add_languages(report: Report, user: PlaybackUser) -> None:
    """Adding a dub and captions leaves the video segments untouched."""
    job = f"/v1/jobs/transcript_{user.video_id}"
    while (await user.client.get(job)).json()["status"] not in {"ready", "failed"}:
        await asyncio.sleep(0.3)
    await user.settled()
    before = await user.video_segments()
    for product in ("captions", "dubs"):
        response = await user.client.post(f"/v1/videos/{user.video_id}/{product}", json={"languages": [DUBBED]})
        response.raise_for_status()
    await user.until(lambda video: DUBBED in video.get("urlMulti", {}))
    while await user.text_languages() != {SPOKEN, DUBBED}:
        await asyncio.sleep(0.3)
    await user.settled()
    after = await user.video_segments()
    rewritten = sum(after.get(path) != tag for path, tag in before.items()) + len(set(after) - set(before))
    runs = await user.encodings()
    encoded = sum(len(attempts) for _, attempts in runs[1:])
    report.claim(
        f"a dub and captions added to {len(before)} video segments: segments rewritten",
        expected="0",
        measured=rewritten,
        holds=rewritten == 0 and len(before) > 0,
    )
    report.claim(
        f"... ladder chunks encoded by the {len(runs) - 1} later runs", expected="0", measured=encoded,
        holds=encoded == 0 and len(runs[0][1]) > 0,
    )  # fmt: skip
    report.figures(video_reencoded=rewritten + encoded)


async def _prove_manifests(report: Report, video: dict[str, Any], *, seconds: float) -> None:
    async with httpx.AsyncClient(timeout=60) as player:
        master = m3u8.loads((await player.get(video["url"])).text, uri=video["url"])
        playlists = {}
        for each in [*master.playlists, *master.media]:
            response = await player.get(urljoin(video["url"], each.uri))
            playlists[each.uri] = m3u8.loads(response.raise_for_status().text)
        dash = (await player.get(video["url"].replace("master.m3u8", "manifest.mpd"))).raise_for_status().text
    renditions = [playlists[each.uri] for each in master.playlists]
    segmentations = {tuple(round(segment.duration, 3) for segment in each.segments) for each in renditions}
    sizes = ", ".join("x".join(map(str, each.stream_info.resolution)) for each in master.playlists)
    report.claim(
        f"renditions in the master playlist ({sizes}): distinct segmentations",
        expected="1",
        measured=len(segmentations),
        holds=len(segmentations) == 1 and len(renditions) > 1,
    )
    audio = sorted({each.language for each in master.media if each.type == "AUDIO"})
    subtitles = sorted({each.language for each in master.media if each.type == "SUBTITLES"})
    root = ET.fromstring(dash)  # noqa: S314 (our own response)
    listed = sorted(
        f"{each.get('contentType')} {each.get('lang', '')}".strip() for each in root.iter(f"{DASH}AdaptationSet")
    )
    expected = sorted(["video", *(f"{kind} {each}" for kind in ("audio", "text") for each in (SPOKEN, DUBBED))])
    report.claim(
        "audio and subtitle languages in HLS",
        expected=f"{[SPOKEN, DUBBED]} {[SPOKEN, DUBBED]}",
        measured=f"{audio} {subtitles}",
        holds=audio == subtitles == [SPOKEN, DUBBED],
    )
    report.claim(
        "adaptation sets in DASH", expected=", ".join(expected), measured=", ".join(listed), holds=listed == expected
    )
    report.figures(languages=audio)
    timelines = {
        json.dumps([each.attrib for each in representation.iter(f"{DASH}S")])
        for representation in root.iter(f"{DASH}Representation")
        if representation.get("width")
    }
    report.claim("distinct video timelines in DASH", expected="1", measured=len(timelines), holds=len(timelines) == 1)
    worst = max([await asyncio.to_thread(_duration_error, video["url"], each, seconds) for each in master.playlists])
    report.claim(
        "ffprobe of every rendition: correct size, largest duration error",
        expected="<= 0.1 s",
        measured=f"{worst:.3f} s",
        holds=worst <= 0.1,
    )


def _duration_error(base: str, rendition: Any, seconds: float) -> float:  # noqa: ANN401 (m3u8 has no types)
    """Absolute error in seconds; a billion if the size is wrong."""
    url = urljoin(base, rendition.uri)
    command = ["ffprobe", "-v", "error", "-of", "json", "-show_entries", "stream=width,height:format=duration", url]
    probed = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=120).stdout)
    size = tuple(probed["streams"][0][side] for side in ("width", "height"))
    return abs(float(probed["format"]["duration"]) - seconds) if size == rendition.stream_info.resolution else 1e9


async def _prove_signatures(report: Report, stage: Stage, video: dict[str, Any]) -> None:
    """Reject expired, tampered and foreign tokens, on playlists and on segments."""
    async with httpx.AsyncClient(timeout=60) as player:
        master = m3u8.loads((await player.get(video["url"])).text)
        playlist = urljoin(video["url"], master.playlists[0].uri)
        segment = urljoin(playlist, m3u8.loads((await player.get(playlist)).text).segments[0].uri)
        accepted, invalid = 0, []
        for url in (video["url"], playlist, segment):
            accepted += (await player.get(url)).status_code == 200
            token = url.split("/")[4]
            invalid += [
                await expire_token(stage, url, age=timedelta(seconds=2)),
                url.replace(token, token[:-2] + ("00" if token[-2:] != "00" else "11")),
                url.replace(token, f"pb_ffffffff{token[11:]}"),
                url.replace(f"/{video['id']}/", f"/{new_id()}/"),
                url.replace(f"/{stage.person.library_id}/", f"/{new_id()}/"),
            ]
        refused = [(await player.get(url)).status_code for url in invalid]
    report.claim(
        f"{len(invalid)} expired, tampered or foreign tokens: rejected with 403",
        expected=str(len(invalid)),
        measured=refused.count(403),
        holds=refused.count(403) == len(invalid) and accepted == 3,
    )
    report.figures(refused=f"{refused.count(403)}/{len(invalid)}")


async def _prove_file_urls(report: Report, stage: Stage, video: dict[str, Any]) -> None:
    """Reject every change of the poster's signed URL."""
    url, library_id = video["posterUrl"], stage.person.library_id
    token = url.split("/")[4]
    invalid = [
        url.replace(token, token[:-2] + ("00" if token[-2:] != "00" else "11")),
        url.replace(token, f"fl_ffffffff{token[11:]}"),
        url.replace(token, video["url"].split("/")[4]),
        url.replace(f"/{video['id']}/", f"/{new_id()}/"),
        url.replace(f"/{library_id}/", f"/{new_id()}/"),
        url.replace("/poster.jpg", "/source"),
        url.replace("/poster.jpg", "%2Fposter.jpg"),
        f"{url}?name=a.html",
    ]
    async with httpx.AsyncClient(timeout=60) as viewer:
        accepted = (await viewer.get(url)).status_code == 200
        refused = [(await viewer.get(each)).status_code for each in invalid]
    report.claim(
        f"{len(invalid)} changed URLs of a poster: rejected with 403",
        expected=str(len(invalid)),
        measured=refused.count(403),
        holds=accepted and refused.count(403) == len(invalid),
    )


async def _prove_revocation(report: Report, stage: Stage, video: dict[str, Any]) -> None:
    """URLs of a video in the trash stop working, and work again when it is restored."""
    urls = (video["url"], video["posterUrl"])
    seconds = []
    async with httpx.AsyncClient(timeout=60) as viewer:
        for value, status in (("now()", 404), ("NULL", 200)):
            await stage.accounts.connection.execute(
                f"UPDATE videos SET deleted_at = {value} WHERE id = $1",  # noqa: S608 (a constant)
                video["id"],
            )
            started = time.monotonic()
            while time.monotonic() < started + MAX_REVOCATION_SECONDS:
                if {await _status(viewer, url) for url in urls} == {status}:
                    break
                await asyncio.sleep(0.2)
            seconds.append(time.monotonic() - started)
    report.claim(
        "issued URLs after the video was moved to the trash, and after it was restored",
        expected=f"404, then 200, each within {VALID_SECONDS:g} s",
        measured=", ".join(f"{each:.1f} s" for each in seconds),
        holds=all(each < MAX_REVOCATION_SECONDS for each in seconds),
    )


async def _status(viewer: httpx.AsyncClient, url: str) -> int | None:
    """The status, or None if the response broke off: the video was moved to the trash during the transfer."""
    try:
        return (await viewer.get(url)).status_code
    except httpx.RemoteProtocolError:
        return None


async def _prove_browser(report: Report, video: dict[str, Any], folder: Path) -> None:
    folder.mkdir()
    for file in (await asyncio.to_thread(ensure_players, players_folder())).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    plays = []
    with page_server(folder) as page:
        for name, script, url in (
            ("Shaka Player, HLS", OPEN_SHAKA, video["url"]),
            ("Shaka Player, DASH", OPEN_SHAKA, video["url"].replace("master.m3u8", "manifest.mpd")),
            ("hls.js, HLS", OPEN_HLS, video["url"]),
        ):
            async with open_browser(page) as viewer:
                await viewer.open(script, url)
                played, frames, changed = await viewer.watch(3.0)
                plays.append(played >= 3.0 and frames > 20 and changed > MIN_CHANGE)
                report.claim(
                    f"Chromium with {name}: plays and the image changes",
                    expected=">= 3 s",
                    measured=f"{played:.1f} s, {frames} frames, {changed:.0f} of 255",
                    holds=plays[-1],
                )
                await viewer.page.screenshot(path=SCREENSHOTS / f"{name.replace(', ', '-').replace(' ', '-')}.png")
                if script == OPEN_SHAKA:
                    plays.append(await _switch(report, viewer, name))
        async with open_browser(page) as viewer:
            await viewer.open(OPEN_SHAKA, video["urlMulti"][DUBBED])
            active = await viewer.page.evaluate("player.getAudioTracks().find(track => track.active).language")
            report.claim(
                f"urlMulti[{DUBBED}]: initial audio track", expected=DUBBED, measured=active, holds=active == DUBBED
            )
    report.figures(browser_plays=all(plays))


async def _switch(report: Report, viewer: Viewer, name: str) -> bool:
    """Turn on captions and switch the audio language during playback."""
    viewer.fetched.clear()
    await viewer.page.evaluate(
        f"player.selectTextTrack(player.getTextTracks().find(track => track.language === '{DUBBED}'))"
    )
    text = await viewer.until("(document.querySelector('.shaka-text-container')?.innerText || '').trim()")
    await viewer.page.screenshot(path=SCREENSHOTS / f"captions-{name.rpartition(' ')[2]}.png")
    await viewer.page.evaluate(
        f"player.selectAudioTrack(player.getAudioTracks().find(track => track.language === '{DUBBED}'))"
    )
    switched = await viewer.until(f"player.getAudioTracks().find(track => track.active)?.language === '{DUBBED}'")
    played, _, _ = await viewer.watch(1.5)
    fetched = [
        each for each in viewer.fetched if f"/a/{DUBBED}-" in each and each.endswith(".m4s") and each[:3] == "200"
    ]
    holds = bool(switched and text) and played >= 1.5 and len(fetched) > 0
    report.claim(
        "... captions turned on and language switched",
        expected="both, playback continues",
        measured=f"{len(fetched)} segments of {DUBBED}, {played:.1f} s, {text!r}",
        holds=holds,
    )
    return holds


async def _prove_kill(report: Report, stage: Stage, client: httpx.AsyncClient, folder: Path, *, seconds: int) -> None:
    """Kill the worker while it encodes the ladder; finished chunks are not encoded again."""
    path = await asyncio.to_thread(make_video, folder / "long.mp4", seconds)
    user = PlaybackUser(stage, client, await upload(client, path))
    async with asyncio.timeout(MAX_WAIT_SECONDS):
        while not (finished := _finished_chunks(await user.chunks())) or (
            await user.started_encodings() == len(finished)
        ):  # until one chunk is stored and the next is in progress
            stage.worker.keep_running()
            await asyncio.sleep(0.1)
    stage.worker.kill()
    finished = _finished_chunks(await user.chunks())
    interrupted = await user.started_encodings() - len(finished)
    encoded_again: set[str] = set()

    async def compare_finished_chunks() -> None:
        stored = _finished_chunks(await user.chunks())
        encoded_again.update(index for index, tags in stored.items() if finished.get(index, tags) != tags)

    await user.until(lambda video: "url" in video, meanwhile=compare_finished_chunks)
    await user.settled()
    (_, attempts), *_ = await user.encodings()
    report.claim(
        f"worker killed with -9 after {len(finished)} of {len(attempts)} ladder chunks: finished chunks encoded again",
        expected="0",
        measured=len(encoded_again),
        holds=not encoded_again and len(finished) > 0,
    )
    limit = stage.settings.media_concurrency
    report.claim(
        "... interrupted chunks encoded again",
        expected=f"1 to {limit}, those in progress",
        measured=interrupted,
        holds=1 <= interrupted <= limit and interrupted + len(finished) <= len(attempts),
    )
    report.figures(pieces=len(attempts), pieces_made_again=interrupted + len(encoded_again))


def _finished_chunks(stored: dict[str, str]) -> dict[str, set[str]]:
    """The tags of each chunk that is stored in both renditions, by chunk index."""
    tags: dict[str, set[str]] = defaultdict(set)
    for path, tag in stored.items():
        tags[path.rpartition("-")[2]].add(tag)
    return {index: found for index, found in tags.items() if len(found) == 2}


if __name__ == "__main__":
    needs = Needs(model_set="ci", programs=("ffmpeg", "ffprobe", "chromium", "npm"))
    sys.exit(prove("Playback", proof, needs=needs))
