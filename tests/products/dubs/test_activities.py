"""Dub activities: the level of each line in the mix."""

import json
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.engines.recognition.port import VoiceActivityDetector
from cutroom.engines.registry import Engines
from cutroom.engines.separation.port import SourceSeparator
from cutroom.engines.types import OnProgress, TimeSpan
from cutroom.jobs.lifecycle import JobRef
from cutroom.library.rules import video_path
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.products.dubs.activities import DubActivities
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.mixing import LINE_RATE, MIX_RATE
from cutroom.products.dubs.script import (
    AssignedVoice,
    DubBatch,
    DubLine,
    DubScript,
    LineSchedule,
    SynthesizedLine,
    to_json,
)
from cutroom.products.dubs.synthesis import line_key
from cutroom.products.speech.encoding import to_pcm
from cutroom.web.runtime import Runtime
from tests.products.conftest import TranscribedVideo

if TYPE_CHECKING:
    from cutroom.engines.types import Samples, Stereo

SECONDS = 72.0
SPEECH_AMPLITUDE = 0.2
ONSET_SECONDS = 0.05  # a line begins with a soft sound
CROSSING = 2  # the line that starts 32 ms before the border of the first chunk
SPANS = [(10.0, 14.0), (30.0, 34.0), (59.968, 65.0), (66.0, 70.0)]


class AllSpeechSeparator:
    """Takes the whole mix for speech."""

    name = "all-speech"
    sample_rate = MIX_RATE

    def separate(self, stereo: "Stereo", *, on_progress: OnProgress | None = None) -> "tuple[Stereo, Stereo]":  # noqa: ARG002
        return stereo, np.zeros_like(stereo)


class SilentDetector:
    """Detects no speech besides the lines."""

    name = "silent"

    def detect(self, blocks: "Iterable[Samples]") -> Iterator[TimeSpan]:  # noqa: ARG002
        return iter(())


class StubEngines(Engines):
    def __init__(self) -> None:
        pass

    def source_separator(self) -> SourceSeparator:
        return AllSpeechSeparator()

    def voice_activity_detector(self) -> VoiceActivityDetector:
        return SilentDetector()


def tone(seconds: float, *, rate: int, amplitude: float = SPEECH_AMPLITUDE) -> "Samples":
    samples: Samples = (amplitude * np.sin(2 * np.pi * 220 * np.arange(round(seconds * rate)) / rate)).astype(
        np.float32
    )
    samples[: round(ONSET_SECONDS * rate)] *= 0.02
    return samples


def write_source(path: Path) -> None:
    """A recording whose lines are all equally loud."""
    mix = np.zeros((round(SECONDS * MIX_RATE), 2), np.float32)
    for start, end in SPANS:
        speech = tone(end - start, rate=MIX_RATE)
        first = round(start * MIX_RATE)
        mix[first : first + len(speech)] = speech[:, np.newaxis]
    raw = ["-f", "f32le", "-ar", str(MIX_RATE), "-ac", "2", "-i", "pipe:0"]
    subprocess.run(["ffmpeg", "-v", "error", *raw, "-c:a", "flac", path], input=mix.tobytes(), check=True)


async def no_pause() -> None:
    """No interactive speech is synthesized beside the dub."""


async def schedule_of(
    runtime: Runtime, video: TranscribedVideo, tmp_path: Path, *, chunk_count: int, line_count: int
) -> LineSchedule:
    """The schedule of equally loud synthesized lines."""
    library_id, video_id = video.library_id, video.video_id
    await video.job(status="processing", finished_at=None, progress=0)
    dub, job = DubRef(library_id, video_id, "pt", "plus"), JobRef(library_id, f"transcript_{video_id}", 1)
    write_source(tmp_path / "mix.mka")
    await runtime.storage.put(video_path(library_id, video_id, "mix.mka"), tmp_path / "mix.mka")
    artifacts = DubArtifacts(
        runtime.storage, LocalMediaCache(runtime.storage, tmp_path / "cache", max_bytes=10**8), Sandbox()
    )
    script_lines = tuple(
        DubLine(number, start, end, end, "speaker_1", "source", ("text",)) for number, (start, end) in enumerate(SPANS)
    )
    script = DubScript("pt", "plus", "en", "publishable", (), SECONDS, script_lines, "separation")
    await artifacts.put(dub.path("script.json"), to_json(script))
    await artifacts.put(dub.line_path("key"), to_pcm(tone(3.0, rate=LINE_RATE)))
    voice = AssignedVoice("steady", "voice")
    await artifacts.put(dub.path("voices.json"), to_json({"speaker_1": voice}))
    for line in script_lines[:line_count]:
        synthesized = SynthesizedLine(line.number, "key", 3.0, 1.0, 0)
        await artifacts.put(dub.line_result_path(line_key(dub, line, voice)), json.dumps(asdict(synthesized)).encode())
    activities = DubActivities(runtime.database, artifacts, StubEngines(), system_clock, no_pause)
    await ActivityEnvironment().run(activities.separate_dub_chunks, job, dub, DubBatch(0, chunk_count))
    await ActivityEnvironment().run(activities.schedule_lines, job, dub, line_count, "schedule")
    return await artifacts.schedule(dub, "schedule")


async def test_a_line_across_a_chunk_border_is_as_loud_as_the_others(
    runtime: Runtime, transcribed: TranscribedVideo, tmp_path: Path
) -> None:
    schedule = await schedule_of(runtime, transcribed, tmp_path, chunk_count=2, line_count=len(SPANS))
    gains = {line.number: line.gain for line in schedule.lines}
    assert gains == pytest.approx(dict.fromkeys(range(len(SPANS)), 1.0), rel=0.05)


async def test_the_preview_is_scheduled_before_the_second_chunk_is_separated(
    runtime: Runtime, transcribed: TranscribedVideo, tmp_path: Path
) -> None:
    schedule = await schedule_of(runtime, transcribed, tmp_path, chunk_count=1, line_count=CROSSING + 1)
    levels = [line.gain for line in schedule.lines]
    assert levels[CROSSING] >= 0.5 * levels[0]  # 6 dB
