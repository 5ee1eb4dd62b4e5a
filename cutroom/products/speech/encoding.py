"""Converts synthesized speech to PCM that can be concatenated, and selects ffmpeg options per output format."""

from typing import TYPE_CHECKING

from cutroom.engines.samples import resample
from cutroom.engines.synthesis.port import SynthesizedSpeech
from cutroom.products.speech.rules import SYNTHESIS_RATE, Codec, OutputFormat

if TYPE_CHECKING:
    from cutroom.engines.types import Samples

FADE_SECONDS = 0.005  # at both ends, to prevent clicks
FULL_SCALE = 32767


def speech_to_pcm(speech: SynthesizedSpeech, *, pause_seconds: float) -> bytes:
    """16-bit PCM at SYNTHESIS_RATE, faded at both ends and followed by a pause."""
    import numpy as np  # noqa: PLC0415 - numpy is absent on workers without engines

    samples = resample_speech(speech, SYNTHESIS_RATE).copy()
    fade = min(round(FADE_SECONDS * SYNTHESIS_RATE), len(samples) // 2)
    if fade:
        ramp = np.linspace(0.0, 1.0, fade, dtype=np.float32)
        samples[:fade] *= ramp
        samples[-fade:] *= ramp[::-1]
    pause = np.zeros(round(pause_seconds * SYNTHESIS_RATE), np.float32)
    return to_pcm(np.concatenate([samples, pause]))


def resample_speech(speech: SynthesizedSpeech, rate: int) -> "Samples":
    return resample(speech.samples, speech.sample_rate, rate)


def to_pcm(samples: "Samples") -> bytes:
    import numpy as np  # noqa: PLC0415 - numpy is absent on workers without engines

    return (np.clip(samples, -1.0, 1.0) * FULL_SCALE).round().astype("<i2").tobytes()


def from_pcm(data: bytes) -> "Samples":
    import numpy as np  # noqa: PLC0415 - numpy is absent on workers without engines

    return np.frombuffer(data, "<i2").astype(np.float32) / np.float32(FULL_SCALE)


def codec_arguments(output_format: OutputFormat) -> list[str] | None:
    """ffmpeg output options, or None if the PCM can be sent as is; the WAV header is added when it is sent."""
    if output_format.codec in {Codec.WAV, Codec.PCM}:
        return (
            None
            if output_format.sample_rate == SYNTHESIS_RATE
            else ["-ar", str(output_format.sample_rate), "-f", "s16le"]
        )
    rate, bits = str(output_format.sample_rate), f"{output_format.kilobits}k"
    return {
        # Without Xing header, ID3 tag and bit reservoir, separately encoded passages can be concatenated.
        Codec.MP3: [
            *("-ar", rate, "-c:a", "libmp3lame", "-b:a", bits),
            *("-reservoir", "0", "-write_xing", "0", "-id3v2_version", "0", "-f", "mp3"),
        ],
        Codec.OPUS: ["-ar", rate, "-c:a", "libopus", "-b:a", bits, "-application", "voip", "-f", "ogg"],
        Codec.ULAW: ["-ar", rate, "-c:a", "pcm_mulaw", "-f", "mulaw"],
        Codec.ALAW: ["-ar", rate, "-c:a", "pcm_alaw", "-f", "alaw"],
    }[output_format.codec]
