"""Premium dubs: cloned voices are closer to the original speakers than stock voices."""

import asyncio
from typing import TYPE_CHECKING, Any

import numpy as np

from cutroom.engines.registry import Engines
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from proofs.stage.report import Report
from tests.support.dialogue_video import DialogueVideo
from tests.support.dub_stage import FinishedDub, decode_samples, dub, upload_and_transcribe
from tests.support.stage import Stage

if TYPE_CHECKING:
    from cutroom.engines.types import Vector
    from tests.support.dub_stage import AudioSamples

MIN_SPAN_SECONDS = 1.0


async def prove_premium(report: Report, stage: Stage, engines: Engines, video: DialogueVideo) -> FinishedDub:
    """Returns the dub with stock voices."""
    video_id = await upload_and_transcribe(stage, video.path)
    [premium] = await dub(stage, video_id, ["pt"], product="premium")
    [plus] = await dub(stage, video_id, ["pt"])
    source = decode_samples(video.path, rate=SAMPLE_RATE, channels=1)[0]
    premium_similarity = await asyncio.to_thread(_speaker_similarity, engines, source, premium)
    plus_similarity = await asyncio.to_thread(_speaker_similarity, engines, source, plus)
    gain = min(premium_similarity[name] - plus_similarity[name] for name in premium_similarity)
    measured = ", ".join(
        f"{name}: {plus_similarity[name]:.2f} -> {premium_similarity[name]:.2f}" for name in sorted(premium_similarity)
    )
    report.claim(
        "similarity to each original speaker, plus -> premium",
        expected="higher for both speakers",
        measured=measured,
        holds=gain > 0 and len(premium_similarity) == 2,
    )
    report.figures(premium_gain=round(gain, 3))
    return plus


def _speaker_similarity(engines: Engines, source: "AudioSamples", finished: FinishedDub) -> dict[str, float]:
    """Cosine similarity of each speaker's voice in the source and in the dub."""
    track = decode_samples(finished.track, rate=SAMPLE_RATE, channels=1)[0]
    before, after = (
        _speaker_embeddings(engines, source, finished.source),
        _speaker_embeddings(engines, track, finished.segments),
    )
    return {name: float(before[name] @ after[name]) for name in before if name in after}


def _speaker_embeddings(
    engines: Engines, samples: "AudioSamples", segments: list[dict[str, Any]]
) -> "dict[str, Vector]":
    speaker_embedder = engines.speaker_embedder()
    assert speaker_embedder is not None
    found = {}
    for name in sorted({each["speaker"] for each in segments}):
        spans = [
            TimeSpan(each["start"], each["end"])
            for each in segments
            if each["speaker"] == name and each["end"] - each["start"] >= MIN_SPAN_SECONDS
        ]
        embeddings = speaker_embedder.embed(samples, speech=spans)
        if embeddings:
            mean = np.mean([each.vector for each in embeddings], axis=0)
            found[name] = (mean / np.linalg.norm(mean)).astype(np.float32)
    return found
