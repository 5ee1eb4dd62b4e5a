"""Summarizes a library; in this package, because it is the lowest one that knows jobs, credits and the library."""

from cutroom.accounts.principals import Principal
from cutroom.accounts.service import get_library_name
from cutroom.credits.ledger import get_balances
from cutroom.credits.pricing import to_credits
from cutroom.jobs.service import count_unfinished
from cutroom.library.schemas import LibraryCredits, LibrarySummary, LibraryUsage, PlanLimits, StorageUsage
from cutroom.library.usage import get_usage
from cutroom.platform.db import Connection

MILLISECONDS_PER_MINUTE = 60_000


async def summarize_library(connection: Connection, principal: Principal) -> LibrarySummary:
    """Return the plan, limits and use of the caller's library, from a handful of rows whatever its size."""
    plan, library_id = principal.plan, principal.library_id
    usage = await get_usage(connection, library_id)
    balances = await get_balances(connection, library_id)
    return LibrarySummary(
        id=library_id,
        name=await get_library_name(connection, library_id),
        kind="personal" if principal.workspace_id is None else "workspace",
        workspace_id=principal.workspace_id,
        plan=plan.name,
        suspended=principal.suspended,
        limits=PlanLimits(
            requests_per_minute=plan.requests_per_minute,
            concurrent_requests=plan.concurrent_requests,
            unfinished_jobs=plan.unfinished_jobs,
            speech=plan.speech,
            hosting=plan.hosting,
            downloads="none" if principal.suspended else plan.download,
        ),
        usage=LibraryUsage(
            storage_bytes=usage.source_bytes,
            imported_minutes=round(usage.imported_milliseconds / MILLISECONDS_PER_MINUTE, 3),
            processed_minutes=round(usage.processed_milliseconds / MILLISECONDS_PER_MINUTE, 3),
            unfinished_jobs=await count_unfinished(connection, principal),
        ),
        storage=await _storage_usage(connection, library_id),
        credits=LibraryCredits(
            balance=to_credits(balances.wallet),
            in_escrow=to_credits(balances.escrow),
            usage_billing_active=balances.usage_billing,
            overdraft=to_credits(balances.overdraft),
        ),
    )


async def _storage_usage(connection: Connection, library_id: str) -> StorageUsage:
    row = await connection.fetchrow(
        """SELECT originals_bytes, intermediates_bytes, outputs_bytes, measured_at FROM published_storage_usage
           WHERE library_id = $1""",
        library_id,
    )
    if row is None:
        return StorageUsage(originals_bytes=0, intermediates_bytes=0, outputs_bytes=0)
    return StorageUsage(**dict(row))
