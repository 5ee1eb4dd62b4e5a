"""Summarizes a library; in this package, because it is the lowest one that knows jobs, credits and the library."""

from cutroom.accounts.principals import Principal
from cutroom.credits.ledger import get_balances
from cutroom.credits.pricing import to_credits
from cutroom.jobs.service import UnfinishedJobs, count_unfinished
from cutroom.library.quotas import MILLISECONDS_PER_MINUTE, LibraryState, load_state_of
from cutroom.library.schemas import (
    LibraryCredits,
    LibraryQuotas,
    LibrarySummary,
    LibraryUsage,
    PlanLimits,
    Quota,
    StorageUsage,
)
from cutroom.platform.db import Connection


async def summarize_library(connection: Connection, principal: Principal) -> LibrarySummary:
    """Return the plan, limits and use of the caller's library, from a handful of rows whatever its size."""
    plan, library_id = principal.plan, principal.library_id
    state = await load_state_of(connection, principal)
    unfinished = await count_unfinished(connection, principal)
    balances = await get_balances(connection, library_id)
    return LibrarySummary(
        id=library_id,
        name=state.name,
        kind="personal" if principal.workspace_id is None else "workspace",
        workspace_id=principal.workspace_id,
        plan=plan.name,
        suspended=principal.suspended,
        limits=PlanLimits(
            requests_per_minute=plan.requests_per_minute,
            concurrent_requests=plan.concurrent_requests,
            unfinished_jobs=plan.unfinished_jobs,
            library_requests_per_minute=plan.library_requests_per_minute,
            library_concurrent_requests=plan.library_concurrent_requests,
            library_free_work_per_day=plan.library_free_work_per_day,
            library_failed_jobs_per_day=plan.library_failed_jobs_per_day,
            library_waits=plan.library_waits,
            speech=plan.speech,
            hosting=plan.hosting,
            downloads="none" if principal.suspended else plan.download,
        ),
        quotas=_quotas(state, unfinished),
        usage=LibraryUsage(
            storage_bytes=state.source_bytes,
            imported_minutes=round(state.imported_milliseconds / MILLISECONDS_PER_MINUTE, 3),
            processed_minutes=round(state.processed_milliseconds / MILLISECONDS_PER_MINUTE, 3),
            unfinished_jobs=unfinished.of_key,
        ),
        storage=StorageUsage(
            originals_bytes=state.originals_bytes,
            intermediates_bytes=state.intermediates_bytes,
            outputs_bytes=state.outputs_bytes,
            measured_at=state.measured_at,
        ),
        credits=LibraryCredits(
            balance=to_credits(balances.wallet),
            in_escrow=to_credits(balances.escrow),
            usage_billing_active=balances.usage_billing,
            overdraft=to_credits(balances.overdraft),
        ),
    )


def _quotas(state: LibraryState, unfinished: UnfinishedJobs) -> LibraryQuotas:
    quotas, minutes = state.quotas, state.month_milliseconds // MILLISECONDS_PER_MINUTE
    return LibraryQuotas(
        storage_bytes=Quota(limit=quotas.storage_bytes, used=state.stored_bytes),
        media_minutes=Quota(limit=quotas.media_minutes, used=minutes),
        unfinished_jobs=Quota(limit=quotas.unfinished_jobs, used=unfinished.of_library),
    )
