"""Makes `examples/launch.mp4`: two made voices over made music, with photographs that anybody may use."""

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
from dev.fixtures.photographs import photograph
from tests.support.dialogue_video import RATE, make_music, rms_level, upsample, write_stereo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]
    Sound = NDArray[np.float32]

EXAMPLE = PROJECT / "examples" / "launch.mp4"
WIDTH, HEIGHT, FPS = 1280, 720, 25
LEAD_SECONDS, PAUSE_SECONDS = 0.7, 0.6
MUSIC_BELOW_DB = 9.0
ZOOM = 0.14  # of the size, over a whole shot
HOST, GUEST = "am_michael", "af_heart"


@dataclass(frozen=True, slots=True)
class Turn:
    """Who says what, and the photograph that is seen meanwhile."""

    voice: str
    text: str
    photograph: str


# All of it is true: of Falcon 9 and the satellite DSCOVR, of Eileen Collins, and of coffee.
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
    speaker = _speaker(models_dir)
    said = [upsample(speaker.synthesize(turn.text, voice=turn.voice, language="en-US").samples) for turn in TURNS]
    starts, at = [], LEAD_SECONDS
    for sound in said:
        starts.append(at)
        at += len(sound) / RATE + PAUSE_SECONDS
    voice: Sound = np.zeros((round((at + LEAD_SECONDS) * RATE), 2), np.float32)
    for start, sound in zip(starts, said, strict=True):
        first = round(start * RATE)
        voice[first : first + len(sound)] += sound[:, None]
    music = make_music(len(voice), level=rms_level(voice) * 10 ** (-MUSIC_BELOW_DB / 20))
    with tempfile.TemporaryDirectory() as folder:
        sound_file = Path(folder) / "sound.wav"
        write_stereo(sound_file, voice + music)
        _encode(_pictures(starts, len(voice) / RATE), sound_file, target)
    return target


def _speaker(models_dir: Path) -> KokoroSynthesizer:
    store = ModelStore(models_dir)
    return KokoroSynthesizer(store.path("kokoro-int8"), store.path("kokoro-voices"), cpu_threads=2)


def _encode(pictures: "Iterator[Picture]", sound: Path, target: Path) -> None:
    command = ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}"]
    command += ["-r", str(FPS), "-i", "-", "-i", str(sound), "-c:v", "libx264", "-preset", "medium", "-crf", "29"]
    command += ["-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "96k", "-shortest", "-map_metadata", "-1"]
    with subprocess.Popen([*command, "-movflags", "+faststart", str(target)], stdin=subprocess.PIPE) as encoder:
        assert encoder.stdin is not None
        for picture in pictures:
            encoder.stdin.write(picture.tobytes())
        encoder.stdin.close()
        if encoder.wait() != 0:
            raise RuntimeError("the film could not be encoded")


def _pictures(starts: Sequence[float], seconds: float) -> "Iterator[Picture]":
    """A shot for each run of turns with one photograph, which comes slowly nearer."""
    names = [turn.photograph for turn in TURNS]
    begins = [number for number, name in enumerate(names) if number == 0 or names[number - 1] != name]
    cuts = [0.0, *(starts[number] - PAUSE_SECONDS / 2 for number in begins[1:]), seconds]
    stills = [_still(names[number]) for number in begins]
    for frame in range(round(seconds * FPS)):
        at = frame / FPS
        shot = max(number for number in range(len(stills)) if cuts[number] <= at)
        share = (at - cuts[shot]) / (cuts[shot + 1] - cuts[shot])
        yield _nearer(stills[shot], 1 + ZOOM * share)


def _still(name: str) -> "Picture":
    """The photograph over the whole width; of a tall one the upper part, where faces are."""
    picture = photograph(name)
    height, width = picture.shape[:2]
    rows = min(height, round(width * HEIGHT / WIDTH))
    columns = min(width, round(rows * WIDTH / HEIGHT))
    top, left = (height - rows) // 6, (width - columns) // 2
    cut = picture[top : top + rows, left : left + columns]
    return cv2.resize(cut, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC).astype(np.uint8)


def _nearer(still: "Picture", zoom: float) -> "Picture":
    turn = cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), 0, zoom)
    return cv2.warpAffine(still, turn, (WIDTH, HEIGHT), flags=cv2.INTER_LINEAR).astype(np.uint8)


if __name__ == "__main__":
    made = make_example(EXAMPLE, default_models_dir(os.environ))
    print(f"{made}: {made.stat().st_size} bytes")
