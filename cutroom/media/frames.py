"""Extracts still frames spread over a video."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cutroom.media.probe import MediaInfo, input_options
from cutroom.media.process import MediaError, OnFraction, Reason
from cutroom.media.sandbox import INPUT, Sandbox, SandboxLimits, ffmpeg
from cutroom.media.video import fit_size

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]

STILL_WIDTH, STILL_HEIGHT = 1280, 1280
MIN_STILLS, MAX_STILLS = 24, 40
SECONDS_PER_STILL = 15.0  # for videos long enough to need more than MIN_STILLS
MARGIN = 0.03  # fraction of the video skipped at both ends, where titles and fades are
LIMITS = SandboxLimits(wall_seconds=60, cpu_seconds=40)


@dataclass(frozen=True, slots=True)
class Stills:
    """Raw RGB frames of one size, one file each, with the timestamps they were requested at."""

    paths: tuple[Path, ...]
    seconds: tuple[float, ...]
    width: int
    height: int

    def image(self, number: int) -> "Image":
        import numpy as np  # noqa: PLC0415 - the API process imports this module without numpy

        pixels = np.fromfile(self.paths[number], np.uint8)
        return pixels.reshape(self.height, self.width, 3)


def still_times(duration_seconds: float) -> list[float]:
    """24 to 40 timestamps, evenly spaced between the margins."""
    count = round(min(MAX_STILLS, max(MIN_STILLS, duration_seconds / SECONDS_PER_STILL)))
    start, length = MARGIN * duration_seconds, (1 - 2 * MARGIN) * duration_seconds
    return [start + length * (number + 0.5) / count for number in range(count)]


async def extract_stills(
    video: Path,
    info: MediaInfo,
    *,
    output: Path,
    sandbox: Sandbox,
    times: Sequence[float] | None = None,
    exact: bool = False,
    on_fraction: OnFraction | None = None,
) -> Stills:
    """Extracts frames of a video or its proxy, at most 1280 pixels a side; skips those that cannot be decoded.

    Takes the key frames before these times, or with `exact` the frames at them.
    """
    if info.media_type == "audio":
        raise MediaError(Reason.NO_STREAMS, "The file has no video.")
    width, height = fit_size(info, width=STILL_WIDTH, height=STILL_HEIGHT)
    timestamps = list(times) if times is not None else still_times(info.duration_seconds)
    extracted: list[tuple[Path, float]] = []
    for number, seconds in enumerate(timestamps):
        path = output / f"{'exact' if exact else 'still'}-{number:03}.raw"
        size = width, height
        if await _extract_frame(video, info, seconds, exact=exact, into=path, size=size, sandbox=sandbox):
            extracted.append((path, seconds))
        if on_fraction is not None:
            on_fraction((number + 1) / len(timestamps))
    if not extracted:
        raise MediaError(Reason.UNREADABLE, "No frame of the video can be decoded.")
    return Stills(tuple(path for path, _ in extracted), tuple(seconds for _, seconds in extracted), width, height)


async def _extract_frame(
    video: Path,
    info: MediaInfo,
    seconds: float,
    *,
    exact: bool,
    into: Path,
    size: tuple[int, int],
    sandbox: Sandbox,
) -> bool:
    width, height = size
    # The preceding key frame has the most bits, and nothing else needs decoding.
    seek = ["-ss", f"{seconds:.3f}"] if exact else ["-ss", f"{seconds:.3f}", "-noaccurate_seek"]
    arguments = [*seek, "-reinit_filter", "0", *input_options(info.container)]
    filters = f"scale={width}:{height}:flags=bicubic,setsar=1,format=rgb24"
    arguments += ["-map", "0:V:0", "-vf", filters, "-frames:v", "1", "-f", "rawvideo", into.name]
    try:
        await ffmpeg(sandbox, arguments, inputs={INPUT: video}, output=into.parent, limits=LIMITS)
    except MediaError as error:
        if error.reason is not Reason.UNREADABLE:
            raise
    return _is_complete(into, width * height * 3)


def _is_complete(path: Path, size_bytes: int) -> bool:
    if path.exists() and path.stat().st_size == size_bytes:
        return True
    path.unlink(missing_ok=True)
    return False
