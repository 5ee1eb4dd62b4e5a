"""Activities of the erase-library workflow; each may run any number of times."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from temporalio import activity
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from cutroom.accounts.service import rate_limit_subjects
from cutroom.credits.ledger import get_totals
from cutroom.platform.clock import Clock
from cutroom.platform.db import Connection, Database
from cutroom.platform.outbox import discard_library_starts, started_workflows
from cutroom.platform.redis import BatchingRedis
from cutroom.platform.settings import Settings
from cutroom.platform.storage.versions import ObjectVersions
from cutroom.retention.erasure.log import ErasureLog
from cutroom.retention.erasure.rules import ErasureRequest, LibrarySurvey, certificate
from cutroom.web.limits import forget_subjects

CONCURRENT_CALLS = 20
ROWS_TIMEOUT = "9min"  # a library's rows are counted and deleted in one statement
_log = logging.getLogger(__name__)


class LibraryNotEmptyError(Exception):
    """Something of the library remains; the activity is retried."""


@dataclass(frozen=True, slots=True)
class ErasureActivities:
    """Destroys one library."""

    settings: Settings
    database: Database
    client: Client
    versions: ObjectVersions
    clock: Clock

    @activity.defn(name="append_to_erasure_log")
    async def append_to_erasure_log(self, request: ErasureRequest) -> None:
        await ErasureLog.of(self.settings).append(request)
        _log.info("library erasure started", extra=_ids(request))

    @activity.defn(name="stop_library_work")
    async def stop_library_work(self, request: ErasureRequest) -> None:
        """Terminate every workflow of the library; their activities are canceled when they next heartbeat."""
        async with self.database.transaction(request.library_id) as connection:
            await discard_library_starts(connection, request.library_id)
        await self._for_each_workflow(request, self._terminate)

    @activity.defn(name="survey_library")
    async def survey_library(self, request: ErasureRequest) -> LibrarySurvey:
        """Count what the library consists of, for the certificate."""
        stored = await self.versions.measure(request.object_prefix)
        async with self.database.transaction(request.library_id) as connection:
            await _allow_long_statements(connection)
            rows = await connection.fetch("SELECT * FROM count_library_rows($1)", request.library_id)
            totals = await get_totals(connection, request.library_id)
        return LibrarySurvey(
            rows={row["table_name"]: row["row_count"] for row in rows},
            object_versions=stored.versions,
            object_bytes=stored.size_bytes,
            unfinished_uploads=stored.uploads,
            workflow_histories=len(await self._workflow_ids(request)),
            millicredits=totals,
        )

    @activity.defn(name="delete_library_histories")
    async def delete_library_histories(self, request: ErasureRequest) -> None:
        await self._for_each_workflow(request, self._delete_history)

    @activity.defn(name="delete_library_objects")
    async def delete_library_objects(self, request: ErasureRequest) -> None:
        """Delete all versions of all objects, and abort unfinished uploads."""
        await self.versions.delete_under(request.object_prefix, activity.heartbeat)

    @activity.defn(name="forget_library_limits")
    async def forget_library_limits(self, request: ErasureRequest) -> None:
        """Delete the rate limits of keys, tokens and the owner's e-mail address from Redis."""
        async with self.database.transaction(request.library_id) as connection:
            subjects = await rate_limit_subjects(connection, request.library_id)
        redis = BatchingRedis(self.settings.redis_url.get_secret_value())
        try:
            await forget_subjects(redis, subjects)
        finally:
            await redis.close()

    @activity.defn(name="erase_library_rows")
    async def erase_library_rows(self, request: ErasureRequest) -> None:
        async with self.database.transaction(request.library_id) as connection:
            await _allow_long_statements(connection)
            await connection.fetchval("SELECT erase_library_rows($1)", request.library_id)
        async with self.database.transaction(
            request.library_id
        ) as connection:  # its locks are not held for the deletion
            await _allow_long_statements(connection)
            await connection.execute("SELECT refresh_erased_statistics()")

    @activity.defn(name="issue_certificate")
    async def issue_certificate(self, request: ErasureRequest, survey: LibrarySurvey) -> None:
        """Check that nothing remains, and sign what was destroyed."""
        stored = await self.versions.measure(request.object_prefix)
        async with self.database.transaction(request.library_id) as connection:
            rows = await connection.fetch("SELECT * FROM count_library_rows($1)", request.library_id)
        remaining = sum(row["row_count"] for row in rows)
        if remaining or not stored.is_empty:
            raise LibraryNotEmptyError(f"{remaining} rows, {stored.versions} objects, {stored.uploads} uploads")
        document = certificate(
            request,
            survey,
            finished_at=self.clock(),
            backup_retention_days=self.settings.backup_retention_days,
        )
        await ErasureLog.of(self.settings).save_certificate(document)
        _log.info("library erased", extra=_ids(request))

    async def _workflow_ids(self, request: ErasureRequest) -> list[str]:
        """Workflows of the library, except for this erasure's own."""
        async with self.database.transaction(request.library_id) as connection:
            found = await started_workflows(connection, request.library_id)
        own = activity.info().workflow_id
        return [each for each in found if each != own]

    async def _for_each_workflow(self, request: ErasureRequest, act: Callable[[str], Awaitable[None]]) -> None:
        """Call Temporal for every workflow; those it does not know have ended long ago."""
        semaphore = asyncio.Semaphore(CONCURRENT_CALLS)

        async def call(workflow_id: str) -> None:
            async with semaphore:
                try:
                    await act(workflow_id)
                except RPCError as error:
                    if error.status is not RPCStatusCode.NOT_FOUND:
                        raise
                activity.heartbeat()

        await asyncio.gather(*(call(each) for each in await self._workflow_ids(request)))

    async def _terminate(self, workflow_id: str) -> None:
        await self.client.get_workflow_handle(workflow_id).terminate("library erased")

    async def _delete_history(self, workflow_id: str) -> None:
        await self.client.workflow_service.delete_workflow_execution(
            DeleteWorkflowExecutionRequest(
                namespace=self.client.namespace, workflow_execution=WorkflowExecution(workflow_id=workflow_id)
            )
        )


async def _allow_long_statements(connection: Connection) -> None:
    await connection.execute(f"SET LOCAL statement_timeout = '{ROWS_TIMEOUT}'")


def _ids(request: ErasureRequest) -> dict[str, str]:
    return {"erasure_id": request.erasure_id, "library_id": request.library_id}
