"""Transcript and subtitle routes in every job state."""

import httpx
import pytest

from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.products.transcripts.service import alignment_path, subtitle_path
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.products.conftest import TranscribedVideo


async def test_ready_transcript_has_segments_speakers_and_words(
    api: httpx.AsyncClient, viewer: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    response = await api.get(f"/videos/{transcribed.video_id}/transcript")
    assert response.status_code == 200
    body = response.json()
    url = body.pop("wordAlignmentUrl")
    assert body == {
        "status": "ready",
        "userVideoId": transcribed.video_id,
        "language": "en",
        "segments": [
            {"start": 1.0, "end": 1.633, "speaker": "speaker_1", "text": "Good morning.", "deleted": False},
            {
                "start": 1.667,
                "end": 4.3,
                "speaker": "speaker_1",
                "text": "The train leaves at 10:30 from platform 4.",
                "deleted": False,
            },
        ],
        "speakers": [{"id": "speaker_1", "label": "Speaker 1"}],
        "wordAlignmentStoragePath": alignment_path(transcribed.library_id, transcribed.video_id),
    }
    words = (await viewer.get(url)).json()["words"]
    assert [word["text"] for word in words[:2]] == ["Good", "morning."]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"status": "queued", "finished_at": None}, {"status": "processing", "processingStatus": "queued"}),
        (
            {"status": "processing", "stage": "transcribing", "finished_at": None},
            {"status": "processing", "processingStatus": "transcribing"},
        ),
        ({"status": "failed", "error_code": "INTERNAL", "error_message": "No."}, {"status": "failed"}),
    ],
    ids=["queued", "processing", "failed"],
)
async def test_unfinished_transcript_shows_its_status(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, changes: dict[str, object], expected: dict[str, str]
) -> None:
    await transcribed.job(**changes)
    body = (await api.get(f"/videos/{transcribed.video_id}/transcript")).json()
    nulls = {"wordAlignmentUrl": None, "wordAlignmentStoragePath": None}
    assert body == {"userVideoId": transcribed.video_id, **nulls, **expected}


async def test_video_without_transcript_job_has_status_not_found(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts
) -> None:
    await accounts.connection.execute("DELETE FROM jobs WHERE video_id = $1", transcribed.video_id)
    response = await api.get(f"/videos/{transcribed.video_id}/transcript")
    assert (response.status_code, response.json()["status"]) == (200, "not_found")


async def test_missing_video_is_404(api: httpx.AsyncClient) -> None:
    assert (await api.get(f"/videos/{new_id()}/transcript")).status_code == 404
    assert (await api.get(f"/videos/{new_id()}/subtitles/en")).status_code == 404


@pytest.mark.parametrize(
    ("query", "prefix"),
    [
        ("", "1\n00:00:01,000 --> "),
        ("?format=vtt", "WEBVTT\n"),
        ("?format=ttml", '<?xml version="1.0" encoding="UTF-8"?>\n<tt '),
        ("?format=text", "Speaker 1:\n"),
    ],
)
async def test_subtitles_are_returned_as_a_temporary_url(
    api: httpx.AsyncClient, viewer: httpx.AsyncClient, transcribed: TranscribedVideo, query: str, prefix: str
) -> None:
    response = await api.get(f"/videos/{transcribed.video_id}/subtitles/EN{query}")
    body = response.json()
    url = body.pop("downloadUrl")
    format_ = query.partition("=")[2] or "srt"
    assert body == {"status": "ready", "videoId": transcribed.video_id, "language": "en", "format": format_}
    assert (await viewer.get(url)).text.startswith(prefix)


async def test_files_of_an_older_release_are_completed(
    api: httpx.AsyncClient, viewer: httpx.AsyncClient, transcribed: TranscribedVideo, runtime: Runtime
) -> None:
    """Its transcripts have SubRip and WebVTT files only."""
    urls, before = {}, {}
    for format_ in ("ttml", "text"):
        url = f"/videos/{transcribed.video_id}/subtitles/en?format={format_}"
        urls[format_] = (await api.get(url)).json()["downloadUrl"]
        before[format_] = (await viewer.get(urls[format_])).text
        path = subtitle_path(transcribed.library_id, transcribed.video_id, language="en", format_=format_)
        await runtime.storage.delete(path)
    for format_, content in before.items():
        await api.get(f"/videos/{transcribed.video_id}/subtitles/en?format={format_}")
        assert (await viewer.get(urls[format_])).text == content


async def test_subtitles_are_processing_until_the_transcript_is_ready(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    await transcribed.job(status="processing", finished_at=None)
    body = (await api.get(f"/videos/{transcribed.video_id}/subtitles/en")).json()
    assert body == {"status": "processing", "videoId": transcribed.video_id}


@pytest.mark.parametrize("language", ["de", "not-a-language-at-all", "%00", "..%2Fen"])
async def test_language_without_subtitles_is_404(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, language: str
) -> None:
    response = await api.get(f"/videos/{transcribed.video_id}/subtitles/{language}")
    assert (response.status_code, response.json()["error"]["code"]) == (404, "NOT_FOUND")


async def test_unknown_format_is_rejected(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    assert (await api.get(f"/videos/{transcribed.video_id}/subtitles/en?format=ass")).status_code == 400


async def test_failed_transcript_has_no_subtitles(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    await transcribed.job(status="failed", error_code="INTERNAL", error_message="No.", finished_at=system_clock())
    assert (await api.get(f"/videos/{transcribed.video_id}/subtitles/en")).status_code == 404
