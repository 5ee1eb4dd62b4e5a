"""A library with one of everything, and the activities that export it."""

import asyncio
import io
import random
import zipfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.credits import ledger
from cutroom.library.rules import character_path, video_path
from cutroom.media.local_cache import LocalMediaCache
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database, insert
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings
from cutroom.platform.storage.multipart import Multipart
from cutroom.platform.storage.objects import Storage
from cutroom.platform.temporal import connect
from cutroom.products.speech.rules import new_voice_id, voice_path
from cutroom.retention.exports.activities import ExportActivities
from cutroom.retention.exports.archive_writer import ArchiveOutcome, ArchiveWriter
from cutroom.retention.exports.rules import ExportRef
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock

SMALLEST_PART_BYTES = 5 * 2**20  # that S3 accepts
SOURCE = random.Random(7).randbytes(12 * 2**20)  # three parts
SEALED = b"sealed webhook secret"
HOSTILE_NAME = "../../etc/pass\x1bwd\u202e.mp4"


@dataclass
class SeededLibrary:
    """A library with a video that has every kind of product, one in the trash, and one that is being purged."""

    accounts: Accounts
    storage: Storage
    library_id: str
    user_id: str
    marker: str = field(default_factory=lambda: f"mark{new_id()}")
    video_id: str = field(default_factory=new_id)
    trashed_id: str = field(default_factory=new_id)
    purged_id: str = field(default_factory=new_id)
    voice_id: str = field(default_factory=new_voice_id)
    character_id: str = field(default_factory=new_id)
    image_id: str = field(default_factory=new_id)

    def path(self, name: str) -> str:
        return video_path(self.library_id, self.video_id, name)

    async def insert(self, table: str, **row: Any) -> None:  # noqa: ANN401 (columns)
        await insert(self.accounts.connection, table, {"library_id": self.library_id, **row})

    async def seed(self) -> None:
        now = system_clock()
        for name, data in self.objects().items():
            await self.storage.put(name, data)
        video = {"status": "ready", "import_status": "ready", "created_at": now}
        await self.insert("videos", id=self.video_id, title=self.marker, poster_path=self.path("poster.jpg"), **video)
        await self.insert("videos", id=self.trashed_id, title="Trashed", deleted_at=now, **video)
        await self.insert("videos", id=self.purged_id, title="Purged", deleted_at=now, purged_at=now, **video)
        await self._seed_products()
        await self._seed_settings()
        connection, library_id = self.accounts.connection, self.library_id
        await ledger.grant(connection, library_id, millicredits=10_000, reference=self.marker, now=now)

    def objects(self) -> dict[str, bytes]:
        """Content of every stored object, by its path."""
        return {
            self.path("source"): SOURCE,
            self.path("poster.jpg"): b"poster",
            self.path("transcript/words.json"): b'{"words":[]}',
            self.path("subtitles/en.srt"): b"1\n",
            self.path("subtitles/en.vtt"): b"WEBVTT\n",
            self.path("subtitles/pt.srt"): b"1\n\n",
            self.path("subtitles/pt.vtt"): b"WEBVTT\n\n",
            self.path("dubs/pt-plus/track.m4a"): b"dubbed " * 300_000,
            self.path("dubs/shared/lines/1.pcm"): b"intermediate",
            self.path("shorts/1/short.mp4"): b"short",
            self.path("shorts/1/short.jpg"): b"short poster",
            self.path("thumbnails/1/1.jpg"): b"thumbnail",
            self.path("playback/init.mp4"): b"derived segment",
            self.path("downloads/1/copy.mp4"): b"copy",
            character_path(self.library_id, self.image_id): b"character",
            voice_path(self.library_id, self.voice_id, "sample-0"): b"sample",
            voice_path(self.library_id, self.voice_id, "reference.wav"): b"reference",
        }

    async def _seed_products(self) -> None:
        now = system_clock()
        of_video = {"video_id": self.video_id}
        await self.insert(
            "sources",
            **of_video,
            type="upload",
            file_name=HOSTILE_NAME,
            storage_path=self.path("source"),
            size_bytes=len(SOURCE),
            created_at=now,
        )
        segments = [{"start": 0, "end": 1, "speaker": "speaker_1", "text": self.marker, "deleted": False}]
        transcript = {"language": "en", "speakers": [], "alignment_path": self.path("transcript/words.json")}
        await self.insert("transcripts", **of_video, **transcript, segments=segments, engine="none", created_at=now)
        captions = {"language": "pt", "quality": "review", "segments": segments}
        await self.insert("captions", **of_video, **captions, created_at=now)
        dub = {"language": "pt", "product": "plus", "completion": "complete", "segments": segments, "speakers": []}
        audio_path = self.path("dubs/pt-plus/track.m4a")
        await self.insert("dubs", **of_video, **dub, edits={}, sync={}, audio_path=audio_path, updated_at=now)
        short = {"kind": "shorts", "title": "A/short: one", "description": "", "reason": "", "moments": []}
        await self.insert(
            "shorts_outputs",
            **of_video,
            **short,
            id=new_id(),
            request_id=new_id(),
            number=1,
            duration_seconds=20,
            video_path=self.path("shorts/1/short.mp4"),
            thumbnail_path=self.path("shorts/1/short.jpg"),
            plan_path=self.path("shorts/1/plan.json"),
            created_at=now,
        )
        image = {"number": 1, "language": "pt", "layout": "plain", "score": 1, "engine": "none"}
        path = self.path("thumbnails/1/1.jpg")
        await self.insert(
            "thumbnails", **of_video, **image, id=new_id(), request_id=new_id(), path=path, created_at=now
        )

    async def _seed_settings(self) -> None:
        now = system_clock()
        await self.insert("characters", id=self.character_id, name="Ana", created_at=now)
        stored = character_path(self.library_id, self.image_id)
        await self.insert("character_images", id=self.image_id, character_id=self.character_id, storage_path=stored)
        await self.insert("brand_voices", id=new_id(), name="Plain", guidelines="Short words.", created_at=now)
        endpoint = {"url": "https://hooks.example.com/a", "events": ["job.ready"], "sealed_secret": SEALED}
        await self.insert("webhook_endpoints", id=new_id(), user_id=self.user_id, **endpoint, created_at=now)
        voice = {"name": "Ana", "labels": {}, "remove_noise": False, "sample_count": 1, "sealed_url": SEALED}
        reference = voice_path(self.library_id, self.voice_id, "reference.wav")
        await self.insert(
            "voices", id=self.voice_id, job_id=new_id(), reference_path=reference, **voice, created_at=now
        )
        consent = {"user_id": self.user_id, "principal_id": new_id(), "samples_sha256": ["00"], "given_at": now}
        await self.insert("voice_consents", voice_id=self.voice_id, **consent)


@pytest.fixture
async def library(runtime: Runtime, accounts: Accounts, person: Person) -> SeededLibrary:
    seeded = SeededLibrary(accounts, runtime.storage, person.library_id, person.user_id)
    await seeded.seed()
    return seeded


@dataclass(frozen=True)
class Exporter:
    """Runs the activities of exports without a workflow."""

    activities: ExportActivities
    runtime: Runtime
    accounts: Accounts

    async def request(self, library_id: str, **columns: Any) -> ExportRef:  # noqa: ANN401 (columns)
        ref, now = ExportRef(library_id, new_id()), system_clock()
        row = {"library_id": library_id, "id": ref.export_id, "status": "queued", "created_at": now}
        await insert(self.accounts.connection, "exports", {**row, "expires_at": now + timedelta(days=14), **columns})
        return ref

    async def run(self, name: str, *arguments: object) -> Any:  # noqa: ANN401 (results of activities)
        return await ActivityEnvironment().run(getattr(self.activities, name), *arguments)

    async def prepare(self, ref: ExportRef) -> None:
        """Everything before the archive is written."""
        assert await self.run("start_export", ref)
        await self.run("collect_export_files", ref)
        await self.read(ref)

    async def read(self, ref: ExportRef) -> None:
        while await self.run("read_export_files", ref):
            pass
        await self.run("write_export_manifest", ref)

    async def write(self, ref: ExportRef) -> ArchiveOutcome:
        outcome = ArchiveOutcome.MORE
        while outcome == ArchiveOutcome.MORE:
            outcome = await self.run("write_export_archive", ref)
        return outcome

    async def export(self, library_id: str) -> ExportRef:
        ref = await self.request(library_id)
        await self.prepare(ref)
        assert await self.write(ref) == ArchiveOutcome.COMPLETE
        await self.run("finish_export", ref)
        await self.run("delete_export_work", ref)
        return ref

    async def archive(self, ref: ExportRef) -> bytes:
        return b"".join([chunk async for chunk in self.runtime.storage.read(ref.archive_path)])

    async def state(self, ref: ExportRef) -> dict[str, Any]:
        row = await self.accounts.connection.fetchrow("SELECT * FROM exports WHERE id = $1", ref.export_id)
        assert row is not None
        return dict(row)

    def with_multipart(self, multipart: Multipart, **changes: Any) -> "Exporter":  # noqa: ANN401 (fields)
        writer = replace(self.activities.writer, multipart=multipart, **changes)
        return replace(self, activities=replace(self.activities, writer=writer))


@pytest.fixture
async def exporter(
    settings: Settings,
    runtime: Runtime,
    worker_database: Database,
    accounts: Accounts,
    clock: MovableClock,
    tmp_path: Path,
) -> AsyncIterator[Exporter]:
    multipart = Multipart.connect(settings)
    activities = ExportActivities(
        database=worker_database,
        client=await connect(settings),
        storage=runtime.storage,
        media_cache=LocalMediaCache(runtime.storage, tmp_path / "cache", max_bytes=2**30),
        writer=ArchiveWriter(worker_database, runtime.storage, multipart, part_bytes=SMALLEST_PART_BYTES),
        clock=clock,
    )
    yield Exporter(activities, runtime, accounts)
    await multipart.close()


class InterruptedMultipart(Multipart):
    """Stores the first parts, then hangs, as a worker does that is about to be killed."""

    def __init__(self, multipart: Multipart, *, parts: int) -> None:
        super().__init__(multipart._client, bucket_url=multipart._bucket_url, signer=multipart._signer)
        self.sent: set[int] = set()  # numbers of parts; one whose storage was not recorded is sent again
        self.interrupted = asyncio.Event()
        self._parts = parts

    async def stream_part(self, *arguments: Any, **options: Any) -> str:  # noqa: ANN401 (passed through)
        if options["number"] > self._parts:
            self.interrupted.set()
            await asyncio.Event().wait()
        self.sent.add(options["number"])
        return await super().stream_part(*arguments, **options)


def unzip(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}
