"""Pictures from all over a film, to choose from."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.media.probe import MediaInfo, reading
from cutroom.media.process import MediaError, Reason
from cutroom.media.sandbox import INPUT, Limits, Sandbox, ffmpeg
from cutroom.media.video import fit

if TYPE_CHECKING:
    from cutroom.media.pictures import Picture

CANDIDATES = 32
WIDTH, HEIGHT = 1280, 8192  # at most; the second is for very tall films
EDGES = 0.03  # of a film at both ends are titles and fades
LIMITS = Limits(wall_seconds=60, cpu_seconds=30)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A picture of a film, and when it is shown."""

    seconds: float
    picture: "Picture"


async def take_candidates(path: Path, info: MediaInfo, *, output: Path, sandbox: Sandbox) -> list[Candidate]:
    """Evenly over the film; where nothing can be decoded there is none."""
    import numpy as np  # noqa: PLC0415 - the API process must be able to import this room without it

    width, height = fit(info, width=WIDTH, height=HEIGHT)
    raw, found = output / "candidate.raw", []
    for number in range(CANDIDATES):
        seconds = (EDGES + (1 - 2 * EDGES) * (number + 0.5) / CANDIDATES) * info.duration_seconds
        arguments = ["-ss", f"{seconds:.3f}", *reading(info.container), "-map", "0:V:0", "-frames:v", "1"]
        arguments += ["-vf", f"scale={width}:{height}:flags=bicubic,setsar=1,format=rgb24", "-f", "rawvideo", raw.name]
        try:
            await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, limits=LIMITS)
        except MediaError as error:
            if error.reason is not Reason.UNREADABLE:
                raise
            continue
        data = raw.read_bytes() if raw.exists() else b""
        raw.unlink(missing_ok=True)
        if len(data) == width * height * 3:
            found.append(Candidate(seconds, np.frombuffer(data, np.uint8).reshape(height, width, 3).copy()))
    return found
