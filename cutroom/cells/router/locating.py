"""Finds the cell of a request: from the directory, or by asking the cells, whose answers are kept for a while."""

import asyncio
import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from cutroom.accounts.subjects import Subject
from cutroom.cells.directory import Cell, Directory
from cutroom.cells.router.cell_clients import Absence, CellClients
from cutroom.cells.router.rules import Destination
from cutroom.errors import Code, CutroomError
from cutroom.platform.db import DATABASE_ERRORS

FOLLOW_SECONDS = 0.25  # between two looks at the directory
KNOWN_SECONDS = 60.0
UNKNOWN_SECONDS = 5.0
MAX_KNOWN = 100_000
UNKNOWN_PER_MINUTE = 120  # lookups that find nothing, for one address
MAX_ADDRESSES = 10_000
_log = logging.getLogger(__name__)


class MovingError(Exception):
    """The library is moving: the request waits."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """The cells that a request may go to, the best first, and its library if it has one."""

    cells: tuple[Cell, ...]
    library_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Known:
    library_id: str | None
    cell: str
    until: float


class Locator:
    """Follows the directory, which may be unavailable: what was read last stays in use."""

    def __init__(
        self, directory: Directory, clients: CellClients, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._directory = directory
        self._clients = clients
        self._monotonic = monotonic
        self._cells: dict[str, Cell] = {}
        self._placements: dict[str, str] = {}
        self._version = 0
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._misses: OrderedDict[str, tuple[float, int]] = OrderedDict()
        self.changed = asyncio.Event()  # replaced at each change

    async def follow(self) -> None:
        """Until cancelled."""
        while True:
            await asyncio.sleep(FOLLOW_SECONDS)
            try:
                await self.refresh()
            except DATABASE_ERRORS as error:
                _log.warning("directory not read", extra={"error": repr(error)})

    async def refresh(self) -> None:
        self._cells = dict(await self._directory.cells())
        moved = await self._directory.placements(self._version)
        for each in moved:
            self._placements[each.library_id] = each.cell
            self._version = max(self._version, each.version)
        if moved:
            self.changed.set()
            self.changed = asyncio.Event()

    async def refresh_library(self, library_id: str) -> None:
        """Look at the directory now, because a cell says that a library has moved."""
        found = await self._directory.placement(library_id)
        if found is not None:
            self._placements[library_id] = found.cell

    @property
    def all_cells(self) -> tuple[Cell, ...]:
        """The one for new accounts first."""
        return tuple(sorted(self._cells.values(), key=lambda each: (not each.accepts_new, each.name)))

    async def resolve(self, destination: Destination, *, address: str) -> Resolution:
        """Raises MovingError, or a CutroomError if the cell that may have it is unavailable."""
        if destination.subject is None:
            return Resolution(self.all_cells)
        if destination.subject is Subject.LIBRARY and (placed := self._placed(destination.value)) is not None:
            return Resolution((placed,), destination.value)
        known = self._recall(destination)
        if known is None:
            known = await self._ask(destination, address)
        if known.library_id is None:
            return Resolution(self.all_cells)
        cell = self._placed(known.library_id) or self._cells.get(known.cell)
        if cell is None:
            raise CutroomError(Code.INTERNAL, headers={"Retry-After": "1"})
        return Resolution((cell,), known.library_id)

    def forget(self, destination: Destination) -> None:
        self._known.pop(_key(destination), None)

    def _placed(self, library_id: str) -> Cell | None:
        return self._cells.get(self._placements.get(library_id, ""))

    def _recall(self, destination: Destination) -> _Known | None:
        known = self._known.get(_key(destination))
        return known if known is not None and known.until > self._monotonic() else None

    async def _ask(self, destination: Destination, address: str) -> _Known:
        assert destination.subject is not None
        self._limit_misses(address)
        cells = self.all_cells
        found, answers = await self._first_answer(cells, destination)
        if found is not None:
            return self._remember(destination, found)
        if Absence.MOVING in answers:
            raise MovingError
        if Absence.UNAVAILABLE in answers or not cells:
            raise CutroomError(Code.INTERNAL, headers={"Retry-After": "2"})
        self._count_miss(address)
        if destination.may_create:  # a second question follows at once, so that a new account is found
            return _Known(None, "", 0.0)
        return self._remember(destination, _Known(None, "", self._monotonic() + UNKNOWN_SECONDS))

    async def _first_answer(
        self, cells: tuple[Cell, ...], destination: Destination
    ) -> tuple[_Known | None, set[Absence]]:
        """Ask all cells at once; one that hangs does not delay the answer of the one that knows."""
        subject, absences = destination.subject, set[Absence]()
        assert subject is not None

        async def ask(cell: Cell) -> tuple[Cell, str | Absence]:
            return cell, await self._clients.locate(cell, subject, destination.value)

        tasks = [asyncio.create_task(ask(each)) for each in cells]
        try:
            for finished in asyncio.as_completed(tasks):
                cell, answer = await finished
                if isinstance(answer, str):
                    return _Known(answer, cell.name, self._monotonic() + KNOWN_SECONDS), absences
                absences.add(answer)
        finally:
            for task in tasks:
                task.cancel()
        return None, absences

    def _remember(self, destination: Destination, known: _Known) -> _Known:
        key = _key(destination)
        self._known[key] = known
        self._known.move_to_end(key)
        if len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
        return known

    def _limit_misses(self, address: str) -> None:
        since, count = self._misses.get(address, (0.0, 0))
        remaining = since + 60.0 - self._monotonic()
        if count >= UNKNOWN_PER_MINUTE and remaining > 0:
            headers = {"Retry-After": str(int(remaining) + 1)}
            raise CutroomError(Code.RATE_LIMITED, message="Too many unknown credentials.", headers=headers)

    def _count_miss(self, address: str) -> None:
        now = self._monotonic()
        since, count = self._misses.get(address, (now, 0))
        self._misses[address] = (since, count + 1) if now - since < 60.0 else (now, 1)
        self._misses.move_to_end(address)
        if len(self._misses) > MAX_ADDRESSES:
            self._misses.popitem(last=False)


def _key(destination: Destination) -> bytes:
    """Credentials are not kept in plain text."""
    return hashlib.sha256(f"{destination.subject} {destination.value}".encode()).digest()
