"""A premium dub speaks after the people in the film: nearer to each of them than a voice of the service is."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cutroom.engines.registry import Engines
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from proofs.stage.report import Report
from tests.support.dialogue_video import make_film
from tests.support.dub_stage import Dubbed, dub, samples_of, send
from tests.support.stage import Stage

if TYPE_CHECKING:
    from cutroom.engines.types import Vector
    from tests.support.dub_stage import Sound

SECONDS, PAUSES = 63.0, (4.0, 6.0)  # few words: a clone takes its time
MIN_SPAN_SECONDS = 1.0


async def prove_premium(report: Report, stage: Stage, engines: Engines, folder: Path) -> None:
    speaker = await asyncio.to_thread(engines.speaker)
    film = await asyncio.to_thread(
        lambda: make_film(folder, speaker, seconds=SECONDS, pause_seconds=PAUSES, name="premium")
    )
    video_id = await send(stage, film.path)
    [premium] = await dub(stage, video_id, ["pt"], product="premium")
    [plus] = await dub(stage, video_id, ["pt"])
    source = samples_of(film.path, rate=SAMPLE_RATE, channels=1)[0]
    near = await asyncio.to_thread(_nearness, engines, source, premium)
    far = await asyncio.to_thread(_nearness, engines, source, plus)
    gain = min(near[name] - far[name] for name in near)
    measured = ", ".join(f"{name}: {far[name]:.2f} -> {near[name]:.2f}" for name in sorted(near))
    report.claim(
        "likeness to each speaker of the film, plus -> premium",
        wanted="nearer for everybody, two speakers",
        measured=measured,
        holds=gain > 0 and len(near) == 2,
    )
    report.figures(premium_gain=round(gain, 3))


def _nearness(engines: Engines, source: "Sound", dubbed: Dubbed) -> dict[str, float]:
    """The cosine of each speaker's voice in the film and in the dub."""
    track = samples_of(dubbed.track, rate=SAMPLE_RATE, channels=1)[0]
    before, after = _voices(engines, source, dubbed.source), _voices(engines, track, dubbed.segments)
    return {name: float(before[name] @ after[name]) for name in before if name in after}


def _voices(engines: Engines, sound: "Sound", segments: list[dict[str, Any]]) -> "dict[str, Vector]":
    profiler = engines.speaker_embedder()
    assert profiler is not None
    found = {}
    for name in sorted({each["speaker"] for each in segments}):
        spans = [
            TimeSpan(each["start"], each["end"])
            for each in segments
            if each["speaker"] == name and each["end"] - each["start"] >= MIN_SPAN_SECONDS
        ]
        prints = profiler.profile(sound, speech=spans)
        if prints:
            mean = np.mean([each.vector for each in prints], axis=0)
            found[name] = (mean / np.linalg.norm(mean)).astype(np.float32)
    return found
