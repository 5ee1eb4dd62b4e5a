"""Generates a dialogue video with music whose timing and audio components are known."""

import subprocess
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cutroom.engines.synthesis.port import SpeechSynthesizer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    AudioSamples = NDArray[np.float32]

RATE = 48_000
VOICE_RATE = 24_000
SPEECH_LEVEL = 0.08
MUSIC_BELOW_DB = 3.0  # relative to speech; quieter music separates worse and is masked by speech
VOICES = ("am_michael", "af_heart")
LEAD_SECONDS = 1.0

# Alternating turns of the two speakers.
TALK: Sequence[str] = (
    "Good morning, and welcome to our little workshop. Today we want to show you how a wooden boat is built.",
    "Thank you for having me. I have never seen a boat from so close before.",
    "The first thing we need is a good piece of oak. It has to be dry, and it must not have any cracks.",
    "How long does the wood have to dry?",
    "Usually two or three years. Some of these planks have been here since my father worked in this room.",
    "That is a very long time. Do you still remember him working here?",
    "Of course. He taught me everything that I know. When I was a boy, I sat on that bench and watched him every day.",
    "And what is the most difficult part of the work?",
    "The most difficult part is the curve of the hull. If it is wrong, the boat will never be quick.",
    "I see. So you have to be very patient.",
    "Patience is the most important tool in this house. Without it, nothing here would ever be finished.",
    "Can you show me how the planks are joined?",
    "Gladly. We heat the wood with steam, and then it can be bent around the frame. Then it keeps its shape.",
    "It smells wonderful in here. Is that the steam?",
    "Yes, that is the smell of warm oak. Visitors always talk about it when they go home.",
    "And how many boats do you build in a year?",
    "Only two. One in the spring, and another one in the autumn. In winter we repair old boats for the fishermen.",
    "Then each of them must be something special for you.",
    "Every boat is different. I can still tell you the name of each of them, and where it is sailing now.",
    "Thank you for showing us your work. I will look at every boat with other eyes from now on.",
)

# Prefixes of repeated lines, so that cached synthesis does not skip work.
REPEAT_PREFIXES = (
    "",
    "As we said before,",
    "And once more,",
    "It is worth saying again,",
    "So, as you heard,",
    "As I told you,",
)


@dataclass(frozen=True, slots=True)
class DialogueVideo:
    """A generated video, with its music and the timing of each turn."""

    path: Path
    seconds: float
    music: "AudioSamples"  # stereo, without speech, at RATE
    turns: tuple[tuple[int, float, float], ...]  # speaker, start and end


def make_dialogue_video(
    folder: Path,
    synthesizer: SpeechSynthesizer,
    *,
    seconds: float,
    name: str = "dialogue",
    is_varied: bool = False,
    pause_seconds: tuple[float, float] = (0.5, 1.6),
) -> DialogueVideo:
    """Fill the duration with turns; long videos repeat them, with prefixes if `is_varied`."""
    turns, voice = _render_talk(synthesizer, seconds, is_varied=is_varied, pause_seconds=pause_seconds)
    length = len(voice)
    music = make_music(length, level=rms_level(voice) * 10 ** (-MUSIC_BELOW_DB / 20))
    mix = music + voice
    audio_path = folder / f"{name}.wav"
    write_stereo(audio_path, mix)
    path = folder / f"{name}.mp4"
    video_source = f"testsrc2=s=320x180:r=12:d={length / RATE:.3f}"
    command = ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", video_source, "-i", str(audio_path)]
    codecs = ["-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-b:a", "256k", "-shortest"]
    subprocess.run([*command, *codecs, str(path)], check=True)
    return DialogueVideo(path, length / RATE, music, tuple(turns))


def _render_talk(
    synthesizer: SpeechSynthesizer, seconds: float, *, is_varied: bool, pause_seconds: tuple[float, float]
) -> "tuple[list[tuple[int, float, float]], AudioSamples]":
    rng = np.random.default_rng(5)
    spoken: dict[str, AudioSamples] = {}
    placed: list[tuple[int, float, AudioSamples]] = []
    turns, at, number = [], LEAD_SECONDS, 0
    while at < seconds - LEAD_SECONDS:
        line, turn = number % len(TALK), number // len(TALK)
        text = f"{REPEAT_PREFIXES[turn % len(REPEAT_PREFIXES)]} {TALK[line]}" if is_varied and turn else TALK[line]
        if text not in spoken:
            said = synthesizer.synthesize(text, voice=VOICES[line % 2], language="en-US")
            spoken[text] = upsample(said.samples)
        samples = spoken[text]
        length = len(samples) / RATE
        if at + length > seconds - LEAD_SECONDS / 2 and placed:
            break
        placed.append((line % 2, at, samples))
        turns.append((line % 2, at, at + length))
        at += length + float(rng.uniform(*pause_seconds))
        number += 1
    voice: AudioSamples = np.zeros((2, round(max(seconds, at) * RATE)), np.float32)
    for who, start, samples in placed:
        first = round(start * RATE)
        pan = (1.0, 0.85) if who == 0 else (0.85, 1.0)
        for channel in range(2):
            voice[channel, first : first + len(samples)] += pan[channel] * samples
    return turns, voice.T


def upsample(samples: "AudioSamples") -> "AudioSamples":
    """Double the sample rate, and normalize to SPEECH_LEVEL."""
    count = len(samples) * 2
    spectrum = np.zeros(count // 2 + 1, np.complex128)
    found = np.fft.rfft(samples)
    spectrum[: len(found)] = found * 2
    wide = np.fft.irfft(spectrum, count)
    loud = wide[np.abs(wide) > 0.01]
    return np.asarray(wide * (SPEECH_LEVEL / np.sqrt(np.mean(loud**2))), np.float32)


def make_music(length: int, *, level: float) -> "AudioSamples":
    """Plucked chords, bass and a soft drum, panned wider than the voices."""
    rng = np.random.default_rng(8)
    output = np.zeros((length, 2), np.float32)
    beat = 0.5
    chords = ((220.0, 261.6, 329.6), (174.6, 220.0, 261.6), (196.0, 246.9, 293.7), (164.8, 207.7, 246.9))
    for number in range(int(length / RATE / beat)):
        first = round(number * beat * RATE)
        chord = chords[(number // 8) % 4]
        tone = chord[int(rng.integers(3))] * (2 if number % 4 == 3 else 1)
        side = float(rng.uniform(0.2, 0.8))
        _add(output, first, _pluck(tone, 1.6, rng), (1 - side, side))
        if number % 2 == 0:
            _add(output, first, 1.3 * _pluck(chord[0] / 2, 1.2, rng), (0.5, 0.5))
        if number % 4 == 2:
            _add(output, first, 0.5 * _drum(rng), (0.45, 0.55))
    return np.asarray(output * (level / rms_level(output)), np.float32)


def rms_level(samples: "AudioSamples") -> float:
    return float(np.sqrt(np.mean(samples**2)))


def _add(output: "AudioSamples", first: int, samples: "AudioSamples", pan: tuple[float, float]) -> None:
    end = min(len(output), first + len(samples))
    output[first:end] += samples[: end - first, None] * np.asarray(pan, np.float32)


def _pluck(hertz: float, seconds: float, rng: np.random.Generator) -> "AudioSamples":
    time = np.arange(round(seconds * RATE)) / RATE
    samples = sum(
        np.sin(2 * np.pi * hertz * part * time + rng.uniform(0, 6.28)) * np.exp(-time * (2 + part)) / part
        for part in range(1, 9)
    )
    return np.asarray(samples * np.minimum(1, time * 400), np.float32)


def _drum(rng: np.random.Generator) -> "AudioSamples":
    time = np.arange(round(0.25 * RATE)) / RATE
    return np.asarray(rng.normal(0, 1, len(time)) * np.exp(-time * 35), np.float32)


def write_stereo(path: Path, samples: "AudioSamples") -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
