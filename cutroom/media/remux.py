"""Remuxes separate video and audio tracks into one file without re-encoding."""

from pathlib import Path

from cutroom.media.formats import sniff
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import Sandbox, SandboxLimits, ffmpeg, input_url

OUTPUT_NAME = "joined.mkv"  # Matroska can hold any combination of codecs
JOIN_LIMITS = SandboxLimits(wall_seconds=1800, cpu_seconds=600, file_bytes=100 * 1024**3)


async def remux_tracks(video: Path, audio: Path, *, output: Path, sandbox: Sandbox) -> Path:
    """Combines the first video track of one file with the first audio track of the other."""
    arguments = []
    for name, path in (("video", video), ("audio", audio)):
        container = sniff(path)
        if container is None:
            raise MediaError(Reason.UNSUPPORTED_FORMAT, "The source is not of a supported format.")
        arguments += ["-f", container.value, "-protocol_whitelist", "file", "-format_whitelist", container.value]
        arguments += ["-i", input_url(name)]
    arguments += ["-map", "0:V:0", "-map", "1:a:0", "-c", "copy", "-f", "matroska", OUTPUT_NAME]
    inputs = {"video": video, "audio": audio}
    await ffmpeg(sandbox, arguments, inputs=inputs, output=output, limits=JOIN_LIMITS)
    return output / OUTPUT_NAME
