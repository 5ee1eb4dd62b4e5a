"""The running service that the checks of promises share, and the rows that they add to the report."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import httpx

from dev.server import free_port
from proofs.stage.recorded_speech import make_speech
from proofs.stage.report import Report
from proofs.stage.transcript_stage import open_client, upload_file, wait_for_transcript, write_wav
from tests.support.dub_stage import fund
from tests.support.servers.otlp_collector import OtlpCollector, otlp_collector
from tests.support.stage import Stage, open_stage

TALK_SECONDS = 32.0  # shorter than any promo or clip
SHORT_TALK_SECONDS = 15.0  # in the short form
SEED = 19
WAIT_SECONDS = 1800
ENVIRONMENT = {"CUTROOM_ASR_ENGINES": "whisper-tiny.en", "CUTROOM_SPEAKER_EMBEDDER": "none"}


@dataclass(frozen=True, slots=True)
class RepairsStage:
    """An API and a worker with real engines, a client with a key, and a transcribed talk in its library."""

    running: Stage
    client: httpx.AsyncClient
    folder: Path
    talk: str  # the id of a ready English video
    short: bool
    collector: OtlpCollector  # receives the traces of both processes

    @property
    def connection(self) -> "asyncpg.Connection[asyncpg.Record]":
        return self.running.accounts.connection

    @property
    def library_id(self) -> str:
        return self.running.person.library_id


@dataclass
class Rows:
    """Adds checks to the report, and counts them by the number of the promise."""

    report: Report
    counts: Counter[int] = field(default_factory=Counter)
    failed: int = 0

    def check(self, number: int, claim: str, *, expected: str, measured: object, holds: bool) -> None:
        self.counts[number] += 1
        self.failed += not holds
        self.report.claim(f"{number}. {claim}", expected=expected, measured=measured, holds=holds)

    @property
    def total(self) -> int:
        return self.counts.total()


@asynccontextmanager
async def open_repairs_stage(folder: Path, *, short: bool) -> AsyncIterator[RepairsStage]:
    speech = make_speech(SHORT_TALK_SECONDS if short else TALK_SECONDS, seed=SEED)
    with otlp_collector() as collector:
        telemetry: dict[str, Any] = {
            "otlp_endpoint": collector.url,
            "metrics_port": free_port(),
            "worker_metrics_port": free_port(),
        }
        async with (
            open_stage("proof_repairs", folder, environment=ENVIRONMENT, **telemetry) as running,
            open_client(running) as client,
        ):
            await fund(running)
            talk = await upload_file(client, write_wav(folder / "talk.wav", speech.samples))
            await wait_for_transcript(running, client, talk, seconds=WAIT_SECONDS)
            yield RepairsStage(running, client, folder, talk, short, collector)
