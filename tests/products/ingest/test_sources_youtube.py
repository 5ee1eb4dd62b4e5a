"""yt-dlp commands, and yt-dlp itself against a server that imitates YouTube."""

import asyncio
import importlib.util
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from cutroom.platform.egress.addresses import Resolver
from cutroom.platform.egress.urls import UrlError
from cutroom.products.ingest.pace import PaceRules
from cutroom.products.ingest.sources import SourceError, SourceInfo
from cutroom.products.ingest.sources_youtube import (
    Tools,
    YoutubeSource,
    _DownloadRecords,
    download_command,
    environment,
    probe_command,
    to_source_error,
)
from tests.support.network_namespace import (
    FakeInternet,
    ReceivedRequest,
    in_namespace,
    open_internet,
    reply,
    unavailable_reason,
)

VIDEO_ID = "dQw4w9WgXcQ"
URL = f"https://youtu.be/{VIDEO_ID}"
TOOLS = Tools("/usr/bin/python3", "/opt/deno")
PICTURE, SOUND = b"picture" * 40_000, b"sound" * 9_000
MISSING = [name for name in ("yt_dlp", "yt_dlp_ejs", "deno") if importlib.util.find_spec(name) is None]
UNABLE = unavailable_reason() or (f"not installed: {MISSING}" if MISSING else None)
with_youtube = pytest.mark.skipif(UNABLE is not None, reason=UNABLE or "")


class Kept:
    """Records written bytes and reported progress."""

    def __init__(self) -> None:
        self.data, self.steps = b"", list[tuple[int, int | None]]()

    async def write(self, data: bytes) -> None:
        self.data += data

    async def progress(self, done: int, total: int | None) -> None:
        self.steps.append((done, total))


def test_commands_are_restricted_to_youtube_and_the_proxy(tmp_path: Path) -> None:
    proxy = "http://u:p@127.0.0.1:1"
    download = download_command(TOOLS, VIDEO_ID, proxy_url=proxy, folder=tmp_path, max_bytes=1000)
    for command in (probe_command(TOOLS, VIDEO_ID, proxy_url=proxy), download):
        text = " ".join(command)
        assert command[:4] == ["/usr/bin/python3", "-I", "-m", "yt_dlp"]
        for words in ("--ignore-config", "--ies youtube", "--no-playlist", "--no-cache-dir", f"--proxy {proxy}"):
            assert f" {words} " in text
        assert " --no-js-runtimes --js-runtimes deno:/opt/deno --no-remote-components " in text
        assert command[-2:] == ["--", f"https://www.youtube.com/watch?v={VIDEO_ID}"]
    assert " --max-filesize 1000 " in " ".join(download)
    assert "--fixup never" in " ".join(download)


def test_subprocess_environment_contains_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTROOM_SECRET_KEY", "x")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("SSL_CERT_FILE", "/ca.pem")
    names = {"PATH", "HOME", "DENO_DIR", "TMPDIR", "LANG"}
    assert set(environment(tmp_path)) - {"SSL_CERT_DIR"} == names | {"SSL_CERT_FILE"}


@pytest.mark.parametrize(
    ("stderr", "message", "retryable"),
    [
        ("ERROR: [youtube] x: Private video. Sign in if you've been granted access", "This video is private.", False),
        ("ERROR: [youtube] x: Video unavailable. Removed by the uploader", "This video is not available.", False),
        ("ERROR: [youtube] x: Sign in to confirm your age", "This video is restricted by age.", False),
        ("ERROR: [youtube] x: This live event will begin in 2 hours.", "Live streams can be imported once", False),
        ("ERROR: [youtube] x: Sign in to confirm you're not a bot", "The provider has reached its download", False),
        ("ERROR: unable to download video data: HTTP Error 503", "The source could not be fetched.", True),
        ("Traceback (most recent call last): secret", "The source could not be fetched.", True),
    ],
)
def test_what_youtube_says_becomes_one_of_our_sentences(stderr: str, message: str, retryable: bool) -> None:  # noqa: FBT001
    error = to_source_error(stderr)
    assert str(error).startswith(message)
    assert error.retryable is retryable


def player(status: dict[str, str], **details: object) -> dict[str, Any]:
    """An abridged response of YouTube's player API."""
    formats = [
        {"itag": 137, "mimeType": 'video/mp4; codecs="avc1.640028"', "width": 1920, "height": 1080, "fps": 25},
        {"itag": 140, "mimeType": 'audio/mp4; codecs="mp4a.40.2"', "audioSampleRate": "44100", "audioChannels": 2},
    ]
    for entry, body in zip(formats, (PICTURE, SOUND), strict=True):
        entry["url"] = f"https://rr1.googlevideo.com/videoplayback?itag={entry['itag']}&expire=9999999999"
        entry |= {"contentLength": str(len(body)), "approxDurationMs": "42000", "bitrate": len(body)}
    video = {"videoId": VIDEO_ID, "title": "A clip", "lengthSeconds": "42", "author": "An author", **details}
    return {"playabilityStatus": status, "videoDetails": video, "streamingData": {"adaptiveFormats": formats}}


class Youtube:
    """The watch page, the player API and the media host."""

    def __init__(self, player_response: dict[str, Any]) -> None:
        self.player_response = json.dumps(player_response)

    async def __call__(self, request: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        if request.host == "rr1.googlevideo.com":
            body = PICTURE if "itag=137" in request.path else SOUND
            writer.write(reply(206, body, Content_Range=f"bytes 0-{len(body) - 1}/{len(body)}"))
        elif request.path.startswith("/watch"):
            page = f"<!doctype html><script>var ytInitialPlayerResponse = {self.player_response};</script>"
            writer.write(reply(200, page.encode(), Content_Type="text/html"))
        elif request.path.startswith("/youtubei/v1/"):
            writer.write(reply(200, self.player_response.encode(), Content_Type="application/json"))
        else:
            writer.write(reply(404))


@asynccontextmanager
async def youtube(player_response: dict[str, Any]) -> AsyncIterator[tuple[FakeInternet, YoutubeSource]]:
    async with open_internet() as internet:
        await internet.serve(["www.youtube.com", "rr1.googlevideo.com"], Youtube(player_response))
        resolver = Resolver()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SSL_CERT_FILE", str(internet.authority.file))
            yield internet, YoutubeSource(resolver, Tools.find())
        resolver.close()
        assert internet.canaries.connections == []


@with_youtube
@in_namespace
async def test_video_is_probed_and_downloaded_through_the_proxy() -> None:
    async with youtube(player({"status": "OK"})) as (_, source):
        found = await source.probe(URL)
        size = len(PICTURE) + len(SOUND)
        assert found == SourceInfo("video/mp4", size_bytes=size, duration_seconds=42.0, title="A clip")
        picture, sound = Kept(), Kept()
        await source.download(URL, picture, audio_to=sound, max_bytes=10_000_000, on_progress=picture.progress)
        assert (picture.data, sound.data) == (PICTURE, SOUND)
        assert (len(PICTURE), len(PICTURE)) in picture.steps


@with_youtube
@in_namespace
async def test_too_large_video_track_is_rejected_despite_its_audio() -> None:
    async with youtube(player({"status": "OK"})) as (_, source):
        kept = Kept()
        with pytest.raises(SourceError, match="too large"):
            await source.download(URL, kept, audio_to=kept, max_bytes=len(SOUND) + 1, on_progress=kept.progress)
        assert kept.data == b""


@with_youtube
@in_namespace
async def test_unavailable_and_private_videos_are_reported() -> None:
    gone = player({"status": "ERROR", "reason": "Video unavailable"})
    async with youtube({**gone, "streamingData": {}}) as (_, source):
        with pytest.raises(SourceError, match="This video is not available"):
            await source.probe(URL)


@with_youtube
@in_namespace
async def test_disallowed_media_hosts_are_not_reached() -> None:
    player_response = player({"status": "OK"})
    formats = player_response["streamingData"]["adaptiveFormats"]
    formats[0]["url"], formats[1]["url"] = "https://169.254.169.254/latest", "https://evil.site.com/a"
    async with youtube(player_response) as (internet, source):
        await internet.serve(["evil.site.com"], Youtube(player_response), address="8.8.4.5")
        kept = Kept()
        with pytest.raises(SourceError):
            await source.download(URL, kept, audio_to=kept, max_bytes=10_000_000, on_progress=kept.progress)
        assert kept.data == b""
        assert {request.host for request in internet.requests} == {"www.youtube.com"}


async def test_url_of_another_site_is_rejected_before_the_subprocess() -> None:
    resolver = Resolver()
    with pytest.raises(UrlError):
        await YoutubeSource(resolver, TOOLS).probe("https://youtube.com.evil.example/watch?v=dQw4w9WgXcQ")
    resolver.close()


async def test_slow_track_is_refused_and_the_next_track_starts_anew() -> None:
    kept, seconds = Kept(), 0.0
    records = _DownloadRecords(kept.progress, PaceRules(min_bytes_per_second=1000, window_seconds=60), lambda: seconds)
    for seconds in range(0, 100, 10):
        await records.add({"downloaded_bytes": int(seconds) * 2000})
    for seconds in range(100, 150, 10):
        await records.add({"downloaded_bytes": int(seconds - 100) * 500})
    seconds = 160.0
    with pytest.raises(SourceError, match="too slowly"):
        await records.add({"downloaded_bytes": 30_000})
