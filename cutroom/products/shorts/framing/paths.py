"""How a window moves along one side of the picture: as little as it can, never fast, and never to and fro.

All of it is known beforehand, so nothing is chased. Around the wanted places lies a corridor: the face inside the
window, and rather in its middle. The way is the string that is pulled taut through it. Among all ways it moves least,
turns least and has the lowest top speed, stands still where the corridor allows, and starts before the face does where
it must. Where a face is faster than a window may be, it is given up for as short as can be (`choosing`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cutroom.media.crop_plan import Key
from cutroom.products.shorts.framing.choosing import choose

GRID_SECONDS = 0.1
MAX_SPEED = 0.01  # of the window's width in a frame of the source
SPEED_USED = 0.95  # what rounding leaves of it
QUIET_SECONDS = 0.5  # between a move and one in the other direction
EASE_SECONDS = 0.3  # over which a move starts and ends
INNER = 0.12  # of the window to both sides of its middle: there a face may be without a move
MARGIN = 0.05  # of the window that is left between a face and its edge, where there is room
RETRIES = 4  # at finding room for rests at turns
STEP_PIXELS = 0.25  # how far a straight piece may lie beside the way that it stands for


@dataclass(frozen=True, slots=True)
class PanTarget:
    """What should be in the window at a time, along one side and in pixels; `low` to `high` must be in it."""

    seconds: float
    low: float
    high: float

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2


@dataclass(frozen=True, slots=True)
class Room:
    """Along one side: how long the window is, how long the picture, and how many pixels it may move in a second."""

    window: int
    picture: int
    speed: float
    aim: float = 0.5  # where in the window what is wished for should be

    @property
    def last(self) -> float:
        return float(self.picture - self.window)

    def hard(self, wish: PanTarget) -> tuple[float, float]:
        """From where to where the window may start, so that the wish is in it; with a margin where there is room."""
        spare = self.window - (wish.high - wish.low)
        if spare <= 0:
            place = self.clip(wish.middle - self.window / 2)
            return place, place
        margin = min(MARGIN * self.window, spare / 4)
        return self.clip(wish.high + margin - self.window), self.clip(wish.low - margin)

    def soft(self, wish: PanTarget) -> tuple[float, float]:
        """The same, so that the wish is about where it should be."""
        place = wish.middle - self.aim * self.window
        return self.clip(place - INNER * self.window), self.clip(place + INNER * self.window)

    def clip(self, place: float) -> float:
        return min(max(place, 0.0), self.last)


def still(wishes: Sequence[PanTarget], room: Room) -> float | None:
    """Where a window can stand that has every wish in it: as near as can be to the median, or nowhere."""
    if not wishes:
        return room.last / 2
    corridor = [room.hard(wish) for wish in wishes]
    low, high = max(low for low, _ in corridor), min(high for _, high in corridor)
    if low > high:
        return None
    return min(max(median_place(wishes, room), low), high)


def median_place(wishes: Sequence[PanTarget], room: Room) -> float:
    places = sorted(wish.middle for wish in wishes)
    return room.clip(places[len(places) // 2] - room.aim * room.window)


def follow(
    wishes: Sequence[PanTarget], room: Room, *, start_seconds: float, end_seconds: float
) -> list[tuple[float, float]]:
    """Times and places of a window that has the wishes in it, as far as its speed allows."""
    steps = max(1, round((end_seconds - start_seconds) / GRID_SECONDS))
    step_seconds = (end_seconds - start_seconds) / steps
    times = [start_seconds + at * step_seconds for at in range(steps + 1)]
    low, high = _corridor(times, wishes, room)
    ease = max(1, round(EASE_SECONDS / step_seconds))
    quiet = round(QUIET_SECONDS / step_seconds) + 1 + ease
    places = _calm(low, high, quiet=quiet, ease=ease)
    walls, step = (low, high), room.speed * SPEED_USED * step_seconds
    for _ in range(RETRIES):
        walls = _with_level_turns(places, *walls, width=quiet, step=step)
        again = _calm(*walls, quiet=quiet, ease=ease)
        if _excess(again, low, high) >= _excess(places, low, high):
            break
        places = again
    return list(zip(times, [room.clip(place) for place in places], strict=True))


def keys(xs: Sequence[tuple[float, float]], ys: Sequence[tuple[float, float]]) -> tuple[Key, ...]:
    """The times at which one of the two changes its pace, on one grid or still."""
    if len(xs) == 1 and len(ys) == 1:
        return (Key(round(xs[0][0], 4), round(xs[0][1], 2), round(ys[0][1], 2)),)
    times = [seconds for seconds, _ in (xs if len(xs) > 1 else ys)]
    across = [place for _, place in xs] if len(xs) > 1 else [xs[0][1]] * len(times)
    down = [place for _, place in ys] if len(ys) > 1 else [ys[0][1]] * len(times)
    wanted = sorted({*_bends(across), *_bends(down)})
    return tuple(Key(round(times[at], 4), round(across[at], 2), round(down[at], 2)) for at in wanted)


def _corridor(times: Sequence[float], wishes: Sequence[PanTarget], room: Room) -> tuple[list[float], list[float]]:
    """Lowest and highest places at each time, between which no step is faster than the window may be."""
    on_grid = [_wish_at(seconds, wishes) for seconds in times]
    step = room.speed * SPEED_USED * (times[1] - times[0])
    free = (0.0, room.last)
    hard = [free if wish is None else room.hard(wish) for wish in on_grid]
    soft = [free if wish is None else room.soft(wish) for wish in on_grid]
    kept = choose(hard, step, last=room.last)
    given_up = [one != two for one, two in zip(hard, kept, strict=True)]
    hard_low, hard_high = _passable(kept, step)
    soft = [free if lost else bounds for bounds, lost in zip(soft, given_up, strict=True)]
    soft_low, soft_high = _passable(soft, step)
    bounds = list(zip(hard_low, hard_high, strict=True))
    low = [min(max(place, one), two) for place, (one, two) in zip(soft_low, bounds, strict=True)]
    high = [min(max(place, one), two) for place, (one, two) in zip(soft_high, bounds, strict=True)]
    return low, high


def _wish_at(seconds: float, wishes: Sequence[PanTarget]) -> PanTarget | None:
    """Between two wishes that are near in time, what lies between them; nothing where nobody wished."""
    before = [wish for wish in wishes if wish.seconds <= seconds][-1:]
    after = [wish for wish in wishes if wish.seconds >= seconds][:1]
    if before and after:
        [one], [two] = before, after
        if two.seconds == one.seconds:
            return one
        share = (seconds - one.seconds) / (two.seconds - one.seconds)
        return PanTarget(seconds, one.low + share * (two.low - one.low), one.high + share * (two.high - one.high))
    return None


def _passable(bounds: Sequence[tuple[float, float]], step: float) -> tuple[list[float], list[float]]:
    """A corridor as it must be for steps of a size; where it cannot be, the middle of what is asked."""
    low = _reach([low for low, _ in bounds], step, pick=max)
    high = [-place for place in _reach([-high for _, high in bounds], step, pick=max)]
    middle = [(one + two) / 2 for one, two in zip(low, high, strict=True)]
    return (
        [min(one, two) for one, two in zip(low, middle, strict=True)],
        [max(one, two) for one, two in zip(high, middle, strict=True)],
    )


def _reach(places: Sequence[float], step: float, *, pick: Callable[[float, float], float]) -> list[float]:
    """The lowest places at or above the given ones that differ from their neighbours by no more than a step."""
    found = list(places)
    for at in range(1, len(found)):
        found[at] = pick(found[at], found[at - 1] - step)
    for at in range(len(found) - 2, -1, -1):
        found[at] = pick(found[at], found[at + 1] - step)
    return found


def _taut(low: Sequence[float], high: Sequence[float]) -> list[float]:
    """The shortest way through the corridor, with free ends.

    From each bend the widest wedge of straight lines that stay inside is carried on. When it closes, the string bends
    where the wedge last touched the wall that closed it.
    """
    count = len(low)
    places = [0.0] * count
    at, place = _first(low, high)
    for before in range(at + 1):
        places[before] = place
    while at < count - 1:
        reached, end = _wedge(low, high, at=at, place=place)
        for between in range(at + 1, reached + 1):
            places[between] = place + (end - place) * (between - at) / (reached - at)
        at, place = reached, end
    return places


def _first(low: Sequence[float], high: Sequence[float]) -> tuple[int, float]:
    """How far, and where, the string can stand still from the start."""
    floor, ceiling = low[0], high[0]
    floor_at = ceiling_at = 0
    for at in range(len(low)):
        if low[at] > ceiling:
            return ceiling_at, ceiling
        if high[at] < floor:
            return floor_at, floor
        if low[at] >= floor:
            floor, floor_at = low[at], at
        if high[at] <= ceiling:
            ceiling, ceiling_at = high[at], at
    return len(low) - 1, (floor + ceiling) / 2


def _wedge(low: Sequence[float], high: Sequence[float], *, at: int, place: float) -> tuple[int, float]:
    """The next bend of the string after one."""
    least, most = float("-inf"), float("inf")
    least_at = most_at = at + 1
    for end in range(at + 1, len(low)):
        floor, ceiling = (low[end] - place) / (end - at), (high[end] - place) / (end - at)
        if floor > most:
            return most_at, place + most * (most_at - at)
        if ceiling < least:
            return least_at, place + least * (least_at - at)
        if floor >= least:
            least, least_at = floor, end
        if ceiling <= most:
            most, most_at = ceiling, end
    # The end is free: level if that is inside, else by the wall that keeps it from being so.
    if least > 0:
        return least_at, place + least * (least_at - at)
    if most < 0:
        return most_at, place + most * (most_at - at)
    return len(low) - 1, place


def _calm(low: Sequence[float], high: Sequence[float], *, quiet: int, ease: int) -> list[float]:
    """The string through the corridor, with rests between moves against each other, and eased."""
    return _smooth(_without_turns(_taut(low, high), quiet), ease)


def _excess(places: Sequence[float], low: Sequence[float], high: Sequence[float]) -> float:
    """How far, at most, resting at a turn left the corridor."""
    return max(max(one - place, place - two, 0.0) for place, one, two in zip(places, low, high, strict=True))


def _with_level_turns(
    places: Sequence[float], low: Sequence[float], high: Sequence[float], *, width: int, step: float
) -> tuple[list[float], list[float]]:
    """The corridor with a level piece, long enough to rest on, at each turn where the window had left it."""
    floor, ceiling = list(low), list(high)
    for at, place in enumerate(places):
        around = range(max(0, at - width), min(len(low), at + width + 1))
        if place > high[at]:
            turn = min(around, key=lambda one: high[one])
            for one in range(max(0, turn - width // 2), min(len(low), turn + width // 2 + 1)):
                ceiling[one] = min(ceiling[one], high[turn])
        elif place < low[at]:
            turn = max(around, key=lambda one: low[one])
            for one in range(max(0, turn - width // 2), min(len(low), turn + width // 2 + 1)):
                floor[one] = max(floor[one], low[turn])
    return _passable(list(zip(floor, ceiling, strict=True)), step)


def _without_turns(places: Sequence[float], width: int) -> list[float]:
    """Cut off peaks and fill valleys that are narrower than this: no two moves against each other are nearer."""
    padded = [places[0]] * width + list(places) + [places[-1]] * width
    opened = _over(_over(padded, width, pick=min, ahead=False), width, pick=max, ahead=True)
    closed = _over(_over(opened, width, pick=max, ahead=False), width, pick=min, ahead=True)
    return closed[width:-width]


def _over(places: Sequence[float], width: int, *, pick: Callable[[Sequence[float]], float], ahead: bool) -> list[float]:
    """The least or most of each place and those behind or ahead of it."""
    count = len(places)
    if ahead:
        return [pick(places[at : min(at + width, count)]) for at in range(count)]
    return [pick(places[max(0, at - width + 1) : at + 1]) for at in range(count)]


def _smooth(places: Sequence[float], width: int) -> list[float]:
    """The mean over a width: corners become curves, no step grows, and both ends stay where they are."""
    half = min(width // 2, len(places) - 1)
    before = [2 * places[0] - places[at] for at in range(half, 0, -1)]
    after = [2 * places[-1] - places[-1 - at] for at in range(1, half + 1)]
    padded = [*before, *places, *after]
    size = 2 * half + 1
    return [sum(padded[at : at + size]) / size for at in range(len(places))]


def _bends(places: Sequence[float]) -> list[int]:
    """Where straight pieces meet that lie nowhere far beside the way; the ends of standing still are kept."""
    signs = [(two > one + 1e-9) - (two < one - 1e-9) for one, two in pairwise(places)]
    fixed = [0, *(at for at in range(1, len(signs)) if signs[at] != signs[at - 1]), len(places) - 1]
    found: set[int] = set()
    stack = list(pairwise(fixed))
    while stack:
        start, end = stack.pop()
        found.update((start, end))
        slope = (places[end] - places[start]) / (end - start)
        aside = [abs(places[at] - places[start] - slope * (at - start)) for at in range(start + 1, end)]
        if aside and max(aside) > STEP_PIXELS:
            middle = start + 1 + aside.index(max(aside))
            stack += [(start, middle), (middle, end)]
    return sorted(found)
