"""Renders an evaluation talk to audio and video whose timing is known."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cutroom.engines.synthesis.port import SpeechSynthesizer
from dev.fixtures.generated_audio import RATE, VOICE_RATE, upsample, write_stereo
from dev.fixtures.photographs import ensure_photographs, photographs_folder
from eval.backgrounds import make_background, telephone_band
from eval.talks import Background, EvaluationTalk, TalkPicture

if TYPE_CHECKING:
    from numpy.typing import NDArray

    AudioSamples = NDArray[np.float32]

LEAD_SECONDS = 1.0  # before the first line and after the last
TURN_PAUSE_SECONDS = (0.4, 1.0)  # range of pauses between two speakers
LINE_PAUSE_SECONDS = (0.25, 0.6)  # between lines of one speaker
MAX_PAN = 0.15  # attenuation of the far channel for the outermost speakers
WIDTH, HEIGHT, FPS = 640, 360, 10
SLIDE_COLORS = ("0x20303c", "0x3c2a20", "0x24382a")


@dataclass(frozen=True, slots=True)
class RenderedLine:
    """When a line is spoken; `text` is the source text."""

    speaker: str
    start_seconds: float
    end_seconds: float
    text: str


@dataclass(frozen=True, slots=True)
class RenderedTalk:
    """A video with its audio as WAV, and the timing of each line."""

    path: Path
    audio_path: Path
    seconds: float
    lines: tuple[RenderedLine, ...]


def render_talk(talk: EvaluationTalk, synthesizer: SpeechSynthesizer, *, folder: Path) -> RenderedTalk:
    """Writes `<slug>.wav` and `<slug>.mp4` to the folder."""
    lines, voices = _speak(talk, synthesizer)
    audio_path, path = folder / f"{talk.slug}.wav", folder / f"{talk.slug}.mp4"
    write_stereo(audio_path, voices + make_background(talk.background, len(voices)))
    seconds = len(voices) / RATE
    _encode(talk.pictures, _picture_times(talk, lines, seconds), audio_path, path)
    return RenderedTalk(path, audio_path, seconds, lines)


def _speak(talk: EvaluationTalk, synthesizer: SpeechSynthesizer) -> "tuple[tuple[RenderedLine, ...], AudioSamples]":
    rng = np.random.default_rng(3)
    spoken: list[AudioSamples] = []
    lines: list[RenderedLine] = []
    at = LEAD_SECONDS
    for line in talk.lines:
        if lines:
            same = lines[-1].speaker == line.speaker
            at += float(rng.uniform(*(LINE_PAUSE_SECONDS if same else TURN_PAUSE_SECONDS)))
        voice = talk.speaker(line).stock_voice
        speech = synthesizer.synthesize(talk.source(line), voice=voice.name, language=voice.language)
        if speech.sample_rate != VOICE_RATE:
            raise ValueError(f"{synthesizer.name} speaks at {speech.sample_rate} Hz instead of {VOICE_RATE}.")
        samples = upsample(speech.samples)
        spoken.append(telephone_band(samples) if talk.background == Background.PHONE else samples)
        lines.append(RenderedLine(line.speaker, at, at + len(samples) / RATE, talk.source(line)))
        at = lines[-1].end_seconds
    voices: AudioSamples = np.zeros((round((at + LEAD_SECONDS) * RATE), 2), np.float32)
    for placed, samples in zip(lines, spoken, strict=True):
        first = round(placed.start_seconds * RATE)
        voices[first : first + len(samples)] += samples[:, None] * _pan(talk, placed.speaker)
    return tuple(lines), voices


def _pan(talk: EvaluationTalk, speaker: str) -> "AudioSamples":
    """Gains of left and right: speakers sit from left to right, and a telephone is mono."""
    if talk.background == Background.PHONE or len(talk.speakers) == 1:
        return np.ones(2, np.float32)
    seat = [each.id for each in talk.speakers].index(speaker) / (len(talk.speakers) - 1)
    return np.asarray([1 - MAX_PAN * seat, 1 - MAX_PAN * (1 - seat)], np.float32)


def _picture_times(talk: EvaluationTalk, lines: Sequence[RenderedLine], seconds: float) -> list[float]:
    """Start of each picture that is shown, and the end of the video."""
    starts = [lines[each.at_line - 1].start_seconds for each in talk.pictures[1:] if each.at_line <= len(lines)]
    return [0.0, *starts, seconds]


def _encode(pictures: Sequence[TalkPicture], times: Sequence[float], audio_path: Path, path: Path) -> None:
    command = ["ffmpeg", "-v", "error", "-y", "-i", str(audio_path)]
    filters = []
    spans = list(pairwise(times))
    for number, (start, end) in enumerate(spans, start=1):
        asset, duration = pictures[number - 1].asset, f"{end - start:.3f}"
        if asset is None:
            color = SLIDE_COLORS[(number - 1) % len(SLIDE_COLORS)]
            command += ["-f", "lavfi", "-t", duration, "-i", f"color={color}:s={WIDTH}x{HEIGHT}:r={FPS}"]
        else:
            photograph = ensure_photographs(photographs_folder()) / asset
            command += ["-loop", "1", "-framerate", str(FPS), "-t", duration, "-i", str(photograph)]
        size = f"{WIDTH}:{HEIGHT}"
        filters.append(
            f"[{number}:v]scale={size}:force_original_aspect_ratio=increase,crop={size},setsar=1,format=yuv420p[v{number}]"
        )
    shown = "".join(f"[v{number}]" for number in range(1, len(spans) + 1))
    filters.append(f"{shown}concat=n={len(spans)}:v=1:a=0[video]")
    command += ["-filter_complex", ";".join(filters), "-map", "[video]", "-map", "0:a"]
    command += ["-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-b:a", "192k", str(path)]
    subprocess.run(command, check=True)
