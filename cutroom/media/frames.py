"""Single pictures spread over a film, to choose the best of."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.media.probe import MediaInfo, reading
from cutroom.media.process import MediaError, OnFraction, Reason
from cutroom.media.sandbox import INPUT, Limits, Sandbox, ffmpeg
from cutroom.media.video import fit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]

STILL_WIDTH, STILL_HEIGHT = 1280, 1280
MIN_STILLS, MAX_STILLS = 24, 40
SECONDS_A_STILL = 15.0  # in films long enough for more than the fewest
EDGES = 0.03  # of the film at both ends, where titles and fades are
LIMITS = Limits(wall_seconds=60, cpu_seconds=40)


@dataclass(frozen=True, slots=True)
class Stills:
    """Raw pictures of one size, each in a file of its own, with the times at which they were looked for."""

    paths: tuple[Path, ...]
    seconds: tuple[float, ...]
    width: int
    height: int

    def picture(self, number: int) -> "Picture":
        import numpy as np  # noqa: PLC0415 - the API process must be able to import this room without it

        pixels = np.fromfile(self.paths[number], np.uint8)
        return pixels.reshape(self.height, self.width, 3)


def still_times(duration_seconds: float) -> list[float]:
    """24 to 40 places, evenly over the film but for its ends."""
    count = round(min(MAX_STILLS, max(MIN_STILLS, duration_seconds / SECONDS_A_STILL)))
    start, length = EDGES * duration_seconds, (1 - 2 * EDGES) * duration_seconds
    return [start + length * (number + 0.5) / count for number in range(count)]


async def take_stills(
    film: Path,
    info: MediaInfo,
    *,
    output: Path,
    sandbox: Sandbox,
    times: Sequence[float] | None = None,
    on_fraction: OnFraction | None = None,
) -> Stills:
    """Pictures of a film, or of its proxy, at most 1280 wide; places where none can be decoded are left out."""
    if info.media_type == "audio":
        raise MediaError(Reason.NO_STREAMS, "There is no picture in the file.")
    width, height = fit(info, width=STILL_WIDTH, height=STILL_HEIGHT)
    wanted = list(times) if times is not None else still_times(info.duration_seconds)
    taken: list[tuple[Path, float]] = []
    for number, seconds in enumerate(wanted):
        path = output / f"still-{number:03}.raw"
        if await _take(film, info, seconds, into=path, size=(width, height), sandbox=sandbox):
            taken.append((path, seconds))
        if on_fraction is not None:
            await on_fraction((number + 1) / len(wanted))
    if not taken:
        raise MediaError(Reason.UNREADABLE, "No picture of the video can be decoded.")
    return Stills(tuple(path for path, _ in taken), tuple(seconds for _, seconds in taken), width, height)


async def _take(
    film: Path, info: MediaInfo, seconds: float, *, into: Path, size: tuple[int, int], sandbox: Sandbox
) -> bool:
    width, height = size
    # From the key frame before: it has the most bits, and nothing else needs to be decoded.
    arguments = ["-ss", f"{seconds:.3f}", "-noaccurate_seek", "-reinit_filter", "0", *reading(info.container)]
    filters = f"scale={width}:{height}:flags=bicubic,setsar=1,format=rgb24"
    arguments += ["-map", "0:V:0", "-vf", filters, "-frames:v", "1", "-f", "rawvideo", into.name]
    try:
        await ffmpeg(sandbox, arguments, inputs={INPUT: film}, output=into.parent, limits=LIMITS)
    except MediaError as error:
        if error.reason is not Reason.UNREADABLE:
            raise
    return _is_whole(into, width * height * 3)


def _is_whole(path: Path, size_bytes: int) -> bool:
    if path.exists() and path.stat().st_size == size_bytes:
        return True
    path.unlink(missing_ok=True)
    return False
