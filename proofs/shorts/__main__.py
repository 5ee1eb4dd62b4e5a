"""Shorts: complete faces, smooth framing, no cut words, captions inside the safe zone and in sync."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from cutroom.engines.registry import Engines
from cutroom.platform.storage.objects import Storage
from cutroom.products.shorts.moments.selection import choose_shorts
from cutroom.products.shorts.moments.talk import SelectionPrompt, Talk
from proofs.shorts.measures import (
    caption_errors,
    caption_positions,
    complete_faces,
    cut_words,
    highlighted_share,
    loudness,
    max_pan_speed,
    pan_reversals,
    stream_of,
)
from proofs.stage.report import Report, prove
from proofs.stage.requirements import GB, Needs
from tests.products.shorts.captions.scenes import (
    DOWNSCALE,
    MAX_DISTANCE,
    REFERENCE_DIR,
    STYLES_AND_POSITIONS,
    background,
    distance,
    downscale,
    load,
    render_scenes,
)
from tests.support.dub_stage import fund
from tests.support.shorts_stage import RenderedOutput, ShortsUser, Word, upload_and_transcribe
from tests.support.shorts_video import ShortsVideo, make_video
from tests.support.stage import Stage, open_stage
from tests.support.talk_topics import TOPICS, timed_talk

BOUNDS = (15.0, 24.0)
MIN_OUTPUTS = 2
MIN_FACES, MAX_SPEED, MAX_OVER_FACE, MAX_CAPTION_MS = 0.98, 0.01, 0.02, 80.0
LUFS, LUFS_TOLERANCE = -14.0, 1.0
MIN_HITS = 0.9


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        video = await asyncio.to_thread(make_video, folder, long=not short)
        async with open_stage("proof_shorts", folder / "stage") as stage:
            await fund(stage)
            _prove_prompts(report, stage)
            await _prove_styles(report, short=short)
            headers = stage.key.headers
            async with httpx.AsyncClient(base_url=stage.api.url, headers=headers, timeout=300) as client:
                user = await upload_and_transcribe(stage, client, video.path)
                await _prove_shorts(report, user, video, folder, count=2 if short else 4)
                if not short:
                    await _prove_promo(report, user, folder)
                await _prove_partial(report, user)


async def _prove_shorts(report: Report, user: ShortsUser, video: ShortsVideo, folder: Path, *, count: int) -> None:
    """Kill the worker once while it renders."""
    created = await user.create_shorts(
        numClips=count, minDuration=BOUNDS[0], maxDuration=BOUNDS[1], captionStyle="modern", captionPosition="bottom"
    )
    kills = 0

    def kill_once(stage: str) -> None:
        nonlocal kills
        if stage == "rendering" and not kills:
            user.stage.worker.kill()
            kills += 1

    response = await user.wait(created, on_stage=kill_once)
    request = response.json()
    done = (response.status_code, request.get("status"))
    report.claim(
        f"a request for {count} shorts, worker killed with -9 while rendering",
        expected=f"complete, {MIN_OUTPUTS} to {count} outputs, as many as the speech has whole thoughts",
        measured=f"{done[1]}, {len(request.get('outputs', []))} outputs, {kills} kill",
        holds=done == (200, "complete") and MIN_OUTPUTS <= len(request["outputs"]) <= count and kills == 1,
    )
    outputs = await user.download_outputs(request, folder / "shorts")
    _claim_framing(report, video, outputs)
    _claim_words(report, outputs, user.words)
    _claim_captions(report, video, outputs, folder)
    _claim_files(report, outputs, size=(1080, 1920), bounds=BOUNDS)


def _claim_framing(report: Report, video: ShortsVideo, outputs: Sequence[RenderedOutput]) -> None:
    counted = [complete_faces(video, output) for output in outputs]
    share = sum(kept for kept, _ in counted) / max(1, sum(total for _, total in counted))
    speed, reversals = max(map(max_pan_speed, outputs)), sum(map(pan_reversals, outputs))
    fits = sorted({scene.fit.value for output in outputs for scene in output.crop.scenes})
    report.claim(
        "frames with faces that show a complete face",
        expected=">= 98 %",
        measured=f"{share:.1%}",
        holds=share >= MIN_FACES,
    )
    report.claim(
        "fastest pan per frame, relative to the crop width",
        expected="<= 1 %",
        measured=f"{speed:.2%} ({', '.join(fits)})",
        holds=speed <= MAX_SPEED,
    )
    report.claim("... reversals within half a second", expected="0", measured=reversals, holds=reversals == 0)
    report.figures(face_in_crop=round(share, 4), max_crop_speed=round(speed, 4), crop_turns=reversals)


def _claim_words(report: Report, outputs: Sequence[RenderedOutput], words: Sequence[Word]) -> None:
    cut = sum(cut_words(output, words) for output in outputs)
    spans = sorted(span for output in outputs for span in output.ranges)
    overlapping = sum(one[0] + one[1] > two[0] + 1e-6 for one, two in pairwise(spans))
    errors = [error for output in outputs for error in caption_errors(output, words)]
    highlighted = min(highlighted_share(output, words) for output in outputs)
    worst = max(errors, default=0.0)
    report.claim(
        "largest caption offset from its word",
        expected="<= 80 ms",
        measured=f"{worst:.0f} ms of {len(errors)}, {highlighted:.0%} of words highlighted",
        holds=worst <= MAX_CAPTION_MS and highlighted > 0.9,
    )
    report.figures(caption_ms=round(worst, 1))
    report.claim("cuts inside words", expected="0", measured=cut, holds=cut == 0)
    report.claim("overlapping outputs", expected="0", measured=overlapping, holds=overlapping == 0)
    report.figures(cuts_in_words=cut)


def _claim_captions(report: Report, video: ShortsVideo, outputs: Sequence[RenderedOutput], folder: Path) -> None:
    counts = [caption_positions(video, output, folder) for output in outputs]
    drawn, inside, over = (sum(each) for each in zip(*counts, strict=True))
    safe, covered = inside / max(1, drawn), over / max(1, drawn)
    report.claim(
        f"captions inside the safe zone, in {drawn} samples",
        expected="100 %",
        measured=f"{safe:.1%}",
        holds=drawn > 0 and inside == drawn,
    )
    report.claim("... over a face", expected="<= 2 %", measured=f"{covered:.1%}", holds=covered <= MAX_OVER_FACE)
    report.figures(safe_zone=round(safe, 4), caption_over_face=round(covered, 4))


def _claim_files(
    report: Report, outputs: Sequence[RenderedOutput], *, size: tuple[int, int], bounds: tuple[float, float]
) -> None:
    streams = [stream_of(output.path) for output in outputs]
    fitting = [bounds[0] - 0.05 <= seconds <= bounds[1] + 0.05 and (w, h) == size for w, h, seconds in streams]
    levels = [loudness(output.path) for output in outputs]
    worst = max(levels, key=lambda level: abs(level - LUFS))
    lengths = ", ".join(f"{seconds:.1f}" for _, _, seconds in streams)
    report.claim(
        f"files of {size[0]}x{size[1]} and {bounds[0]:.0f} to {bounds[1]:.0f} s",
        expected="all",
        measured=f"{sum(fitting)} of {len(fitting)}: {lengths} s",
        holds=all(fitting),
    )
    report.claim(
        "largest deviation from -14 LUFS",
        expected="within 1 LU",
        measured=f"{worst:.1f} LUFS",
        holds=abs(worst - LUFS) <= LUFS_TOLERANCE,
    )
    report.figures(lufs_error=round(abs(worst - LUFS), 2))


async def _prove_promo(report: Report, user: ShortsUser, folder: Path) -> None:
    created = await user.create_shorts(kind="promo", aspectRatio="9:16", includeSoundtrack=True, captionStyle="modern")
    request = (await user.wait(created)).json()
    (output,) = await user.download_outputs(request, folder / "promo")
    report.claim(
        "a promo of several moments", expected=">= 2", measured=len(output.ranges), holds=len(output.ranges) >= 2
    )
    _claim_files(report, [output], size=(1080, 1920), bounds=(45.0, 60.0))


async def _prove_partial(report: Report, user: ShortsUser) -> None:
    """Truncate the stored source: outputs from the lost half fail and are refunded."""
    storage = Storage.connect(user.stage.settings)
    path = f"libraries/{user.stage.person.library_id}/videos/{user.video_id}/source"
    data = b"".join([chunk async for chunk in storage.read(path)])
    await storage.put(path, data[: len(data) * 55 // 100])
    user.stage.worker.stop()  # it has cached the complete source
    user.stage.worker.start()
    created = await user.create_shorts(numClips=2, minDuration=BOUNDS[0], maxDuration=BOUNDS[1])
    response = await user.wait(created)
    job = (await user.client.get(f"/v1/jobs/{created['jobId']}")).json()
    receipt = job["result"]["receipt"]
    request = response.json()
    measured = f"{response.status_code} {request.get('status')}, {len(request.get('outputs', []))} output"
    report.claim(
        "a source with an unreadable second half: available outputs",
        expected="200 partial_failed, 1 output",
        measured=measured,
        holds=measured == "200 partial_failed, 1 output",
    )
    half = created["creditsSpent"] / 2
    report.claim(
        "... credits refunded for the failed output",
        expected=f"{half:g} of {2 * half:g}",
        measured=f"{receipt['returned']:g} of {receipt['held']:g}",
        holds=receipt["returned"] == half and receipt["captured"] == half,
    )


def _prove_prompts(report: Report, stage: Stage) -> None:
    """Paraphrased prompts select the right topic of a talk on many topics."""
    embedder = Engines(stage.settings).text_embedder()
    assert embedder is not None
    sentences, words = timed_talk()
    vectors = embedder.embed([each.text for each in sentences])
    talk = Talk(sentences, words, words[-1].end_seconds + 1, "en", vectors=vectors)
    hits, first = 0, 0
    for topic in TOPICS:
        prompt = SelectionPrompt(topic.paraphrase_query)
        prompt = replace(prompt, vector=embedder.embed([prompt.text])[0])
        best = choose_shorts(talk, count=3, min_seconds=15, max_seconds=30, prompt=prompt)[0]
        last = first + len(topic.sentences)
        hits += first <= best.sentence_range[0] < last
        first = last
    report.claim(
        "paraphrased prompts whose topic ranks first",
        expected=">= 9 of 10",
        measured=f"{hits} of {len(TOPICS)}",
        holds=hits >= MIN_HITS * len(TOPICS),
    )
    report.figures(prompt_hits=hits, prompts=len(TOPICS))


async def _prove_styles(report: Report, *, short: bool) -> None:
    """Compare every caption style and position with its reviewed reference image."""
    scenes = [scene for scene in STYLES_AND_POSITIONS if not short or scene.name.endswith("bottom")]
    drawn = await render_scenes(scenes)
    backdrop = downscale(background(1080, 1920))
    worst = 0.0
    for scene in scenes:
        reference = load(
            REFERENCE_DIR / f"{scene.name}.png", width=scene.width // DOWNSCALE, height=scene.height // DOWNSCALE
        )
        worst = max(worst, distance(downscale(drawn[scene.name]), reference, backdrop))
    report.claim(
        f"largest difference from the reference image, of {len(scenes)} styles and positions",
        expected=f"< {MAX_DISTANCE}",
        measured=f"{worst:.4f}",
        holds=worst < MAX_DISTANCE,
    )
    report.figures(style_distance_max=round(worst, 4))


if __name__ == "__main__":
    needs = Needs(model_set="ci", programs=("ffmpeg", "ffprobe"), disk_bytes=2 * GB, short_disk_bytes=1 * GB)
    sys.exit(prove("Shorts", proof, needs=needs))
