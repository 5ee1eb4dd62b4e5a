"""Builds the export activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.task_queues import TaskQueue
from cutroom.retention.exports.activities import ExportActivities
from cutroom.retention.exports.archive_writer import ArchiveWriter


def register(context: WorkerContext) -> Activities:
    exports = ExportActivities(
        database=context.database,
        client=context.client,
        storage=context.storage,
        media_cache=context.media_cache,
        writer=ArchiveWriter(context.database, context.storage, context.multipart),
        clock=context.clock,
    )
    return {
        TaskQueue.CONTROL: [
            exports.start_export,
            exports.fail_export,
            exports.delete_export_work,
            exports.stop_export,
            exports.remove_export,
            exports.purge_exports,
        ],
        TaskQueue.DOWNLOAD: [
            exports.collect_export_files,
            exports.read_export_files,
            exports.write_export_manifest,
            exports.write_export_archive,
            exports.finish_export,
        ],
    }
