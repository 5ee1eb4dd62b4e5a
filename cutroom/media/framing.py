"""Builds the ffmpeg filter graph that applies a crop plan in one pass, exact to the frame."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from cutroom.media.crop_plan import CropPane, CropPlan, CropScene, SceneFit

MAX_SEGMENTS = 60  # linear path segments per crop filter; longer paths are split over several filters
BACKGROUND_DOWNSCALE = 8  # blurring a smaller background is cheap, and the upscale blurs further
BACKGROUND_BRIGHTNESS = 0.5
# Better than the default filter when a low-resolution source is enlarged.
SCALING = "flags=bicubic"


@dataclass(frozen=True, slots=True)
class _PathSegment:
    """A linear part of a path: active from `shown_seconds`; `start` at `seconds`, then `slope` pixels per second."""

    shown_seconds: float
    seconds: float
    start: float
    slope: float


def framing_filter(plan: CropPlan, *, width: int, height: int, source: str = "0:v") -> str:
    """Filter graph from the source pad to `[framed]`, of this even size and the plan's frame rate.

    Video time starts at 0. `fps` puts frames on the plan's grid first: constant-rate input keeps every frame, and
    variable-rate input stays in sync with the audio. Consecutive scenes of a layout share a filter chain; with several
    chains, `trim` routes each frame to its own, and `concat` joins them without buffering frames.
    """
    if width % 2 or height % 2 or min(width, height) < 16:
        raise ValueError("The output size must be even and at least 16 x 16.")
    runs = _runs(plan)
    rate = Fraction(plan.fps).limit_denominator(1001)
    start = f"[{source}]fps={rate.numerator}/{rate.denominator}:start_time=0,format=yuv420p"
    if len(runs) == 1:
        return f"{start}[r0];{_render_run(runs[0], 0, width=width, height=height, fps=plan.fps)};[o0]null[framed]"
    graph = [f"{start},split={len(runs)}" + "".join(f"[i{at}]" for at in range(len(runs)))]
    for at, run in enumerate(runs):
        since = f"start_frame={_frame(run[0].start_seconds, plan.fps)}"
        until = f":end_frame={_frame(run[-1].end_seconds, plan.fps)}" if at + 1 < len(runs) else ""
        graph.append(f"[i{at}]trim={since}{until}[r{at}]")
        # concat appends by duration, so each run must start at 0.
        graph.append(_render_run(run, at, width=width, height=height, fps=plan.fps))
        graph.append(f"[o{at}]setpts=PTS-STARTPTS[s{at}]")
    joined = "".join(f"[s{at}]" for at in range(len(runs)))
    # concat estimates run durations; frame numbers give exact timestamps.
    graph.append(f"{joined}concat=n={len(runs)}:v=1:a=0,setpts=N*{rate.denominator}/{rate.numerator}/TB[framed]")
    return ";".join(graph)


def _frame(seconds: float, fps: float) -> int:
    """Frame index at a time. ffmpeg would round times to time base units, which may be whole frames."""
    return int(seconds * fps + 0.5)


def _runs(plan: CropPlan) -> list[list[CropScene]]:
    """Groups consecutive scenes of one layout and window size, up to MAX_SEGMENTS."""
    runs: list[list[CropScene]] = []
    segments = 0
    for scene in (part for each in plan.scenes for part in _split_long_path(each, plan.fps)):
        more = sum(len(pane.path) for pane in scene.panes)
        if runs and _layout(runs[-1][0]) == _layout(scene) and segments + more <= MAX_SEGMENTS:
            runs[-1].append(scene)
            segments += more
        else:
            runs.append([scene])
            segments = more
    return runs


def _layout(scene: CropScene) -> tuple[object, ...]:
    return (scene.fit, *((pane.width, pane.height) for pane in scene.panes if scene.fit is not SceneFit.CONTAIN))


def _split_long_path(scene: CropScene, fps: float) -> list[CropScene]:
    """Splits a scene at frame boundaries so that no path exceeds the limit, using the longest path's keyframes."""
    longest = max(scene.panes, key=lambda pane: len(pane.path)).path
    step = MAX_SEGMENTS // (2 * len(scene.panes))
    frames = {_frame(keyframe.seconds, fps) / fps for keyframe in longest[step:-1:step]}
    inner = sorted(each for each in frames if scene.start_seconds < each < scene.end_seconds)
    return [
        CropScene(start, end, scene.fit, tuple(_between(pane, start, end) for pane in scene.panes))
        for start, end in pairwise([scene.start_seconds, *inner, scene.end_seconds])
    ]


def _between(pane: CropPane, start: float, end: float) -> CropPane:
    """The keyframes that affect a time range: those within, and one on each side."""
    before = [keyframe for keyframe in pane.path if keyframe.seconds <= start][-1:]
    within = [keyframe for keyframe in pane.path if start < keyframe.seconds < end]
    after = [keyframe for keyframe in pane.path if keyframe.seconds >= end][:1]
    return CropPane(pane.width, pane.height, (*before, *within, *after))


def _render_run(run: Sequence[CropScene], at: int, *, width: int, height: int, fps: float) -> str:
    """Filters from `[r<at>]` to `[o<at>]`."""
    fit = run[0].fit
    if fit is SceneFit.CONTAIN:
        return _contain(at, width=width, height=height)
    if fit is SceneFit.CROP:
        return f"[r{at}]{_crop_window(run, 0, half_frame=0.5 / fps)},{_scaled(width, height)}[o{at}]"
    upright = height > width
    one = _half(height if upright else width)
    other = (height if upright else width) - one
    sizes = [(width, one), (width, other)] if upright else [(one, height), (other, height)]
    graph = [f"[r{at}]split=2[a{at}][b{at}]"]
    for pane, (name, size) in enumerate(zip("ab", sizes, strict=True)):
        graph.append(f"[{name}{at}]{_crop_window(run, pane, half_frame=0.5 / fps)},{_scaled(*size)}[{name}{name}{at}]")
    graph.append(f"[aa{at}][bb{at}]{'vstack' if upright else 'hstack'}=shortest=1[o{at}]")
    return ";".join(graph)


def _half(length: int) -> int:
    return length // 4 * 2


def _scaled(width: int, height: int) -> str:
    return f"scale={width}:{height}:{SCALING},setsar=1"


def _contain(at: int, *, width: int, height: int) -> str:
    """The whole frame, scaled to fit over a zoomed, blurred and darkened copy of itself."""
    small = max(2, width // BACKGROUND_DOWNSCALE // 2 * 2), max(2, height // BACKGROUND_DOWNSCALE // 2 * 2)
    blur = max(1, min(small) // 12)
    background = (
        f"scale={small[0]}:{small[1]}:force_original_aspect_ratio=increase:force_divisible_by=2,"
        f"crop={small[0]}:{small[1]},boxblur={blur}:2:{max(1, blur // 2)}:2,"
        f"lutyuv=y=16+(val-16)*{BACKGROUND_BRIGHTNESS},scale={width}:{height}:flags=bilinear,setsar=1"
    )
    fitted = f"scale={width}:{height}:force_original_aspect_ratio=decrease:force_divisible_by=2:{SCALING},setsar=1"
    return (
        f"[r{at}]split=2[g{at}][f{at}];[g{at}]{background}[gg{at}];[f{at}]{fitted}[ff{at}];"
        f"[gg{at}][ff{at}]overlay=(W-w)/2:(H-h)/2:shortest=1[o{at}]"
    )


def _crop_window(run: Sequence[CropScene], pane: int, *, half_frame: float) -> str:
    """A crop filter with a time-dependent position; `exact=1` avoids rounding to chroma samples."""
    first = run[0].panes[pane]
    x, y = (_expression(_path_segments(run, pane, axis=axis, half_frame=half_frame)) for axis in "xy")
    return f"crop={first.width}:{first.height}:x='{x}':y='{y}':exact=1"


def _path_segments(run: Sequence[CropScene], pane: int, *, axis: str, half_frame: float) -> list[_PathSegment]:
    segments: list[_PathSegment] = []
    for scene in run:
        begin = scene.start_seconds
        places = [(keyframe.seconds, float(getattr(keyframe, axis))) for keyframe in scene.panes[pane].path]
        scene_segments = [_PathSegment(begin - half_frame, begin, places[0][1], 0.0)]
        for (since, start), (until, end) in pairwise(places):
            slope = (end - start) / (until - since)
            if since <= begin:
                scene_segments = [_PathSegment(begin - half_frame, begin, start + slope * (begin - since), slope)]
            else:
                scene_segments.append(_PathSegment(since, since, start, slope))
        last_seconds, last = places[-1]
        if last_seconds < scene.end_seconds:
            scene_segments.append(_PathSegment(last_seconds, last_seconds, last, 0.0))
        segments += scene_segments
    return _without_repeats(segments)


def _without_repeats(segments: Sequence[_PathSegment]) -> list[_PathSegment]:
    kept = list(segments[:1])
    for segment in segments[1:]:
        if segment.slope or kept[-1].slope or segment.start != kept[-1].start:
            kept.append(segment)
    return kept


def _expression(segments: Sequence[_PathSegment]) -> str:
    """A balanced tree of ifs, because ffmpeg limits nesting. crop truncates, so 0.5 is added for rounding."""
    if len(segments) == 1:
        [segment] = segments
        if not segment.slope:
            return f"{segment.start + 0.5:.2f}"
        return f"{segment.start + 0.5:.2f}{segment.slope:+.4f}*(t{-segment.seconds:+.4f})"
    middle = len(segments) // 2
    left, right = _expression(segments[:middle]), _expression(segments[middle:])
    return f"if(lt(t,{segments[middle].shown_seconds:.4f}),{left},{right})"
