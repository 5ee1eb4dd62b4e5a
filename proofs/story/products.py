"""What a person holds in their hands at the end of the story; each product is opened, not only asked about."""

import asyncio
import io
import json
import subprocess
import tempfile
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

from proofs.story.caller import LANGUAGES, Asked, Caller, GaveUpError

MIN_SHORT_SECONDS = 10.0
JPEG, PNG, WEBP = b"\xff\xd8", b"\x89PNG", b"RIFF"


async def take(caller: Caller, asked: Asked, jobs: dict[str, dict[str, Any]], *, film: Path) -> dict[str, bool]:
    """By name, whether it is there and is what it says."""
    found = {name: jobs[job_id]["status"] == "ready" for name, job_id in asked.jobs.items()}
    found |= dict.fromkeys(asked.refused, False)
    for check in (_transcript, _subtitles, _dubs, _shorts, _pictures, _texts, partial(_downloads, film=film)):
        try:
            found |= await check(caller, asked)
        except GaveUpError as error:  # what failed has nothing to show; the rest is still looked at
            found[str(error)] = False
    return found


async def _transcript(caller: Caller, asked: Asked) -> dict[str, bool]:
    told = await caller.get(f"{asked.path}/transcript")
    return {"transcript, read": told["status"] == "ready" and len(told["segments"]) > 1}


async def _subtitles(caller: Caller, asked: Asked) -> dict[str, bool]:
    found = {}
    for language in ("en", *LANGUAGES):
        for form, begins in (("srt", b"1\n"), ("vtt", b"WEBVTT")):
            told = await caller.get(f"{asked.path}/subtitles/{language}?format={form}")
            text = await caller.fetch(told["downloadUrl"]) if told["status"] == "ready" else b""
            found[f"subtitles {language} {form}"] = text.replace(b"\r", b"").startswith(begins) and b"-->" in text
    return found


async def _dubs(caller: Caller, asked: Asked) -> dict[str, bool]:
    found = {}
    duration = (await caller.get(asked.path))["duration"]
    for language in LANGUAGES:
        told = await caller.get(f"{asked.path}/dubs/{language}")
        ready = told["status"] == "ready" and told["completionStatus"] == "complete" and len(told["segments"]) > 1
        seconds = await _seconds(await caller.fetch(told["audioUrl"])) if ready else 0.0
        found[f"dub {language}, heard"] = abs(seconds - duration) < 1.0
    return found


async def _shorts(caller: Caller, asked: Asked) -> dict[str, bool]:
    found = {}
    for kind, request_id in asked.shorts.items():
        told = await caller.get(f"/v1/shorts/{request_id}")
        outputs = told["outputs"]
        seconds = [await _seconds(await caller.fetch(each["videoUrl"])) for each in outputs]
        found[f"{kind}, watched"] = told["status"] == "complete" and min(seconds, default=0.0) > MIN_SHORT_SECONDS
    return found


async def _pictures(caller: Caller, asked: Asked) -> dict[str, bool]:
    prompted = await caller.get(f"/v1/thumbnails/{asked.thumbnail_id}")
    packaged = (await caller.get(f"{asked.path}/packaging")).get("thumbnail", {})
    found = {}
    for name, urls in (
        ("thumbnail by a prompt, seen", prompted["outputImageUrls"]),
        ("thumbnail, seen", packaged.get("outputImageUrls", [])),
    ):
        pictures = [await caller.fetch(url) for url in urls]
        found[name] = bool(pictures) and all(each.startswith((JPEG, PNG, WEBP)) for each in pictures)
    return found


async def _texts(caller: Caller, asked: Asked) -> dict[str, bool]:
    told = await caller.get(f"{asked.path}/packaging")
    return {
        "title, read": 0 < len(told.get("title", "")) <= 70,
        "description, read": len(told.get("description", "")) > 20,
    }


async def _downloads(caller: Caller, asked: Asked, *, film: Path) -> dict[str, bool]:
    files = {}
    for artifact, request_id in asked.downloads.items():
        told = await caller.get(f"/v1/downloads/{request_id}")
        files[artifact] = await caller.fetch(told["url"]) if told["status"] == "ready" else b""
    source = await asyncio.to_thread(film.read_bytes)
    return {
        "download source, the same bytes": files.get("source") == source,
        "download language_video, played": await _seconds(files.get("language_video", b"")) > MIN_SHORT_SECONDS,
        "download bundle, unpacked": _is_whole(files.get("bundle", b"")),
    }


def _is_whole(archive: bytes) -> bool:
    if not archive:
        return False
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        listed = json.loads(opened.read("manifest.json"))
        return opened.testzip() is None and len(listed) > 0 and len(opened.namelist()) > len(LANGUAGES)


async def _seconds(media: bytes) -> float:
    return await asyncio.to_thread(_probe, media)


def _probe(media: bytes) -> float:
    """As ffprobe measures it, from a file: a pipe need not tell how long it is. Nothing lasts no time."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(media)
        file.flush()
        command = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return float(done.stdout.strip() or 0.0) if done.returncode == 0 else 0.0
