"""Packaging that says what was said: ten kinds of texts, none of it invented, and nothing replaced that should stay."""

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from cutroom.engines.writing.port import TITLE_CHARACTERS, DescriptionKind, TitleStyle
from dev.fixtures.speech_clips import clips_folder, ensure_clips
from proofs.packaging.writing import prove_writing
from proofs.stage.report import Report, prove
from proofs.stage.thumbnail_stage import ThumbnailClient
from tests.support.dub_stage import fund
from tests.support.stage import open_stage


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        async with open_stage("proof_packaging", folder / "stage") as stage:
            await fund(stage)
            async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
                api = ThumbnailClient(stage, client)
                video_id = await api.upload_and_transcribe(ensure_clips(clips_folder()) / "two_cities.wav")
                await _prove_modes(report, api, video_id)
                await _prove_pending(report, api, video_id)
                await _prove_kinds(report, api, video_id)
            figures = await asyncio.to_thread(prove_writing, report, short=short, models_dir=stage.settings.models_dir)
    report.figures(kinds=figures.kinds, invented=figures.invented, canary_leaks=figures.canary_leaks)


def _title(mode: str, style: str = "informational") -> dict[str, Any]:
    return {"enabled": True, "titleType": style, "overwriteMode": mode}


def _description(mode: str, kind: str = "video-summary") -> dict[str, Any]:
    return {"enabled": True, "descriptionType": kind, "overwriteMode": mode}


async def _prove_modes(report: Report, api: ThumbnailClient, video_id: str) -> None:
    """The film came with a title, its file's name, and without a description."""
    came_with = (await api.get_packaging(video_id))["title"]
    rows = (
        ("generateTitle", "fill-if-empty", "skipped", True),
        ("generateTitle", "never", "skipped", True),
        ("generateTitle", "always", "ready", True),
        ("generateTitle", "fill-if-empty", "ready", False),  # done: it stays as it is
        ("generateDescription", "never", "skipped", True),
        ("generateDescription", "fill-if-empty", "ready", True),
        ("generateDescription", "fill-if-empty", "ready", False),
        ("generateDescription", "always", "ready", True),
    )
    wrong, kept = [], came_with
    for automation, mode, expected, begins in rows:
        options = _title(mode) if automation == "generateTitle" else _description(mode)
        asked = await api.request_packaging(video_id, **{automation: options})
        if asked["registered"]:
            await api.wait_for_job(f"packaging_{video_id}_{automation}")
        state = await api.get_packaging(video_id)
        [run] = [each for each in state["automations"] if each["type"] == automation]
        stays = state["title"] == kept if expected == "skipped" and automation == "generateTitle" else True
        kept = state["title"]
        if (run["status"], asked["registered"]) != (expected, begins) or not stays:
            wrong.append(f"{automation} {mode}: {run['status']}, registered {asked['registered']}")
    report.claim(
        f"{len(rows)} runs with every overwriteMode",
        expected="written, skipped or left as the table says",
        measured="; ".join(wrong) or f"as it says; the title is now “{kept}”, it was “{came_with}”",
        holds=not wrong and kept != came_with,
    )
    report.figures(modes_wrong=len(wrong))


async def _prove_pending(report: Report, api: ThumbnailClient, video_id: str) -> None:
    """While the worker is away a run is pending: it is told of, and not begun twice."""
    api.stage.worker.kill()
    first = await api.request_packaging(video_id, generateTitle=_title("always"))
    second = await api.request_packaging(
        video_id, generateTitle=_title("always"), generateDescription=_description("always")
    )
    third = await api.request_packaging(
        video_id, generateTitle=_title("always"), generateDescription=_description("never")
    )
    told = [(each["registered"], each["alreadyPending"], len(each["jobs"])) for each in (first, second, third)]
    expected = [
        (True, [], 1),
        (True, ["generateTitle"], 1),
        (False, ["generateTitle", "generateDescription"], 0),
    ]
    ends = [await api.wait_for_job(f"packaging_{video_id}_{each}") for each in ("generateTitle", "generateDescription")]
    report.claim(
        "runs asked for again while they are pending",
        expected="told in alreadyPending, begun once, ready",
        measured=f"{told}, {[job['status'] for job in ends]}",
        holds=told == expected and all(job["status"] == "ready" for job in ends),
    )


async def _prove_kinds(report: Report, api: ThumbnailClient, video_id: str) -> None:
    """All ten over the API, on what somebody reads aloud."""
    titles, descriptions = [], []
    for style in TitleStyle:
        await api.request_packaging(video_id, generateTitle=_title("always", style))
        job = await api.wait_for_job(f"packaging_{video_id}_generateTitle")
        titles.append(job["result"]["title"])
        report.note(f"{style}: {titles[-1]}")
    for kind in DescriptionKind:
        await api.request_packaging(video_id, generateDescription=_description("always", kind))
        job = await api.wait_for_job(f"packaging_{video_id}_generateDescription")
        descriptions.append(job["result"]["description"])
    video = (await api.client.get(f"/v1/videos/{video_id}")).json()
    longest = max(map(len, titles))
    report.claim(
        "titles in five styles and descriptions of five types, over the API",
        expected=f"10 that differ, titles <= {TITLE_CHARACTERS}, the last ones on the video",
        measured=f"{len(set(titles))} and {len(set(descriptions))}, longest title {longest}",
        holds=len(set(titles)) == len(set(descriptions)) == 5
        and longest <= TITLE_CHARACTERS
        and (video["title"], video["description"]) == (titles[-1], descriptions[-1]),
    )


if __name__ == "__main__":
    sys.exit(prove("Packaging", proof))
