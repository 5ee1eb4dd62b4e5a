"""Plans a smooth pan of the crop window along one axis: minimal, slow and without reversals.

The whole clip is known in advance, so nothing is chased. The targets define a corridor that keeps the face inside the
window, preferably near its center. The path is the taut string through that corridor: of all paths it moves least,
turns least and has the lowest top speed, rests where the corridor allows, and starts before the face moves where it
must. Where a face is faster than the window may be, it is dropped for as short as possible (`reachability`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cutroom.media.crop_plan import Keyframe
from cutroom.products.shorts.framing.reachability import drop_unreachable

GRID_SECONDS = 0.1
MAX_SPEED = 0.01  # of the window's width per source frame
SPEED_FACTOR = 0.95  # leaves headroom for rounding
MIN_REST_SECONDS = 0.5  # between moves in opposite directions
EASE_SECONDS = 0.3  # acceleration and deceleration time
DEAD_ZONE = 0.12  # of the window on both sides of its center, in which a face causes no move
MARGIN = 0.05  # of the window, between a face and the edge where there is space
RETRIES = 4  # at making space for rests at turns
TOLERANCE_PIXELS = 0.25  # maximum error when the path is simplified to keyframes


@dataclass(frozen=True, slots=True)
class PanTarget:
    """The interval along one axis, in pixels, that must be inside the window at a time."""

    seconds: float
    low: float
    high: float

    @property
    def center(self) -> float:
        return (self.low + self.high) / 2


@dataclass(frozen=True, slots=True)
class PanAxis:
    """One pan axis: window length, frame length, and maximum speed in pixels per second."""

    window: int
    frame: int
    speed: float
    aim: float = 0.5  # preferred position of the target in the window

    @property
    def last(self) -> float:
        return float(self.frame - self.window)

    def required_range(self, target: PanTarget) -> tuple[float, float]:
        """Window positions that contain the target, with a margin where there is space."""
        spare = self.window - (target.high - target.low)
        if spare <= 0:
            position = self.clip(target.center - self.window / 2)
            return position, position
        margin = min(MARGIN * self.window, spare / 4)
        return self.clip(target.high + margin - self.window), self.clip(target.low - margin)

    def preferred_range(self, target: PanTarget) -> tuple[float, float]:
        """Window positions with the target near the aim."""
        position = target.center - self.aim * self.window
        return self.clip(position - DEAD_ZONE * self.window), self.clip(position + DEAD_ZONE * self.window)

    def clip(self, position: float) -> float:
        return min(max(position, 0.0), self.last)


def static_position(targets: Sequence[PanTarget], axis: PanAxis) -> float | None:
    """A fixed position that contains every target, as close as possible to the median; None if there is none."""
    if not targets:
        return axis.last / 2
    corridor = [axis.required_range(target) for target in targets]
    low, high = max(low for low, _ in corridor), min(high for _, high in corridor)
    if low > high:
        return None
    return min(max(median_position(targets, axis), low), high)


def median_position(targets: Sequence[PanTarget], axis: PanAxis) -> float:
    positions = sorted(target.center for target in targets)
    return axis.clip(positions[len(positions) // 2] - axis.aim * axis.window)


def follow_targets(
    targets: Sequence[PanTarget], axis: PanAxis, *, start_seconds: float, end_seconds: float
) -> list[tuple[float, float]]:
    """Times and positions of a window that follows the targets as far as its speed allows."""
    steps = max(1, round((end_seconds - start_seconds) / GRID_SECONDS))
    step_seconds = (end_seconds - start_seconds) / steps
    times = [start_seconds + index * step_seconds for index in range(steps + 1)]
    low, high = _corridor(times, targets, axis)
    ease = max(1, round(EASE_SECONDS / step_seconds))
    rest = round(MIN_REST_SECONDS / step_seconds) + 1 + ease
    positions = _smooth_path(low, high, rest=rest, ease=ease)
    corridor, step = (low, high), axis.speed * SPEED_FACTOR * step_seconds
    for _ in range(RETRIES):
        corridor = _flatten_turns(positions, *corridor, width=rest, step=step)
        candidate = _smooth_path(*corridor, rest=rest, ease=ease)
        if _max_violation(candidate, low, high) >= _max_violation(positions, low, high):
            break
        positions = candidate
    return list(zip(times, [axis.clip(position) for position in positions], strict=True))


def to_keyframes(xs: Sequence[tuple[float, float]], ys: Sequence[tuple[float, float]]) -> tuple[Keyframe, ...]:
    """Keyframes at the bends of either axis; each axis is on the same time grid, or static."""
    if len(xs) == 1 and len(ys) == 1:
        return (Keyframe(round(xs[0][0], 4), round(xs[0][1], 2), round(ys[0][1], 2)),)
    times = [seconds for seconds, _ in (xs if len(xs) > 1 else ys)]
    across = [position for _, position in xs] if len(xs) > 1 else [xs[0][1]] * len(times)
    down = [position for _, position in ys] if len(ys) > 1 else [ys[0][1]] * len(times)
    bend_indexes = sorted({*_bends(across), *_bends(down)})
    return tuple(
        Keyframe(round(times[index], 4), round(across[index], 2), round(down[index], 2)) for index in bend_indexes
    )


def _corridor(times: Sequence[float], targets: Sequence[PanTarget], axis: PanAxis) -> tuple[list[float], list[float]]:
    """Lower and upper position limits at each time, respecting the maximum speed."""
    on_grid = [_target_at(seconds, targets) for seconds in times]
    step = axis.speed * SPEED_FACTOR * (times[1] - times[0])
    free = (0.0, axis.last)
    required_range = [free if target is None else axis.required_range(target) for target in on_grid]
    preferred_range = [free if target is None else axis.preferred_range(target) for target in on_grid]
    feasible = drop_unreachable(required_range, step, last=axis.last)
    dropped_flags = [one != two for one, two in zip(required_range, feasible, strict=True)]
    hard_low, hard_high = _limit_slope(feasible, step)
    preferred_range = [
        free if dropped else bounds for bounds, dropped in zip(preferred_range, dropped_flags, strict=True)
    ]
    soft_low, soft_high = _limit_slope(preferred_range, step)
    bounds = list(zip(hard_low, hard_high, strict=True))
    low = [min(max(position, one), two) for position, (one, two) in zip(soft_low, bounds, strict=True)]
    high = [min(max(position, one), two) for position, (one, two) in zip(soft_high, bounds, strict=True)]
    return low, high


def _target_at(seconds: float, targets: Sequence[PanTarget]) -> PanTarget | None:
    """The target at a time, interpolated between neighbors; None outside of them."""
    before = [target for target in targets if target.seconds <= seconds][-1:]
    after = [target for target in targets if target.seconds >= seconds][:1]
    if before and after:
        [one], [two] = before, after
        if two.seconds == one.seconds:
            return one
        fraction = (seconds - one.seconds) / (two.seconds - one.seconds)
        return PanTarget(seconds, one.low + fraction * (two.low - one.low), one.high + fraction * (two.high - one.high))
    return None


def _limit_slope(bounds: Sequence[tuple[float, float]], step: float) -> tuple[list[float], list[float]]:
    """Tightens a corridor to a maximum step; where it would be empty, uses the middle."""
    low = _reach([low for low, _ in bounds], step, pick=max)
    high = [-position for position in _reach([-high for _, high in bounds], step, pick=max)]
    center = [(one + two) / 2 for one, two in zip(low, high, strict=True)]
    return (
        [min(one, two) for one, two in zip(low, center, strict=True)],
        [max(one, two) for one, two in zip(high, center, strict=True)],
    )


def _reach(positions: Sequence[float], step: float, *, pick: Callable[[float, float], float]) -> list[float]:
    """The lowest sequence at or above the given one whose neighbors differ by at most a step."""
    result = list(positions)
    for index in range(1, len(result)):
        result[index] = pick(result[index], result[index - 1] - step)
    for index in range(len(result) - 2, -1, -1):
        result[index] = pick(result[index], result[index + 1] - step)
    return result


def _taut_string(low: Sequence[float], high: Sequence[float]) -> list[float]:
    """The shortest path through the corridor, with free ends (funnel algorithm).

    From each bend, the widest wedge of straight lines inside the corridor is extended. When it closes, the path bends
    where the wedge last touched the wall that closed it.
    """
    count = len(low)
    positions = [0.0] * count
    index, position = _initial_rest(low, high)
    for before in range(index + 1):
        positions[before] = position
    while index < count - 1:
        reached, end = _next_bend(low, high, index=index, position=position)
        for between in range(index + 1, reached + 1):
            positions[between] = position + (end - position) * (between - index) / (reached - index)
        index, position = reached, end
    return positions


def _initial_rest(low: Sequence[float], high: Sequence[float]) -> tuple[int, float]:
    """How far, and at which position, the path can rest from the start."""
    floor, ceiling = low[0], high[0]
    floor_at = ceiling_at = 0
    for index in range(len(low)):
        if low[index] > ceiling:
            return ceiling_at, ceiling
        if high[index] < floor:
            return floor_at, floor
        if low[index] >= floor:
            floor, floor_at = low[index], index
        if high[index] <= ceiling:
            ceiling, ceiling_at = high[index], index
    return len(low) - 1, (floor + ceiling) / 2


def _next_bend(low: Sequence[float], high: Sequence[float], *, index: int, position: float) -> tuple[int, float]:
    """The next bend after the given one."""
    least, most = float("-inf"), float("inf")
    least_at = most_at = index + 1
    for end in range(index + 1, len(low)):
        floor, ceiling = (low[end] - position) / (end - index), (high[end] - position) / (end - index)
        if floor > most:
            return most_at, position + most * (most_at - index)
        if ceiling < least:
            return least_at, position + least * (least_at - index)
        if floor >= least:
            least, least_at = floor, end
        if ceiling <= most:
            most, most_at = ceiling, end
    # Free end: level if that is inside, else along the wall that prevents it.
    if least > 0:
        return least_at, position + least * (least_at - index)
    if most < 0:
        return most_at, position + most * (most_at - index)
    return len(low) - 1, position


def _smooth_path(low: Sequence[float], high: Sequence[float], *, rest: int, ease: int) -> list[float]:
    """The taut path, with rests between opposite moves, and eased."""
    return _smooth(_remove_short_reversals(_taut_string(low, high), rest), ease)


def _max_violation(positions: Sequence[float], low: Sequence[float], high: Sequence[float]) -> float:
    """Maximum distance outside of the corridor, caused by rests at turns."""
    return max(
        max(one - position, position - two, 0.0) for position, one, two in zip(positions, low, high, strict=True)
    )


def _flatten_turns(
    positions: Sequence[float], low: Sequence[float], high: Sequence[float], *, width: int, step: float
) -> tuple[list[float], list[float]]:
    """Flattens the corridor around turns where the path left it, to leave time for a rest."""
    floor, ceiling = list(low), list(high)
    for index, position in enumerate(positions):
        around = range(max(0, index - width), min(len(low), index + width + 1))
        if position > high[index]:
            turn = min(around, key=lambda one: high[one])
            for one in range(max(0, turn - width // 2), min(len(low), turn + width // 2 + 1)):
                ceiling[one] = min(ceiling[one], high[turn])
        elif position < low[index]:
            turn = max(around, key=lambda one: low[one])
            for one in range(max(0, turn - width // 2), min(len(low), turn + width // 2 + 1)):
                floor[one] = max(floor[one], low[turn])
    return _limit_slope(list(zip(floor, ceiling, strict=True)), step)


def _remove_short_reversals(positions: Sequence[float], width: int) -> list[float]:
    """Morphological opening and closing: removes peaks and valleys narrower than `width`."""
    padded = [positions[0]] * width + list(positions) + [positions[-1]] * width
    opened = _windowed(_windowed(padded, width, pick=min, ahead=False), width, pick=max, ahead=True)
    closed = _windowed(_windowed(opened, width, pick=max, ahead=False), width, pick=min, ahead=True)
    return closed[width:-width]


def _windowed(
    positions: Sequence[float], width: int, *, pick: Callable[[Sequence[float]], float], ahead: bool
) -> list[float]:
    """Sliding minimum or maximum over the values behind or ahead."""
    count = len(positions)
    if ahead:
        return [pick(positions[index : min(index + width, count)]) for index in range(count)]
    return [pick(positions[max(0, index - width + 1) : index + 1]) for index in range(count)]


def _smooth(positions: Sequence[float], width: int) -> list[float]:
    """Moving average: rounds corners, never increases a step, and keeps both ends."""
    half = min(width // 2, len(positions) - 1)
    before = [2 * positions[0] - positions[index] for index in range(half, 0, -1)]
    after = [2 * positions[-1] - positions[-1 - index] for index in range(1, half + 1)]
    padded = [*before, *positions, *after]
    size = 2 * half + 1
    return [sum(padded[index : index + size]) / size for index in range(len(positions))]


def _bends(positions: Sequence[float]) -> list[int]:
    """Douglas-Peucker simplification; ends of rests are always kept."""
    signs = [(two > one + 1e-9) - (two < one - 1e-9) for one, two in pairwise(positions)]
    fixed = [0, *(index for index in range(1, len(signs)) if signs[index] != signs[index - 1]), len(positions) - 1]
    result: set[int] = set()
    stack = list(pairwise(fixed))
    while stack:
        start, end = stack.pop()
        result.update((start, end))
        slope = (positions[end] - positions[start]) / (end - start)
        distances = [
            abs(positions[index] - positions[start] - slope * (index - start)) for index in range(start + 1, end)
        ]
        if distances and max(distances) > TOLERANCE_PIXELS:
            center = start + 1 + distances.index(max(distances))
            stack += [(start, center), (center, end)]
    return sorted(result)
