"""YouTube as a source: yt-dlp in a process of its own, which reaches nothing but YouTube, through our proxy."""

import importlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cutroom.media import process
from cutroom.media.process import MediaError
from cutroom.platform.egress.addresses import Resolver
from cutroom.platform.egress.proxy import open_proxy
from cutroom.products.ingest.rules import youtube_id, youtube_url
from cutroom.products.ingest.sources import (
    DOWNLOAD_SECONDS,
    Found,
    Progress,
    Sink,
    SourceError,
    over_quota,
    too_large,
    unreachable,
)

PROBE_SECONDS = 20.0  # a page, a player, a challenge solved in deno: several round trips
MAX_PROBE_BYTES = 64 * 1024 * 1024
MAX_HEIGHT = 1080
CHUNK_BYTES = 1024 * 1024
ALLOWED_HOSTS = ("youtube.com", "youtu.be", "googlevideo.com", "ytimg.com", "youtubei.googleapis.com")

_PROBE_FIELDS = "%(.{id,title,duration,live_status,filesize_approx})j"
_PART_FIELDS = "after_move:%(.{filepath,vcodec,acodec})j"
_PROGRESS_FIELDS = "download:%(progress.{downloaded_bytes,total_bytes,total_bytes_estimate})j"

# In the words of yt-dlp, which repeats those of YouTube; the first that fits counts.
_REFUSALS = (
    ("File is larger than max-filesize", too_large),
    ("HTTP Error 429", over_quota),
    ("confirm your age", lambda: SourceError("This video is restricted by age.")),
    ("Sign in to confirm you", over_quota),  # that you are not a bot
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
    """The programs that are run: yt-dlp is a module of this Python, deno solves what YouTube's player asks."""

    python: str
    deno: str

    @classmethod
    def find(cls) -> "Tools":
        return cls(sys.executable, str(importlib.import_module("deno").find_deno_bin()))


def base_command(tools: Tools, proxy_url: str) -> list[str]:
    """What every call of yt-dlp has in common: nothing from the machine's own settings, and one way out."""
    return [
        *(tools.python, "-I", "-m", "yt_dlp"),
        *("--ignore-config", "--no-plugin-dirs", "--no-cache-dir", "--no-cookies"),
        *("--ies", "youtube", "--no-playlist"),  # no other site, and never more than the one video
        *("--proxy", proxy_url),
        *("--compat-options", "no-certifi"),  # the system's authorities, as everywhere else
        *("--no-js-runtimes", "--js-runtimes", f"deno:{tools.deno}"),
        "--no-remote-components",  # the solver is the installed package yt-dlp-ejs, not a download
        *("--socket-timeout", "15", "--retries", "3", "--extractor-retries", "2", "--fragment-retries", "3"),
        *("--quiet", "--no-warnings", "--color", "never"),
    ]


def probe_command(tools: Tools, video_id: str, *, proxy_url: str) -> list[str]:
    return [*base_command(tools, proxy_url), "--simulate", "--print", _PROBE_FIELDS, "--", youtube_url(video_id)]


def download_command(tools: Tools, video_id: str, *, proxy_url: str, folder: Path, max_bytes: int) -> list[str]:
    """Picture and sound come as two files: putting them together is work for the sandbox, not for this process."""
    return [
        *base_command(tools, proxy_url),
        *("--format", "bv/b,ba", "--format-sort", f"res:{MAX_HEIGHT},vcodec:h264,acodec:aac"),
        *("--fixup", "never"),  # would start ffmpeg on the file, outside the sandbox
        *("--max-filesize", str(max_bytes), "--no-mtime", "--no-part", "--no-continue"),
        *("--match-filters", "live_status!=?is_live & live_status!=?is_upcoming"),
        *("--paths", str(folder), "--output", "part-%(format_id)s"),
        *("--no-simulate", "--print", _PART_FIELDS),
        *("--progress", "--newline", "--progress-template", _PROGRESS_FIELDS),
        *("--", youtube_url(video_id)),
    ]


class YoutubeSource:
    """A video by its YouTube URL."""

    def __init__(self, resolver: Resolver, tools: Tools) -> None:
        self._resolver = resolver
        self._tools = tools

    async def probe(self, url: str) -> Found:
        video_id = youtube_id(url)
        lines: list[dict[str, Any]] = []
        with TemporaryDirectory(prefix="youtube-") as folder:
            async with open_proxy(
                self._resolver, ALLOWED_HOSTS, max_bytes=MAX_PROBE_BYTES, timeout_seconds=PROBE_SECONDS + 5
            ) as proxy:
                command = probe_command(self._tools, video_id, proxy_url=proxy.url)
                await self._run(command, Path(folder), seconds=PROBE_SECONDS, lines=lines)
        if not lines:
            raise unreachable()
        return _found(lines[0])

    async def download(
        self, url: str, to: Sink, *, audio_to: Sink, max_bytes: int, on_progress: Progress, scratch: Path | None = None
    ) -> Found:
        """Write the picture, or the one file with both, to `to`, and sound that comes apart to `audio_to`."""
        video_id = youtube_id(url)
        lines = _Lines(on_progress)
        with TemporaryDirectory(prefix="youtube-", dir=scratch) as folder:
            passed = MAX_PROBE_BYTES + 2 * max_bytes  # the page and its player, the picture, the sound
            async with open_proxy(
                self._resolver, ALLOWED_HOSTS, max_bytes=passed, timeout_seconds=DOWNLOAD_SECONDS
            ) as proxy:
                command = download_command(
                    self._tools, video_id, proxy_url=proxy.url, folder=Path(folder), max_bytes=max_bytes
                )
                await self._run(command, Path(folder), seconds=DOWNLOAD_SECONDS, lines=lines)
            # What is live or too large, yt-dlp leaves out without an error; the sound alone would not be the video.
            if all(_is_sound(part) for part in lines.parts):
                raise SourceError("This video is live, or too large.")
            sizes = [await _copy(part, folder=Path(folder), to=to, audio_to=audio_to) for part in lines.parts]
        return Found("video/mp4", size_bytes=sum(sizes))

    async def _run(
        self, command: Sequence[str], folder: Path, *, seconds: float, lines: "list[dict[str, Any]] | _Lines"
    ) -> None:
        async def on_line(line: str) -> None:
            try:
                value = json.loads(line)
            except ValueError:
                return
            if isinstance(value, dict):
                await lines.add(value) if isinstance(lines, _Lines) else lines.append(value)

        try:
            ended = await process.run(
                command, seconds=seconds, environment=environment(folder), folder=folder, on_line=on_line
            )
        except MediaError:
            raise unreachable() from None
        if ended.exit_code != 0:
            raise refusal(ended.stderr)


def environment(folder: Path) -> dict[str, str]:
    """Nothing of our own environment, which holds secrets; only where to write, and whom to trust."""
    authorities = {name: os.environ[name] for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ}
    home = str(folder)
    return {"PATH": os.defpath, "HOME": home, "DENO_DIR": home, "TMPDIR": home, "LANG": "C.UTF-8", **authorities}


def refusal(stderr: str) -> SourceError:
    return next((error() for words, error in _REFUSALS if words.lower() in stderr.lower()), unreachable())


class _Lines:
    """What yt-dlp says while it downloads: how far it is, and which files it has made."""

    def __init__(self, on_progress: Progress) -> None:
        self.parts: list[dict[str, Any]] = []
        self._on_progress = on_progress

    async def add(self, value: dict[str, Any]) -> None:
        if "filepath" in value:
            self.parts.append(value)
        elif isinstance(done := value.get("downloaded_bytes"), int):
            total = value.get("total_bytes") or value.get("total_bytes_estimate")
            await self._on_progress(done, int(total) if total else None)


def _found(info: dict[str, Any]) -> Found:
    if info.get("live_status") in {"is_live", "is_upcoming", "post_live"}:
        raise SourceError("Live streams can be imported once they have ended.")
    duration, size, title = info.get("duration"), info.get("filesize_approx"), info.get("title")
    return Found(
        "video/mp4",
        size_bytes=int(size) if isinstance(size, (int, float)) else None,
        duration_seconds=float(duration) if isinstance(duration, (int, float)) else None,
        title=title if isinstance(title, str) else None,
    )


def _is_sound(part: dict[str, Any]) -> bool:
    return part.get("vcodec") in {None, "none"}


async def _copy(part: dict[str, Any], *, folder: Path, to: Sink, audio_to: Sink) -> int:
    path = folder / Path(str(part["filepath"])).name  # by its name alone, whatever the program says
    sink = audio_to if _is_sound(part) else to
    size = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            await sink.write(chunk)
            size += len(chunk)
    return size
