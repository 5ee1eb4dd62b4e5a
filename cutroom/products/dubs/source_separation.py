"""Separates speech from the background in one chunk of a video, and measures the levels of source lines."""

import asyncio
import json
from collections.abc import Collection
from typing import TYPE_CHECKING

from cutroom.engines.registry import Engines
from cutroom.engines.samples import resample
from cutroom.engines.types import SAMPLE_RATE, OnProgress
from cutroom.engines.voice_conversion.port import REFERENCE_RATE
from cutroom.media.dubbing import AudioRange
from cutroom.media.formats import Container
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.mixing import HEADROOM, MIX_RATE, blend_background, frame_powers, gated_level
from cutroom.products.dubs.script import CONTEXT_SECONDS, DubChunk, DubLine, DubScript

if TYPE_CHECKING:
    from cutroom.engines.types import Samples, Stereo


async def separate_chunk(
    artifacts: DubArtifacts,
    engines: Engines,
    *,
    dub: DubRef,
    script: DubScript,
    index: int,
    on_progress: OnProgress | None = None,
) -> None:
    """Store the background, the speech and the line powers of a chunk, shared by all dubs of the video."""
    chunk = DubChunk.of(script, index)
    audio_range = AudioRange(
        chunk.start_seconds - chunk.context_seconds,
        chunk.context_seconds + chunk.seconds + CONTEXT_SECONDS,
        rate=MIX_RATE,
        channels=2,
    )
    source = await artifacts.source_audio(dub, "mix.mka")
    mix = await artifacts.read_audio(source, Container.MATROSKA, audio_range)
    background, speech = await asyncio.to_thread(_separate, engines, mix, script, chunk, on_progress=on_progress)
    await artifacts.put_audio(dub.background_path(script, index), background, rate=MIX_RATE)
    await artifacts.put_audio(dub.speech_path(script, index), speech, rate=REFERENCE_RATE)
    powers = {
        str(line.number): [float(f"{power:.4g}") for power in frame_powers(_cut(speech, chunk, line))]
        for line in chunk.overlapping_lines(script)
    }
    await artifacts.put(dub.powers_path(script, index), json.dumps(powers).encode())


async def source_levels(
    artifacts: DubArtifacts, *, dub: DubRef, script: DubScript, numbers: Collection[int]
) -> dict[int, float]:
    """The level of source lines, measured on all of their audio in the chunks that have been separated."""
    powers: dict[int, list[float]] = {number: [] for number in numbers}
    for index in sorted({chunk for number in numbers for chunk in script.lines[number].chunks}):
        path = dub.powers_path(script, index)
        if not await artifacts.exists(path):
            continue  # the preview is made from the first chunk alone
        for number, measured in json.loads(await artifacts.read(path)).items():
            if int(number) in powers:
                powers[int(number)] += measured
    return {number: gated_level(each) for number, each in powers.items()}


async def measured_level(artifacts: DubArtifacts, *, dub: DubRef, script: DubScript, line: DubLine) -> float:
    """The level of the source speech in the time of a line, which need not have been a line when it was separated."""
    powers: list[float] = []
    for index in line.chunks:
        path, chunk = dub.speech_path(script, index), DubChunk.of(script, index)
        start = max(line.start_seconds, chunk.start_seconds)
        seconds = min(line.end_seconds, chunk.end_seconds) - start
        if seconds <= 0 or not await artifacts.exists(path):
            continue
        audio_range = AudioRange(start - chunk.start_seconds, seconds, rate=REFERENCE_RATE, channels=1)
        speech = await artifacts.read_audio(path, Container.FLAC, audio_range)
        powers += frame_powers(speech[0] * (1 / HEADROOM))
    return gated_level(powers)


def _separate(
    engines: Engines, mix: "Stereo", script: DubScript, chunk: DubChunk, *, on_progress: OnProgress | None
) -> "tuple[Stereo, Samples]":
    """The background at MIX_RATE and the speech, mono, at REFERENCE_RATE."""
    import numpy as np  # noqa: PLC0415 - numpy is absent on workers without engines

    skip, count = round(chunk.context_seconds * MIX_RATE), round(chunk.seconds * MIX_RATE)
    mix = _fit_length(mix, max(mix.shape[-1], skip + count))
    inner = slice(skip, skip + count)
    shift = chunk.context_seconds - chunk.start_seconds
    spoken = [*((line.start_seconds, line.end_seconds) for line in script.lines), *script.silent]
    spans = [
        (start + shift, end + shift)
        for start, end in spoken
        if start < chunk.end_seconds + CONTEXT_SECONDS and end > chunk.start_seconds - CONTEXT_SECONDS
    ]
    if not spans:
        return mix[:, inner], np.zeros(round(chunk.seconds * REFERENCE_RATE), np.float32)
    separator = engines.source_separator()
    speech, _ = separator.separate(resample(mix, MIX_RATE, separator.sample_rate), on_progress=on_progress)
    speech = _fit_length(resample(speech, separator.sample_rate, MIX_RATE), mix.shape[-1])
    mono: Samples = speech.mean(axis=0)
    # Include speech outside of the lines, such as overlapping speakers and words that ASR missed.
    detected = engines.voice_activity_detector().detect([resample(mono, MIX_RATE, SAMPLE_RATE)])
    spans += [(span.start_seconds, span.end_seconds) for span in detected]
    background = blend_background(mix, mix - speech, spans, rate=MIX_RATE)[:, inner]
    return background, resample(mono[inner], MIX_RATE, REFERENCE_RATE)


def _fit_length(samples: "Stereo", count: int) -> "Stereo":
    """Pad with silence or truncate to `count` samples."""
    import numpy as np  # noqa: PLC0415 - as above

    return np.pad(samples, ((0, 0), (0, max(0, count - samples.shape[-1]))))[:, :count]


def _cut(speech: "Samples", chunk: DubChunk, line: DubLine) -> "Samples":
    """The part of a line within the chunk."""
    first = max(0, round((line.start_seconds - chunk.start_seconds) * REFERENCE_RATE))
    return speech[first : round((line.end_seconds - chunk.start_seconds) * REFERENCE_RATE)]
