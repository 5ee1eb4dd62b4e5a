"""Playback that players take: valid lists, a real browser, languages added by themselves, paths that we alone sign."""

import asyncio
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urljoin

import httpx
import m3u8

from cutroom.platform.ids import new_id
from dev.environment import data_dir
from proofs.playback.players import OPEN_HLS, OPEN_SHAKA, ensure_players, open_browser, page_server, players_folder
from proofs.playback.stage import Owner, in_the_past, make_spoken_film
from proofs.stage.report import Report, prove
from tests.support.dub_stage import fund
from tests.support.stage import Stage, make_video, open_stage, upload

DASH = "{urn:mpeg:dash:schema:mpd:2011}"
SPOKEN, DUBBED = "en", "pt"
PICTURES = data_dir() / "proofs" / "playback"
MIN_CHANGE = 2.0  # of 255, over the whole picture


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        seconds, size = (14, "640x360") if short else (44, "1280x720")
        film = await asyncio.to_thread(make_spoken_film, folder / "film.mp4", seconds=seconds, size=size)
        async with open_stage("proof_playback", folder / "stage", playback="on") as stage:
            await fund(stage)
            async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
                owner = Owner(stage, client, await upload(client, film))
                first = await owner.until(lambda video: "url" in video)
                report.note(f"playable: {first['url']}")
                await _add_languages(report, owner)
                video = await owner.video()
                await _prove_lists(report, video, seconds=seconds)
                await _prove_refusals(report, stage, video)
                await _prove_browser(report, video, folder / "page")
                await _prove_kill(report, stage, client, folder, seconds=120 if short else 600)


async def _add_languages(report: Report, owner: Owner) -> None:
    """A dub and captions become ready; the picture is not touched."""
    job = f"/v1/jobs/transcript_{owner.video_id}"
    while (await owner.client.get(job)).json()["status"] not in {"ready", "failed"}:
        await asyncio.sleep(0.3)
    await owner.settled()
    before = await owner.pictures()
    for product in ("captions", "dubs"):
        asked = await owner.client.post(f"/v1/videos/{owner.video_id}/{product}", json={"languages": [DUBBED]})
        asked.raise_for_status()
    await owner.until(lambda video: DUBBED in video.get("urlMulti", {}))
    while await owner.text_languages() != {SPOKEN, DUBBED}:
        await asyncio.sleep(0.3)
    await owner.settled()
    after = await owner.pictures()
    touched = sum(after.get(path) != tag for path, tag in before.items()) + len(set(after) - set(before))
    runs = await owner.encodings()
    encoded = sum(len(attempts) for _, attempts in runs[1:])
    report.claim(
        f"a dub and captions added to {len(before)} files of the picture: files written again",
        expected="0",
        measured=touched,
        holds=touched == 0 and len(before) > 0,
    )
    report.claim(
        f"... pieces of the ladder encoded by the {len(runs) - 1} later runs", expected="0", measured=encoded,
        holds=encoded == 0 and len(runs[0][1]) > 0,
    )  # fmt: skip
    report.figures(video_reencoded=touched + encoded)


async def _prove_lists(report: Report, video: dict[str, Any], *, seconds: float) -> None:
    async with httpx.AsyncClient(timeout=60) as player:
        master = m3u8.loads((await player.get(video["url"])).text, uri=video["url"])
        playlists = {}
        for each in [*master.playlists, *master.media]:
            answer = await player.get(urljoin(video["url"], each.uri))
            playlists[each.uri] = m3u8.loads(answer.raise_for_status().text)
        dash = (await player.get(video["url"].replace("master.m3u8", "manifest.mpd"))).raise_for_status().text
    rungs = [playlists[each.uri] for each in master.playlists]
    times = {tuple(round(segment.duration, 3) for segment in each.segments) for each in rungs}
    sizes = ", ".join("x".join(map(str, each.stream_info.resolution)) for each in master.playlists)
    report.claim(
        f"sizes in the master playlist ({sizes}): ways in which segments are cut",
        expected="1",
        measured=len(times),
        holds=len(times) == 1 and len(rungs) > 1,
    )
    heard = sorted({each.language for each in master.media if each.type == "AUDIO"})
    read = sorted({each.language for each in master.media if each.type == "SUBTITLES"})
    root = ET.fromstring(dash)  # noqa: S314 (our own answer)
    listed = sorted(
        f"{each.get('contentType')} {each.get('lang', '')}".strip() for each in root.iter(f"{DASH}AdaptationSet")
    )
    expected = sorted(["video", *(f"{kind} {each}" for kind in ("audio", "text") for each in (SPOKEN, DUBBED))])
    report.claim(
        "languages that are heard and read in HLS",
        expected=f"{[SPOKEN, DUBBED]} {[SPOKEN, DUBBED]}",
        measured=f"{heard} {read}",
        holds=heard == read == [SPOKEN, DUBBED],
    )
    report.claim(
        "... and the same in DASH", expected=", ".join(expected), measured=", ".join(listed), holds=listed == expected
    )
    report.figures(languages=heard)
    timelines = {
        json.dumps([each.attrib for each in shown.iter(f"{DASH}S")])
        for shown in root.iter(f"{DASH}Representation")
        if shown.get("width")
    }
    report.claim("timelines of the sizes in DASH", expected="1", measured=len(timelines), holds=len(timelines) == 1)
    worst = max([await asyncio.to_thread(_misfit, video["url"], each, seconds) for each in master.playlists])
    report.claim(
        "ffprobe of every rendition: size right, length off by at most",
        expected="<= 0.1 s",
        measured=f"{worst:.3f} s",
        holds=worst <= 0.1,
    )


def _misfit(base: str, rendition: Any, seconds: float) -> float:  # noqa: ANN401 (m3u8 has no types)
    url = urljoin(base, rendition.uri)
    command = ["ffprobe", "-v", "error", "-of", "json", "-show_entries", "stream=width,height:format=duration", url]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=120).stdout)
    size = tuple(told["streams"][0][side] for side in ("width", "height"))
    return abs(float(told["format"]["duration"]) - seconds) if size == rendition.stream_info.resolution else 1e9


async def _prove_refusals(report: Report, stage: Stage, video: dict[str, Any]) -> None:
    """Expired, tampered with, and of another video; on a playlist and on a segment."""
    async with httpx.AsyncClient(timeout=60) as player:
        master = m3u8.loads((await player.get(video["url"])).text)
        playlist = urljoin(video["url"], master.playlists[0].uri)
        segment = urljoin(playlist, m3u8.loads((await player.get(playlist)).text).segments[0].uri)
        good, bad = 0, []
        for url in (video["url"], playlist, segment):
            good += (await player.get(url)).status_code == 200
            token = url.split("/")[4]
            bad += [
                await in_the_past(stage, url, age=timedelta(seconds=2)),
                url.replace(token, token[:-2] + ("00" if token[-2:] != "00" else "11")),
                url.replace(token, f"pb_ffffffff{token[11:]}"),
                url.replace(f"/{video['id']}/", f"/{new_id()}/"),
                url.replace(f"/{stage.person.library_id}/", f"/{new_id()}/"),
            ]
        refused = [(await player.get(url)).status_code for url in bad]
    report.claim(
        f"signatures that are expired, tampered with or foreign, of {len(bad)}: refused with 403",
        expected=str(len(bad)),
        measured=refused.count(403),
        holds=refused.count(403) == len(bad) and good == 3,
    )
    report.figures(refused=f"{refused.count(403)}/{len(bad)}")


async def _prove_browser(report: Report, video: dict[str, Any], folder: Path) -> None:
    folder.mkdir()
    for file in (await asyncio.to_thread(ensure_players, players_folder())).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    PICTURES.mkdir(parents=True, exist_ok=True)
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
                    f"Chromium with {name}: plays and the picture changes",
                    expected=">= 3 s",
                    measured=f"{played:.1f} s, {frames} frames, {changed:.0f} of 255",
                    holds=plays[-1],
                )
                await viewer.page.screenshot(path=PICTURES / f"{name.replace(', ', '-').replace(' ', '-')}.png")
                if script == OPEN_SHAKA:
                    plays.append(await _switch(report, viewer, name))
        async with open_browser(page) as viewer:
            await viewer.open(OPEN_SHAKA, video["urlMulti"][DUBBED])
            heard = await viewer.page.evaluate("player.getAudioTracks().find(track => track.active).language")
            report.claim(
                f"urlMulti[{DUBBED}]: what is heard first", expected=DUBBED, measured=heard, holds=heard == DUBBED
            )
    report.figures(browser_plays=all(plays))


async def _switch(report: Report, viewer: Any, name: str) -> bool:  # noqa: ANN401
    """Another language and captions, while it plays."""
    viewer.fetched.clear()
    await viewer.page.evaluate(
        f"player.selectTextTrack(player.getTextTracks().find(track => track.language === '{DUBBED}'))"
    )
    text = await viewer.until("(document.querySelector('.shaka-text-container')?.innerText || '').trim()")
    await viewer.page.screenshot(path=PICTURES / f"captions-{name.rpartition(' ')[2]}.png")
    await viewer.page.evaluate(
        f"player.selectAudioTrack(player.getAudioTracks().find(track => track.language === '{DUBBED}'))"
    )
    switched = await viewer.until(f"player.getAudioTracks().find(track => track.active)?.language === '{DUBBED}'")
    played, _, _ = await viewer.watch(1.5)
    heard = [each for each in viewer.fetched if f"/s/{DUBBED}-" in each and each.endswith(".m4s") and each[:3] == "200"]
    holds = bool(switched and text) and played >= 1.5 and len(heard) > 0
    report.claim(
        "... captions are turned on and the language is switched",
        expected="both, and it plays on",
        measured=f"{len(heard)} segments of {DUBBED}, {played:.1f} s, {text!r}",
        holds=holds,
    )
    return holds


async def _prove_kill(report: Report, stage: Stage, client: httpx.AsyncClient, folder: Path, *, seconds: int) -> None:
    """The worker dies while the ladder is encoded; what was there is not made again."""
    film = await asyncio.to_thread(make_video, folder / "long.mp4", seconds)
    owner = Owner(stage, client, await upload(client, film))
    while await owner.pieces() < 2:  # the first piece in both sizes
        stage.worker.keep_running()
        await asyncio.sleep(0.1)
    done = await owner.pieces() // 2
    stage.worker.kill()
    await owner.until(lambda video: "url" in video)
    await owner.settled()
    (_, attempts), *_ = await owner.encodings()
    again = sum(attempt > 1 for attempt in attempts)
    report.claim(
        f"the worker killed with -9 after {done} of {len(attempts)} pieces of a ladder: it resumes, pieces made again",
        expected="1 or 2, those that were being made",
        measured=again,
        holds=1 <= again <= 2 and again + done <= len(attempts),
    )
    report.figures(pieces=len(attempts), pieces_made_again=again)


if __name__ == "__main__":
    sys.exit(prove("Playback", proof))
