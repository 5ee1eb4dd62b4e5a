"""Imports, for the worker."""

from cutroom.jobs.worker import Activities, WorkerContext, WorkerRegistration
from cutroom.platform.egress.addresses import Resolver, parse_networks
from cutroom.platform.temporal import Queue
from cutroom.products.ingest.activities import IngestActivities
from cutroom.products.ingest.rules import SourceType
from cutroom.products.ingest.sources import DropboxSource, GoogleDriveSource, HttpsSource
from cutroom.products.ingest.sources_youtube import Tools, YoutubeSource
from cutroom.products.ingest.workflow import ImportWorkflow, PreflightWorkflow


def _activities(parts: WorkerContext) -> Activities:
    ingest = IngestActivities(
        database=parts.database,
        storage=parts.storage,
        workbench=parts.workbench,
        sandbox=parts.sandbox,
        sources={
            SourceType.HTTPS: HttpsSource(parts.egress),
            SourceType.DROPBOX: DropboxSource(parts.egress),
            SourceType.GOOGLE_DRIVE: GoogleDriveSource(parts.egress),
        },
        youtube=YoutubeSource(Resolver(parse_networks(parts.settings.egress_denied_networks)), Tools.find()),
        secrecy=parts.secrecy,
        clock=parts.clock,
    )
    return {
        Queue.MEDIA: [
            ingest.inspect_source,
            ingest.make_poster,
            ingest.make_piece,
            ingest.join_sound,
            ingest.join_picture,
            ingest.clear_pieces,
        ],
        Queue.EGRESS: [ingest.look_at_source],
        Queue.DOWNLOAD: [ingest.fetch_source],
    }


WORK = WorkerRegistration(workflows=[ImportWorkflow, PreflightWorkflow], activities=_activities)
