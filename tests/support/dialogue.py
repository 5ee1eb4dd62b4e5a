"""Conversations assembled from recordings, with ground-truth turns and a diarization error score.

Two readers come from speech_clips. The others are telephone announcers: Allison Smith (English), Carlo (Italian), June
Wallack (French) and one in Russian, from Debian's asterisk-core-sounds packages, CC-BY-SA-3.0.
"""

import hashlib
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cutroom.engines.diarization.clustering import Turn
from cutroom.engines.types import SAMPLE_RATE, TimeSpan
from dev.fixtures.speech_clips import FETCH_SECONDS, clips_folder, ensure_clips, read_wav

Samples: TypeAlias = NDArray[np.float32]

LEVEL = 10 ** (-26 / 20)
ROOM_LEVEL = 10 ** (-62 / 20)  # room tone, because real recordings are never digital silence
FRAME_SECONDS = 0.01
PAUSE_SECONDS = 0.3  # shorter pauses count as speech

AUSTEN, DICKENS, ALLISON, CARLO, JUNE, RUSSIAN = "austen", "dickens", "allison", "carlo", "june", "russian"
PROMPTS = Path("usr/share/asterisk/sounds")
_LANGUAGES = {ALLISON: "en", CARLO: "it", JUNE: "fr", RUSSIAN: "ru"}
_FOLDERS = {ALLISON: "en_US_f_Allison", CARLO: "it_IT_m_Carlo", JUNE: "fr_CA_f_June", RUSSIAN: "ru_RU_f_IvrvoiceRU"}
SHA256 = {
    "allison-demo-congrats": "10b6a51a7509ebcff379dd9f9c08e8abf8d1cc9a5c751b13ec7f0ffb91c6fac5",
    "allison-demo-instruct": "e40a4040fede5c81ab011f1cfe15971cec7af399b31177f4acfa014a97acb4b5",
    "carlo-demo-congrats": "c6012fc4140c45caabd780a2882fc89ba52bb98bece26b962889c473f6db95cd",
    "carlo-demo-instruct": "1f7426dc97248bd87c18ca2ae7d2d142b70143544ace2722112fe214d2a2b8d5",
    "june-demo-congrats": "bcb974162b316a6c18538c11d35ad6e751ee859daf585891dca6b767edcea972",
    "june-demo-instruct": "521c69a11df4b7ef0e0459f2eb14cefb30d42ae41d4b56cae982dd72a8c17f5d",
    "russian-demo-congrats": "bb5c231a49e1b51cc2a599ddfa470b938498dad210c69eaf6840c2e6cbbda84d",
    "russian-demo-instruct": "82a3256774b353205f5f03d5b1f44744f89da791cba3280c5a9678b57e44c4ad",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A section of a recording that starts and ends in a pause, and the pause after it."""

    speaker: str
    recording: str
    start_seconds: float
    end_seconds: float
    pause_seconds: float


@dataclass(frozen=True, slots=True)
class Conversation:
    samples: Samples
    truth: list[Turn]


@dataclass(frozen=True, slots=True)
class DiarizationScore:
    """Diarization error rate (missed, false alarm and confusion), and confusion alone."""

    error: float
    confusion: float


# Some pauses are too short for voice activity detection, so speakers also change within a span.
DIALOGUE = (
    Line(DICKENS, "two_cities", 1.05, 6.25, 0.5),
    Line(ALLISON, "demo-congrats", 0.2, 7.2, 0.2),
    Line(AUSTEN, "0880", 0.2, 2.97, 0.35),
    Line(CARLO, "demo-congrats", 0.0, 5.6, 0.15),
    Line(DICKENS, "two_cities", 8.75, 12.85, 0.6),
    Line(AUSTEN, "0870", 0.0, 6.8, 0.1),
    Line(ALLISON, "demo-congrats", 19.5, 25.9, 0.4),
    Line(CARLO, "demo-congrats", 12.3, 16.4, 0.25),
    Line(AUSTEN, "0890", 0.2, 5.3, 0.3),
    Line(DICKENS, "two_cities", 21.2, 26.05, 0.2),
    Line(ALLISON, "demo-instruct", 45.0, 47.6, 0.5),
)
# Three female announcers in similar studios, each in her own language.
WOMEN = tuple(
    Line(speaker, recording, start, start + 6.0, 0.2)
    for recording, start in (("demo-congrats", 0.3), ("demo-instruct", 12.0), ("demo-congrats", 12.0))
    for speaker in (ALLISON, JUNE, RUSSIAN)
)


@cache
def recording(speaker: str, name: str) -> Samples:
    """One recording at SAMPLE_RATE."""
    if speaker in _FOLDERS:
        return prompt(speaker, name)
    return read_wav(ensure_clips(clips_folder()) / f"{name}.wav")


@cache
def build_conversation(lines: tuple[Line, ...] = DIALOGUE, *, seed: int = 7) -> Conversation:
    """Concatenates the lines at equal level over room tone."""
    samples_list: list[Samples] = []
    truth: list[Turn] = []
    numbers: dict[str, int] = {}
    at = 0.0
    for line in lines:
        source = recording(line.speaker, line.recording)
        speech = source[round(line.start_seconds * SAMPLE_RATE) : round(line.end_seconds * SAMPLE_RATE)]
        speech = speech * np.float32(LEVEL / np.sqrt(np.square(speech).mean()))
        speaker = numbers.setdefault(line.speaker, len(numbers))
        truth += [Turn(speaker, at + span.start_seconds, at + span.end_seconds) for span in speech_spans(speech)]
        samples_list += [speech, np.zeros(round(line.pause_seconds * SAMPLE_RATE), np.float32)]
        at += (len(samples_list[-2]) + len(samples_list[-1])) / SAMPLE_RATE
    samples = np.concatenate(samples_list)
    samples += np.random.default_rng(seed).normal(0, ROOM_LEVEL, len(samples)).astype(np.float32)
    return Conversation(samples, truth)


def long_conversation(minutes: float, *, seed: int = 11) -> Conversation:
    """Random excerpts of the dialogue's speakers, with varying order, level and noise."""
    rng = np.random.default_rng(seed)
    sources = {
        DICKENS: ("two_cities",),
        AUSTEN: ("0870", "0880", "0890", "0920", "0930"),
        ALLISON: ("demo-congrats", "demo-instruct"),
        CARLO: ("demo-congrats", "demo-instruct"),
    }
    samples: list[Samples] = []
    truth: list[Turn] = []
    at, before = 0.0, ""
    numbers: dict[str, int] = {}
    while at < minutes * 60:
        speaker = str(rng.choice([name for name in sources if name != before]))
        name = str(rng.choice(sources[speaker]))
        speech = _excerpt(recording(speaker, name), rng)
        speech = speech * np.float32(LEVEL * 10 ** (rng.uniform(-6, 6) / 20) / np.sqrt(np.square(speech).mean()))
        number = numbers.setdefault(speaker, len(numbers))
        truth += [Turn(number, at + span.start_seconds, at + span.end_seconds) for span in speech_spans(speech)]
        line = np.concatenate([speech, np.zeros(round(rng.uniform(0.1, 0.8) * SAMPLE_RATE), np.float32)])
        noise = LEVEL * 10 ** (-rng.uniform(25, 40) / 20)
        samples.append(line + rng.normal(0, noise, len(line)).astype(np.float32))
        at += len(line) / SAMPLE_RATE
        before = speaker
    return Conversation(np.concatenate(samples), truth)


def speech_spans(samples: Samples) -> list[TimeSpan]:
    """Spans louder than the recording's own noise floor; short pauses are filled."""
    size = round(FRAME_SECONDS * SAMPLE_RATE)
    frames = samples[: len(samples) // size * size].reshape(-1, size)
    level = np.convolve(10 * np.log10(np.square(frames).mean(1) + 1e-12), np.ones(3) / 3, mode="same")
    high = float(np.percentile(level, 95))
    low = max(float(np.percentile(level, 5)), high - 45)
    spans: list[tuple[int, int]] = []
    for at in np.flatnonzero(level > low + 0.35 * (high - low)).tolist():
        if spans and (at - spans[-1][1]) * FRAME_SECONDS < PAUSE_SECONDS:
            spans[-1] = (spans[-1][0], at + 1)
        else:
            spans.append((at, at + 1))
    return [TimeSpan(start * FRAME_SECONDS, end * FRAME_SECONDS) for start, end in spans if end - start >= 5]


def score(truth: Sequence[Turn], found: Sequence[Turn], *, collar_seconds: float = 0.0) -> DiarizationScore:
    """Diarization error after optimal speaker mapping; frames within the collar of a true boundary do not count."""
    end = max((turn.end_seconds for turn in [*truth, *found]), default=0.0)
    true, predicted = _frames(truth, end), _frames(found, end)
    counted = np.ones(len(true), np.bool_)
    for turn in truth:
        for edge in (turn.start_seconds, turn.end_seconds):
            first = max(0, round((edge - collar_seconds) / FRAME_SECONDS))
            counted[first : round((edge + collar_seconds) / FRAME_SECONDS)] = False
    true, predicted = true[counted], predicted[counted]
    total = int((true >= 0).sum())
    both = (true >= 0) & (predicted >= 0)
    overlap = np.zeros((int(true.max(initial=-1)) + 1, int(predicted.max(initial=-1)) + 1), np.int64)
    np.add.at(overlap, (true[both], predicted[both]), 1)
    confused = int(both.sum()) - _optimal_mapping(overlap)
    wrong = int(((true >= 0) != (predicted >= 0)).sum())
    return DiarizationScore((wrong + confused) / total, confused / total)


def clip_turns(turns: Sequence[Turn], speech: Sequence[TimeSpan]) -> list[Turn]:
    """The parts of turns that lie inside speech."""
    return [
        Turn(turn.speaker, max(turn.start_seconds, span.start_seconds), min(turn.end_seconds, span.end_seconds))
        for turn in turns
        for span in speech
        if turn.start_seconds < span.end_seconds and span.start_seconds < turn.end_seconds
    ]


def _optimal_mapping(overlap: NDArray[np.int64]) -> int:
    """Maximum agreement over one-to-one mappings, by dynamic programming over sets of true speakers."""
    best = {0: 0}
    for found in overlap.T:
        after = dict(best)
        for taken, agreed in best.items():
            for true, frames in enumerate(found.tolist()):
                if not taken & 1 << true:
                    key = taken | 1 << true
                    after[key] = max(after.get(key, 0), agreed + frames)
        best = after
    return max(best.values())


def _frames(turns: Sequence[Turn], end_seconds: float) -> NDArray[np.int64]:
    frames = np.full(round(end_seconds / FRAME_SECONDS), -1, np.int64)
    for turn in turns:
        frames[round(turn.start_seconds / FRAME_SECONDS) : round(turn.end_seconds / FRAME_SECONDS)] = turn.speaker
    return frames


def _excerpt(samples: Samples, rng: np.random.Generator) -> Samples:
    """A random excerpt of 2 to 8 seconds that starts with speech."""
    starts = [span.start_seconds for span in speech_spans(samples)]
    length = rng.uniform(2, 8)
    late = max(0.0, len(samples) / SAMPLE_RATE - length)
    start = float(rng.choice([at for at in starts if at <= late] or [0.0]))
    return samples[round(start * SAMPLE_RATE) : round((start + length) * SAMPLE_RATE)]


def prompt(speaker: str, name: str) -> Samples:
    """A telephone prompt."""
    return _decode(_cached_prompt(speaker, name))


def _cached_prompt(speaker: str, name: str) -> Path:
    """Copied from the installed Debian package, or from one downloaded and unpacked."""
    cached = clips_folder() / f"{speaker}-{name}.g722"
    if not cached.exists():
        cached.parent.mkdir(parents=True, exist_ok=True)
        inside = PROMPTS / _FOLDERS[speaker] / f"{name}.g722"
        with tempfile.TemporaryDirectory(dir=cached.parent) as scratch:
            root = Path("/")
            if not (root / inside).exists():
                root = _open_package(f"asterisk-core-sounds-{_LANGUAGES[speaker]}-g722", Path(scratch))
            partial = Path(scratch) / cached.name
            partial.write_bytes((root / inside).read_bytes())
            partial.replace(cached)
    found = hashlib.sha256(cached.read_bytes()).hexdigest()
    if found != SHA256[cached.stem]:
        raise ValueError(f"The clip {cached.name} does not match its sha256: {found}.")
    return cached


def _open_package(name: str, scratch: Path) -> Path:
    subprocess.run(["apt-get", "download", name], cwd=scratch, check=True, timeout=FETCH_SECONDS)
    package = next(scratch.glob("*.deb"))
    subprocess.run(["dpkg-deb", "-x", str(package), str(scratch / "root")], check=True, timeout=FETCH_SECONDS)
    return scratch / "root"


def _decode(path: Path) -> Samples:
    options = ["-ac", "1", "-ar", str(SAMPLE_RATE), "-f", "f32le", "-"]
    command = ["ffmpeg", "-v", "error", "-nostdin", "-f", "g722", "-i", str(path), *options]
    decoded = subprocess.run(command, check=True, timeout=500, capture_output=True).stdout
    return np.frombuffer(decoded, "<f4")
