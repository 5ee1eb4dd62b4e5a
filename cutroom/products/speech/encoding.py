"""From what an engine spoke to bytes that can be laid one behind the other, and how each form is encoded."""

from typing import TYPE_CHECKING

from cutroom.engines.samples import resampled
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.products.speech.rules import RATE, Codec, OutputFormat

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

FADE_SECONDS = 0.005  # at both ends: sound that begins or ends off zero clicks
FULL_SCALE = 32767


def pcm_of(speech: SynthesizedSpeech, *, pause_seconds: float) -> bytes:
    """16-bit samples at RATE, silent at both ends, and the pause behind them."""
    import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

    samples = at_rate(speech, RATE).copy()
    fade = min(round(FADE_SECONDS * RATE), len(samples) // 2)
    if fade:
        ramp = np.linspace(0.0, 1.0, fade, dtype=np.float32)
        samples[:fade] *= ramp
        samples[-fade:] *= ramp[::-1]
    pause = np.zeros(round(pause_seconds * RATE), np.float32)
    return to_pcm(np.concatenate([samples, pause]))


def at_rate(speech: SynthesizedSpeech, rate: int) -> "Samples":
    return resampled(speech.samples, speech.sample_rate, rate)


def to_pcm(samples: "Samples") -> bytes:
    import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

    return (np.clip(samples, -1.0, 1.0) * FULL_SCALE).round().astype("<i2").tobytes()


def from_pcm(data: bytes) -> "Samples":
    import numpy as np  # noqa: PLC0415 - a worker without engines must be able to import this room

    return np.frombuffer(data, "<i2").astype(np.float32) / np.float32(FULL_SCALE)


def codec_arguments(form: OutputFormat) -> list[str] | None:
    """How ffmpeg writes this form; nothing where the samples are in it already. WAV gets its head when it is sent."""
    if form.codec in {Codec.WAV, Codec.PCM}:
        return None if form.sample_rate == RATE else ["-ar", str(form.sample_rate), "-f", "s16le"]
    rate, bits = str(form.sample_rate), f"{form.kilobits}k"
    return {
        # No head and no reservoir of bits, so that what is encoded apart can be played in one go.
        Codec.MP3: [
            *("-ar", rate, "-c:a", "libmp3lame", "-b:a", bits),
            *("-reservoir", "0", "-write_xing", "0", "-id3v2_version", "0", "-f", "mp3"),
        ],
        Codec.OPUS: ["-ar", rate, "-c:a", "libopus", "-b:a", bits, "-application", "voip", "-f", "ogg"],
        Codec.ULAW: ["-ar", rate, "-c:a", "pcm_mulaw", "-f", "mulaw"],
        Codec.ALAW: ["-ar", rate, "-c:a", "pcm_alaw", "-f", "alaw"],
    }[form.codec]
