"""Thumbnails: complete faces, legible headlines, distinct candidates, validation, and reviews that survive a crash."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from cutroom.engines.registry import Engines
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs
from proofs.stage.thumbnail_stage import ThumbnailClient, ThumbnailImage, upload_all
from proofs.thumbnails.contact_sheet import draw_sheet
from proofs.thumbnails.measures import SIZE, MeasuredThumbnail, measure, min_distance
from proofs.thumbnails.videos import SUBJECTS, Subject, make_subject_video
from tests.products.thumbnails.validation_cases import ACCEPTED, REJECTED
from tests.support.dub_stage import fund
from tests.support.stage import open_stage

MIN_READ_FULL, MIN_READ_SMALL, MIN_CONTRAST, MIN_DISTANCE = 0.95, 0.9, 4.5, 8
PIPELINES: Sequence[tuple[str, dict[str, Any]]] = (
    ("creative", {}),
    ("precision", {"pipelineMode": "thumbnail-precision", "referenceSchemaVersion": 2}),
)
SHORT_VIDEOS = 2


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    subjects = SUBJECTS[:SHORT_VIDEOS] if short else SUBJECTS
    with TemporaryDirectory() as name:
        folder = Path(name)
        paths = [
            await asyncio.to_thread(make_subject_video, folder, number, each) for number, each in enumerate(subjects)
        ]
        async with open_stage("proof_thumbnails", folder / "stage") as stage:
            await fund(stage)
            async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
                api = ThumbnailClient(stage, client)
                videos = await upload_all(api, paths)
                generated = await _generate(api, subjects, videos, folder, short=short)
                await asyncio.to_thread(_claim_images, report, generated, Engines(stage.settings))
                images = [image.path for *_, each in generated for image in each]
                report.note(f"contact sheet: {draw_sheet(images)}")
                await _prove_rules(report, api, videos[0])
                await _prove_review(report, api, videos[0], folder)


Generated = list[tuple[Subject, str, list[ThumbnailImage]]]


async def _generate(
    api: ThumbnailClient, subjects: Sequence[Subject], videos: Sequence[str], folder: Path, *, short: bool
) -> Generated:
    """Request thumbnails in both pipelines for each video concurrently, without a prompt.

    The short form alternates between the pipelines.
    """
    requests = []
    for number, (subject, video_id) in enumerate(zip(subjects, videos, strict=True)):
        for name, body in PIPELINES[number % 2 :: 2] if short else PIPELINES:
            overlay = {"textOverlay": subject.overlay} if subject.overlay else {}
            response = await api.request_thumbnails(video_id, {"mode": "zero_prompt", **body, **overlay})
            requests.append((subject, name, response.raise_for_status().json()))
    generated: Generated = []
    for subject, name, request in requests:
        job = await api.wait_for_job(request["jobId"])
        if job["status"] != "ready":
            raise RuntimeError(f"{subject.name}, {name}: {job['error']}\n{api.stage.worker.read_log()[-3000:]}")
        images = await api.download_images(request["thumbnailRequestId"], folder / "images")
        generated.append((subject, name, images))
    return generated


def _claim_images(report: Report, generated: Generated, engines: Engines) -> None:
    detector = engines.face_detector()
    measured = [
        (subject, measure(image.path, image.headline, detector)) for subject, _, images in generated for image in images
    ]
    report.claim(
        f"images of {len({subject.name for subject, *_ in generated})} videos in both pipelines",
        expected="1280x720, each",
        measured=len(measured),
        holds=len(measured) >= 3 * len(generated) and all(each.size == SIZE for _, each in measured),
    )
    report.figures(made=len(measured))
    _claim_legibility(report, [each for subject, each in measured if subject.script == "latin"])
    contrast = min(each.contrast for _, each in measured if each.contrast is not None)
    report.claim(
        "lowest headline contrast",
        expected=">= 4.5:1",
        measured=f"{contrast:.1f}:1",
        holds=contrast >= MIN_CONTRAST,
    )
    faces, cut = sum(each.faces for _, each in measured), sum(each.faces_cut for _, each in measured)
    covered = sum(each.text_over_faces for _, each in measured)
    report.claim("faces cut by an edge", expected="0", measured=f"{cut} of {faces}", holds=cut == 0 and faces > 0)
    report.claim("faces covered by a headline", expected="0", measured=covered, holds=covered == 0)
    distance = min(min_distance([image.path for image in images]) for _, _, images in generated)
    report.claim(
        "smallest perceptual hash distance between candidates of a request, of 64 bits",
        expected=f">= {MIN_DISTANCE}",
        measured=distance,
        holds=distance >= MIN_DISTANCE,
    )
    report.figures(min_contrast=round(contrast, 2), faces_cut=cut, text_over_faces=covered, least_distance=distance)


def _claim_legibility(report: Report, latin: Sequence[MeasuredThumbnail]) -> None:
    for name, expected, accuracies in (
        ("ocr_full", MIN_READ_FULL, [each.read_full for each in latin]),
        ("ocr_small", MIN_READ_SMALL, [each.read_small for each in latin]),
    ):
        share = sum(accuracies) / len(accuracies)
        width = SIZE[0] if name == "ocr_full" else 320
        report.claim(
            f"characters of Latin headlines recognized by OCR at {width} px",
            expected=f">= {expected:.0%}",
            measured=f"{share:.1%} (worst {min(accuracies):.0%})",
            holds=share >= expected,
        )
        report.figures(**{name: round(share, 4)})


async def _prove_rules(report: Report, api: ThumbnailClient, video_id: str) -> None:
    """Invalid combinations are rejected before credits are held."""
    before = await api.balance()
    wrong = []
    for case in REJECTED:
        response = await api.request_thumbnails(video_id, case.body)
        fields = [each["path"] for each in response.json().get("error", {}).get("details", {}).get("fields", [])]
        if response.status_code != 400 or case.field not in fields:
            wrong.append(case.name)
    after = await api.balance()
    report.claim(
        f"{len(REJECTED)} invalid combinations",
        expected="400 with the field, nothing held",
        measured=f"{len(wrong)} wrong{': ' if wrong else ''}{', '.join(wrong)}; {before} -> {after} credits",
        holds=not wrong and before == after,
    )
    report.figures(rules_wrong=len(wrong), rules=len(REJECTED) + len(ACCEPTED))


async def _prove_review(report: Report, api: ThumbnailClient, video_id: str, folder: Path) -> None:
    """Detect people, kill the worker, approve the review, and wait for the result."""
    body = {"autoDetectCharacters": True, "characterDetectApprovalMode": "review", "promoteToPrimary": True}
    first = await api.request_thumbnails(video_id, body)
    second = await api.request_thumbnails(video_id, body)
    job_id = first.json()["jobId"]
    poster = (await api.client.get(f"/v1/videos/{video_id}")).json()["posterUrl"]
    while (await api.get_packaging(video_id))["automations"][0]["status"] != "review":
        await asyncio.sleep(0.3)
    api.stage.worker.kill()
    api.stage.worker.keep_running()
    await asyncio.sleep(3)
    state = await api.get_packaging(video_id)
    waiting = (await api.client.get(f"/v1/jobs/{job_id}")).json()
    report.claim(
        "a run with review, worker killed with -9 and restarted",
        expected="waits, lists detected people, has no images",
        measured=f"{state['automations'][0]['status']}, {len(state['thumbnail']['detected'])} detected, "
        f"{len(state['thumbnail']['outputImageUrls'])} images, job {waiting['status']} ({waiting.get('stage')})",
        holds=(first.status_code, second.json()["registered"]) == (202, False)
        and state["automations"][0]["status"] == "review"
        and len(state["thumbnail"]["detected"]) >= 1
        and not state["thumbnail"]["outputImageUrls"],
    )
    ids = [each["id"] for each in state["thumbnail"]["detected"]][:1]
    path = f"/v1/videos/{video_id}/packaging/review"
    (await api.client.post(path, json={"approved": True, "detectedIds": ids})).raise_for_status()
    job = await api.wait_for_job(job_id)
    images = await api.download_images(state["thumbnail"]["thumbnailRequestId"], folder / "reviewed")
    promoted = (await api.client.get(f"/v1/videos/{video_id}")).json()["posterUrl"]
    is_changed = _object_path(promoted) != _object_path(poster)
    report.claim(
        "... after approval",
        expected="ready, the first image is the poster",
        measured=f"{job['status']}, {len(images)} images, poster {'changed' if is_changed else 'the same'}",
        holds=job["status"] == "ready" and len(images) >= 1 and is_changed,
    )


def _object_path(url: str) -> str:
    """The signed object; the token before it differs in each response."""
    return url.partition("/libraries/")[2]


if __name__ == "__main__":
    sys.exit(prove("Thumbnails", proof, needs=Needs(model_set="ci", programs=("ffmpeg",))))
