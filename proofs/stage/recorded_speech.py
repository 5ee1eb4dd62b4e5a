"""Recorded human speech of any length: readings of two novels, mixed with telephone prompts.

The prompts (Debian's asterisk-core-sounds-en-g722, CC-BY-SA-3.0) rarely repeat; the readings (Debian's
pocketsphinx-testdata and the package moonshine-voice) have long sentences and repeat in every round.
"""

import random
import subprocess
import tempfile
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cutroom.engines.types import SAMPLE_RATE
from dev.fixtures.speech_clips import FETCH_SECONDS, clips_folder, ensure_clips, sentences, silence, two_cities

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

PACKAGE = "asterisk-core-sounds-en-g722"
PROMPTS = Path("usr/share/asterisk/sounds/en_US_f_Allison")
MIN_PROMPT_BYTES = 20_000  # 2.5 s: shorter ones are single words
NO_SPEECH = frozenset({"tt-monkeys"})
PROMPTS_IN_ROUND = 10
PAUSES_SECONDS = (0.2, 2.5)
G722_SAMPLES_PER_BYTE = 2


@dataclass(frozen=True, slots=True)
class Clip:
    """One recording of one voice."""

    voice: str
    samples: "Samples"

    @property
    def seconds(self) -> float:
        return len(self.samples) / SAMPLE_RATE


@dataclass(frozen=True, slots=True)
class Speech:
    """A recording and the start of each speaker turn; the pause after a clip belongs to its speaker."""

    samples: "Samples"
    turns: tuple[tuple[float, str], ...]
    spoken_seconds: float  # without the pauses between clips

    @property
    def seconds(self) -> float:
        return len(self.samples) / SAMPLE_RATE

    def voice_at(self, seconds: float) -> str:
        at = bisect_right(self.turns, seconds, key=lambda turn: turn[0])
        return self.turns[max(0, at - 1)][1]


def make_speech(seconds: float, *, seed: int, pauses: tuple[float, float] = PAUSES_SECONDS) -> Speech:
    """Concatenate shuffled clips with random pauses until `seconds` of speech are reached."""
    rng = random.Random(seed)
    parts: list[Samples] = []
    turns: list[tuple[float, str]] = []
    spoken, at = 0.0, 0
    for number, clip in enumerate(_clips(rng)):
        if spoken >= seconds:
            break
        pause = silence(rng.uniform(*pauses), seed=number)
        turns.append((at / SAMPLE_RATE, clip.voice))
        parts += [clip.samples, pause]
        at += len(clip.samples) + len(pause)
        spoken += clip.seconds
    return Speech(np.concatenate(parts), tuple(turns), spoken)


def _clips(rng: random.Random) -> Iterator[Clip]:
    folder = ensure_clips(clips_folder())
    readings = [Clip("austen", clip.samples) for clip in sentences(folder)]
    readings.append(Clip("dickens", two_cities(folder).samples))
    prompts = _prompts(rng)
    while True:
        clips = [*readings, *(Clip("announcer", next(prompts)) for _ in range(PROMPTS_IN_ROUND))]
        rng.shuffle(clips)
        yield from clips


def _prompts(rng: random.Random) -> Iterator["Samples"]:
    """All prompts in random order, repeated forever, decoded one round at a time."""
    paths = sorted(
        path
        for path in _installed().glob("*.g722")
        if path.stat().st_size >= MIN_PROMPT_BYTES and path.stem not in NO_SPEECH
    )
    if not paths:
        raise FileNotFoundError(f"No prompts found in {PACKAGE}.")
    rng.shuffle(paths)
    while True:
        for at in range(0, len(paths), PROMPTS_IN_ROUND):
            yield from _decoded(paths[at : at + PROMPTS_IN_ROUND])


def _installed() -> Path:
    """Folder of the prompts; the Debian package is downloaded and unpacked next to the clips if not installed."""
    if Path("/", PROMPTS).is_dir():
        return Path("/", PROMPTS)
    root = clips_folder() / PACKAGE
    if not (root / PROMPTS).is_dir():
        with tempfile.TemporaryDirectory(dir=clips_folder()) as scratch:
            subprocess.run(["apt-get", "download", PACKAGE], cwd=scratch, check=True, timeout=FETCH_SECONDS)
            unpacked = Path(scratch) / "unpacked"
            package = next(Path(scratch).glob("*.deb"))
            subprocess.run(["dpkg-deb", "-x", str(package), str(unpacked)], check=True, timeout=FETCH_SECONDS)
            unpacked.rename(root)
    return root / PROMPTS


def _decoded(paths: Sequence[Path]) -> list["Samples"]:
    """Decode all files in one ffmpeg run: starting it takes longer than decoding a prompt."""
    contents = [path.read_bytes() for path in paths]
    arguments = ["-f", "g722", "-i", "pipe:0", "-f", "f32le", "-ac", "1", "-ar", str(SAMPLE_RATE), "pipe:1"]
    command = ["ffmpeg", "-v", "error", *arguments]
    decoded = subprocess.run(command, check=True, input=b"".join(contents), capture_output=True, timeout=60).stdout
    ends = np.cumsum([len(each) * G722_SAMPLES_PER_BYTE for each in contents])
    return np.split(np.frombuffer(decoded, "<f4"), ends[:-1])
