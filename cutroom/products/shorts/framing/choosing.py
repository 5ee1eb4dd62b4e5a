"""Which wishes are kept where a window is too slow for all of them: as many as can be, found step by step."""

from collections.abc import Sequence

STEPS_AT_ONCE = 2  # of the grid
CELLS_A_MOVE = 2  # how finely places are told apart: this many lie within the longest move
MOVING = 1e-6  # what a move costs, beside a wish that is given up

Bounds = tuple[float, float]


def choose(bounds: Sequence[Bounds], step: float, *, last: float) -> list[Bounds]:
    """Bounds for each time between which a way with such steps exists, all but exactly; what is given up is free."""
    if is_passable(bounds, step):
        return list(bounds)
    cell = step * STEPS_AT_ONCE / CELLS_A_MOVE
    cells = int(last / cell) + 1
    times = range(0, len(bounds), STEPS_AT_ONCE)
    way = _cheapest([_costs(bounds[at], cell=cell, cells=cells, last=last) for at in times])
    found = []
    for at, (low, high) in enumerate(bounds):
        place = way[at // STEPS_AT_ONCE] * cell
        found.append((low, high) if low - cell <= place <= high + cell else (0.0, last))
    return found


def is_passable(bounds: Sequence[Bounds], step: float) -> bool:
    """Whether a way exists: what can be reached from the start is carried on."""
    low, high = bounds[0]
    for one, two in bounds[1:]:
        low, high = max(low - step, one), min(high + step, two)
        if low > high:
            return False
    return True


def _costs(bounds: Bounds, *, cell: float, cells: int, last: float) -> list[float]:
    """Of each place: nothing inside the bounds, and outside one, and a little more the farther it is."""
    low, high = bounds
    found = []
    for at in range(cells):
        aside = max(low - at * cell, at * cell - high) - cell / 2
        found.append(1 + aside / max(last, 1.0) if aside > 0 else 0.0)
    return found


def _cheapest(costs: Sequence[Sequence[float]]) -> list[int]:
    """The way of the least cost, one cell a time; of equal ways one that moves less."""
    cells = range(len(costs[0]))
    total = list(costs[0])
    origins: list[list[int]] = []
    for here in costs[1:]:
        reached = [_origin(total, at) for at in cells]
        total = [cost + here[at] for at, (cost, _) in enumerate(reached)]
        origins.append([origin for _, origin in reached])
    way = [min(cells, key=total.__getitem__)]
    for origin in reversed(origins):
        way.append(origin[way[-1]])
    return way[::-1]


def _origin(total: Sequence[float], at: int) -> tuple[float, int]:
    """What the cheapest way to a cell has cost, and from where it comes."""
    near = range(max(0, at - CELLS_A_MOVE), min(len(total), at + CELLS_A_MOVE + 1))
    return min((total[each] + MOVING * abs(each - at), each) for each in near)
