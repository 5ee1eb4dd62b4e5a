"""Packaging: ten kinds of grounded titles and descriptions, overwrite modes, and resistance to prompt injection."""

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from cutroom.engines.registry import Engines
from cutroom.engines.writing.port import MAX_CANDIDATES, TITLE_CHARACTERS, DescriptionKind, TitleStyle
from cutroom.platform.settings import Settings
from eval.render_cache import excerpt, render_cached
from eval.talks import load_talks
from proofs.packaging.writing import prove_writing
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs
from proofs.stage.thumbnail_stage import ThumbnailClient
from tests.support.dub_stage import fund
from tests.support.stage import open_stage

TALK, LINES = "dripping_tap", 8  # 55 seconds


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        async with open_stage("proof_packaging", folder / "stage") as stage:
            await fund(stage)
            async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
                api = ThumbnailClient(stage, client)
                video_id = await api.upload_and_transcribe(await asyncio.to_thread(_talk, stage.settings, folder))
                await _prove_modes(report, api, video_id)
                await _prove_pending(report, api, video_id)
                await _prove_kinds(report, api, video_id)
            figures = await asyncio.to_thread(prove_writing, report, short=short, models_dir=stage.settings.models_dir)
    report.figures(kinds=figures.kinds, invented=figures.invented, canary_leaks=figures.canary_leaks)


def _talk(settings: Settings, folder: Path) -> Path:
    """The beginning of a talk whose speaker says what it is about, spoken by the product's own voices."""
    talk = excerpt(next(each for each in load_talks() if each.slug == TALK), line_count=LINES)
    return render_cached(talk, Engines(settings).synthesizer(), folder=folder).audio_path


def _title(mode: str, style: str = "informational") -> dict[str, Any]:
    return {"enabled": True, "titleType": style, "overwriteMode": mode}


def _description(mode: str, kind: str = "video-summary") -> dict[str, Any]:
    return {"enabled": True, "descriptionType": kind, "overwriteMode": mode}


async def _prove_modes(report: Report, api: ThumbnailClient, video_id: str) -> None:
    """The uploaded video has a title, from its file name, and no description."""
    original_title = (await api.get_packaging(video_id))["title"]
    rows = (
        ("generateTitle", "fill-if-empty", "skipped", True),
        ("generateTitle", "never", "skipped", True),
        ("generateTitle", "always", "ready", True),
        ("generateTitle", "fill-if-empty", "ready", False),  # already generated
        ("generateDescription", "never", "skipped", True),
        ("generateDescription", "fill-if-empty", "ready", True),
        ("generateDescription", "fill-if-empty", "ready", False),
        ("generateDescription", "always", "ready", True),
    )
    wrong, title = [], original_title
    for automation, mode, expected, registered in rows:
        options = _title(mode) if automation == "generateTitle" else _description(mode)
        response = await api.request_packaging(video_id, **{automation: options})
        if response["registered"]:
            await api.wait_for_job(f"packaging_{video_id}_{automation}")
        state = await api.get_packaging(video_id)
        [run] = [each for each in state["automations"] if each["type"] == automation]
        unchanged = state["title"] == title if expected == "skipped" and automation == "generateTitle" else True
        title = state["title"]
        if (run["status"], response["registered"]) != (expected, registered) or not unchanged:
            wrong.append(f"{automation} {mode}: {run['status']}, registered {response['registered']}")
    report.claim(
        f"{len(rows)} runs with every overwriteMode",
        expected="written, skipped or unchanged, as specified",
        measured="; ".join(wrong) or f"as specified; title “{original_title}” became “{title}”",
        holds=not wrong and title != original_title,
    )
    report.figures(modes_wrong=len(wrong))


async def _prove_pending(report: Report, api: ThumbnailClient, video_id: str) -> None:
    """With the worker down, pending runs are reported and not registered twice."""
    api.stage.worker.kill()
    first = await api.request_packaging(video_id, generateTitle=_title("always"))
    second = await api.request_packaging(
        video_id, generateTitle=_title("always"), generateDescription=_description("always")
    )
    third = await api.request_packaging(
        video_id, generateTitle=_title("always"), generateDescription=_description("never")
    )
    responses = [(each["registered"], each["alreadyPending"], len(each["jobs"])) for each in (first, second, third)]
    expected = [
        (True, [], 1),
        (True, ["generateTitle"], 1),
        (False, ["generateTitle", "generateDescription"], 0),
    ]
    jobs = [await api.wait_for_job(f"packaging_{video_id}_{each}") for each in ("generateTitle", "generateDescription")]
    report.claim(
        "runs requested again while pending",
        expected="listed in alreadyPending, run once, ready",
        measured=f"{responses}, {[job['status'] for job in jobs]}",
        holds=responses == expected and all(job["status"] == "ready" for job in jobs),
    )


async def _prove_kinds(report: Report, api: ThumbnailClient, video_id: str) -> None:
    """Generate all ten kinds through the API for the talk."""
    titles, descriptions, candidates = [], [], []
    for style in TitleStyle:
        await api.request_packaging(video_id, generateTitle=_title("always", style))
        job = await api.wait_for_job(f"packaging_{video_id}_generateTitle")
        titles.append(job["result"]["title"])
        candidates.append(job["result"]["candidates"])
        report.note(f"{style}: {titles[-1]}")
    for kind in DescriptionKind:
        await api.request_packaging(video_id, generateDescription=_description("always", kind))
        job = await api.wait_for_job(f"packaging_{video_id}_generateDescription")
        descriptions.append(job["result"]["description"])
    report.claim(
        "titles to choose from in the result of each title job, the one that was set first",
        expected=f"1 to {MAX_CANDIDATES}",
        measured=", ".join(str(len(each)) for each in candidates),
        holds=all(
            each[0] == title and len(each) <= MAX_CANDIDATES for each, title in zip(candidates, titles, strict=True)
        ),
    )
    video = (await api.client.get(f"/v1/videos/{video_id}")).json()
    longest = max(map(len, titles))
    report.claim(
        "titles in five styles and descriptions of five types, over the API",
        expected=f"5 titles <= {TITLE_CHARACTERS} characters, 5 distinct descriptions, the last ones set on the video",
        measured=f"{sum(map(bool, titles))} and {len(set(descriptions))}, longest title {longest}",
        holds=sum(map(bool, titles)) == len(set(descriptions)) == 5
        and longest <= TITLE_CHARACTERS
        and (video["title"], video["description"]) == (titles[-1], descriptions[-1]),
    )


if __name__ == "__main__":
    needs = Needs(model_set="ci", long_model_set="proofs", programs=("ffmpeg",))
    sys.exit(prove("Packaging", proof, needs=needs))
