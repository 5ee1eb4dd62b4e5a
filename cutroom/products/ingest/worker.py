"""Builds the import activities by task queue."""

from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.egress.addresses import Resolver
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.ingest.activities import IngestActivities
from cutroom.products.ingest.rules import SourceType
from cutroom.products.ingest.sources import DropboxSource, GoogleDriveSource, HttpsSource
from cutroom.products.ingest.sources_youtube import Tools, YoutubeSource


def register(context: WorkerContext) -> Activities:
    ingest = IngestActivities(
        database=context.database,
        storage=context.storage,
        media_cache=context.media_cache,
        sandbox=context.sandbox,
        sources={
            SourceType.HTTPS: HttpsSource(context.egress),
            SourceType.DROPBOX: DropboxSource(context.egress),
            SourceType.GOOGLE_DRIVE: GoogleDriveSource(context.egress),
        },
        youtube=YoutubeSource(Resolver(context.settings.egress_denied_networks), Tools.find()),
        secret_box=context.secret_box,
        clock=context.clock,
    )
    return {
        TaskQueue.MEDIA: [
            ingest.inspect_source,
            ingest.make_poster,
            ingest.encode_chunk,
            ingest.join_audio_chunks,
            ingest.join_video_chunks,
            ingest.delete_import_chunks,
        ],
        TaskQueue.EGRESS: [ingest.probe_source],
        TaskQueue.DOWNLOAD: [ingest.fetch_source],
    }
