"""German speech synthesis with SVOX Pico, a small engine of 2009 with a dry voice.

The C library runs in a sandboxed process of its own, because it was not written for untrusted text.
"""

import asyncio
import os
import re
import sys
import threading
import unicodedata
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.engines.errors import EngineError, EngineUnavailableError, UnsuitableInputError
from cutroom.engines.synthesis.port import Gender, StockVoice, SynthesizedSpeech
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import Sandbox
from cutroom.text.passages import split_at_pauses
from cutroom.text.speech_normalization import normalize_for_speech

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

SPEECH_RATE = 16_000
MIN_SPEED, MAX_SPEED = 0.5, 2.0
RUN_SECONDS = 60.0
RUN_CHARACTERS = 1_000
PAUSE_SECONDS = 0.25  # between runs

# The engine also speaks English, French, Italian and Spanish, for which there are far better voices.
VOICES = (StockVoice("pico_de", "Pico (robotic, basic quality)", "de-DE", Gender.FEMALE, "middle-aged", 168.0),)

_MARKUP = re.compile(r"[<>&\\]")  # the engine reads commands in angle brackets
# Reads text from stdin and writes PCM to an inherited file.
_PROGRAM = """
import sys
from ttspico import TtsEngine
engine = TtsEngine("de-DE")
engine.rate = int(sys.argv[2])
with open(int(sys.argv[1]), "wb") as audio:
    audio.write(engine.speak(sys.stdin.buffer.read().decode()) or b"")
"""


class PicoSynthesizer:
    """Thread-safe: calls are serialized."""

    name = "pico-1"

    def __init__(self, *, seconds: float = RUN_SECONDS, sandbox: Sandbox | None = None) -> None:
        if find_spec("ttspico") is None:
            raise EngineUnavailableError("Install cutroom[speech-german] to speak German with Pico.")
        self._seconds = seconds
        self._sandbox = sandbox or Sandbox()
        self._running = threading.Lock()

    def voices(self) -> Sequence[StockVoice]:
        return VOICES

    def synthesize(self, text: str, *, voice: str, language: str, speed: float = 1.0) -> SynthesizedSpeech:
        import numpy as np  # noqa: PLC0415 - the API process imports this module without it

        if voice not in {each.name for each in VOICES}:
            raise EngineError(f"Unknown voice: {voice}.")
        if not MIN_SPEED <= speed <= MAX_SPEED:
            raise EngineError(f"The speed must be between {MIN_SPEED} and {MAX_SPEED}.")
        if language.lower().replace("_", "-").partition("-")[0] != "de":
            raise UnsuitableInputError("no_voice", f"The voice {voice} does not speak the language {language}.")
        spelled = _MARKUP.sub(" ", unicodedata.normalize("NFC", normalize_for_speech(text, "de")))
        if not any(map(str.isalnum, spelled)):
            raise UnsuitableInputError("no_words", "The text contains nothing to speak.")
        parts = []
        for passage in split_at_pauses(spelled, limit_characters=RUN_CHARACTERS):
            parts += [self._speak(passage, speed), np.zeros(round(PAUSE_SECONDS * SPEECH_RATE), np.float32)]
        return SynthesizedSpeech(np.concatenate(parts[:-1]), SPEECH_RATE)

    def _speak(self, text: str, speed: float) -> "Samples":
        import numpy as np  # noqa: PLC0415 - see above

        audio = os.memfd_create("audio")
        try:
            with self._running:
                self._run(text, [str(audio), str(round(100 * speed))], audio)
            size = os.lseek(audio, 0, os.SEEK_END)
            pcm = os.pread(audio, size, 0)
        finally:
            os.close(audio)
        samples: Samples = np.frombuffer(pcm[: len(pcm) // 2 * 2], "<i2").astype(np.float32) / np.float32(32768)
        if not len(samples):
            raise EngineError("Pico produced no audio.")
        return samples

    def _run(self, text: str, arguments: Sequence[str], audio: int) -> None:
        running = self._sandbox.run_on_text(
            Path(sys.executable),
            ["-I", "-c", _PROGRAM, *arguments],
            text=text.encode(),
            seconds=self._seconds,
            folders=_python_folders(),
            pass_fds=(audio,),
        )
        try:
            finished = asyncio.run(running)
        except MediaError as error:
            if error.reason is Reason.TIMED_OUT:
                raise EngineUnavailableError("Pico timed out.") from error
            if error.reason is Reason.SANDBOX_UNAVAILABLE:
                raise EngineUnavailableError("The sandbox of Pico is not available.") from error
            raise EngineError(f"Pico failed: {error.reason}") from error
        if finished.exit_code != 0:
            raise EngineError(f"Pico exited with {finished.exit_code}: {finished.stderr[-200:]}")


def _python_folders() -> list[Path]:
    """The interpreter and its packages; the environment may refer to the interpreter through a symlink."""
    return [Path(sys.base_prefix).resolve(), Path(sys.base_prefix), Path(sys.prefix)]
