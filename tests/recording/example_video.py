"""Generates `examples/launch.mp4`: two synthesized voices over generated music, with public domain photographs."""

import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

from cutroom.engines.models.store import ModelStore, default_models_dir
from cutroom.engines.synthesis.kokoro import KokoroSynthesizer
from dev.environment import PROJECT
from dev.fixtures.generated_audio import RATE, make_music, rms_level, upsample, write_stereo
from dev.fixtures.photographs import photograph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]
    Samples = NDArray[np.float32]

EXAMPLE = PROJECT / "examples" / "launch.mp4"
WIDTH, HEIGHT, FPS = 1280, 720, 25
LEAD_SECONDS, PAUSE_SECONDS = 0.7, 0.6
MUSIC_BELOW_DB = 9.0
ZOOM = 0.14  # relative to the frame, over one shot
HOST, GUEST = "am_michael", "af_heart"


@dataclass(frozen=True, slots=True)
class Turn:
    """A spoken line with its voice and photograph."""

    voice: str
    text: str
    photograph: str


# The statements match the photographs: Falcon 9 with DSCOVR, Eileen Collins, coffee.
TURNS: Sequence[Turn] = (
    Turn(HOST, "Today I want to show you how a rocket leaves the ground, and who flies with it.", "rocket.jpg"),
    Turn(GUEST, "The first minute is the hardest. The rocket burns tons of fuel every second.", "rocket.jpg"),
    Turn(HOST, "This is Eileen Collins. She was the first woman to command a Space Shuttle.", "astronaut.png"),
    Turn(
        GUEST, "What do astronauts need most before they fly? They need patience, and a lot of sleep.", "astronaut.png"
    ),
    Turn(HOST, "And what do the people on the ground need? A very strong cup of coffee.", "coffee.png"),
    Turn(GUEST, "They have watched the screens all night. When the engines start, nobody says a word.", "coffee.png"),
)


def make_example(target: Path, models_dir: Path) -> Path:
    synthesizer = _synthesizer(models_dir)
    lines = [upsample(synthesizer.synthesize(turn.text, voice=turn.voice, language="en-US").samples) for turn in TURNS]
    starts, at = [], LEAD_SECONDS
    for samples in lines:
        starts.append(at)
        at += len(samples) / RATE + PAUSE_SECONDS
    voice: Samples = np.zeros((round((at + LEAD_SECONDS) * RATE), 2), np.float32)
    for start, samples in zip(starts, lines, strict=True):
        first = round(start * RATE)
        voice[first : first + len(samples)] += samples[:, None]
    music = make_music(len(voice), level=rms_level(voice) * 10 ** (-MUSIC_BELOW_DB / 20))
    with tempfile.TemporaryDirectory() as folder:
        audio_file = Path(folder) / "audio.wav"
        write_stereo(audio_file, voice + music)
        _encode(_frames(starts, len(voice) / RATE), audio_file, target)
    return target


def _synthesizer(models_dir: Path) -> KokoroSynthesizer:
    store = ModelStore(models_dir)
    return KokoroSynthesizer(store.path("kokoro-int8"), store.path("kokoro-voices"), cpu_threads=2)


def _encode(frames: "Iterator[Image]", audio: Path, target: Path) -> None:
    command = ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}"]
    command += ["-r", str(FPS), "-i", "-", "-i", str(audio), "-c:v", "libx264", "-preset", "medium", "-crf", "29"]
    command += ["-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "96k", "-shortest", "-map_metadata", "-1"]
    with subprocess.Popen([*command, "-movflags", "+faststart", str(target)], stdin=subprocess.PIPE) as encoder:
        assert encoder.stdin is not None
        for frame in frames:
            encoder.stdin.write(frame.tobytes())
        encoder.stdin.close()
        if encoder.wait() != 0:
            raise RuntimeError("ffmpeg could not encode the video")


def _frames(starts: Sequence[float], seconds: float) -> "Iterator[Image]":
    """One shot per run of turns with the same photograph, with a slow zoom."""
    names = [turn.photograph for turn in TURNS]
    begins = [number for number, name in enumerate(names) if number == 0 or names[number - 1] != name]
    cuts = [0.0, *(starts[number] - PAUSE_SECONDS / 2 for number in begins[1:]), seconds]
    stills = [_still(names[number]) for number in begins]
    for frame in range(round(seconds * FPS)):
        at = frame / FPS
        shot = max(number for number in range(len(stills)) if cuts[number] <= at)
        progress = (at - cuts[shot]) / (cuts[shot + 1] - cuts[shot])
        yield _zoom(stills[shot], 1 + ZOOM * progress)


def _still(name: str) -> "Image":
    """Crops the photograph to the frame; keeps the upper part of tall ones, where faces are."""
    image = photograph(name)
    height, width = image.shape[:2]
    rows = min(height, round(width * HEIGHT / WIDTH))
    columns = min(width, round(rows * WIDTH / HEIGHT))
    top, left = (height - rows) // 6, (width - columns) // 2
    cropped = image[top : top + rows, left : left + columns]
    return cv2.resize(cropped, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC).astype(np.uint8)


def _zoom(still: "Image", zoom: float) -> "Image":
    matrix = cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), 0, zoom)
    return cv2.warpAffine(still, matrix, (WIDTH, HEIGHT), flags=cv2.INTER_LINEAR).astype(np.uint8)


if __name__ == "__main__":
    path = make_example(EXAMPLE, default_models_dir(os.environ))
    print(f"{path}: {path.stat().st_size} bytes")
