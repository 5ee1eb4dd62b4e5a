"""Activities that expire reservations and check ledgers."""

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
    """Input of the expiry workflow."""

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
        """Release the unused lines of an expired reservation; return how many."""
        now = max(self.clock(), timer.expires_at)  # tolerates clock skew between machines
        async with self.database.transaction(timer.library_id) as connection:
            return await escrow.expire(connection, timer.library_id, reservation_id=timer.reservation_id, now=now)

    @activity.defn(name="check_ledgers")
    async def check_ledgers(self) -> int:
        """Check the ledger of every library; return how many are inconsistent."""
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
            "cutroom_ledger_faulty_libraries", "Libraries whose ledger was inconsistent at the last check."
        )
        gauge.set(faulty)
        return faulty

    async def _check(self, library_id: str, started: datetime) -> bool:
        """Check one ledger. `check_ledger` freezes an inconsistent library in the same transaction."""
        await self._expire_overdue(library_id, started)
        async with self.database.transaction(library_id) as connection:
            faults = await connection.fetch("SELECT * FROM check_ledger($1, $2)", library_id, started)
        for fault in faults:
            _log.error("ledger check failed", extra={"library_id": library_id, **dict(fault)})
        return bool(faults)

    async def _expire_overdue(self, library_id: str, started: datetime) -> None:
        """Release reservations whose expiry workflow did not run; an inconsistent ledger can make that impossible."""
        try:
            async with self.database.transaction(library_id) as connection:
                overdue = await escrow.expire(connection, library_id, reservation_id=None, now=started)
        except asyncpg.IntegrityConstraintViolationError:
            _log.exception("overdue reservations not released", extra={"library_id": library_id})
            return
        if overdue:
            _log.warning("overdue reservations released", extra={"library_id": library_id, "lines": overdue})
