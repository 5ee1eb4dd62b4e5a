"""Puts tracks that came apart into one file, without touching what is in them."""

from pathlib import Path

from cutroom.media.formats import sniff
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import Limits, Sandbox, ffmpeg, inside

JOINED = "joined.mkv"  # Matroska holds any pair of codecs
JOIN_LIMITS = Limits(wall_seconds=1800, cpu_seconds=600, file_bytes=100 * 1024**3)


async def join_tracks(picture: Path, sound: Path, *, output: Path, sandbox: Sandbox) -> Path:
    """One file with the picture of one and the sound of the other."""
    arguments = []
    for name, path in (("picture", picture), ("sound", sound)):
        container = sniff(path)
        if container is None:
            raise MediaError(Reason.UNSUPPORTED_FORMAT, "The source is not of a supported format.")
        arguments += ["-f", container.value, "-protocol_whitelist", "file", "-format_whitelist", container.value]
        arguments += ["-i", inside(name)]
    arguments += ["-map", "0:V:0", "-map", "1:a:0", "-c", "copy", "-f", "matroska", JOINED]
    inputs = {"picture": picture, "sound": sound}
    await ffmpeg(sandbox, arguments, inputs=inputs, output=output, limits=JOIN_LIMITS)
    return output / JOINED
