"""Ends sessions whose time is over, and cleans up behind those that ended without it."""

import logging
from dataclasses import replace

from cutroom.products.uploads.service import Gateway, abort, clean, load

SWEEP_BATCH = 100
_log = logging.getLogger(__name__)


async def expire_sessions(gateway: Gateway, *, at_most: int = SWEEP_BATCH) -> int:
    """Abort what is open too long, give the store its room back, forget old rows; how many were dealt with.

    For a schedule: call it again while it answers `at_most`. A session that cannot be cleaned is met again next time.
    """
    now, done = gateway.clock(), 0
    async with gateway.database.connection() as connection:
        stale = await connection.fetch("SELECT library_id, id FROM stale_uploads($1, $2)", now, at_most)
    for row in stale:
        try:
            done += await _expire(gateway, row["library_id"], row["id"])
        except Exception:  # noqa: BLE001 (the others are swept all the same)
            _log.exception("an upload session could not be swept", extra={"upload_session": row["id"]})
    return done


async def _expire(gateway: Gateway, library_id: str, session_id: str) -> bool:
    session = await load(gateway, library_id, session_id)
    if session is None:
        return False
    if session.state == "open":
        await abort(gateway, session)
        session = replace(session, state="aborted")
    if session.state == "aborted":
        await clean(gateway, session)
    if session.expires_at < gateway.clock():
        async with gateway.database.transaction(library_id) as connection:
            await connection.execute(
                "DELETE FROM upload_sessions WHERE library_id = $1 AND id = $2", library_id, session_id
            )
    return True
