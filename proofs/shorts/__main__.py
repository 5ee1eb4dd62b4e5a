"""Shorts that one would post: whole faces, calm framing, no cut words, captions in their place and on time."""

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
    caption_places,
    cut_words,
    faces_kept,
    fastest,
    lit_share,
    loudness,
    stream_of,
    turns,
)
from proofs.stage.report import Report, prove
from tests.products.shorts.captions.scenes import (
    DOWNSCALE,
    LOOKS_AND_POSITIONS,
    MAX_DISTANCE,
    REFERENCE_DIR,
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
            await _prove_looks(report, short=short)
            headers = stage.key.headers
            async with httpx.AsyncClient(base_url=stage.api.url, headers=headers, timeout=300) as client:
                user = await upload_and_transcribe(stage, client, video.path)
                await _prove_shorts(report, user, video, folder, count=2 if short else 4)
                if not short:
                    await _prove_promo(report, user, folder)
                await _prove_partial(report, user)


async def _prove_shorts(report: Report, user: ShortsUser, video: ShortsVideo, folder: Path, *, count: int) -> None:
    """The worker is killed once while outputs are rendered."""
    asked = await user.create_shorts(
        numClips=count, minDuration=BOUNDS[0], maxDuration=BOUNDS[1], captionStyle="modern", captionPosition="bottom"
    )
    kills = 0

    def kill_once(stage: str) -> None:
        nonlocal kills
        if stage == "rendering" and not kills:
            user.stage.worker.kill()
            kills += 1

    answer = await user.wait(asked, on_stage=kill_once)
    request = answer.json()
    done = (answer.status_code, request.get("status"))
    report.claim(
        f"a request for {count}, with the worker killed with -9 while it renders",
        expected="complete",
        measured=f"{done[1]}, {len(request.get('outputs', []))} outputs, {kills} kill",
        holds=done == (200, "complete") and len(request["outputs"]) == count and kills == 1,
    )
    outputs = await user.download_outputs(request, folder / "shorts")
    _claim_framing(report, video, outputs)
    _claim_words(report, outputs, user.words)
    _claim_captions(report, video, outputs, folder)
    _claim_files(report, outputs, size=(1080, 1920), bounds=BOUNDS)


def _claim_framing(report: Report, video: ShortsVideo, outputs: Sequence[RenderedOutput]) -> None:
    counted = [faces_kept(video, made) for made in outputs]
    share = sum(kept for kept, _ in counted) / max(1, sum(total for _, total in counted))
    speed, back = max(map(fastest, outputs)), sum(map(turns, outputs))
    fits = sorted({scene.fit.value for made in outputs for scene in made.crop.scenes})
    report.claim(
        "frames with a face that show a whole one", expected=">= 98 %", measured=f"{share:.1%}", holds=share >= MIN_FACES
    )
    report.claim(
        "the fastest move of a window, of its width in a frame",
        expected="<= 1 %",
        measured=f"{speed:.2%} ({', '.join(fits)})",
        holds=speed <= MAX_SPEED,
    )
    report.claim("... turns within half a second", expected="0", measured=back, holds=back == 0)
    report.figures(face_in_crop=round(share, 4), max_crop_speed=round(speed, 4), crop_turns=back)


def _claim_words(report: Report, outputs: Sequence[RenderedOutput], words: Sequence[Word]) -> None:
    cut = sum(cut_words(made, words) for made in outputs)
    spans = sorted(span for made in outputs for span in made.ranges)
    shared = sum(one[0] + one[1] > two[0] + 1e-6 for one, two in pairwise(spans))
    errors = [error for made in outputs for error in caption_errors(made, words)]
    lit = min(lit_share(made, words) for made in outputs)
    worst = max(errors, default=0.0)
    report.claim(
        "the caption that is farthest from its word",
        expected="<= 80 ms",
        measured=f"{worst:.0f} ms of {len(errors)}, {lit:.0%} of words lit",
        holds=worst <= MAX_CAPTION_MS and lit > 0.9,
    )
    report.figures(caption_ms=round(worst, 1))
    report.claim("cuts inside words", expected="0", measured=cut, holds=cut == 0)
    report.claim("outputs that show the same moment", expected="0", measured=shared, holds=shared == 0)
    report.figures(cuts_in_words=cut)


def _claim_captions(report: Report, video: ShortsVideo, outputs: Sequence[RenderedOutput], folder: Path) -> None:
    places = [caption_places(video, made, folder) for made in outputs]
    drawn, inside, over = (sum(each) for each in zip(*places, strict=True))
    safe, covered = inside / max(1, drawn), over / max(1, drawn)
    report.claim(
        f"captions inside the safe zone, in {drawn} looks",
        expected="100 %",
        measured=f"{safe:.1%}",
        holds=drawn > 0 and inside == drawn,
    )
    report.claim("... over a face", expected="<= 2 %", measured=f"{covered:.1%}", holds=covered <= MAX_OVER_FACE)
    report.figures(safe_zone=round(safe, 4), caption_over_face=round(covered, 4))


def _claim_files(
    report: Report, outputs: Sequence[RenderedOutput], *, size: tuple[int, int], bounds: tuple[float, float]
) -> None:
    streams = [stream_of(made.path) for made in outputs]
    fitting = [bounds[0] - 0.05 <= seconds <= bounds[1] + 0.05 and (w, h) == size for w, h, seconds in streams]
    levels = [loudness(made.path) for made in outputs]
    worst = max(levels, key=lambda level: abs(level - LUFS))
    lengths = ", ".join(f"{seconds:.1f}" for _, _, seconds in streams)
    report.claim(
        f"files of {size[0]}x{size[1]} and {bounds[0]:.0f} to {bounds[1]:.0f} s",
        expected="all",
        measured=f"{sum(fitting)} of {len(fitting)}: {lengths} s",
        holds=all(fitting),
    )
    report.claim(
        "the loudness that is farthest from -14 LUFS",
        expected="within 1 LU",
        measured=f"{worst:.1f} LUFS",
        holds=abs(worst - LUFS) <= LUFS_TOLERANCE,
    )
    report.figures(lufs_error=round(abs(worst - LUFS), 2))


async def _prove_promo(report: Report, user: ShortsUser, folder: Path) -> None:
    asked = await user.create_shorts(kind="promo", aspectRatio="9:16", includeSoundtrack=True, captionStyle="modern")
    request = (await user.wait(asked)).json()
    (made,) = await user.download_outputs(request, folder / "promo")
    report.claim("a promo of several moments", expected=">= 2", measured=len(made.ranges), holds=len(made.ranges) >= 2)
    _claim_files(report, [made], size=(1080, 1920), bounds=(45.0, 60.0))


async def _prove_partial(report: Report, user: ShortsUser) -> None:
    """The film loses its second half in the store: what lies there cannot be made, and is given back."""
    storage = Storage.connect(user.stage.settings)
    path = f"libraries/{user.stage.person.library_id}/videos/{user.video_id}/source"
    data = b"".join([chunk async for chunk in storage.read(path)])
    await storage.put(path, data[: len(data) * 55 // 100])
    user.stage.worker.stop()  # it has a copy of what was there before
    user.stage.worker.start()
    asked = await user.create_shorts(numClips=2, minDuration=BOUNDS[0], maxDuration=BOUNDS[1])
    answer = await user.wait(asked)
    job = (await user.client.get(f"/v1/jobs/{asked['jobId']}")).json()
    receipt = job["result"]["receipt"]
    request = answer.json()
    measured = f"{answer.status_code} {request.get('status')}, {len(request.get('outputs', []))} output"
    report.claim(
        "a film of which half cannot be read: what can be made is there",
        expected="200 partial_failed, 1 output",
        measured=measured,
        holds=measured == "200 partial_failed, 1 output",
    )
    half = asked["creditsSpent"] / 2
    report.claim(
        "... and what cannot is given back",
        expected=f"{half:g} of {2 * half:g}",
        measured=f"{receipt['returned']:g} of {receipt['held']:g}",
        holds=receipt["returned"] == half and receipt["captured"] == half,
    )


def _prove_prompts(report: Report, stage: Stage) -> None:
    """A talk of many topics, and wishes in other words than it uses."""
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
        "wishes in other words whose topic comes first",
        expected=">= 9 of 10",
        measured=f"{hits} of {len(TOPICS)}",
        holds=hits >= MIN_HITS * len(TOPICS),
    )
    report.figures(prompt_hits=hits, prompts=len(TOPICS))


async def _prove_looks(report: Report, *, short: bool) -> None:
    """Every look in every position, beside the picture of it that somebody has looked at."""
    scenes = [scene for scene in LOOKS_AND_POSITIONS if not short or scene.name.endswith("bottom")]
    drawn = await render_scenes(scenes)
    below = downscale(background(1080, 1920))
    worst = 0.0
    for scene in scenes:
        stored = load(REFERENCE_DIR / f"{scene.name}.png", width=scene.width // DOWNSCALE, height=scene.height // DOWNSCALE)
        worst = max(worst, distance(downscale(drawn[scene.name]), stored, below))
    report.claim(
        f"the look that differs most from its picture, of {len(scenes)}",
        expected=f"< {MAX_DISTANCE}",
        measured=f"{worst:.4f}",
        holds=worst < MAX_DISTANCE,
    )
    report.figures(style_distance_max=round(worst, 4))


if __name__ == "__main__":
    sys.exit(prove("Shorts", proof))
