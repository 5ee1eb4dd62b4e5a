"""Downloads and opens every product to check that it is valid, not only reported as ready."""

import asyncio
import io
import json
import subprocess
import tempfile
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

from proofs.story.client import LANGUAGES, RequestFailedError, RetryingClient, StoryRequests

MIN_SHORT_SECONDS = 10.0
JPEG, PNG, WEBP = b"\xff\xd8", b"\x89PNG", b"RIFF"


async def check_products(
    client: RetryingClient, requests: StoryRequests, jobs: dict[str, dict[str, Any]], *, video: Path
) -> dict[str, bool]:
    """Whether each product, by name, is available and valid."""
    found = {name: jobs[job_id]["status"] == "ready" for name, job_id in requests.jobs.items()}
    found |= dict.fromkeys(requests.rejected, False)
    for check in (_transcript, _subtitles, _dubs, _shorts, _thumbnails, _texts, partial(_downloads, video=video)):
        try:
            found |= await check(client, requests)
        except RequestFailedError as error:  # a failed product has no output; check the others
            found[str(error)] = False
    return found


async def _transcript(client: RetryingClient, requests: StoryRequests) -> dict[str, bool]:
    response = await client.get(f"{requests.path}/transcript")
    return {"transcript, segments": response["status"] == "ready" and len(response["segments"]) > 1}


async def _subtitles(client: RetryingClient, requests: StoryRequests) -> dict[str, bool]:
    found = {}
    for language in ("en", *LANGUAGES):
        for form, prefix in (("srt", b"1\n"), ("vtt", b"WEBVTT")):
            response = await client.get(f"{requests.path}/subtitles/{language}?format={form}")
            text = await client.fetch(response["downloadUrl"]) if response["status"] == "ready" else b""
            found[f"subtitles {language} {form}"] = text.replace(b"\r", b"").startswith(prefix) and b"-->" in text
    return found


async def _dubs(client: RetryingClient, requests: StoryRequests) -> dict[str, bool]:
    found = {}
    duration = (await client.get(requests.path))["duration"]
    for language in LANGUAGES:
        response = await client.get(f"{requests.path}/dubs/{language}")
        ready = (
            response["status"] == "ready"
            and response["completionStatus"] == "complete"
            and len(response["segments"]) > 1
        )
        seconds = await _duration(await client.fetch(response["audioUrl"])) if ready else 0.0
        found[f"dub {language}, decoded"] = abs(seconds - duration) < 1.0
    return found


async def _shorts(client: RetryingClient, requests: StoryRequests) -> dict[str, bool]:
    found = {}
    for kind, request_id in requests.shorts.items():
        response = await client.get(f"/v1/shorts/{request_id}")
        outputs = response["outputs"]
        seconds = [await _duration(await client.fetch(each["videoUrl"])) for each in outputs]
        found[f"{kind}, decoded"] = response["status"] == "complete" and min(seconds, default=0.0) > MIN_SHORT_SECONDS
    return found


async def _thumbnails(client: RetryingClient, requests: StoryRequests) -> dict[str, bool]:
    prompted = await client.get(f"/v1/thumbnails/{requests.thumbnail_id}")
    packaged = (await client.get(f"{requests.path}/packaging")).get("thumbnail", {})
    found = {}
    for name, urls in (
        ("prompted thumbnail, decoded", prompted["outputImageUrls"]),
        ("thumbnail, decoded", packaged.get("outputImageUrls", [])),
    ):
        images = [await client.fetch(url) for url in urls]
        found[name] = bool(images) and all(each.startswith((JPEG, PNG, WEBP)) for each in images)
    return found


async def _texts(client: RetryingClient, requests: StoryRequests) -> dict[str, bool]:
    response = await client.get(f"{requests.path}/packaging")
    return {
        "title, length": 0 < len(response.get("title", "")) <= 70,
        "description, length": len(response.get("description", "")) > 20,
    }


async def _downloads(client: RetryingClient, requests: StoryRequests, *, video: Path) -> dict[str, bool]:
    files = {}
    for artifact, request_id in requests.downloads.items():
        response = await client.get(f"/v1/downloads/{request_id}")
        files[artifact] = await client.fetch(response["url"]) if response["status"] == "ready" else b""
    source = await asyncio.to_thread(video.read_bytes)
    return {
        "download source, identical": files.get("source") == source,
        "download language_video, decoded": await _duration(files.get("language_video", b"")) > MIN_SHORT_SECONDS,
        "download bundle, extracted": _is_complete(files.get("bundle", b"")),
    }


def _is_complete(archive: bytes) -> bool:
    if not archive:
        return False
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        manifest = json.loads(opened.read("manifest.json"))
        return opened.testzip() is None and len(manifest) > 0 and len(opened.namelist()) > len(LANGUAGES)


async def _duration(media: bytes) -> float:
    return await asyncio.to_thread(_probe, media)


def _probe(media: bytes) -> float:
    """Duration by ffprobe, 0 if unreadable; from a file, because a pipe may have no known duration."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(media)
        file.flush()
        command = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return float(done.stdout.strip() or 0.0) if done.returncode == 0 else 0.0
