"""Imports from YouTube with yt-dlp in a subprocess that can reach only YouTube, through the egress proxy."""

import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cutroom.media import process
from cutroom.media.process import MediaError
from cutroom.platform.egress.addresses import Resolver
from cutroom.platform.egress.proxy import open_proxy
from cutroom.products.ingest.pace import DEFAULT_PACE, DOWNLOAD_SECONDS, Pace, PaceRules, TooSlowError
from cutroom.products.ingest.rules import youtube_id, youtube_url
from cutroom.products.ingest.sources import (
    Progress,
    Sink,
    SourceError,
    SourceInfo,
    over_quota,
    too_large,
    too_slow,
    unreachable,
)

PROBE_SECONDS = 20.0  # several round trips: page, player, and a challenge solved in deno
MAX_PROBE_BYTES = 64 * 1024 * 1024
MAX_HEIGHT = 1080
CHUNK_BYTES = 1024 * 1024
ALLOWED_HOSTS = ("youtube.com", "youtu.be", "googlevideo.com", "ytimg.com", "youtubei.googleapis.com")

_PROBE_FIELDS = "%(.{id,title,duration,live_status,filesize_approx})j"
_FILE_FIELDS = "after_move:%(.{filepath,vcodec,acodec})j"
_PROGRESS_FIELDS = "download:%(progress.{downloaded_bytes,total_bytes,total_bytes_estimate})j"

# Substrings of yt-dlp's error messages; the first match wins.
_ERRORS = (
    ("File is larger than max-filesize", too_large),
    ("HTTP Error 429", over_quota),
    ("confirm your age", lambda: SourceError("This video is restricted by age.")),
    ("Sign in to confirm you", over_quota),  # "... not a bot"
    ("live event", lambda: SourceError("Live streams can be imported once they have ended.")),
    ("Premieres in", lambda: SourceError("This video has not been published yet.")),
    ("Private video", lambda: SourceError("This video is private.")),
    ("members-only", lambda: SourceError("This video is for members only.")),
    ("DRM protected", lambda: SourceError("This video is protected against copying.")),
    ("Video unavailable", lambda: SourceError("This video is not available.")),
    ("This video is not available", lambda: SourceError("This video is not available.")),
    ("has been removed", lambda: SourceError("This video is not available.")),
    ("not available in your country", lambda: SourceError("This video is not available.")),
)


@dataclass(frozen=True, slots=True)
class Tools:
    """Executables: yt-dlp runs as a module of this Python, deno solves YouTube's player challenges."""

    python: str
    deno: str

    @classmethod
    def find(cls) -> "Tools":
        return cls(sys.executable, str(importlib.import_module("deno").find_deno_bin()))


def base_command(tools: Tools, proxy_url: str) -> list[str]:
    """Common yt-dlp options: no local configuration, and all traffic through the proxy."""
    return [
        *(tools.python, "-I", "-m", "yt_dlp"),
        *("--ignore-config", "--no-plugin-dirs", "--no-cache-dir", "--no-cookies"),
        *("--ies", "youtube", "--no-playlist"),  # no other site, no playlists
        *("--proxy", proxy_url),
        *("--compat-options", "no-certifi"),  # use the system's CA certificates
        *("--no-js-runtimes", "--js-runtimes", f"deno:{tools.deno}"),
        "--no-remote-components",  # the solver is the installed package yt-dlp-ejs, not a download
        *("--socket-timeout", "15", "--retries", "3", "--extractor-retries", "2", "--fragment-retries", "3"),
        *("--quiet", "--no-warnings", "--color", "never"),
    ]


def probe_command(tools: Tools, video_id: str, *, proxy_url: str) -> list[str]:
    return [*base_command(tools, proxy_url), "--simulate", "--print", _PROBE_FIELDS, "--", youtube_url(video_id)]


def download_command(tools: Tools, video_id: str, *, proxy_url: str, folder: Path, max_bytes: int) -> list[str]:
    """Downloads video and audio as separate files; remuxing happens in the sandbox, not in this process."""
    return [
        *base_command(tools, proxy_url),
        *("--format", "bv/b,ba", "--format-sort", f"res:{MAX_HEIGHT},vcodec:h264,acodec:aac"),
        *("--fixup", "never"),  # would run ffmpeg on the file outside the sandbox
        *("--max-filesize", str(max_bytes), "--no-mtime", "--no-part", "--no-continue"),
        *("--match-filters", "live_status!=?is_live & live_status!=?is_upcoming"),
        *("--paths", str(folder), "--output", "track-%(format_id)s"),
        *("--no-simulate", "--print", _FILE_FIELDS),
        *("--progress", "--newline", "--progress-template", _PROGRESS_FIELDS),
        *("--", youtube_url(video_id)),
    ]


class YoutubeSource:
    """A YouTube video."""

    def __init__(self, resolver: Resolver, tools: Tools, pace: PaceRules = DEFAULT_PACE) -> None:
        self._resolver = resolver
        self._tools = tools
        self._pace = pace

    async def probe(self, url: str) -> SourceInfo:
        video_id = youtube_id(url)
        records: list[dict[str, Any]] = []
        with TemporaryDirectory(prefix="youtube-") as folder:
            async with open_proxy(
                self._resolver, ALLOWED_HOSTS, max_bytes=MAX_PROBE_BYTES, timeout_seconds=PROBE_SECONDS + 5
            ) as proxy:
                command = probe_command(self._tools, video_id, proxy_url=proxy.url)
                await self._run(command, Path(folder), seconds=PROBE_SECONDS, records=records)
        if not records:
            raise unreachable()
        return _source_info(records[0])

    async def download(
        self, url: str, to: Sink, *, audio_to: Sink, max_bytes: int, on_progress: Progress, scratch: Path | None = None
    ) -> SourceInfo:
        """Writes the video, or the combined file, to `to`, and a separate audio track to `audio_to`."""
        video_id = youtube_id(url)
        records = _DownloadRecords(on_progress, self._pace)
        with TemporaryDirectory(prefix="youtube-", dir=scratch) as folder:
            proxy_bytes = MAX_PROBE_BYTES + 2 * max_bytes  # page and player, video, audio
            async with open_proxy(
                self._resolver, ALLOWED_HOSTS, max_bytes=proxy_bytes, timeout_seconds=DOWNLOAD_SECONDS
            ) as proxy:
                command = download_command(
                    self._tools, video_id, proxy_url=proxy.url, folder=Path(folder), max_bytes=max_bytes
                )
                await self._run(command, Path(folder), seconds=DOWNLOAD_SECONDS, records=records)
            # yt-dlp skips live or too large tracks without an error; audio alone is not the video.
            if all(_is_audio(track) for track in records.tracks):
                raise SourceError("This video is live, or too large.")
            sizes = [await _copy(track, folder=Path(folder), to=to, audio_to=audio_to) for track in records.tracks]
        return SourceInfo("video/mp4", size_bytes=sum(sizes))

    async def _run(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        seconds: float,
        records: "list[dict[str, Any]] | _DownloadRecords",
    ) -> None:
        async def on_line(line: str) -> None:
            try:
                value = json.loads(line)
            except ValueError:
                return
            if isinstance(value, dict):
                await records.add(value) if isinstance(records, _DownloadRecords) else records.append(value)

        try:
            ended = await process.run(
                command, seconds=seconds, environment=environment(folder), folder=folder, on_line=on_line
            )
        except MediaError:
            raise unreachable() from None
        if ended.exit_code != 0:
            raise to_source_error(ended.stderr)


def environment(folder: Path) -> dict[str, str]:
    """A minimal environment: ours contains secrets, so only paths and CA settings are passed."""
    authorities = {name: os.environ[name] for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ}
    home = str(folder)
    return {"PATH": os.defpath, "HOME": home, "DENO_DIR": home, "TMPDIR": home, "LANG": "C.UTF-8", **authorities}


def to_source_error(stderr: str) -> SourceError:
    return next((error() for text, error in _ERRORS if text.lower() in stderr.lower()), unreachable())


class _DownloadRecords:
    """Collects yt-dlp's JSON output: progress and finished files."""

    def __init__(self, on_progress: Progress, rules: PaceRules, clock: Callable[[], float] = time.monotonic) -> None:
        self.tracks: list[dict[str, Any]] = []
        self._on_progress = on_progress
        self._rules = rules
        self._clock = clock
        self._pace: Pace | None = None
        self._received = 0

    async def add(self, value: dict[str, Any]) -> None:
        if "filepath" in value:
            self.tracks.append(value)
        elif isinstance(done := value.get("downloaded_bytes"), int):
            total = value.get("total_bytes") or value.get("total_bytes_estimate")
            self._check_pace(done, int(total) if total else None)
            await self._on_progress(done, int(total) if total else None)

    def _check_pace(self, received: int, total: int | None) -> None:
        if self._pace is None or received < self._received:  # the next track
            self._pace = Pace(self._rules, self._clock)
        self._received = received
        try:
            self._pace.check(received, total)
        except TooSlowError:
            raise too_slow() from None


def _source_info(info: dict[str, Any]) -> SourceInfo:
    if info.get("live_status") in {"is_live", "is_upcoming", "post_live"}:
        raise SourceError("Live streams can be imported once they have ended.")
    duration, size, title = info.get("duration"), info.get("filesize_approx"), info.get("title")
    return SourceInfo(
        "video/mp4",
        size_bytes=int(size) if isinstance(size, (int, float)) else None,
        duration_seconds=float(duration) if isinstance(duration, (int, float)) else None,
        title=title if isinstance(title, str) else None,
    )


def _is_audio(track: dict[str, Any]) -> bool:
    return track.get("vcodec") in {None, "none"}


async def _copy(track: dict[str, Any], *, folder: Path, to: Sink, audio_to: Sink) -> int:
    path = folder / Path(str(track["filepath"])).name  # only the file name of the reported path is trusted
    sink = audio_to if _is_audio(track) else to
    size = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            await sink.write(chunk)
            size += len(chunk)
    return size
