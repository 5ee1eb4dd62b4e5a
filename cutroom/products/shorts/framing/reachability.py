"""Drops as few pan targets as possible where the window is too slow to satisfy all of them."""

from collections.abc import Sequence

STEPS_PER_CELL = 2  # grid steps per decision
CELLS_PER_MOVE = 2  # position resolution: cells within the longest possible move
MOVE_COST = 1e-6  # tie-breaker, relative to a dropped target

Bounds = tuple[float, float]


def drop_unreachable(bounds: Sequence[Bounds], step: float, *, last: float) -> list[Bounds]:
    """Bounds with a nearly feasible path under this step limit; dropped targets become unbounded."""
    if is_feasible(bounds, step):
        return list(bounds)
    cell = step * STEPS_PER_CELL / CELLS_PER_MOVE
    cells = int(last / cell) + 1
    times = range(0, len(bounds), STEPS_PER_CELL)
    cheapest = _cheapest([_costs(bounds[index], cell=cell, cells=cells, last=last) for index in times])
    result = []
    for index, (low, high) in enumerate(bounds):
        position = cheapest[index // STEPS_PER_CELL] * cell
        result.append((low, high) if low - cell <= position <= high + cell else (0.0, last))
    return result


def is_feasible(bounds: Sequence[Bounds], step: float) -> bool:
    """Whether a path exists, by propagating the reachable interval."""
    low, high = bounds[0]
    for next_low, next_high in bounds[1:]:
        low, high = max(low - step, next_low), min(high + step, next_high)
        if low > high:
            return False
    return True


def _costs(bounds: Bounds, *, cell: float, cells: int, last: float) -> list[float]:
    """Cost of each cell: 0 within the bounds, else 1 plus a little for the distance."""
    low, high = bounds
    result = []
    for index in range(cells):
        distance = max(low - index * cell, index * cell - high) - cell / 2
        result.append(1 + distance / max(last, 1.0) if distance > 0 else 0.0)
    return result


def _cheapest(costs: Sequence[Sequence[float]]) -> list[int]:
    """Viterbi: the cheapest cell per time step, preferring paths that move less."""
    cells = range(len(costs[0]))
    total = list(costs[0])
    origins: list[list[int]] = []
    for costs_here in costs[1:]:
        arrivals = [_origin(total, index) for index in cells]
        total = [cost + costs_here[index] for index, (cost, _) in enumerate(arrivals)]
        origins.append([origin for _, origin in arrivals])
    cheapest = [min(cells, key=total.__getitem__)]
    for origin in reversed(origins):
        cheapest.append(origin[cheapest[-1]])
    return cheapest[::-1]


def _origin(total: Sequence[float], index: int) -> tuple[float, int]:
    """Cost and predecessor of the cheapest path to a cell."""
    near = range(max(0, index - CELLS_PER_MOVE), min(len(total), index + CELLS_PER_MOVE + 1))
    return min((total[each] + MOVE_COST * abs(each - index), each) for each in near)
