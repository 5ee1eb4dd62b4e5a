"""CPU time of a dub compared with the bare engines doing the same work.

The product's side is all CPU time of the worker and its subprocesses from request to ready. The bare side loads the
same engines and makes the same calls: translate, separate, synthesize, adjust tempo, transcribe and encode. It stores,
schedules and reports nothing.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from bench.cpu_meter import metered_worker
from cutroom.engines.registry import Engines
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.engines.translation.routing import plan_translation, translate_along
from cutroom.engines.types import SAMPLE_RATE
from cutroom.products.speech.encoding import resample_speech, to_pcm
from dev.services import control
from tests.support.dialogue_video import make_dialogue_video
from tests.support.dub_stage import FinishedDub, decode_samples, dub, fund, upload_and_transcribe
from tests.support.stage import Stage, open_stage

if TYPE_CHECKING:
    from tests.support.dub_stage import AudioSamples

GOAL = 1.15
LINE_RATE = 24_000


async def measure(seconds: float) -> tuple[float, dict[str, float]]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        async with open_stage("bench_dubs", folder / "stage") as stage:
            await fund(stage)
            synthesizer = await asyncio.to_thread(Engines(stage.settings).synthesizer)
            video = await asyncio.to_thread(lambda: make_dialogue_video(folder, synthesizer, seconds=seconds))
            video_id = await upload_and_transcribe(stage, video.path)
            # A new worker, so that loading the engines counts on both sides.
            async with metered_worker(stage) as worker:
                before = worker.cpu_seconds()
                (dubbed,) = await dub(stage, video_id, ["pt"])
                ours = worker.cpu_seconds() - before
            bare = await asyncio.to_thread(_bare, stage, video.path, dubbed, folder)
    return ours, bare


def _bare(stage: Stage, video: Path, dubbed: FinishedDub, folder: Path) -> dict[str, float]:
    engines = Engines(stage.settings)
    voices = dubbed.job["result"]["voices"]
    tempos = {each["line"]: each["stretch"] for each in dubbed.sync["segments"]}
    lines: list[AudioSamples] = []

    def translate() -> None:
        plan = plan_translation(engines.translators(), source="en", target="pt")
        translate_along(plan, [each["text"] for each in dubbed.source])

    def separate() -> None:
        separator = engines.source_separator()
        separator.separate(decode_samples(video, rate=separator.sample_rate, channels=2))

    def synthesize() -> None:
        for each in dubbed.segments:
            speech = engines.synthesizer().synthesize(
                each["text"], voice=voices[each["speaker"]]["voice"], language="pt"
            )
            lines.append(resample_speech(speech, LINE_RATE))

    def adjust_tempo() -> None:
        for number, samples in enumerate(lines):
            command = ["ffmpeg", "-v", "error", "-f", "s16le", "-ar", str(LINE_RATE), "-ac", "1", "-i", "pipe:0"]
            arguments = ["-af", f"rubberband=tempo={tempos.get(number, 1.0)}", "-f", "s16le", "pipe:1"]
            subprocess.run([*command, *arguments], input=to_pcm(samples), capture_output=True, check=True)

    def transcribe() -> None:
        for samples in _minutes(lines):
            recording = resample_speech(SynthesizedSpeech(samples, LINE_RATE), SAMPLE_RATE)
            speech = list(engines.voice_activity_detector().detect([recording]))
            engines.recognizer().transcribe(recording, language="pt", speech=speech)

    def encode() -> None:
        track = folder / "track.m4a"
        track.write_bytes(dubbed.track)
        command = [
            "ffmpeg",
            "-v",
            "error",
            "-y",
            "-i",
            str(track),
            "-c:a",
            "aac",
            "-b:a",
            "192k",
            str(folder / "again.m4a"),
        ]
        subprocess.run(command, check=True)

    return {step.__name__: _cpu(step) for step in (translate, separate, synthesize, adjust_tempo, transcribe, encode)}


def _minutes(lines: "list[AudioSamples]") -> "list[AudioSamples]":
    """Concatenate lines into recordings of about a minute."""
    import numpy as np  # noqa: PLC0415 - an extra

    found: list[list[AudioSamples]] = [[]]
    for samples in lines:
        if sum(map(len, found[-1])) > 50 * LINE_RATE:
            found.append([])
        found[-1] += [samples, np.zeros(LINE_RATE // 2, np.float32)]
    return [np.concatenate(each) for each in found if each]


def _cpu(step: Callable[[], None]) -> float:
    """CPU seconds of this process and its subprocesses during a step."""

    def usage() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime

    before = usage()
    step()
    return usage() - before


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="a video of one minute instead of three")
    short = parser.parse_args().short
    control.start_all()
    ours, bare = asyncio.run(measure(62.0 if short else 185.0))
    total = sum(bare.values())
    table = Table("step", "CPU seconds")
    for name, seconds in bare.items():
        table.add_row(f"bare: {name}", f"{seconds:.1f}")
    table.add_row("bare, total", f"{total:.1f}")
    table.add_row("dub job", f"{ours:.1f}")
    Console().print(table)
    ratio = round(ours / total, 2)
    figures = {"ratio": ratio, "cpu_seconds": round(ours, 1), "bare_cpu_seconds": round(total, 1)}
    print(json.dumps({**figures, "goal": GOAL, "ok": ratio <= GOAL}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
