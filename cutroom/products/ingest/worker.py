"""Builds the import activities by task queue."""

from cutroom.accounts.plans import load_plans
from cutroom.jobs.worker import Activities, WorkerContext
from cutroom.platform.egress.addresses import Resolver
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.ingest.activities import IngestActivities
from cutroom.products.ingest.import_slots import ImportSlots
from cutroom.products.ingest.pace import PaceRules
from cutroom.products.ingest.rules import SourceType
from cutroom.products.ingest.sources import DropboxSource, GoogleDriveSource, HttpsSource
from cutroom.products.ingest.sources_youtube import Tools, YoutubeSource


def register(context: WorkerContext) -> Activities:
    settings = context.settings
    pace = PaceRules(
        settings.import_min_bytes_per_second, settings.import_window_seconds, settings.import_grace_seconds
    )
    ingest = IngestActivities(
        database=context.database,
        storage=context.storage,
        media_cache=context.media_cache,
        sandbox=context.sandbox,
        sources={
            SourceType.HTTPS: HttpsSource(context.egress, pace),
            SourceType.DROPBOX: DropboxSource(context.egress, pace),
            SourceType.GOOGLE_DRIVE: GoogleDriveSource(context.egress, pace),
        },
        youtube=YoutubeSource(Resolver(settings.egress_denied_networks), Tools.find(), pace),
        slots=ImportSlots(settings.redis_url, settings.imports_per_library, settings.imports_per_host),
        secret_box=context.secret_box,
        clock=context.clock,
        plans=load_plans(settings.plans_file),
    )
    return {
        TaskQueue.MEDIA: [
            ingest.inspect_source,
            ingest.encode_audio_chunk,
            ingest.join_audio_chunks,
            ingest.make_poster,
            ingest.encode_chunk,
            ingest.join_video_chunks,
            ingest.delete_import_chunks,
        ],
        TaskQueue.EGRESS: [ingest.probe_source],
        TaskQueue.DOWNLOAD: [ingest.fetch_source],
    }
