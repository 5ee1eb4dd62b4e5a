"""Existing transcripts are compared with the cast, with the real embedder, and what people have set stays."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from cutroom.cast import runs
from cutroom.engines.diarization.embeddings import WeSpeakerEmbedder
from cutroom.engines.types import SAMPLE_RATE
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.products.transcripts import service
from cutroom.products.transcripts.editing.service import ALIGN_WORKFLOW
from cutroom.products.transcripts.recognition_runs.activities import MAX_ATTEMPTS, RecognitionRunActivities
from cutroom.products.transcripts.recognition_runs.service import RUN_WORKFLOW, RecognitionRunRef
from cutroom.products.transcripts.speaker_recognition.activities import SpeakerEmbeddingActivities
from cutroom.products.transcripts.speaker_recognition.embedding import SpeechEmbedding
from cutroom.web.runtime import Runtime
from tests.engines.recognition.recognizer_suite import model_folder
from tests.products.conftest import TranscribedVideo
from tests.support.dialogue import ALLISON, DICKENS, Samples
from tests.support.transcribed_videos import insert_video
from tests.support.voices.voice_prints import OnlyEmbedder, confirm, excerpt, store_sound

LABELS = [{"id": f"speaker_{number}", "label": f"Speaker {number}"} for number in (1, 2)]


@dataclass(frozen=True)
class Series:
    """A library in which Ana is confirmed in one video, and speaks in another that was transcribed before."""

    runtime: Runtime
    transcribed: TranscribedVideo
    worker: RecognitionRunActivities
    member_id: str
    video_id: str  # of the earlier episode: speaker_1 is another person, speaker_2 is Ana

    @property
    def library_id(self) -> str:
        return self.transcribed.library_id

    async def start(self, **changes: Any) -> RecognitionRunRef:  # noqa: ANN401 (values)
        values = {"folder_id": None, "now": system_clock(), **changes}
        async with self.runtime.database.transaction(self.library_id) as connection:
            run = await runs.start_run(connection, self.library_id, **values)
        return RecognitionRunRef(self.library_id, run.id)

    async def compare(self, ref: RecognitionRunRef) -> dict[str, Any]:
        """Run the activities as the workflow does; the run afterwards."""
        environment = ActivityEnvironment()
        while video_ids := await environment.run(self.worker.list_videos, ref):
            for each in video_ids:
                await ActivityEnvironment().run(self.worker.recognize_in_video, ref, each)
        await environment.run(self.worker.finish, ref)
        return await self.run()

    async def run(self) -> dict[str, Any]:
        async with self.runtime.database.transaction(self.library_id) as connection:
            return (await runs.get_run(connection, self.library_id)).model_dump()

    async def speakers(self) -> dict[str, tuple[str, str | None]]:
        """The label and the source of the appearance of each speaker of the earlier episode."""
        connection = self.transcribed.accounts.connection
        async with self.runtime.database.transaction(self.library_id) as of_library:
            transcript = await service.load_transcript(of_library, self.library_id, self.video_id)
        rows = await connection.fetch("SELECT speaker, source FROM cast_appearances WHERE video_id = $1", self.video_id)
        sources = {row["speaker"]: row["source"] for row in rows}
        return {each["id"]: (each["label"], sources.get(each["id"])) for each in transcript.speakers}


@pytest.fixture(scope="module")
def embedder() -> WeSpeakerEmbedder:
    return WeSpeakerEmbedder(model_folder("wespeaker-resnet34"), cpu_threads=2)


@pytest.fixture
async def series(
    runtime: Runtime, transcribed: TranscribedVideo, tmp_path: Path, embedder: WeSpeakerEmbedder
) -> Series:
    cache = LocalMediaCache(runtime.storage, tmp_path / "cache", max_bytes=10**8)
    embedding = SpeechEmbedding(
        runtime.database, runtime.storage, cache, Sandbox(), OnlyEmbedder(embedder), secret_box=runtime.secret_box
    )
    await store_sound(runtime, transcribed, tmp_path, excerpt(ALLISON, "demo-congrats"))
    member_id, ref = await confirm(runtime, transcribed)
    await ActivityEnvironment().run(SpeakerEmbeddingActivities(embedding).embed_speaker, ref)
    spoken = [excerpt(DICKENS, "two_cities", 1.0), excerpt(ALLISON, "demo-instruct")]
    earlier = replace(transcribed, video_id=await _insert_episode(transcribed, seconds=60.0))
    await store_sound(runtime, earlier, tmp_path, np.concatenate(spoken))
    await _set_segments(earlier, spoken)
    worker = RecognitionRunActivities(embedding, system_clock)
    return Series(runtime, transcribed, worker, member_id, earlier.video_id)


async def _insert_episode(transcribed: TranscribedVideo, *, seconds: float) -> str:
    return await insert_video(transcribed.accounts.connection, transcribed.library_id, duration_seconds=seconds)


async def _set_segments(transcribed: TranscribedVideo, spoken: Sequence[Samples]) -> None:
    segments, at = [], 0.0
    for number, samples in enumerate(spoken, 1):
        end = at + len(samples) / SAMPLE_RATE
        row = {"start": at, "end": end, "speaker": f"speaker_{number}", "text": "Words.", "deleted": False, "words": 1}
        segments.append(row)
        at = end
    await transcribed.accounts.connection.execute(
        "UPDATE transcripts SET segments = $2, speakers = $3 WHERE video_id = $1",
        transcribed.video_id,
        segments,
        LABELS,
    )


async def test_a_member_is_named_in_an_earlier_transcript(series: Series) -> None:
    found = await series.compare(await series.start())
    assert await series.speakers() == {"speaker_1": ("Speaker 1", None), "speaker_2": ("Ana", "recognized")}
    counts = {name: found[name] for name in ("status", "videos_compared", "videos_failed", "speakers_recognized")}
    assert counts == {"status": "finished", "videos_compared": 2, "videos_failed": 0, "speakers_recognized": 1}
    connection = series.transcribed.accounts.connection
    revisions = await connection.fetch(
        "SELECT actor_kind, summary FROM transcript_revisions WHERE video_id = $1", series.video_id
    )
    assert [tuple(row) for row in revisions] == [("engine", {"renameSpeaker": 1})]
    assert await connection.fetchval(
        "SELECT count(*) FROM outbox WHERE workflow = $1 AND library_id = $2", ALIGN_WORKFLOW, series.library_id
    )
    assert not await connection.fetchval(
        "SELECT count(*) FROM cast_appearances WHERE video_id = $1 AND sealed_embedding IS NOT NULL", series.video_id
    )


async def test_an_attempt_after_a_killed_worker_counts_nothing_twice(series: Series) -> None:
    ref = await series.start()
    for _ in range(2):
        await ActivityEnvironment().run(series.worker.recognize_in_video, ref, series.video_id)
    assert (await series.run())["speakers_recognized"] == 1
    assert (await series.compare(await series.start()))["speakers_recognized"] == 1


async def test_a_second_comparison_changes_nothing(series: Series) -> None:
    await series.compare(await series.start())
    again = await series.compare(await series.start())
    assert (again["videos_compared"], again["speakers_recognized"]) == (2, 0)
    connection = series.transcribed.accounts.connection
    assert await connection.fetchval("SELECT revision FROM transcripts WHERE video_id = $1", series.video_id) == 2


async def test_a_name_that_people_have_set_stays(series: Series) -> None:
    labels = [LABELS[0], {**LABELS[1], "label": "The host"}]
    await series.transcribed.accounts.connection.execute(
        "UPDATE transcripts SET speakers = $2 WHERE video_id = $1", series.video_id, labels
    )
    await series.compare(await series.start())
    assert (await series.speakers())["speaker_2"] == ("The host", "recognized")


async def test_a_speaker_who_people_have_said_is_not_the_member_stays_unknown(
    series: Series, api: httpx.AsyncClient
) -> None:
    path = f"/cast/members/{series.member_id}/videos/{series.video_id}/speakers/speaker_2"
    assert (await api.post(path)).status_code == 201
    assert (await api.delete(path)).status_code == 204
    found = await series.compare(await series.start())
    assert found["speakers_recognized"] == 0
    assert await series.speakers() == {"speaker_1": ("Speaker 1", None), "speaker_2": ("Speaker 2", None)}
    assert (await api.post(path)).status_code == 201
    assert (await series.speakers())["speaker_2"] == ("Speaker 2", "confirmed")


async def test_a_confirmed_speaker_stays(series: Series, api: httpx.AsyncClient) -> None:
    """Even if it is the wrong one: a member is at most one recognized speaker."""
    path = f"/cast/members/{series.member_id}/videos/{series.video_id}/speakers"
    assert (await api.post(f"{path}/speaker_1")).status_code == 201
    await series.compare(await series.start())
    assert await series.speakers() == {"speaker_1": ("Speaker 1", "confirmed"), "speaker_2": ("Speaker 2", None)}


async def test_videos_outside_the_folders_are_not_compared(series: Series, api: httpx.AsyncClient) -> None:
    folder_id = (await api.post("/folders", json={"name": "Series"})).json()["id"]
    connection = series.transcribed.accounts.connection
    confirmed = series.transcribed.video_id
    await connection.execute("UPDATE videos SET folder_ids = $2 WHERE id = $1", confirmed, [folder_id])
    ref = await series.start(folder_id=folder_id)
    assert await ActivityEnvironment().run(series.worker.list_videos, ref) == [confirmed]
    await api.put("/cast/recognition", json={"recognizeSpeakers": False, "folderIds": [folder_id]})
    assert (await series.compare(await series.start(folder_id=folder_id)))["videos_compared"] == 1
    assert (await series.speakers())["speaker_2"] == ("Speaker 2", None)


async def test_recognition_that_is_turned_off_meanwhile_recognizes_nobody(
    series: Series, api: httpx.AsyncClient
) -> None:
    ref = await series.start()
    await api.put("/cast/recognition", json={"recognizeSpeakers": False})
    await ActivityEnvironment().run(series.worker.recognize_in_video, ref, series.video_id)
    assert (await series.speakers())["speaker_2"] == ("Speaker 2", None)


async def test_an_edit_in_the_meantime_is_compared_again(series: Series, monkeypatch: pytest.MonkeyPatch) -> None:
    ref, connection = await series.start(), series.transcribed.accounts.connection
    original = SpeechEmbedding.voice

    async def edited(*args: Any, **options: Any) -> Any:  # noqa: ANN401 (passed through)
        await connection.execute("UPDATE transcripts SET revision = revision + 1 WHERE video_id = $1", series.video_id)
        return await original(*args, **options)

    monkeypatch.setattr(SpeechEmbedding, "voice", edited)
    with pytest.raises(ApplicationError, match="changed"):
        await ActivityEnvironment().run(series.worker.recognize_in_video, ref, series.video_id)
    assert (await series.run())["videos_compared"] == 0


async def test_videos_whose_sound_cannot_be_read_are_counted(series: Series, runtime: Runtime) -> None:
    """The last attempt fails for good, and the workflow counts the video and continues."""
    await runtime.storage.delete(service.speech_path(series.library_id, series.video_id))
    ref = await series.start()
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, attempt=MAX_ATTEMPTS)
    with pytest.raises(ApplicationError) as failure:
        await environment.run(series.worker.recognize_in_video, ref, series.video_id)
    assert failure.value.non_retryable
    for _ in range(2):
        await ActivityEnvironment().run(series.worker.fail_video, ref, series.video_id)
    found = await series.run()
    assert (found["videos_compared"], found["videos_failed"]) == (0, 1)


async def test_a_comparison_is_requested_once(series: Series, api: httpx.AsyncClient) -> None:
    assert (await api.get("/cast/recognition/run")).status_code == 404
    first = await api.post("/cast/recognition/run", json={})
    assert first.status_code == 202, first.text
    assert first.json()["status"] == "running"
    assert (await api.post("/cast/recognition/run", json={})).json() == first.json()
    assert (await api.get("/cast/recognition/run")).json() == first.json()
    ids = await series.transcribed.accounts.connection.fetch(
        "SELECT workflow_id FROM outbox WHERE workflow = $1 AND library_id = $2", RUN_WORKFLOW, series.library_id
    )
    assert len({row["workflow_id"] for row in ids}) == 1
    audited = await series.transcribed.accounts.connection.fetch(
        "SELECT targets FROM audit_entries WHERE library_id = $1 AND action = 'runCastRecognition'",
        series.library_id,
    )
    assert {row["targets"]["id"] for row in audited} == {first.json()["id"]}
    folder_id = (await api.post("/folders", json={"name": "Series"})).json()["id"]
    refused = await api.post("/cast/recognition/run", json={"folderId": folder_id})
    assert refused.json()["error"]["details"]["reason"] == "running"
    missing = await api.post("/cast/recognition/run", json={"folderId": series.member_id})
    assert missing.status_code == 404


async def test_there_must_be_something_to_compare_with(series: Series, api: httpx.AsyncClient) -> None:
    await api.delete(f"/cast/members/{series.member_id}")
    refused = await api.post("/cast/recognition/run", json={})
    assert (refused.status_code, refused.json()["error"]["details"]["reason"]) == (409, "no_voice_prints")
    await api.put("/cast/recognition", json={"recognizeSpeakers": False})
    refused = await api.post("/cast/recognition/run", json={})
    assert (refused.status_code, refused.json()["error"]["details"]["reason"]) == (409, "recognition_off")
