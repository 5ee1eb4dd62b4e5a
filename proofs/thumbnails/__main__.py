"""Thumbnails that can be read at a glance: whole faces, clear words, real choices, and reviews that wait."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from cutroom.engines.registry import Engines
from proofs.stage.report import Report, prove
from proofs.stage.thumbnail_stage import ThumbnailClient, ThumbnailImage, upload_all
from proofs.thumbnails.measures import SIZE, Looked, least_distance, look
from proofs.thumbnails.sheet import draw_sheet
from proofs.thumbnails.videos import SUBJECTS, Subject, make_film
from tests.products.thumbnails.validation_cases import ACCEPTED, REJECTED
from tests.support.dub_stage import fund
from tests.support.stage import open_stage

MIN_READ_FULL, MIN_READ_SMALL, MIN_CONTRAST, MIN_DISTANCE = 0.95, 0.9, 4.5, 8
PIPELINES: Sequence[tuple[str, dict[str, Any]]] = (
    ("creative", {}),
    ("precision", {"pipelineMode": "thumbnail-precision", "referenceSchemaVersion": 2}),
)
SHORT_FILMS = 2


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    subjects = SUBJECTS[:SHORT_FILMS] if short else SUBJECTS
    with TemporaryDirectory() as name:
        folder = Path(name)
        films = [await asyncio.to_thread(make_film, folder, at, each) for at, each in enumerate(subjects)]
        async with open_stage("proof_thumbnails", folder / "stage") as stage:
            await fund(stage)
            async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
                api = ThumbnailClient(stage, client)
                videos = await upload_all(api, films)
                made = await _make(api, subjects, videos, folder)
                await asyncio.to_thread(_judge, report, made, Engines(stage.settings))
                report.note(f"all of them on one sheet: {draw_sheet([p.path for *_, each in made for p in each])}")
                await _prove_rules(report, api, videos[0])
                await _prove_review(report, api, videos[0], folder)


Made = list[tuple[Subject, str, list[ThumbnailImage]]]


async def _make(api: ThumbnailClient, subjects: Sequence[Subject], videos: Sequence[str], folder: Path) -> Made:
    """A request in each pipeline for each film, all at once, without a prompt."""
    asked = []
    for subject, video_id in zip(subjects, videos, strict=True):
        for name, body in PIPELINES:
            overlay = {"textOverlay": subject.overlay} if subject.overlay else {}
            answer = await api.request_thumbnails(video_id, {"mode": "zero_prompt", **body, **overlay})
            asked.append((subject, name, answer.raise_for_status().json()))
    made: Made = []
    for subject, name, request in asked:
        job = await api.wait_for_job(request["jobId"])
        if job["status"] != "ready":
            raise RuntimeError(f"{subject.name}, {name}: {job['error']}\n{api.stage.worker.read_log()[-3000:]}")
        made.append((subject, name, await api.download_images(request["thumbnailRequestId"], folder / "made")))
    return made


def _judge(report: Report, made: Made, engines: Engines) -> None:
    detector = engines.face_detector()
    looked = [(subject, look(each.path, each.headline, detector)) for subject, _, some in made for each in some]
    report.claim(
        f"images of {len({subject.name for subject, *_ in made})} films in both pipelines",
        expected="1280x720, each",
        measured=len(looked),
        holds=len(looked) >= 3 * len(made) and all(each.size == SIZE for _, each in looked),
    )
    report.figures(made=len(looked))
    _claim_reading(report, [each for subject, each in looked if subject.script == "latin"])
    contrast = min(each.contrast for _, each in looked if each.contrast is not None)
    report.claim(
        "contrast of the headline that can be read worst",
        expected=">= 4.5:1",
        measured=f"{contrast:.1f}:1",
        holds=contrast >= MIN_CONTRAST,
    )
    faces, cut = sum(each.faces for _, each in looked), sum(each.faces_cut for _, each in looked)
    covered = sum(each.text_over_faces for _, each in looked)
    report.claim("faces cut by an edge", expected="0", measured=f"{cut} of {faces}", holds=cut == 0 and faces > 0)
    report.claim("faces under a headline", expected="0", measured=covered, holds=covered == 0)
    apart = min(least_distance([each.path for each in some]) for _, _, some in made)
    report.claim(
        "bits of 64 in which the candidates of a request differ",
        expected=f">= {MIN_DISTANCE}",
        measured=apart,
        holds=apart >= MIN_DISTANCE,
    )
    report.figures(min_contrast=round(contrast, 2), faces_cut=cut, text_over_faces=covered, least_distance=apart)


def _claim_reading(report: Report, latin: Sequence[Looked]) -> None:
    for name, expected, found in (
        ("ocr_full", MIN_READ_FULL, [each.read_full for each in latin]),
        ("ocr_small", MIN_READ_SMALL, [each.read_small for each in latin]),
    ):
        share = sum(found) / len(found)
        width = SIZE[0] if name == "ocr_full" else 320
        report.claim(
            f"characters of Latin headlines that are read back at {width} px",
            expected=f">= {expected:.0%}",
            measured=f"{share:.1%} (worst {min(found):.0%})",
            holds=share >= expected,
        )
        report.figures(**{name: round(share, 4)})


async def _prove_rules(report: Report, api: ThumbnailClient, video_id: str) -> None:
    """Refused before anything is held: the balance stays."""
    before = await api.balance()
    wrong = []
    for case in REJECTED:
        answer = await api.request_thumbnails(video_id, case.body)
        fields = [each["path"] for each in answer.json().get("error", {}).get("details", {}).get("fields", [])]
        if answer.status_code != 400 or case.field not in fields:
            wrong.append(case.name)
    after = await api.balance()
    report.claim(
        f"{len(REJECTED)} combinations that do not go together",
        expected="400 with the field, nothing held",
        measured=f"{len(wrong)} wrong{': ' if wrong else ''}{', '.join(wrong)}; {before} -> {after} credits",
        holds=not wrong and before == after,
    )
    report.figures(rules_wrong=len(wrong), rules=len(REJECTED) + len(ACCEPTED))


async def _prove_review(report: Report, api: ThumbnailClient, video_id: str, folder: Path) -> None:
    """People are detected, the worker dies, somebody approves, and the run goes on."""
    body = {"autoDetectCharacters": True, "characterDetectApprovalMode": "review", "promoteToPrimary": True}
    answer = await api.request_thumbnails(video_id, body)
    again = await api.request_thumbnails(video_id, body)
    asked = answer.json()
    poster = (await api.client.get(f"/v1/videos/{video_id}")).json()["posterUrl"]
    while (await api.get_packaging(video_id))["automations"][0]["status"] != "review":
        await asyncio.sleep(0.3)
    api.stage.worker.kill()
    api.stage.worker.keep_running()
    await asyncio.sleep(3)
    state = await api.get_packaging(video_id)
    held = (await api.client.get(f"/v1/jobs/{asked['jobId']}")).json()
    report.claim(
        "a run with review, after the worker was killed with -9 and started again",
        expected="waits, shows what it found, has drawn nothing",
        measured=f"{state['automations'][0]['status']}, {len(state['thumbnail']['detected'])} found, "
        f"{len(state['thumbnail']['outputImageUrls'])} drawn, job {held['status']} ({held.get('stage')})",
        holds=(answer.status_code, again.json()["registered"]) == (202, False)
        and state["automations"][0]["status"] == "review"
        and len(state["thumbnail"]["detected"]) >= 1
        and not state["thumbnail"]["outputImageUrls"],
    )
    ids = [each["id"] for each in state["thumbnail"]["detected"]][:1]
    path = f"/v1/videos/{video_id}/packaging/review"
    (await api.client.post(path, json={"approved": True, "detectedIds": ids})).raise_for_status()
    job = await api.wait_for_job(asked["jobId"])
    images = await api.download_images(state["thumbnail"]["thumbnailRequestId"], folder / "reviewed")
    promoted = (await api.client.get(f"/v1/videos/{video_id}")).json()["posterUrl"]
    report.claim(
        "... after somebody approved",
        expected="ready, drawn, the first image is the poster",
        measured=f"{job['status']}, {len(images)} drawn, poster {'changed' if promoted != poster else 'the same'}",
        holds=job["status"] == "ready" and len(images) >= 1 and promoted.partition("?")[0] != poster.partition("?")[0],
    )


if __name__ == "__main__":
    sys.exit(prove("Thumbnails", proof))
