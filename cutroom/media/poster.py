"""Extracts a representative poster frame from a video."""

from pathlib import Path

from cutroom.media.probe import MediaInfo, input_options
from cutroom.media.process import FfmpegProgress, MediaError, Reason
from cutroom.media.sandbox import INPUT, Sandbox, SandboxLimits, ffmpeg
from cutroom.media.video import fit_size

POSTER_WIDTH = 1280
POSTER_HEIGHT = 8192  # bounds very tall videos
# Positions to try, as fractions of the duration; the first with a frame that is neither black nor white is used.
POSITIONS = (0.1, 0.3, 0.5, 0.75, 0.0)
DARK, BRIGHT = 32, 230  # bounds of the mean luma, whose range is 16 to 235
WINDOW_FRAMES = 24  # `thumbnail` picks the most representative of this many
LIMITS = SandboxLimits(wall_seconds=120, cpu_seconds=60)
LUMA = "lavfi.signalstats.YAVG"


async def make_poster(path: Path, info: MediaInfo, *, output: Path, sandbox: Sandbox) -> Path | None:
    """Writes poster.jpg, at most 1280 pixels wide; returns None for audio."""
    if info.media_type == "audio":
        return None
    best: float | None = None
    poster = output / "poster.jpg"
    for position in POSITIONS:
        luma = await _extract_frame(
            path, info, at_seconds=position * info.duration_seconds, output=output, sandbox=sandbox
        )
        if luma is None:
            continue
        distance = max(DARK - luma, luma - BRIGHT, 0.0)
        if best is None or distance < best:
            best = distance
            (output / "poster.part").replace(poster)
        if distance == 0:
            return poster
    if best is None:
        raise MediaError(Reason.UNREADABLE, "No frame of the video can be decoded.")
    return poster


async def _extract_frame(
    path: Path, info: MediaInfo, *, at_seconds: float, output: Path, sandbox: Sandbox
) -> float | None:
    """Writes the most representative frame from `at_seconds` on; returns its mean luma, or None without a frame."""
    width, height = fit_size(info, width=POSTER_WIDTH, height=POSTER_HEIGHT)
    # Scale first: `thumbnail` holds all candidates in memory.
    filters = (
        f"scale={width}:{height}:flags=bicubic,setsar=1,format=yuvj420p,"
        f"thumbnail={WINDOW_FRAMES},signalstats,metadata=print:key={LUMA}:file=-"
    )
    arguments = ["-ss", f"{at_seconds:.3f}", "-noaccurate_seek", "-reinit_filter", "0", *input_options(info.container)]
    arguments += ["-map", "0:V:0", "-vf", filters, "-frames:v", "1", "-q:v", "3", "-map_metadata", "-1"]
    arguments += ["-f", "mjpeg", "poster.part"]
    progress = FfmpegProgress()
    try:
        await ffmpeg(sandbox, arguments, inputs={INPUT: path}, output=output, progress=progress, limits=LIMITS)
    except MediaError as error:
        if error.reason is not Reason.UNREADABLE:
            raise
        return None
    return float(progress.values[LUMA]) if progress.frames and LUMA in progress.values else None
