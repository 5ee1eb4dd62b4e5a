"""The worker process: relays the outbox, and runs workflows and activities of the queues it serves."""

import asyncio
import logging
import signal
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import asyncpg
from temporalio.client import Client
from temporalio.worker import Worker

from cutroom.credits.activities import CreditActivities
from cutroom.credits.pricing import load_prices
from cutroom.credits.workflow import CheckLedgers, ExpireReservation
from cutroom.engines.errors import EngineError, EngineUnavailableError
from cutroom.engines.registry import Engines
from cutroom.jobs.activities import JobActivities
from cutroom.jobs.workflow import SweepJobs
from cutroom.library.branding import Darkroom
from cutroom.media.packager import find_packager
from cutroom.media.sandbox import Mode, Sandbox
from cutroom.media.workbench import Workbench
from cutroom.platform.clock import Clock, system_clock
from cutroom.platform.db import Database
from cutroom.platform.egress import Egress
from cutroom.platform.egress_addresses import Resolver, parse_networks
from cutroom.platform.multipart import Multipart
from cutroom.platform.relay import Relay
from cutroom.platform.secrecy import Secrecy
from cutroom.platform.settings import Settings
from cutroom.platform.storage import Storage
from cutroom.platform.telemetry import configure_logging
from cutroom.platform.temporal import Queue, Recurring, connect, ensure_schedules
from cutroom.products.captions.activities import CaptionActivities
from cutroom.products.captions.service import ROUTES_EVERY, tell_routes
from cutroom.products.captions.workflow import MakeCaptions
from cutroom.products.characters.activities import CharacterActivities
from cutroom.products.characters.workflow import KeepPicture
from cutroom.products.downloads.activities import DownloadActivities
from cutroom.products.downloads.workflow import PrepareDownload
from cutroom.products.dubs.activities import DubActivities
from cutroom.products.dubs.shelf import Shelf
from cutroom.products.dubs.workflow import MakeDub, RemakeDub
from cutroom.products.hosting.activities import HostingActivities
from cutroom.products.hosting.mux import Mux, is_configured
from cutroom.products.hosting.workflow import HostVideo
from cutroom.products.ingest.activities import IngestActivities
from cutroom.products.ingest.rules import SourceType
from cutroom.products.ingest.sources import DropboxSource, GoogleDriveSource, HttpsSource
from cutroom.products.ingest.sources_youtube import Tools, YoutubeSource
from cutroom.products.ingest.workflow import ImportVideo, LookAtSource
from cutroom.products.packaging.activities import PackagingActivities
from cutroom.products.packaging.workflow import MakePackaging, WakePackaging
from cutroom.products.playback.activities import PlaybackActivities
from cutroom.products.playback.workflow import PublishPlayback
from cutroom.products.shorts.activities import ShortsActivities
from cutroom.products.shorts.workflow import MakeShorts
from cutroom.products.speech.activities import SpeechActivities
from cutroom.products.speech.service import tell_voices
from cutroom.products.speech.workflow import ForgetSpeech, MakeVoice, ReadAloud
from cutroom.products.thumbnails.activities import ThumbnailActivities
from cutroom.products.thumbnails.workflow import MakeThumbnail
from cutroom.products.transcripts.activities import TranscriptActivities
from cutroom.products.transcripts.workflow import MakeTranscript
from cutroom.products.uploads.activities import UploadActivities
from cutroom.products.uploads.service import Gateway
from cutroom.products.uploads.workflow import TendUploads
from cutroom.web.activities import AnswerActivities
from cutroom.web.workflow import ForgetAnswers
from cutroom.webhooks.activities import DeliveryActivities
from cutroom.webhooks.workflow import DeliverWebhook, ForgetEvents

RECURRING = (
    Recurring(workflow="check-ledgers", every=timedelta(hours=1)),
    Recurring(workflow="forget-answers", every=timedelta(hours=1)),
    Recurring(workflow="forget-events", every=timedelta(days=1)),
    Recurring(workflow="forget-speech", every=timedelta(hours=1)),
    Recurring(workflow="sweep-jobs", every=timedelta(minutes=1)),
    Recurring(workflow="tend-uploads", every=timedelta(minutes=1)),
)
WORKFLOWS: dict[Queue, Sequence[type]] = {
    Queue.CONTROL: [
        CheckLedgers,
        ExpireReservation,
        ForgetAnswers,
        ForgetEvents,
        ForgetSpeech,
        HostVideo,
        SweepJobs,
        ImportVideo,
        KeepPicture,
        LookAtSource,
        MakeCaptions,
        MakeDub,
        MakePackaging,
        MakeShorts,
        MakeThumbnail,
        MakeTranscript,
        MakeVoice,
        PrepareDownload,
        PublishPlayback,
        ReadAloud,
        RemakeDub,
        TendUploads,
        WakePackaging,
    ],
    Queue.EGRESS: [DeliverWebhook],
}
GRACE = timedelta(seconds=30)  # for what is running when the process is told to stop

Activity = Callable[..., Any]
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    """What the activities are made of."""

    settings: Settings
    client: Client
    database: Database
    storage: Storage
    egress: Egress
    multipart: Multipart
    engines: Engines
    clock: Clock = system_clock


def build_workers(parts: Parts) -> list[Worker]:
    """One worker for each queue that settings name."""
    settings = parts.settings
    served = _served(settings)
    activities = _activities(parts)
    at_once = {
        Queue.MEDIA: settings.media_tasks_at_once,
        Queue.VISION: settings.media_tasks_at_once,
        Queue.SPEECH: settings.speech_tasks_at_once,
        Queue.VOICE: settings.speech_tasks_at_once,
        Queue.DOWNLOAD: settings.downloads_at_once,
    }
    return [
        Worker(
            parts.client,
            task_queue=queue,
            workflows=WORKFLOWS.get(queue, []),
            activities=activities[queue],
            max_concurrent_activities=at_once.get(queue, 100),
            graceful_shutdown_timeout=GRACE,
        )
        for queue in Queue
        if queue in served and activities.get(queue)
    ]


def _served(settings: Settings) -> set[Queue]:
    return {Queue(name.strip()) for name in settings.worker_queues.split(",")}


def _activities(parts: Parts) -> dict[Queue, list[Activity]]:
    settings, secrecy = parts.settings, Secrecy(parts.settings.secret_key.get_secret_value())
    answers = AnswerActivities(database=parts.database, clock=parts.clock)
    credit = CreditActivities(database=parts.database, clock=parts.clock)
    jobs = JobActivities(
        database=parts.database, client=parts.client, prices=load_prices(settings.prices_file), clock=parts.clock
    )
    workbench = Workbench(parts.storage, settings.work_folder, max_bytes=settings.work_folder_bytes)
    sandbox = Sandbox(
        mode=Mode(settings.sandbox),
        ffmpeg=settings.ffmpeg,
        ffprobe=settings.ffprobe,
        packager=find_packager(settings.packager),
    )
    https = HttpsSource(parts.egress)
    ingest = IngestActivities(
        database=parts.database,
        storage=parts.storage,
        workbench=workbench,
        sandbox=sandbox,
        sources={
            SourceType.HTTPS: https,
            SourceType.DROPBOX: DropboxSource(parts.egress),
            SourceType.GOOGLE_DRIVE: GoogleDriveSource(parts.egress),
        },
        youtube=YoutubeSource(Resolver(parse_networks(settings.egress_denied_networks)), Tools.find()),
        secrecy=secrecy,
        clock=parts.clock,
    )
    transcripts = TranscriptActivities(
        database=parts.database,
        storage=parts.storage,
        workbench=workbench,
        sandbox=sandbox,
        engines=parts.engines,
        clock=parts.clock,
    )
    captions = CaptionActivities(
        database=parts.database, storage=parts.storage, engines=parts.engines, clock=parts.clock
    )
    dubs = DubActivities(
        database=parts.database,
        shelf=Shelf(parts.storage, workbench, sandbox),
        engines=parts.engines,
        clock=parts.clock,
    )
    downloads = DownloadActivities(
        database=parts.database, storage=parts.storage, workbench=workbench, sandbox=sandbox, clock=parts.clock
    )
    playback = PlaybackActivities(
        database=parts.database,
        storage=parts.storage,
        workbench=workbench,
        sandbox=sandbox,
        clock=parts.clock,
        is_on=settings.playback == "on",
    )
    hosting = HostingActivities(
        database=parts.database,
        storage=parts.storage,
        secrecy=secrecy,
        host=Mux(settings) if is_configured(settings) else None,
        clock=parts.clock,
    )
    shorts = ShortsActivities(
        database=parts.database,
        storage=parts.storage,
        workbench=workbench,
        sandbox=sandbox,
        engines=parts.engines,
        clock=parts.clock,
    )
    packaging = PackagingActivities(database=parts.database, engines=parts.engines, clock=parts.clock)
    thumbnails = ThumbnailActivities(
        database=parts.database,
        storage=parts.storage,
        workbench=workbench,
        sandbox=sandbox,
        engines=parts.engines,
        egress=parts.egress,
        clock=parts.clock,
    )
    speech = SpeechActivities(
        database=parts.database,
        storage=parts.storage,
        workbench=workbench,
        sandbox=sandbox,
        engines=parts.engines,
        egress=parts.egress,
        secrecy=secrecy,
        clock=parts.clock,
    )
    characters = CharacterActivities(
        database=parts.database,
        workbench=workbench,
        darkroom=Darkroom(parts.storage, sandbox),
        clock=parts.clock,
    )
    deliveries = DeliveryActivities(database=parts.database, sender=parts.egress, secrecy=secrecy, clock=parts.clock)
    gateway = Gateway(
        database=parts.database, multipart=parts.multipart, storage=parts.storage, secrecy=secrecy, clock=parts.clock
    )
    uploads = UploadActivities(gateway, past_us=settings.gcs_account_file is not None)
    return {
        Queue.CONTROL: [
            answers.forget_answers,
            credit.check_ledgers,
            credit.expire_reservation,
            jobs.begin_job,
            jobs.finish_job,
            jobs.fail_job,
            jobs.sweep_jobs,
            deliveries.forget_events,
            packaging.read_decision,
            speech.forget_speech,
            uploads.tend_uploads,
            playback.claim_playback,
            playback.publish_playback,
            playback.give_up_playback,
        ],
        Queue.MEDIA: [
            ingest.inspect_source,
            ingest.make_poster,
            ingest.make_piece,
            ingest.join_sound,
            ingest.join_picture,
            ingest.clear_pieces,
            shorts.render_output,
            downloads.prepare_download,
            playback.plan_playback,
            playback.encode_ladder_piece,
            playback.package_rung,
            playback.package_track,
            playback.clear_ladder_pieces,
        ],
        Queue.VISION: [
            characters.keep_character_picture,
            characters.clear_character_picture,
            shorts.frame_output,
            thumbnails.look_for_frames,
            thumbnails.detect,
            thumbnails.draw_candidates,
            thumbnails.draw_translation,
        ],
        Queue.SPEECH: [
            transcripts.find_speech,
            transcripts.recognise_piece,
            transcripts.join_transcript,
            transcripts.clear_transcript_pieces,
            captions.translate_captions,
            dubs.plan_dub,
            dubs.part_dub_piece,
            dubs.cast_dub,
            dubs.speak_dub_line,
            dubs.lay_out_dub,
            dubs.mix_dub_piece,
            dubs.hear_dub_piece,
            dubs.publish_dub_preview,
            dubs.publish_dub,
            shorts.choose_moments,
            packaging.write_text,
        ],
        Queue.VOICE: [speech.prepare_voice, speech.preview_voice, speech.speak_passage, speech.join_reading],
        Queue.EGRESS: [
            ingest.look_at_source,
            deliveries.attempt_delivery,
            hosting.open_hosting_upload,
            hosting.check_hosting,
        ],
        Queue.DOWNLOAD: [
            ingest.fetch_source,
            speech.fetch_voice_sample,
            thumbnails.fetch_pictures,
            hosting.send_hosting_source,
        ],
    }


async def run(settings: Settings, egress: Egress | None = None) -> None:
    """Work until told to stop; another way out than the guarded one is for proofs, which may reach this machine."""
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    client = await connect(settings)
    database = await Database.connect(
        settings.database_url.get_secret_value(), settings.database_pool_size, application="cutroom-worker"
    )
    way_out = egress or Egress(denied=parse_networks(settings.egress_denied_networks))
    multipart = Multipart.connect(settings)
    parts = Parts(settings, client, database, Storage.connect(settings), way_out, multipart, Engines(settings))
    await ensure_schedules(client, RECURRING)
    relay = Relay(database, client, running_jobs_per_library=settings.running_jobs_per_library)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(database.close)
        stack.push_async_callback(multipart.close)
        tasks = [asyncio.create_task(relay.run()), asyncio.create_task(_tell(parts))]
        for worker in build_workers(parts):
            await stack.enter_async_context(worker)
        _log.info("worker ready", extra={"queues": settings.worker_queues})
        await stopped.wait()
        for task in tasks:
            task.cancel()


async def _tell(parts: Parts) -> None:
    """Tell the API what this worker's engines can do, again and again while it lives."""
    served = _served(parts.settings)
    while served & {Queue.SPEECH, Queue.VOICE}:
        try:
            if Queue.SPEECH in served:
                translators = await asyncio.to_thread(parts.engines.translators)
                async with parts.database.connection() as connection, connection.transaction():
                    await tell_routes(connection, translators, now=parts.clock())
            if Queue.VOICE in served:
                speaker = await asyncio.to_thread(parts.engines.speaker)
                async with parts.database.connection() as connection, connection.transaction():
                    await tell_voices(connection, speaker, now=parts.clock())
        except EngineUnavailableError as error:
            _log.warning("an engine is not there", extra={"error": str(error)})
        except (EngineError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError):
            _log.exception("what the engines can do could not be told")
        await asyncio.sleep(ROUTES_EVERY.total_seconds())


def main() -> None:
    settings = Settings()
    configure_logging(settings.log_level)
    asyncio.run(run(settings))


if __name__ == "__main__":
    main()
