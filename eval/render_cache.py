"""Renders evaluation talks, or their beginnings, with speech that is synthesized once and kept on disk.

Synthesis takes most of the time of a rendering. Speech is stored for each line, so that an excerpt and the whole talk
share it, and a stopped run continues where it stopped.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from cutroom.engines.synthesis.phonemes import Espeak
from cutroom.engines.synthesis.port import SpeechSynthesizer, StockVoice, SynthesizedSpeech
from cutroom.text.speech_normalization import normalize_for_speech
from dev.environment import PROJECT
from eval.rendering import RenderedTalk, render_talk
from eval.talks import EvaluationTalk, contains_phrase

SPEECH_VERSION = 1  # increase it when the same phonemes sound different


def speech_folder() -> Path:
    return Path(os.environ.get("CUTROOM_EVALUATION_SPEECH_FOLDER") or PROJECT / ".data" / "evaluation-speech")


def excerpt(talk: EvaluationTalk, *, line_count: int) -> EvaluationTalk:
    """The first lines of a talk; they sound the same, and at the same time, as in the whole talk."""
    lines = talk.lines[:line_count]
    said = "\n".join(talk.source(line) for line in lines)
    names = tuple(name for name in talk.names if contains_phrase(said, name))
    return replace(talk, slug=f"{talk.slug}_{len(lines)}", lines=lines, names=names)


def render_cached(
    talk: EvaluationTalk, synthesizer: SpeechSynthesizer, *, folder: Path, cache_folder: Path | None = None
) -> RenderedTalk:
    """As `render_talk`, but speaks only the lines that were never spoken before."""
    return render_talk(talk, CachedSynthesizer(synthesizer, cache_folder or speech_folder()), folder=folder)


class CachedSynthesizer:
    """Stores speech of Kokoro under a fingerprint of its phonemes, the voice and the engine."""

    def __init__(self, synthesizer: SpeechSynthesizer, folder: Path) -> None:
        self.name = synthesizer.name
        self._synthesizer = synthesizer
        self._folder = folder
        self._espeak = Espeak()

    def voices(self) -> Sequence[StockVoice]:
        return self._synthesizer.voices()

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        phonemes = self._espeak.phonemes(normalize_for_speech(text, language), language=language)
        inputs = [SPEECH_VERSION, self.name, voice, phonemes, speed]
        path = self._folder / f"{hashlib.sha256(json.dumps(inputs).encode()).hexdigest()}.npz"
        if path.exists():
            with np.load(path) as stored:
                return SynthesizedSpeech(stored["samples"], int(stored["sample_rate"]))
        speech = self._synthesizer.synthesize(text, voice=voice, language=language, speed=speed)
        self._folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._folder) as scratch:  # proofs may run at the same time
            partial = Path(scratch) / path.name
            np.savez(partial, samples=speech.samples, sample_rate=speech.sample_rate)
            partial.replace(path)
        return speech
