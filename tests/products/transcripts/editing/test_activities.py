"""Alignment and publication of an edited transcript with the real engine, and what products read before and after."""

import json
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.accounts.principals import Principal
from cutroom.engines.recognition.port import Word, WordAligner
from cutroom.engines.recognition.whisper_alignment import WhisperAligner
from cutroom.engines.registry import Engines
from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.clock import system_clock
from cutroom.products.downloads.contents import load_assets
from cutroom.products.thumbnails.inputs import writing_input
from cutroom.products.transcripts import service
from cutroom.products.transcripts.alignment import attach_words, read_words, segment_rows, write_alignment
from cutroom.products.transcripts.editing import revisions
from cutroom.products.transcripts.editing.activities import AlignmentActivities
from cutroom.products.transcripts.editing.service import AlignmentRef
from cutroom.products.transcripts.export import export_files
from cutroom.products.transcripts.search import search_transcripts
from cutroom.products.transcripts.segmentation import TranscriptSegment
from cutroom.products.transcripts.service import StoredTranscript
from cutroom.web.runtime import Runtime
from dev.fixtures.speech_clips import clips_folder, ensure_clips
from tests.engines.recognition.recognizer_suite import model_folder
from tests.products.conftest import TranscribedVideo
from tests.products.transcripts.editing.test_routes import edit, replace_text, texts


class OnlyAligner(Engines):
    """The engines of a worker with one aligner, or with none."""

    def __init__(self, aligner: WordAligner | None) -> None:
        self._aligner = aligner

    def word_aligner(self) -> WordAligner | None:
        return self._aligner


def activities_of(runtime: Runtime, tmp_path: Path, aligner: WordAligner | None) -> AlignmentActivities:
    cache = LocalMediaCache(runtime.storage, tmp_path / "cache", max_bytes=10**8)
    return AlignmentActivities(runtime.database, runtime.storage, cache, Sandbox(), OnlyAligner(aligner))


async def align(activities: AlignmentActivities, ref: AlignmentRef) -> bool:
    """The steps of the workflow."""
    environment = ActivityEnvironment()
    plan = await environment.run(activities.plan_alignment, ref)
    if plan.is_superseded:
        return False
    for chunk in plan.chunks:
        await environment.run(activities.align_chunk, ref, chunk)
    published: bool = await environment.run(activities.publish_revision, ref)
    await environment.run(activities.delete_alignment, ref)
    return published


async def load(runtime: Runtime, transcribed: TranscribedVideo) -> tuple[StoredTranscript, list[Word]]:
    async with runtime.database.transaction(transcribed.library_id) as connection:
        transcript = await service.load_transcript(connection, transcribed.library_id, transcribed.video_id)
    return transcript, read_words(await read(runtime, transcript.alignment_path))


async def read(runtime: Runtime, path: str) -> bytes:
    return b"".join([chunk async for chunk in runtime.storage.read(path)])


SPOKEN = ["It", "was", "the", "best", "of", "times,", "it", "was", "the", "worst", "of", "times,"]


@pytest.fixture(scope="module")
def aligner() -> WhisperAligner:
    return WhisperAligner(model_folder("whisper-base"), cpu_threads=2)


async def test_edited_words_are_aligned_with_the_sound(
    runtime: Runtime, api: httpx.AsyncClient, transcribed: TranscribedVideo, aligner: WhisperAligner, tmp_path: Path
) -> None:
    """The transcript has wrong words with wrong times; the corrected text gets the times at which it is spoken."""
    library_id, video_id = transcribed.library_id, transcribed.video_id
    sound = tmp_path / "speech.flac"
    clip = ensure_clips(clips_folder()) / "two_cities.wav"
    command = ["ffmpeg", "-v", "error", "-i", str(clip), "-ac", "1", "-ar", "16000", str(sound)]
    subprocess.run(command, check=True)
    await runtime.storage.put(service.speech_path(library_id, video_id), sound)
    wrong = [Word("Nothing", 0.0, 0.1, 1.0), Word("heard.", 5.9, 6.0, 1.0)]
    segments = [TranscriptSegment(0.0, 6.0, "speaker_1", "Nothing heard.", tuple(wrong))]
    await runtime.storage.put(service.alignment_path(library_id, video_id), write_alignment(segments, language="en"))
    await transcribed.accounts.connection.execute(
        "UPDATE transcripts SET segments = $2 WHERE video_id = $1", video_id, segment_rows(segments)
    )
    assert (await edit(api, video_id, 1, replace_text("s1", " ".join(SPOKEN)))).status_code == 200
    assert await align(activities_of(runtime, tmp_path, aligner), AlignmentRef(library_id, video_id, 2))
    transcript, words = await load(runtime, transcribed)
    assert [word.text for word in words] == SPOKEN
    assert transcript.segments[0]["words"] == len(SPOKEN)
    heard = aligner.align(_samples(sound, tmp_path), " ".join(SPOKEN), language="en")
    assert max(abs(a.start_seconds - b.start_seconds) for a, b in zip(words, heard, strict=True)) < 0.5
    subtitles = await read(runtime, service.subtitle_path(library_id, video_id, language="en", format_="srt"))
    assert "best of times" in subtitles.decode()


def _samples(sound: Path, tmp_path: Path) -> Any:  # noqa: ANN401 (an array)
    import numpy as np  # noqa: PLC0415 (an engine's)

    raw = tmp_path / "range.raw"
    subprocess.run(["ffmpeg", "-v", "error", "-t", "6.15", "-i", sound, "-f", "s16le", raw], check=True)
    return np.frombuffer(raw.read_bytes(), np.int16).astype(np.float32) / 2**15


async def test_products_read_edits_before_and_after_they_are_published(
    runtime: Runtime, api: httpx.AsyncClient, transcribed: TranscribedVideo, tmp_path: Path
) -> None:
    library_id, video_id = transcribed.library_id, transcribed.video_id
    edits = [
        {"op": "delete", "ids": ["s1"]},
        replace_text("s2", "The tram leaves at 10:30 from platform 4."),
    ]
    assert (await edit(api, video_id, 1, *edits)).status_code == 200

    async def check() -> None:
        transcript, words = await load(runtime, transcribed)
        attached = attach_words(transcript.segments, words)
        assert [segment.deleted for segment in attached] == [True, False]
        assert " ".join(word.text for word in attached[1].words) == "The tram leaves at 10:30 from platform 4."
        assert (attached[1].words[2].start_seconds, attached[1].words[-1].end_seconds) == (2.333, 4.3)
        source = writing_input(transcript, guidelines=None)
        assert [each.text for each in source.segments] == ["The tram leaves at 10:30 from platform 4."]
        async with runtime.database.transaction(library_id) as connection:
            [exported, *_] = await export_files(connection, library_id, video_id)
            assets = await load_assets(connection, library_id, video_id)
            found = await search_transcripts(connection, _principal(library_id), "tram", limit=10)
            gone = await search_transcripts(connection, _principal(library_id), "morning", limit=10)
        assert [each["text"] for each in json.loads(exported.content)["segments"]] == [source.segments[0].text]
        assert assets.transcript is not None
        assert [each.video_id for each in found] == [video_id]
        assert gone == []

    await check()
    assert await align(activities_of(runtime, tmp_path, None), AlignmentRef(library_id, video_id, 2))
    await check()
    subtitles = await read(runtime, service.subtitle_path(library_id, video_id, language="en", format_="vtt"))
    assert ("morning" in subtitles.decode(), "tram" in subtitles.decode()) == (False, True)
    assert await texts(api, video_id) == ["Good morning.", "The tram leaves at 10:30 from platform 4."]


def _principal(library_id: str) -> Principal:
    """Only its library is read."""
    principal: Principal = object.__new__(Principal)
    object.__setattr__(principal, "library_id", library_id)
    return principal


async def test_the_subtitle_track_of_playback_follows_an_edit(
    runtime: Runtime, api: httpx.AsyncClient, transcribed: TranscribedVideo, tmp_path: Path
) -> None:
    library_id, video_id = transcribed.library_id, transcribed.video_id

    async def subtitles() -> tuple[str, str] | None:
        async with runtime.database.transaction(library_id) as connection:
            return await revisions.find_subtitles(connection, library_id, video_id)

    recognized = await subtitles()
    await edit(api, video_id, 1, replace_text("s1", "Good evening."))
    assert await subtitles() == recognized  # until its file is stored
    assert await align(activities_of(runtime, tmp_path, None), AlignmentRef(library_id, video_id, 2))
    edited = await subtitles()
    assert recognized is not None
    assert edited is not None
    assert (edited[0], edited[1] != recognized[1]) == (recognized[0], True)
    start = await transcribed.accounts.connection.fetchrow(
        "SELECT workflow_id, argument FROM outbox WHERE library_id = $1 AND workflow = 'playback'", library_id
    )
    assert start is not None
    assert start["workflow_id"] == f"playback_align-transcript_{video_id}_2"
    assert start["argument"] == {"library_id": library_id, "video_id": video_id}


async def test_only_the_newest_revision_is_published_until_many_wait(
    runtime: Runtime,
    api: httpx.AsyncClient,
    transcribed: TranscribedVideo,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library_id, video_id = transcribed.library_id, transcribed.video_id
    for revision in range(1, 4):
        await edit(api, video_id, revision, replace_text("s1", f"Text {revision}."))
    activities = activities_of(runtime, tmp_path, None)
    assert not await align(activities, AlignmentRef(library_id, video_id, 3))
    monkeypatch.setattr("cutroom.products.transcripts.editing.activities.MAX_UNPUBLISHED", 2)
    assert await align(activities, AlignmentRef(library_id, video_id, 3))
    assert await texts(api, video_id) == ["Text 3.", "The train leaves at 10:30 from platform 4."]
    assert not await align(activities, AlignmentRef(library_id, video_id, 2))
    assert await align(activities, AlignmentRef(library_id, video_id, 4))
    assert not await align(activities, AlignmentRef(library_id, video_id, 4))
    reverted = await api.post(f"/videos/{video_id}/transcript/undo", json={"revision": 4})
    assert reverted.status_code == 200
    assert (await texts(api, video_id))[0] == "Text 2."


async def test_old_revisions_are_pruned_once_they_are_published(
    runtime: Runtime,
    api: httpx.AsyncClient,
    transcribed: TranscribedVideo,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is left can be read and undone; what is gone is not found."""
    monkeypatch.setattr(revisions, "MAX_REVISIONS", 3)
    monkeypatch.setattr(revisions, "PRUNED_EVERY", 1)
    library_id, video_id = transcribed.library_id, transcribed.video_id
    path = f"/videos/{video_id}/transcript"
    for revision in range(1, 6):
        await edit(api, video_id, revision, replace_text("s1", f"Text {revision}."))
    assert await align(activities_of(runtime, tmp_path, None), AlignmentRef(library_id, video_id, 6))
    await edit(api, video_id, 6, replace_text("s1", "Text 6."))
    page = (await api.get(f"{path}/revisions")).json()
    assert [each["revision"] for each in page["revisions"]] == [7, 6, 5]
    assert (await api.get(f"{path}/revisions/3")).status_code == 404
    assert (await api.get(f"{path}/revisions/1")).status_code == 404
    found = []
    for revision in range(7, 10):
        response = await api.post(f"{path}/undo", json={"revision": revision})
        found.append(
            (await texts(api, video_id))[0] if response.status_code == 200 else response.json()["error"]["code"]
        )
    assert found == ["Text 5.", "Text 4.", "FAILED_PRECONDITION"]


async def test_recognizing_again_keeps_ids_and_is_a_revision_that_can_be_reverted(
    runtime: Runtime, api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    library_id, video_id = transcribed.library_id, transcribed.video_id
    await edit(api, video_id, 1, replace_text("s1", "Good evening."), {"op": "split", "id": "s2", "at": 17})
    before = (await api.get(f"/videos/{video_id}/transcript/revisions/2")).json()["segments"]
    transcript, _ = await load(runtime, transcribed)
    rows = [
        {"start": 1.1, "end": 1.6, "speaker": "speaker_1", "text": "Good morning!", "deleted": False, "words": 0},
        {"start": 1.7, "end": 2.6, "speaker": "speaker_1", "text": "The train leaves", "deleted": False, "words": 0},
        {"start": 2.7, "end": 4.3, "speaker": "speaker_1", "text": "at half past ten", "deleted": False, "words": 0},
        {"start": 9.0, "end": 9.5, "speaker": "speaker_1", "text": "Thanks.", "deleted": False, "words": 0},
    ]
    again = StoredTranscript("en", rows, transcript.speakers, transcript.alignment_path, "another")
    for _ in range(2):  # a retry stores the same
        async with runtime.database.transaction(library_id) as connection:
            await service.save_transcript(connection, library_id, video_id, transcript=again, now=system_clock())
    after = (await api.get(f"/videos/{video_id}/transcript/revisions/3")).json()
    assert (after["kind"], after["actorKind"]) == ("recognition", "engine")
    assert [each["id"] for each in after["segments"][:3]] == [each["id"] for each in before]
    assert await texts(api, video_id) == [row["text"] for row in rows]
    assert (await api.get(f"/videos/{video_id}/transcript/revisions")).json()["revision"] == 3
    await api.post(f"/videos/{video_id}/transcript/undo", json={"revision": 3})
    assert (await texts(api, video_id))[0] == "Good evening."
