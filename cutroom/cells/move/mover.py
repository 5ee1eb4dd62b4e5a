"""Moves one library: copies it while it is in use, freezes it for the rest, flips the directory, and cleans up.

Everything before the flip can be repeated or rolled back, and everything after it is repeated until it is done.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta

from cutroom.accounts import moving as accounts
from cutroom.cells.directory import Directory, Move, Phase
from cutroom.cells.move import gate, rows
from cutroom.cells.move.cell_access import CellAccess
from cutroom.cells.move.objects import ObjectCopies
from cutroom.cells.move.tables import LibraryTable, library_tables
from cutroom.cells.move.workflows import LibraryWorkflows, start_again
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.platform.key_ring import wrapped_keys
from cutroom.platform.outbox import copy_starts, started_workflows
from cutroom.products.uploads import moving as uploads
from cutroom.retention.erasure.rules import object_prefix
from cutroom.retention.erasure.workflow import WRITERS_WAIT

PASSES = 4  # over what has changed, before the library is frozen
FEW_CHANGES = 200  # that are copied while it is frozen
ROWS_SECONDS = 3600.0
_SCHEMA = "SELECT version_num FROM alembic_version"
_log = logging.getLogger(__name__)


class NotMovableError(Exception):
    """The library or the cells are not in a state that allows a move."""


@dataclass(frozen=True, slots=True)
class MoveResult:
    """What a finished move did."""

    library_id: str
    target: str
    unavailable_seconds: float
    object_bytes: int
    restarted_workflows: int


@dataclass
class Mover:
    """One move between two open cells. A lock of the directory keeps other processes from it."""

    directory: Directory
    move: Move
    source: CellAccess
    target: CellAccess
    grace: timedelta = timedelta(0)  # added to the time until the copy in the source is erased
    tables: Sequence[LibraryTable] = ()
    workflows: LibraryWorkflows = field(init=False)
    objects: ObjectCopies = field(init=False)
    horizon: str = ""  # of the snapshot that was copied last
    unavailable_seconds: float = 0.0

    def __post_init__(self) -> None:
        self.workflows = LibraryWorkflows(self.source.temporal, self.library_id)
        self.objects = ObjectCopies(self.source.storage, self.target.storage, object_prefix(self.library_id))

    @property
    def library_id(self) -> str:
        return self.move.library_id

    async def run(self) -> MoveResult:
        """Move, or continue where a process that died has stopped."""
        if self.move.phase is Phase.COPYING:
            await self._undo()  # what an earlier attempt left
            try:
                await self._check()
                await self._copy()
                await self._switch()
            except Exception as error:
                await self.roll_back(error=repr(error)[:500])
                raise
        await self._open_target()
        await self._clean_source()
        await self.directory.finish(self.move, Phase.DONE)
        return MoveResult(
            self.library_id,
            self.target.name,
            unavailable_seconds=self.unavailable_seconds,
            object_bytes=self.objects.copied_bytes,
            restarted_workflows=len(self.workflows.running),
        )

    async def roll_back(self, *, error: str | None = None) -> None:
        """The library stays where it is; only before the flip."""
        moved = await self.directory.unfinished_move(self.library_id)
        if moved is None or moved.phase is not Phase.COPYING:
            raise NotMovableError("the library has moved: the move can only be finished")
        await self._undo()
        await self.directory.finish(self.move, Phase.ROLLED_BACK, error=error)
        _log.warning("move rolled back", extra=self._extra(error=error))

    async def _undo(self) -> None:
        """Make the source usable, and delete rows that were copied. Objects stay: the next attempt needs them."""
        await gate.admit(self.source.pool, self.library_id)
        if await gate.state_of(self.target.pool, self.library_id) == "arriving":
            await self.target.pool.execute("SELECT forget_library($1)", self.library_id, timeout=ROWS_SECONDS)

    async def _check(self) -> None:
        source, target = self.source, self.target
        if source.settings.secret_key != target.settings.secret_key:
            raise NotMovableError("the cells have different secret keys")
        if await source.pool.fetch(_SCHEMA) != await target.pool.fetch(_SCHEMA):
            raise NotMovableError("the cells have different schemas")
        if await self._key_ring_of(source) != await self._key_ring_of(target):
            raise NotMovableError("the cells have different key rings")
        erased = await source.pool.fetchrow("SELECT erased_at FROM libraries WHERE id = $1", self.library_id)
        if erased is None or erased["erased_at"] is not None:
            raise NotMovableError("the source has no such library, or is erasing it")
        if await target.pool.fetchval("SELECT 1 FROM libraries WHERE id = $1", self.library_id):
            raise NotMovableError("the target has a library of this id")

    @staticmethod
    async def _key_ring_of(cell: CellAccess) -> list[tuple[int, bytes | None]]:
        async with cell.pool.acquire() as connection:
            return await wrapped_keys(connection)

    async def _copy(self) -> None:
        """While the library is in use."""
        await gate.announce(self.target.pool, self.library_id)
        await self.source.data_keys.for_encryption(self.library_id)
        async with self.source.pool.acquire() as connection:
            self.tables = await library_tables(connection)
            if await self.directory.has_lived_in(self.library_id, self.target.name):
                earlier = LibraryWorkflows(self.target.temporal, self.library_id)
                await earlier.delete_histories(await started_workflows(connection, self.library_id))
            await self.workflows.refresh(connection)
        await self.objects.skip_existing()
        await self.objects.copy_changed()
        horizon = await self._copy_snapshot()
        for _ in range(PASSES):
            changes = await self.objects.copy_changed()
            horizon, changed = await self._copy_changes(horizon)
            if changes + changed < FEW_CHANGES:
                break
        self.horizon = horizon
        _log.info("library copied", extra=self._extra(object_bytes=self.objects.copied_bytes))

    async def _copy_snapshot(self) -> str:
        async with AsyncExitStack() as stack:
            source, target = await self._open_transactions(stack)
            horizon = await rows.snapshot_horizon(source)
            await accounts.copy_users(source, target, self.library_id)
            for table in self.tables:
                await rows.copy_table(source, target, table, self.library_id)
        return horizon

    async def _copy_changes(self, since: str) -> tuple[str, int]:
        async with AsyncExitStack() as stack:
            source, target = await self._open_transactions(stack)
            horizon = await rows.snapshot_horizon(source)
            await accounts.copy_users(source, target, self.library_id)
            changed = await rows.apply_changes(source, target, self.tables, library_id=self.library_id, since=since)
        return horizon, changed

    async def _open_transactions(self, stack: AsyncExitStack) -> tuple[Connection, Connection]:
        """A snapshot of the source, and a transaction in the target."""
        source = await stack.enter_async_context(self.source.pool.acquire())
        target = await stack.enter_async_context(self.target.pool.acquire())
        await stack.enter_async_context(source.transaction(isolation="repeatable_read", readonly=True))
        await stack.enter_async_context(target.transaction())
        return source, target

    async def _switch(self) -> None:
        """Freeze, copy the rest, compare, and flip; requests of the library wait for the end of it."""
        await gate.freeze(self.source.pool, self.library_id)
        started = time.monotonic()
        async with asyncio.TaskGroup() as group:
            group.create_task(self.objects.copy_changed())
            group.create_task(self._copy_rest())
        await gate.leave(self.source.pool, self.library_id)
        await self.directory.flip(self.move)
        await self._open_target()
        self.unavailable_seconds = time.monotonic() - started
        await self.directory.record_unavailable(self.move, self.unavailable_seconds)
        _log.info("library moved", extra=self._extra(unavailable_seconds=round(self.unavailable_seconds, 3)))

    async def _copy_rest(self) -> None:
        async with AsyncExitStack() as stack:
            source, target = await self._open_transactions(stack)
            await accounts.copy_users(source, target, self.library_id)
            await rows.apply_changes(source, target, self.tables, library_id=self.library_id, since=self.horizon)
            await rows.verify(source, target, self.tables, self.library_id)
            await accounts.copy_sign_in(source, target, self.library_id)
            await self.workflows.refresh(source)
            await copy_starts(source, target, self.library_id)
            await start_again(target, self.workflows)
            await uploads.end_unfinished(target, self.library_id)

    async def _open_target(self) -> None:
        if await gate.state_of(self.target.pool, self.library_id) == "arriving":
            await gate.admit(self.target.pool, self.library_id)

    async def _clean_source(self) -> None:
        """Stop what still runs there, wait until nothing writes, and erase the copy."""
        pool, library_id = self.source.pool, self.library_id
        async with pool.acquire() as connection, connection.transaction():
            await accounts.end_sessions(connection, library_id)
        async with pool.acquire() as connection:
            await self.workflows.refresh(connection)
            await self.workflows.terminate()
            started = await started_workflows(connection, library_id)
        current = await self.directory.unfinished_move(library_id)
        assert current is not None
        assert current.flipped_at is not None
        remaining = current.flipped_at + WRITERS_WAIT + self.grace - system_clock()
        await asyncio.sleep(max(0.0, remaining.total_seconds()))
        await self.workflows.delete_histories(started)
        await self.source.versions.delete_under(object_prefix(library_id))
        await pool.execute("SELECT forget_library($1)", library_id, timeout=ROWS_SECONDS)

    def _extra(self, **fields: object) -> dict[str, object]:
        return {"library_id": self.library_id, "source": self.source.name, "target": self.target.name, **fields}
