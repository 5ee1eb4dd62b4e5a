"""Human speech of any length for proofs of what is shown: readers of two novels, and an announcer of many prompts.

The announcer (Debian's asterisk-core-sounds-en-g722, CC-BY-SA-3.0) says something else each time; the readers (Debian's
pocketsphinx-testdata and the package moonshine-voice) bring long sentences and come back in every round.
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
LEAST_PROMPT_BYTES = 20_000  # 2.5 s: shorter ones are single words
NO_SPEECH = frozenset({"tt-monkeys"})
PROMPTS_IN_ROUND = 10
PAUSES_SECONDS = (0.2, 2.5)
G722_SAMPLES_PER_BYTE = 2


@dataclass(frozen=True, slots=True)
class Clip:
    """What one voice says in one go."""

    voice: str
    samples: "Samples"

    @property
    def seconds(self) -> float:
        return len(self.samples) / SAMPLE_RATE


@dataclass(frozen=True, slots=True)
class Speech:
    """One recording, and whose turn begins when: the pause after what one says is still that one's."""

    samples: "Samples"
    turns: tuple[tuple[float, str], ...]
    spoken_seconds: float  # without the pauses between clips

    @property
    def seconds(self) -> float:
        return len(self.samples) / SAMPLE_RATE

    def voice_at(self, seconds: float) -> str:
        at = bisect_right(self.turns, seconds, key=lambda turn: turn[0])
        return self.turns[max(0, at - 1)][1]


def make_speech(seconds: float, *, seed: int) -> Speech:
    """Clips in ever new order, with pauses of all lengths, until so much was said."""
    chance = random.Random(seed)
    parts: list[Samples] = []
    turns: list[tuple[float, str]] = []
    spoken, at = 0.0, 0
    for number, clip in enumerate(_clips(chance)):
        if spoken >= seconds:
            break
        pause = silence(chance.uniform(*PAUSES_SECONDS), seed=number)
        turns.append((at / SAMPLE_RATE, clip.voice))
        parts += [clip.samples, pause]
        at += len(clip.samples) + len(pause)
        spoken += clip.seconds
    return Speech(np.concatenate(parts), tuple(turns), spoken)


def _clips(chance: random.Random) -> Iterator[Clip]:
    folder = ensure_clips(clips_folder())
    readings = [Clip("austen", clip.samples) for clip in sentences(folder)]
    readings.append(Clip("dickens", two_cities(folder).samples))
    prompts = _prompts(chance)
    while True:
        clips = [*readings, *(Clip("announcer", next(prompts)) for _ in range(PROMPTS_IN_ROUND))]
        chance.shuffle(clips)
        yield from clips


def _prompts(chance: random.Random) -> Iterator["Samples"]:
    """All prompts in some order, again and again, decoded a round at a time."""
    paths = sorted(
        path
        for path in _installed().glob("*.g722")
        if path.stat().st_size >= LEAST_PROMPT_BYTES and path.stem not in NO_SPEECH
    )
    if not paths:
        raise FileNotFoundError(f"There are no prompts in {PACKAGE}.")
    chance.shuffle(paths)
    while True:
        for at in range(0, len(paths), PROMPTS_IN_ROUND):
            yield from _decoded(paths[at : at + PROMPTS_IN_ROUND])


def _installed() -> Path:
    """Where the prompts are; a package that is not installed is fetched and opened beside the clips."""
    if Path("/", PROMPTS).is_dir():
        return Path("/", PROMPTS)
    root = clips_folder() / PACKAGE
    if not (root / PROMPTS).is_dir():
        with tempfile.TemporaryDirectory(dir=clips_folder()) as scratch:
            subprocess.run(["apt-get", "download", PACKAGE], cwd=scratch, check=True, timeout=FETCH_SECONDS)
            opened = Path(scratch) / "opened"
            package = next(Path(scratch).glob("*.deb"))
            subprocess.run(["dpkg-deb", "-x", str(package), str(opened)], check=True, timeout=FETCH_SECONDS)
            opened.rename(root)
    return root / PROMPTS


def _decoded(paths: Sequence[Path]) -> list["Samples"]:
    """In one run of the decoder, since each would take longer to start than to work."""
    contents = [path.read_bytes() for path in paths]
    how = ["-f", "g722", "-i", "pipe:0", "-f", "f32le", "-ac", "1", "-ar", str(SAMPLE_RATE), "pipe:1"]
    command = ["ffmpeg", "-v", "error", *how]
    decoded = subprocess.run(command, check=True, input=b"".join(contents), capture_output=True, timeout=60).stdout
    ends = np.cumsum([len(each) * G722_SAMPLES_PER_BYTE for each in contents])
    return np.split(np.frombuffer(decoded, "<f4"), ends[:-1])
