"""Generates a dialogue video with music whose timing and audio components are known."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cutroom.engines.synthesis.port import SpeechSynthesizer
from dev.fixtures.generated_audio import RATE, make_music, rms_level, upsample, write_stereo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    AudioSamples = NDArray[np.float32]

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
    pause_seconds: tuple[float, float] = (0.5, 1.6),
) -> DialogueVideo:
    """Fill the duration with turns; long videos repeat them."""
    turns, voice = _render_talk(synthesizer, seconds, pause_seconds=pause_seconds)
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
    synthesizer: SpeechSynthesizer, seconds: float, *, pause_seconds: tuple[float, float]
) -> "tuple[list[tuple[int, float, float]], AudioSamples]":
    rng = np.random.default_rng(5)
    spoken: dict[str, AudioSamples] = {}
    placed: list[tuple[int, float, AudioSamples]] = []
    turns, at, number = [], LEAD_SECONDS, 0
    while at < seconds - LEAD_SECONDS:
        line = number % len(TALK)
        text = TALK[line]
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
