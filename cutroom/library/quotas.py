"""Quotas of a library: how much it may store, import in a month and run at once, and how much of it is used.

What is counted in a row (bytes, minutes) is added first and checked afterwards, while the transaction holds that row.
What is counted by a query (open uploads, unfinished jobs) is checked after `lock_quotas`. Either way, concurrent
requests cannot pass a quota together.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from cutroom.accounts.plans import Plan, Quotas
from cutroom.accounts.principals import Principal
from cutroom.errors import Code, CutroomError, not_found
from cutroom.library.usage import THIS_MONTH
from cutroom.platform.db import Connection

MILLISECONDS_PER_MINUTE = 60_000
STORAGE = "The library has used up its storage. Delete videos, or ask the operator for more."
MINUTES = "The library has imported all the minutes of media that it may import this month."
JOBS = "The library has as many unfinished jobs as it may have. Try again when some have finished."

_LOAD = f"""SELECT l.name, l.plan, l.storage_bytes_quota, l.media_minutes_quota, l.unfinished_jobs_quota,
        coalesce(u.source_bytes, 0) AS source_bytes,
        coalesce(u.imported_milliseconds, 0) AS imported_milliseconds,
        coalesce(u.processed_milliseconds, 0) AS processed_milliseconds,
        CASE WHEN u.month = {THIS_MONTH} THEN u.month_milliseconds ELSE 0 END AS month_milliseconds,
        coalesce(s.originals_bytes, 0) AS originals_bytes,
        coalesce(s.intermediates_bytes, 0) AS intermediates_bytes,
        coalesce(s.outputs_bytes, 0) AS outputs_bytes, s.measured_at
    FROM libraries l
    LEFT JOIN library_usage u ON u.library_id = l.id
    LEFT JOIN published_storage_usage s ON s.library_id = l.id
    WHERE l.id = $1"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class LibraryState:
    """What a library may use and what it uses, from one query."""

    name: str
    quotas: Quotas
    source_bytes: int
    imported_milliseconds: int
    processed_milliseconds: int  # of media in finished transcripts, captions and dubs
    month_milliseconds: int  # imported in this calendar month
    originals_bytes: int  # this and what follows as of the last daily scan
    intermediates_bytes: int
    outputs_bytes: int
    measured_at: datetime | None

    @property
    def stored_bytes(self) -> int:
        """What counts as storage: the originals that are there now, and the outputs of the last scan."""
        return self.source_bytes + self.outputs_bytes

    def require_free(self) -> None:
        """Raise if nothing more can be imported."""
        if self.stored_bytes >= self.quotas.storage_bytes:
            raise self._storage_exceeded()
        if self.month_milliseconds >= self.quotas.media_minutes * MILLISECONDS_PER_MINUTE:
            raise self._minutes_exceeded()

    def require_within(self, *, expected_bytes: int = 0) -> None:
        """Raise if what was added is too much, together with bytes that open uploads will add."""
        if self.stored_bytes + expected_bytes > self.quotas.storage_bytes:
            raise self._storage_exceeded()
        if self.month_milliseconds > self.quotas.media_minutes * MILLISECONDS_PER_MINUTE:
            raise self._minutes_exceeded()

    def _storage_exceeded(self) -> CutroomError:
        limit = self.quotas.storage_bytes
        return quota_exceeded("storageBytes", STORAGE, limit=limit, used=self.stored_bytes)

    def _minutes_exceeded(self) -> CutroomError:
        used = self.month_milliseconds // MILLISECONDS_PER_MINUTE
        return quota_exceeded("mediaMinutes", MINUTES, limit=self.quotas.media_minutes, used=used)


def quota_exceeded(quota: str, message: str, *, limit: int, used: int) -> CutroomError:
    details = {"reason": "quota", "quota": quota, "limit": limit, "used": used}
    return CutroomError(Code.FAILED_PRECONDITION, message=message, details=details)


async def lock_quotas(connection: Connection, library_id: str) -> None:
    """Serialize what counts open uploads or unfinished jobs; taken after all rows but those of the ledger."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('quotas ' || $1, 0))", library_id)


async def load_state(connection: Connection, library_id: str, plans: Mapping[str, Plan]) -> LibraryState:
    row = await connection.fetchrow(_LOAD, library_id)
    if row is None:  # erased meanwhile
        raise not_found()
    columns = dict(row)
    quotas = plans[columns.pop("plan")].quotas
    own = {name: columns.pop(f"{name}_quota") for name in Quotas.__dataclass_fields__}
    changed = {name: value for name, value in own.items() if value is not None}
    return LibraryState(quotas=replace(quotas, **changed), **columns)


async def load_state_of(connection: Connection, principal: Principal) -> LibraryState:
    """The state of the caller's library."""
    return await load_state(connection, principal.library_id, {principal.plan.name: principal.plan})
