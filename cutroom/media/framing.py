"""The ffmpeg filters that apply a crop plan to a film in one pass, exact to the frame."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from cutroom.media.crop_plan import CropPlan, Fit, Pane, Scene

MAX_PIECES = 60  # of the way of a window in one filter; longer ways go on in a filter of their own
GROUND_SHARE = 8  # the blurred ground is made this much smaller than the picture, which costs little and blurs too
GROUND_LIGHT = 0.5
# Rough pixels of a source are worth a better filter than the default when they are made larger.
SCALING = "flags=bicubic"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a window's way: shown from `shown_seconds` on; at `start` at `seconds`, and on by `slope` a second."""

    shown_seconds: float
    seconds: float
    start: float
    slope: float


def framing_filter(plan: CropPlan, *, width: int, height: int, source: str = "0:v") -> str:
    """From the pad of the source to `[framed]`, of this even size and at the plan's frame rate.

    The film's time starts at 0. Frames are put on the plan's grid first, so a film of that rate keeps each frame, and
    one of uneven frames stays in step with its sound. Stretches of one kind go through one chain of filters; where
    there are several, each frame passes only the chain of its own, and they are joined without holding frames back.
    """
    if width % 2 or height % 2 or min(width, height) < 16:
        raise ValueError("A picture has an even size.")
    runs = _runs(plan)
    rate = Fraction(plan.fps).limit_denominator(1001)
    start = f"[{source}]fps={rate.numerator}/{rate.denominator}:start_time=0,format=yuv420p"
    if len(runs) == 1:
        return f"{start}[r0];{_shown(runs[0], 0, width=width, height=height, fps=plan.fps)};[o0]null[framed]"
    graph = [f"{start},split={len(runs)}" + "".join(f"[i{at}]" for at in range(len(runs)))]
    for at, run in enumerate(runs):
        since = f"start_frame={_frame(run[0].start_seconds, plan.fps)}"
        until = f":end_frame={_frame(run[-1].end_seconds, plan.fps)}" if at + 1 < len(runs) else ""
        graph.append(f"[i{at}]trim={since}{until}[r{at}]")
        # Joining lays each stretch after the one before, so each has to start at 0.
        graph.append(_shown(run, at, width=width, height=height, fps=plan.fps))
        graph.append(f"[o{at}]setpts=PTS-STARTPTS[s{at}]")
    joined = "".join(f"[s{at}]" for at in range(len(runs)))
    # The length of a stretch is guessed from its frames; their numbers say their times without a guess.
    graph.append(f"{joined}concat=n={len(runs)}:v=1:a=0,setpts=N*{rate.denominator}/{rate.numerator}/TB[framed]")
    return ";".join(graph)


def _frame(seconds: float, fps: float) -> int:
    """The number of the frame at a time. Times would be rounded by ffmpeg, to units that may be whole frames."""
    return int(seconds * fps + 0.5)


def _runs(plan: CropPlan) -> list[list[Scene]]:
    """Neighbours of one kind whose windows have one size, as long as their way is not too long."""
    runs: list[list[Scene]] = []
    pieces = 0
    for scene in (part for each in plan.scenes for part in _short(each, plan.fps)):
        more = sum(len(pane.path) for pane in scene.panes)
        if runs and _kind(runs[-1][0]) == _kind(scene) and pieces + more <= MAX_PIECES:
            runs[-1].append(scene)
            pieces += more
        else:
            runs.append([scene])
            pieces = more
    return runs


def _kind(scene: Scene) -> tuple[object, ...]:
    return (scene.fit, *((pane.width, pane.height) for pane in scene.panes if scene.fit is not Fit.WHOLE))


def _short(scene: Scene, fps: float) -> list[Scene]:
    """A scene in parts whose ways are not too long; they meet on frames, by the keys of the longest way."""
    longest = max(scene.panes, key=lambda pane: len(pane.path)).path
    step = MAX_PIECES // (2 * len(scene.panes))
    frames = {_frame(key.seconds, fps) / fps for key in longest[step:-1:step]}
    inner = sorted(each for each in frames if scene.start_seconds < each < scene.end_seconds)
    return [
        Scene(start, end, scene.fit, tuple(_between(pane, start, end) for pane in scene.panes))
        for start, end in pairwise([scene.start_seconds, *inner, scene.end_seconds])
    ]


def _between(pane: Pane, start: float, end: float) -> Pane:
    """The keys that matter between two times: those inside, and one on each side."""
    before = [key for key in pane.path if key.seconds <= start][-1:]
    inside = [key for key in pane.path if start < key.seconds < end]
    after = [key for key in pane.path if key.seconds >= end][:1]
    return Pane(pane.width, pane.height, (*before, *inside, *after))


def _shown(run: Sequence[Scene], at: int, *, width: int, height: int, fps: float) -> str:
    """From `[r<at>]` to `[o<at>]`."""
    fit = run[0].fit
    if fit is Fit.WHOLE:
        return _whole(at, width=width, height=height)
    if fit is Fit.CROP:
        return f"[r{at}]{_window(run, 0, half_frame=0.5 / fps)},{_scaled(width, height)}[o{at}]"
    upright = height > width
    one = _half(height if upright else width)
    other = (height if upright else width) - one
    sizes = [(width, one), (width, other)] if upright else [(one, height), (other, height)]
    graph = [f"[r{at}]split=2[a{at}][b{at}]"]
    for pane, (name, size) in enumerate(zip("ab", sizes, strict=True)):
        graph.append(f"[{name}{at}]{_window(run, pane, half_frame=0.5 / fps)},{_scaled(*size)}[{name}{name}{at}]")
    graph.append(f"[aa{at}][bb{at}]{'vstack' if upright else 'hstack'}=shortest=1[o{at}]")
    return ";".join(graph)


def _half(length: int) -> int:
    return length // 4 * 2


def _scaled(width: int, height: int) -> str:
    return f"scale={width}:{height}:{SCALING},setsar=1"


def _whole(at: int, *, width: int, height: int) -> str:
    """All of the picture, as large as it fits, over itself: zoomed in, blurred and darkened."""
    small = max(2, width // GROUND_SHARE // 2 * 2), max(2, height // GROUND_SHARE // 2 * 2)
    blur = max(1, min(small) // 12)
    ground = (
        f"scale={small[0]}:{small[1]}:force_original_aspect_ratio=increase:force_divisible_by=2,"
        f"crop={small[0]}:{small[1]},boxblur={blur}:2:{max(1, blur // 2)}:2,"
        f"lutyuv=y=16+(val-16)*{GROUND_LIGHT},scale={width}:{height}:flags=bilinear,setsar=1"
    )
    fitted = f"scale={width}:{height}:force_original_aspect_ratio=decrease:force_divisible_by=2:{SCALING},setsar=1"
    return (
        f"[r{at}]split=2[g{at}][f{at}];[g{at}]{ground}[gg{at}];[f{at}]{fitted}[ff{at}];"
        f"[gg{at}][ff{at}]overlay=(W-w)/2:(H-h)/2:shortest=1[o{at}]"
    )


def _window(run: Sequence[Scene], pane: int, *, half_frame: float) -> str:
    """A crop whose place follows the time; `exact` keeps it from going in steps of two pixels."""
    first = run[0].panes[pane]
    x, y = (_expression(_pieces(run, pane, axis=axis, half_frame=half_frame)) for axis in "xy")
    return f"crop={first.width}:{first.height}:x='{x}':y='{y}':exact=1"


def _pieces(run: Sequence[Scene], pane: int, *, axis: str, half_frame: float) -> list[_Piece]:
    pieces: list[_Piece] = []
    for scene in run:
        begin = scene.start_seconds
        places = [(key.seconds, float(getattr(key, axis))) for key in scene.panes[pane].path]
        found = [_Piece(begin - half_frame, begin, places[0][1], 0.0)]
        for (since, start), (until, end) in pairwise(places):
            slope = (end - start) / (until - since)
            if since <= begin:
                found = [_Piece(begin - half_frame, begin, start + slope * (begin - since), slope)]
            else:
                found.append(_Piece(since, since, start, slope))
        last_seconds, last = places[-1]
        if last_seconds < scene.end_seconds:
            found.append(_Piece(last_seconds, last_seconds, last, 0.0))
        pieces += found
    return _without_repeats(pieces)


def _without_repeats(pieces: Sequence[_Piece]) -> list[_Piece]:
    kept = list(pieces[:1])
    for piece in pieces[1:]:
        if piece.slope or kept[-1].slope or piece.start != kept[-1].start:
            kept.append(piece)
    return kept


def _expression(pieces: Sequence[_Piece]) -> str:
    """As a tree of ifs, since ffmpeg reads only so many inside each other. Crop drops fractions: a half rounds them."""
    if len(pieces) == 1:
        [piece] = pieces
        if not piece.slope:
            return f"{piece.start + 0.5:.2f}"
        return f"{piece.start + 0.5:.2f}{piece.slope:+.4f}*(t{-piece.seconds:+.4f})"
    middle = len(pieces) // 2
    return f"if(lt(t,{pieces[middle].shown_seconds:.4f}),{_expression(pieces[:middle])},{_expression(pieces[middle:])})"
