"""What time does to credits: unused reservations go back, and the books are checked."""

import logging
from dataclasses import dataclass
from datetime import datetime

import asyncpg
from temporalio import activity

from cutroom.credits import escrow
from cutroom.platform.clock import Clock
from cutroom.platform.db import Database

CHECK_BATCH = 100

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReservationTimer:
    """A reservation, and when it ends; what its workflow is told."""

    library_id: str
    reservation_id: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class CreditActivities:
    """Activities on escrow and ledger."""

    database: Database
    clock: Clock

    @activity.defn(name="expire_reservation")
    async def expire_reservation(self, timer: ReservationTimer) -> int:
        """Give back what nobody used; how many lines that was."""
        now = max(self.clock(), timer.expires_at)  # the clocks of two machines differ
        async with self.database.transaction(timer.library_id) as connection:
            return await escrow.expire(connection, timer.library_id, reservation_id=timer.reservation_id, now=now)

    @activity.defn(name="check_ledgers")
    async def check_ledgers(self) -> int:
        """Look at the books of every library; how many have a fault."""
        started, checked, faulty = self.clock(), 0, 0
        while True:
            async with self.database.connection() as connection:
                rows = await connection.fetch("SELECT * FROM ledgers_to_check($1, $2)", started, CHECK_BATCH)
            for row in rows:
                activity.heartbeat(checked)
                faulty += await self._check(row["library_id"], started)
                checked += 1
            if len(rows) < CHECK_BATCH:
                break
        gauge = activity.metric_meter().create_gauge(
            "cutroom_ledger_faulty_libraries", "Libraries whose books were wrong when last looked at."
        )
        gauge.set(faulty)
        return faulty

    async def _check(self, library_id: str, started: datetime) -> bool:
        """A library whose books are wrong is frozen by the database in the same breath."""
        await self._expire_overdue(library_id, started)
        async with self.database.transaction(library_id) as connection:
            faults = await connection.fetch("SELECT * FROM check_ledger($1, $2)", library_id, started)
        for fault in faults:
            _log.error("the books of a library are wrong", extra={"library_id": library_id, **dict(fault)})
        return bool(faults)

    async def _expire_overdue(self, library_id: str, started: datetime) -> None:
        """What a timer forgot. Books can be so wrong that nothing can go back: then the check says how they are."""
        try:
            async with self.database.transaction(library_id) as connection:
                overdue = await escrow.expire(connection, library_id, reservation_id=None, now=started)
        except asyncpg.IntegrityConstraintViolationError:
            _log.exception("overdue reservations could not be given back", extra={"library_id": library_id})
            return
        if overdue:
            _log.warning("reservations were overdue", extra={"library_id": library_id, "lines": overdue})
