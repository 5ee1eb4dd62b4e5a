"""Defines the workflows that export a library, and that remove exports."""

from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ApplicationError, FailureError

with workflow.unsafe.imports_passed_through():
    from cutroom.errors import Code
    from cutroom.jobs.workflow import HEARTBEAT_TIMEOUT, ActivityRunner, control, to_failure
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.retention.exports.activities import ExportActivities
    from cutroom.retention.exports.archive_writer import ArchiveOutcome
    from cutroom.retention.exports.rules import ExportRef

MAX_ROUNDS = 10  # how often files may change between their checksum and the archive
transfer = ActivityRunner(TaskQueue.DOWNLOAD, start_to_close=timedelta(hours=12), schedule_to_close=timedelta(days=3))
removal = ActivityRunner(TaskQueue.CONTROL, start_to_close=timedelta(hours=1), schedule_to_close=None)


@workflow.defn(name="export-library")
class ExportLibraryWorkflow:
    """Exports a library: lists its files, computes their checksums, then writes and verifies one archive."""

    @workflow.run
    async def run(self, export: ExportRef) -> None:
        if not await control.run(ExportActivities.start_export, export):
            return
        try:
            await transfer.run(ExportActivities.collect_export_files, export)
            await self._write_archive(export)
            await transfer.run(ExportActivities.finish_export, export)
        except FailureError as error:
            await control.run(ExportActivities.fail_export, export, to_failure(error))
        await removal.run(ExportActivities.delete_export_work, export)

    async def _write_archive(self, export: ExportRef) -> None:
        for _ in range(MAX_ROUNDS):
            while await transfer.run(ExportActivities.read_export_files, export):
                pass
            await transfer.run(ExportActivities.write_export_manifest, export)
            outcome = ArchiveOutcome.MORE
            while outcome == ArchiveOutcome.MORE:
                outcome = await transfer.run(ExportActivities.write_export_archive, export)
            if outcome == ArchiveOutcome.COMPLETE:
                return
        message = "Files changed again and again while they were exported. Try it at a quieter time."
        raise ApplicationError(message, {"reason": "changed"}, type=Code.FAILED_PRECONDITION.value)


@workflow.defn(name="delete-export")
class DeleteExportWorkflow:
    """Stops an export, then deletes its archive once no activity can write it any more."""

    @workflow.run
    async def run(self, export: ExportRef) -> None:
        await control.run(ExportActivities.stop_export, export)
        await workflow.sleep(HEARTBEAT_TIMEOUT)
        await removal.run(ExportActivities.remove_export, export)


@workflow.defn(name="purge-exports")
class PurgeExportsWorkflow:
    """Removes expired exports; started every hour by a schedule."""

    @workflow.run
    async def run(self) -> int:
        return await removal.run(ExportActivities.purge_exports)
