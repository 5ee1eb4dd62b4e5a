"""Activity that deletes the objects of deleted products."""

import logging
from contextlib import AsyncExitStack
from dataclasses import dataclass

from temporalio import activity
from temporalio.exceptions import ApplicationError

from cutroom.jobs.deletion import ObjectDeletion
from cutroom.jobs.lifecycle import JobRef
from cutroom.jobs.steps import heartbeating
from cutroom.platform.db import Connection, Database
from cutroom.platform.storage.objects import Storage

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DeletionActivities:
    """Activities of the delete-objects workflow; each may run any number of times."""

    database: Database
    storage: Storage

    @activity.defn(name="delete_objects")
    async def delete_objects(self, deletion: ObjectDeletion) -> None:
        """Delete the objects, unless their job was requested again; its row stays locked meanwhile."""
        _require_own(deletion)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(heartbeating())
            if deletion.job is not None:
                connection = await stack.enter_async_context(self.database.transaction(deletion.library_id))
                if not await _lock_deleted(connection, deletion.job):
                    return
            for prefix in deletion.objects.prefixes:
                await self.storage.delete_under(prefix)
            for path in deletion.objects.paths:
                await self.storage.delete(path)
        _log.info("objects deleted", extra={"library_id": deletion.library_id})


def _require_own(deletion: ObjectDeletion) -> None:
    """A wrong path is a defect of the caller: it is refused for good."""
    root = f"libraries/{deletion.library_id}/"
    for path in (*deletion.objects.prefixes, *deletion.objects.paths):
        if not path.startswith(root) or path == root or ".." in path.split("/"):
            raise ApplicationError(f"not a path of the library: {path}", non_retryable=True)


async def _lock_deleted(connection: Connection, ref: JobRef) -> bool:
    """Lock the job until the transaction ends; False if it was requested again, or is gone with its video."""
    found = await connection.fetchval(
        """SELECT true FROM jobs WHERE library_id = $1 AND id = $2 AND attempt = $3 AND output_deleted_at IS NOT NULL
           FOR UPDATE""",
        ref.library_id,
        ref.job_id,
        ref.attempt,
    )
    return bool(found)
