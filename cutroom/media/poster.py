"""The poster: one good picture out of a video."""

from pathlib import Path

from cutroom.media.probe import MediaInfo, reading
from cutroom.media.process import MediaError, Progress, Reason
from cutroom.media.sandbox import INPUT, Limits, Sandbox, ffmpeg
from cutroom.media.video import fit

POSTER_WIDTH = 1280
POSTER_HEIGHT = 8192  # of a very tall picture
# Where to look, as parts of the duration; the first place with a picture neither black nor white is taken.
PLACES = (0.1, 0.3, 0.5, 0.75, 0.0)
DARK, BRIGHT = 32, 230  # mean luma of 16 to 235
WINDOW_FRAMES = 24  # among which the most typical is chosen
LIMITS = Limits(wall_seconds=120, cpu_seconds=60)
LUMA = "lavfi.signalstats.YAVG"


async def make_poster(path: Path, info: MediaInfo, *, output: Path, sandbox: Sandbox) -> Path | None:
    """Write poster.jpg, at most 1280 pixels wide; None for audio."""
    if info.media_type == "audio":
        return None
    best: float | None = None
    poster = output / "poster.jpg"
    for place in PLACES:
        luma = await _take(path, info, at_seconds=place * info.duration_seconds, output=output, sandbox=sandbox)
        if luma is None:
            continue
        fault = max(DARK - luma, luma - BRIGHT, 0.0)
        if best is None or fault < best:
            best = fault
            (output / "poster.part").replace(poster)
        if fault == 0:
            return poster
    if best is None:
        raise MediaError(Reason.UNREADABLE, "No picture of the video can be decoded.")
    return poster


async def _take(path: Path, info: MediaInfo, *, at_seconds: float, output: Path, sandbox: Sandbox) -> float | None:
    """The most typical picture from there on, and its mean luma; None where there is none."""
    width, height = fit(info, width=POSTER_WIDTH, height=POSTER_HEIGHT)
    # Scaled first: `thumbnail` keeps all its candidates in memory.
    filters = (
        f"scale={width}:{height}:flags=bicubic,setsar=1,format=yuvj420p,"
        f"thumbnail={WINDOW_FRAMES},signalstats,metadata=print:key={LUMA}:file=-"
    )
    arguments = ["-ss", f"{at_seconds:.3f}", "-noaccurate_seek", "-reinit_filter", "0", *reading(info.container)]
    arguments += ["-map", "0:V:0", "-vf", filters, "-frames:v", "1", "-q:v", "3", "-map_metadata", "-1"]
    arguments += ["-f", "mjpeg", "poster.part"]
    progress = Progress()
    try:
        await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, progress=progress, limits=LIMITS)
    except MediaError as error:
        if error.reason is not Reason.UNREADABLE:
            raise
        return None
    return float(progress.values[LUMA]) if progress.frames and LUMA in progress.values else None
