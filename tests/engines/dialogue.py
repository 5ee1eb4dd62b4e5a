"""Conversations made of recordings of people, with the truth about who speaks when, and a score against it.

Five of the voices come with Debian (pocketsphinx-testdata: a reader of LibriVox, public domain; the g722 packages of
asterisk-core-sounds: the announcers Allison Smith, June Wallack, Carlo and a Russian one, CC-BY-SA-3.0), one with the
package moonshine-voice (MIT). Whatever is made of them is kept beside the development services, and made again where it is missing.
"""

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from cutroom.engines.ports import SAMPLE_RATE, Span
from cutroom.engines.speakers import Turn

Samples: TypeAlias = NDArray[np.float32]

CLIPS = Path(__file__).parents[2] / ".data" / "clips"
READINGS = Path("/usr/share/pocketsphinx/test/data/librivox")
PROMPTS = Path("/usr/share/asterisk/sounds")
MOONSHINE = "moonshine-voice==0.0.65"
LEVEL = 10 ** (-26 / 20)
ROOM_LEVEL = 10 ** (-62 / 20)  # no recording is as silent as zeros
FRAME_SECONDS = 0.01
PAUSE_SECONDS = 0.3  # a shorter one belongs to the speech around it

AUSTEN, DICKENS, ALLISON, CARLO, JUNE, RUSSIAN = "austen", "dickens", "allison", "carlo", "june", "russian"
_FOLDERS = {ALLISON: "en_US_f_Allison", CARLO: "it_IT_m_Carlo", JUNE: "fr_CA_f_June", RUSSIAN: "ru_RU_f_IvrvoiceRU"}


@dataclass(frozen=True, slots=True)
class Line:
    """What one speaker says in one go: a part of a recording that starts and ends in a pause, and the pause after."""

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
class Score:
    """Shares of all the speech that there is: what is missed, made up or given to another, and the last alone."""

    error: float
    confusion: float


# Some pauses are too short for a detector of voices, so that speakers also change inside its stretches.
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
# Women in like studios, each in her own language.
WOMEN = tuple(
    Line(speaker, recording, start, start + 6.0, 0.2)
    for recording, start in (("demo-congrats", 0.3), ("demo-instruct", 12.0), ("demo-congrats", 12.0))
    for speaker in (ALLISON, JUNE, RUSSIAN)
)


@cache
def recording(speaker: str, name: str) -> Samples:
    """One recording as it came, at our rate."""
    if speaker == AUSTEN:
        return _decoded(f"austen-{name}", READINGS / f"sense_and_sensibility_01_austen_64kb-{name}.wav")
    if speaker == DICKENS:
        return _decoded(f"dickens-{name}", None)
    return _decoded(f"{speaker}-{name}", PROMPTS / _FOLDERS[speaker] / f"{name}.g722")


@cache
def converse(lines: tuple[Line, ...] = DIALOGUE, *, seed: int = 7) -> Conversation:
    """The lines one after the other, all equally loud, in a quiet room."""
    parts: list[Samples] = []
    truth: list[Turn] = []
    numbers: dict[str, int] = {}
    at = 0.0
    for line in lines:
        whole = recording(line.speaker, line.recording)
        said = whole[round(line.start_seconds * SAMPLE_RATE) : round(line.end_seconds * SAMPLE_RATE)]
        said = said * np.float32(LEVEL / np.sqrt(np.square(said).mean()))
        speaker = numbers.setdefault(line.speaker, len(numbers))
        truth += [Turn(speaker, at + span.start_seconds, at + span.end_seconds) for span in loud_spans(said)]
        parts += [said, np.zeros(round(line.pause_seconds * SAMPLE_RATE), np.float32)]
        at += (len(parts[-2]) + len(parts[-1])) / SAMPLE_RATE
    samples = np.concatenate(parts)
    samples += np.random.default_rng(seed).normal(0, ROOM_LEVEL, len(samples)).astype(np.float32)
    return Conversation(samples, truth)


def long_conversation(minutes: float, *, seed: int = 11) -> Conversation:
    """The speakers of the dialogue again and again: other parts, order, loudness and noise each time."""
    chance = np.random.default_rng(seed)
    sources = {
        DICKENS: ("two_cities",),
        AUSTEN: ("0870", "0880", "0890", "0920", "0930"),
        ALLISON: ("demo-congrats", "demo-instruct", "demo-abouttotry", "vm-options"),
        CARLO: ("demo-congrats", "demo-instruct", "demo-abouttotry", "vm-options"),
    }
    samples: list[Samples] = []
    truth: list[Turn] = []
    at, before = 0.0, ""
    numbers: dict[str, int] = {}
    while at < minutes * 60:
        speaker = str(chance.choice([name for name in sources if name != before]))
        name = str(chance.choice(sources[speaker]))
        said = _some_of(recording(speaker, name), chance)
        said = said * np.float32(LEVEL * 10 ** (chance.uniform(-6, 6) / 20) / np.sqrt(np.square(said).mean()))
        number = numbers.setdefault(speaker, len(numbers))
        truth += [Turn(number, at + span.start_seconds, at + span.end_seconds) for span in loud_spans(said)]
        whole = np.concatenate([said, np.zeros(round(chance.uniform(0.1, 0.8) * SAMPLE_RATE), np.float32)])
        noise = LEVEL * 10 ** (-chance.uniform(25, 40) / 20)
        samples.append(whole + chance.normal(0, noise, len(whole)).astype(np.float32))
        at += len(whole) / SAMPLE_RATE
        before = speaker
    return Conversation(np.concatenate(samples), truth)


def loud_spans(samples: Samples) -> list[Span]:
    """Where it is clearly louder than the quietest places of the same recording; pauses inside speech are filled."""
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
    return [Span(start * FRAME_SECONDS, end * FRAME_SECONDS) for start, end in spans if end - start >= 5]


def score(truth: Sequence[Turn], found: Sequence[Turn], *, collar_seconds: float = 0.0) -> Score:
    """Diarization error and confusion, after the best matching of found speakers to true ones.

    With a collar, what lies nearer than that to the start or end of a true turn does not count.
    """
    end = max((turn.end_seconds for turn in [*truth, *found]), default=0.0)
    true, heard = _frames(truth, end), _frames(found, end)
    counted = np.ones(len(true), np.bool_)
    for turn in truth:
        for edge in (turn.start_seconds, turn.end_seconds):
            first = max(0, round((edge - collar_seconds) / FRAME_SECONDS))
            counted[first : round((edge + collar_seconds) / FRAME_SECONDS)] = False
    true, heard = true[counted], heard[counted]
    total = int((true >= 0).sum())
    both = (true >= 0) & (heard >= 0)
    together = np.zeros((int(true.max(initial=-1)) + 1, int(heard.max(initial=-1)) + 1), np.int64)
    np.add.at(together, (true[both], heard[both]), 1)
    confused = int(both.sum()) - _best_matching(together)
    wrong = int(((true >= 0) != (heard >= 0)).sum())
    return Score((wrong + confused) / total, confused / total)


def within(turns: Sequence[Turn], speech: Sequence[Span]) -> list[Turn]:
    """The parts of turns in which there is speech."""
    return [
        Turn(turn.speaker, max(turn.start_seconds, span.start_seconds), min(turn.end_seconds, span.end_seconds))
        for turn in turns
        for span in speech
        if turn.start_seconds < span.end_seconds and span.start_seconds < turn.end_seconds
    ]


def _best_matching(together: NDArray[np.int64]) -> int:
    """The most frames that agree when each true speaker is matched with at most one found: over all sets of true."""
    best = {0: 0}
    for found in together.T:
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


def _some_of(samples: Samples, chance: np.random.Generator) -> Samples:
    """Two to eight seconds from where somebody starts to speak."""
    starts = [span.start_seconds for span in loud_spans(samples)]
    length = chance.uniform(2, 8)
    late = max(0.0, len(samples) / SAMPLE_RATE - length)
    start = float(chance.choice([at for at in starts if at <= late] or [0.0]))
    return samples[round(start * SAMPLE_RATE) : round((start + length) * SAMPLE_RATE)]


def _decoded(name: str, path: Path | None) -> Samples:
    kept = CLIPS / f"{name}.f32"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CLIPS) as folder:
            source = path or _from_moonshine(name.removeprefix("dickens-"), Path(folder))
            made = Path(folder) / "made.f32"
            how = ["-ac", "1", "-ar", str(SAMPLE_RATE), "-bitexact", "-f", "f32le"]
            form = ["-f", "g722"] if source.suffix == ".g722" else []
            command = ["ffmpeg", "-v", "error", "-nostdin", *form, "-i", str(source), *how, str(made)]
            subprocess.run(command, check=True, timeout=60)
            made.replace(kept)
    return np.fromfile(kept, "<f4")


def _from_moonshine(name: str, folder: Path) -> Path:
    # Only for what is in the wheel, which is for other machines too: it is never installed.
    how = ["--no-deps", "--only-binary=:all:", "--platform=manylinux_2_34_x86_64", "--disable-pip-version-check", "-q"]
    command = [sys.executable, "-m", "pip", "download", *how, "-d", str(folder), MOONSHINE]
    subprocess.run(command, check=True, timeout=600, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        return Path(opened.extract(f"moonshine_voice/assets/{name}.wav", folder))
