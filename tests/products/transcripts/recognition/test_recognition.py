"""Recognizing speech again: a new revision with the same ids, charged once, and nothing changed if it fails."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.credits import ledger
from cutroom.credits.pricing import load_prices
from cutroom.engines.recognition.port import Word
from cutroom.engines.registry import Engines
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.library.rules import video_path
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.products.transcripts.activities import SpeechPlan, TranscriptActivities
from cutroom.products.transcripts.alignment import TranscribedChunk, write_chunk
from cutroom.products.transcripts.chunks import TranscriptChunk
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import TEXT, TranscribedVideo
from tests.products.transcripts.editing.test_routes import edit, replace_text, segments, texts

GRANTED = 10_000
PRICE = 500  # of a minute
AGAIN = TEXT.replace("Good morning", "Good evening")


class NoSpeakerEngines(Engines):
    """A fake: the chunks of a test are recognized before, and its speakers are not told apart."""

    def __init__(self) -> None:
        """Loads nothing."""

    def speaker_embedder(self) -> None:
        return None


class RecognitionStage:
    """A video whose speech is recognized again."""

    def __init__(self, runtime: Runtime, api: httpx.AsyncClient, transcribed: TranscribedVideo, folder: Path) -> None:
        self.runtime, self.api, self.transcribed = runtime, api, transcribed
        self.activities = TranscriptActivities(
            database=runtime.database,
            storage=runtime.storage,
            media_cache=LocalMediaCache(runtime.storage, folder, max_bytes=10**8),
            sandbox=Sandbox(),
            engines=NoSpeakerEngines(),
            clock=system_clock,
            secret_box=runtime.secret_box,
        )

    @property
    def path(self) -> str:
        return f"/videos/{self.transcribed.video_id}/transcript"

    async def request(self, revision: int = 1, **more: Any) -> httpx.Response:  # noqa: ANN401 (JSON)
        return await self.api.post(f"{self.path}/recognize", json={"revision": revision, **more})

    async def start(self, job_id: str) -> JobRef:
        library_id = self.transcribed.library_id
        async with self.runtime.database.transaction(library_id) as connection:
            attempt = await connection.fetchval("SELECT attempt FROM jobs WHERE id = $1", job_id)
            ref = JobRef(library_id, job_id, attempt)
            assert await lifecycle.start(connection, ref, prices=load_prices(), now=system_clock()) is not None
        return ref

    async def recognize(self, ref: JobRef, text: str, *, language: str = "en") -> dict[str, Any]:
        """Store what an engine has recognized, and assemble the transcript."""
        words = [Word(each, 1.0 + at / 3, 1.3 + at / 3, 1.0) for at, each in enumerate(text.split())]
        chunk = TranscribedChunk(language, 1.0, "another", tuple(words), ())
        folder = f"transcript/chunks/again-{ref.job_id}"
        path = video_path(ref.library_id, self.transcribed.video_id, f"{folder}/chunk-00000.json")
        await self.runtime.storage.put(path, write_chunk(chunk))
        plan = SpeechPlan(60.0, [TranscriptChunk(0, 0.0, 60.0, 60.0)])
        assemble = self.activities.assemble_transcript
        found: dict[str, Any] = await ActivityEnvironment().run(
            assemble, ref, self.transcribed.video_id, plan, language
        )
        return found

    async def complete(self, ref: JobRef, result: dict[str, Any]) -> None:
        async with self.runtime.database.transaction(ref.library_id) as connection:
            assert await lifecycle.complete(connection, ref, result=result, now=system_clock(), prices=load_prices())

    async def balance(self) -> int:
        found: int = await self.transcribed.accounts.connection.fetchval(
            "SELECT wallet FROM ledger_balances WHERE library_id = $1", self.transcribed.library_id
        )
        return found

    async def ids(self) -> Sequence[str]:
        latest = (await self.api.get(f"{self.path}/revisions?limit=1")).json()["revision"]
        found = (await self.api.get(f"{self.path}/revisions/{latest}")).json()["segments"]
        return [each["id"] for each in found]

    async def words(self) -> list[dict[str, Any]]:
        path = (await self.api.get(self.path)).json()["wordAlignmentStoragePath"]
        content = b"".join([block async for block in self.runtime.storage.read(path)])
        found: list[dict[str, Any]] = json.loads(content)["words"]
        return found


@pytest.fixture
async def stage(
    runtime: Runtime, api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts, tmp_path: Path
) -> RecognitionStage:
    library_id = transcribed.library_id
    await ledger.grant(accounts.connection, library_id, millicredits=GRANTED, reference="tests", now=system_clock())
    return RecognitionStage(runtime, api, transcribed, tmp_path)


async def test_the_same_sound_keeps_its_ids_and_is_charged_once(stage: RecognitionStage) -> None:
    video_id = stage.transcribed.video_id
    edited = await edit(stage.api, video_id, 1, replace_text("s1", "Bad morning."), {"op": "delete", "ids": ["s2"]})
    assert edited.status_code == 200
    before = await stage.ids()
    response = await stage.request(2)
    job = response.json()["job"]
    assert (response.status_code, job["id"], job["type"]) == (202, f"transcript_{video_id}_2", "transcript")
    assert await stage.balance() == GRANTED - PRICE
    assert (await stage.request(2)).json()["job"]["id"] == job["id"]
    assert (await texts(stage.api, video_id))[0] == "Bad morning."  # until the job is ready
    ref = await stage.start(job["id"])
    result = await stage.recognize(ref, AGAIN)
    assert await stage.recognize(ref, AGAIN) == result  # a retry of the activity
    await stage.complete(ref, result)
    assert (await stage.request(2)).json()["job"]["status"] == "ready"
    assert await stage.balance() == GRANTED - PRICE
    assert await stage.ids() == before
    now = await segments(stage.api, video_id)
    assert now[0]["text"].startswith("Good evening")
    assert [each["deleted"] for each in now[:2]] == [False, True]
    deleted = [each["text"] for each in await stage.words() if each.get("deleted")]
    assert " ".join(deleted) == now[1]["text"]
    assert (await stage.api.get(f"/videos/{video_id}")).json()["status"] == "ready"


async def test_a_failed_recognition_changes_nothing_and_is_refunded(stage: RecognitionStage) -> None:
    before, words = await segments(stage.api, stage.transcribed.video_id), await stage.words()
    job_id = (await stage.request()).json()["job"]["id"]
    ref = await stage.start(job_id)
    async with stage.runtime.database.transaction(ref.library_id) as connection:
        await lifecycle.fail(connection, ref, failure=Failure("INTERNAL", "No."), now=system_clock())
    assert await segments(stage.api, stage.transcribed.video_id) == before
    assert await stage.words() == words
    assert await stage.balance() == GRANTED
    retried = await stage.api.post(f"/jobs/{job_id}/retry")
    assert retried.status_code == 202
    assert await stage.balance() == GRANTED - PRICE
    cancelled = await stage.api.post(f"/jobs/{job_id}/cancel")
    assert cancelled.status_code == 200
    assert await segments(stage.api, stage.transcribed.video_id) == before
    assert await stage.balance() == GRANTED


async def test_another_language_becomes_that_of_the_transcript(stage: RecognitionStage) -> None:
    ref = await stage.start((await stage.request(language="PT")).json()["job"]["id"])
    await stage.complete(ref, await stage.recognize(ref, "Bom dia a todos.", language="pt"))
    assert (await stage.api.get(stage.path)).json()["language"] == "pt"
    subtitles = await stage.api.get(f"/videos/{stage.transcribed.video_id}/subtitles/pt")
    assert subtitles.json()["status"] == "ready"


async def test_one_recognition_at_a_time_of_the_current_revision(stage: RecognitionStage) -> None:
    stale = await stage.request(2)
    assert (stale.status_code, stale.json()["error"]["details"]) == (409, {"revision": 1})
    job_id = (await stage.request()).json()["job"]["id"]
    other = await stage.request(language="pt")
    assert (other.status_code, other.json()["error"]["details"]) == (409, {"reason": "recognizing", "jobId": job_id})
    assert await stage.balance() == GRANTED - PRICE


@pytest.mark.parametrize("language", ["tlh", "xx", "e", "en_", "\u202een"])
async def test_languages_that_cannot_be_recognized_are_refused(stage: RecognitionStage, language: str) -> None:
    response = await stage.request(language=language)
    assert response.status_code == 400
    assert await stage.balance() == GRANTED


async def test_captions_in_the_new_language_are_deleted_first(stage: RecognitionStage, accounts: Accounts) -> None:
    video_id = stage.transcribed.video_id
    await accounts.connection.execute(
        """INSERT INTO jobs
               (library_id, id, type, status, video_id, attempt, plan, depends_on, progress, created_at, updated_at,
                finished_at)
           SELECT library_id, $2, 'captions', 'ready', video_id, 1, plan, depends_on, 100, created_at, updated_at,
               updated_at
           FROM jobs WHERE id = $1""",
        f"transcript_{video_id}",
        f"captions_{video_id}_pt",
    )
    refused = await stage.request(language="pt")
    assert (refused.status_code, refused.json()["error"]["details"]["reason"]) == (409, "captions")
    assert (await stage.request(language="en")).status_code == 202
