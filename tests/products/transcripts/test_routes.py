"""Reading transcripts and subtitles over HTTP, in every state they can be in."""

import httpx
import pytest

from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from dev.scratch import Accounts
from tests.products.conftest import Spoken


async def test_a_ready_transcript_has_segments_speakers_and_its_words(api: httpx.AsyncClient, spoken: Spoken) -> None:
    answer = await api.get(f"/videos/{spoken.video_id}/transcript")
    assert answer.status_code == 200
    body = answer.json()
    url = body.pop("wordAlignmentUrl")
    assert body == {
        "status": "ready",
        "userVideoId": spoken.video_id,
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
        "wordAlignmentStoragePath": f"libraries/{spoken.library_id}/videos/{spoken.video_id}/transcript/words.json",
    }
    async with httpx.AsyncClient() as anybody:
        words = (await anybody.get(url)).json()["words"]
    assert [word["text"] for word in words[:2]] == ["Good", "morning."]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"status": "queued", "finished_at": None}, {"status": "processing", "processingStatus": "queued"}),
        (
            {"status": "processing", "stage": "recognising speech", "finished_at": None},
            {"status": "processing", "processingStatus": "recognising speech"},
        ),
        ({"status": "failed", "error_code": "INTERNAL", "error_message": "No."}, {"status": "failed"}),
    ],
    ids=["queued", "processing", "failed"],
)
async def test_an_unfinished_transcript_says_how_it_stands(
    api: httpx.AsyncClient, spoken: Spoken, changes: dict[str, object], expected: dict[str, str]
) -> None:
    await spoken.job(**changes)
    body = (await api.get(f"/videos/{spoken.video_id}/transcript")).json()
    nulls = {"wordAlignmentUrl": None, "wordAlignmentStoragePath": None}
    assert body == {"userVideoId": spoken.video_id, **nulls, **expected}


async def test_a_video_that_was_never_transcribed_is_not_an_error(
    api: httpx.AsyncClient, spoken: Spoken, accounts: Accounts
) -> None:
    await accounts.connection.execute("DELETE FROM jobs WHERE video_id = $1", spoken.video_id)
    answer = await api.get(f"/videos/{spoken.video_id}/transcript")
    assert (answer.status_code, answer.json()["status"]) == (200, "not_found")


async def test_a_missing_video_is_404(api: httpx.AsyncClient) -> None:
    assert (await api.get(f"/videos/{new_id()}/transcript")).status_code == 404
    assert (await api.get(f"/videos/{new_id()}/subtitles/en")).status_code == 404


@pytest.mark.parametrize(("asked", "opening"), [("", "1\n00:00:01,000 --> "), ("?format=vtt", "WEBVTT\n")])
async def test_subtitles_are_a_file_behind_a_temporary_url(
    api: httpx.AsyncClient, spoken: Spoken, asked: str, opening: str
) -> None:
    answer = await api.get(f"/videos/{spoken.video_id}/subtitles/EN{asked}")
    body = answer.json()
    url = body.pop("downloadUrl")
    format_ = asked.partition("=")[2] or "srt"
    assert body == {"status": "ready", "videoId": spoken.video_id, "language": "en", "format": format_}
    async with httpx.AsyncClient() as anybody:
        assert (await anybody.get(url)).text.startswith(opening)


async def test_subtitles_wait_for_the_transcript(api: httpx.AsyncClient, spoken: Spoken) -> None:
    await spoken.job(status="processing", finished_at=None)
    body = (await api.get(f"/videos/{spoken.video_id}/subtitles/en")).json()
    assert body == {"status": "processing", "videoId": spoken.video_id}


@pytest.mark.parametrize("language", ["de", "not-a-language-at-all", "%00", "..%2Fen"])
async def test_a_language_without_subtitles_is_404(api: httpx.AsyncClient, spoken: Spoken, language: str) -> None:
    answer = await api.get(f"/videos/{spoken.video_id}/subtitles/{language}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NOT_FOUND")


async def test_another_format_is_refused(api: httpx.AsyncClient, spoken: Spoken) -> None:
    assert (await api.get(f"/videos/{spoken.video_id}/subtitles/en?format=ass")).status_code == 400


async def test_a_failed_transcript_has_no_subtitles(api: httpx.AsyncClient, spoken: Spoken) -> None:
    await spoken.job(status="failed", error_code="INTERNAL", error_message="No.", finished_at=system_clock())
    assert (await api.get(f"/videos/{spoken.video_id}/subtitles/en")).status_code == 404
