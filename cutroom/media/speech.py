"""ffmpeg operations for speech synthesis: decoding voice samples and encoding speech."""

from collections.abc import Sequence
from pathlib import Path

from cutroom.media.probe import MediaInfo, input_options
from cutroom.media.sandbox import INPUT, Sandbox, SandboxLimits, ffmpeg, input_url

SPEECH_RATE = 16_000
LIMITS = SandboxLimits(wall_seconds=120, cpu_seconds=120)
_REPRODUCIBLE = ("-map_metadata", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact")


async def decode_voice(
    path: Path, info: MediaInfo, *, rate: int, max_seconds: float, output: Path, sandbox: Sandbox
) -> tuple[Path, Path]:
    """Decodes the start of a recording to raw 16-bit mono audio, at the given rate and at the ASR rate."""
    arguments = ["-t", f"{max_seconds:.3f}", *input_options(info.container)]
    for name, hertz in (("voice.raw", rate), ("speech.raw", SPEECH_RATE)):
        arguments += ["-map", "0:a:0", "-ac", "1", "-ar", str(hertz), "-f", "s16le", name]
    await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, limits=LIMITS)
    return output / "voice.raw", output / "speech.raw"


async def encode_speech(path: Path, *, rate: int, codec: Sequence[str], output: Path, sandbox: Sandbox) -> Path:
    """Encodes raw 16-bit mono audio with the given codec arguments."""
    raw = ["-f", "s16le", "-ar", str(rate), "-ac", "1", "-protocol_whitelist", "file", "-i", input_url()]
    await ffmpeg(sandbox, [*raw, *codec, *_REPRODUCIBLE, "encoded"], inputs={INPUT: path}, output=output, limits=LIMITS)
    return output / "encoded"
