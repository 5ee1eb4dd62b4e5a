"""Translated subtitles as captions, through HTTP: first ones, reviewed ones, conflicts and hostile files."""

import asyncio

import httpx
import pytest
from temporalio.testing import ActivityEnvironment

from cutroom.platform.clock import system_clock
from cutroom.products.captions.editing.tracks import TrackRef
from dev.scratch import Accounts
from tests.products.captions.editing.track_stage import CaptionTrackStage

FIRST = "1\n00:00:00,000 --> 00:00:01,500\nGuten Morgen.\n"


def srt(*cues: tuple[str, str, str]) -> str:
    return "\n".join(f"{at}\n{start} --> {end}\n{text}\n" for at, (start, end, text) in enumerate(cues, 1))


async def send(
    stage: CaptionTrackStage, content: str, *, language: str = "de", revision: int = 0, form: str = "srt"
) -> httpx.Response:
    url = f"/videos/{stage.transcribed.video_id}/captions/{language}/import"
    return await stage.api.post(url, json={"revision": revision, "format": form, "content": content})


async def times(stage: CaptionTrackStage) -> list[tuple[float, float]]:
    return [(each["start"], each["end"]) for each in (await stage.get())["segments"]]


def clock(seconds: float) -> str:
    return f"00:00:{int(seconds):02},{round(seconds % 1 * 1000):03}"


async def full(stage: CaptionTrackStage, *texts: str) -> str:
    spans = await times(stage)
    return srt(*((clock(start), clock(end), text) for (start, end), text in zip(spans, texts, strict=False)))


async def test_imported_subtitles_are_captions(track: CaptionTrackStage, accounts: Accounts) -> None:
    video_id, library_id = track.transcribed.video_id, track.transcribed.library_id
    before = await track.balance()
    response = await send(track, await full(track, "Guten Morgen."))
    assert response.status_code == 200, response.text
    made = response.json()
    assert (made["revision"], made["placedSegments"], made["emptySegments"], made["unplacedCues"]) == (1, 1, 1, 0)
    assert made["changes"] == [{"id": "s1", "after": {"text": "Guten Morgen.", "edited": True}}]
    assert await track.balance() == before
    job = (await track.api.get(f"/jobs/captions_{video_id}_de")).json()
    assert (job["status"], job["result"]["engines"], job["result"]["importedCues"]) == ("ready", ["import"], 1)
    timeline = await track.api.get(f"/jobs/captions_{video_id}_de/timeline")
    assert (timeline.status_code, timeline.json()["status"]) == (200, "ready"), timeline.text
    found = (await track.api.get(f"/videos/{video_id}/captions/de/segments")).json()
    assert [(each.get("text"), each["edited"], each["stale"]) for each in found["segments"]] == [
        ("Guten Morgen.", True, []),
        (None, False, ["added"]),
    ]
    assert found["segments"][0]["engine"] == "import"
    kinds = await accounts.connection.fetch(
        "SELECT type FROM events WHERE library_id = $1 AND type IN ('job.ready', 'captions.edited')", library_id
    )
    assert [row["type"] for row in kinds] == ["job.ready"]


async def test_subtitle_files_follow(track: CaptionTrackStage) -> None:
    video_id, library_id = track.transcribed.video_id, track.transcribed.library_id
    await send(track, await full(track, "Guten Morgen.", "Der Zug fährt um 10:30 von Gleis 4."))
    subtitles = f"/videos/{video_id}/subtitles/de"
    assert (await track.api.get(subtitles)).json()["status"] == "processing"
    ref = TrackRef(library_id, video_id, "de", 1)
    assert await ActivityEnvironment().run(track.activities.publish_captions, ref)
    ready = (await track.api.get(subtitles)).json()
    assert (ready["status"], ready["quality"]) == ("ready", "publishable")


async def test_a_reviewed_export_changes_what_was_corrected(track: CaptionTrackStage) -> None:
    exported = await track.file()
    unchanged = await send(track, exported, language="pt", revision=1)
    assert (unchanged.status_code, unchanged.json()["totalChanges"], unchanged.json()["revision"]) == (200, 0, 1)
    corrected = await send(track, exported.replace("Good", "Bom"), language="pt", revision=1)
    assert corrected.json()["changes"] == [
        {
            "id": "s1",
            "before": {"text": "Good morning.", "edited": False},
            "after": {"text": "Bom morning.", "edited": True},
        }
    ]
    segment = await track.segment("s1")
    assert (segment["engine"], segment["translation"]) == ("one", "Good morning.")
    reverted = await track.edit(2, {"op": "undo"})
    assert reverted.json()["changes"][0]["after"] == {"text": "Good morning.", "edited": False}


async def test_an_imported_text_is_reset_to_nothing(track: CaptionTrackStage) -> None:
    await send(track, await full(track, "Guten Morgen.", "Der Zug."))
    url = f"/videos/{track.transcribed.video_id}/captions/de/segments"
    body = {"revision": 1, "operations": [{"op": "reset", "ids": ["s1"]}]}
    assert (await track.api.patch(url, json=body)).status_code == 200
    assert (await track.api.get(url)).json()["segments"][0]["stale"] == ["added"]


async def test_conflicts_change_nothing(track: CaptionTrackStage) -> None:
    content = await full(track, "Bom dia.")
    for revision, language, current in ((0, "pt", 1), (2, "pt", 1)):
        refused = await send(track, content, language=language, revision=revision)
        assert (refused.status_code, refused.json()["error"]["details"]["revision"]) == (409, current)
    assert (await send(track, content, revision=3)).status_code == 404  # there are no captions yet
    same = await send(track, content, language="en")
    assert (same.status_code, same.json()["error"]["details"]["reason"]) == (409, "same_language")


async def test_of_two_first_imports_one_succeeds(track: CaptionTrackStage) -> None:
    content = await full(track, "Guten Morgen.")
    both = await asyncio.gather(send(track, content), send(track, content.replace("Guten", "Schönen")))
    assert sorted(each.status_code for each in both) == [200, 409]


async def test_captions_in_the_making_are_left_alone(track: CaptionTrackStage, accounts: Accounts) -> None:
    now = system_clock()
    await accounts.connection.execute(
        """INSERT INTO jobs (library_id, id, type, status, video_id, language, attempt, plan, depends_on, progress,
               created_at, updated_at) VALUES ($1, $2, 'captions', 'processing', $3, 'de', 1, '{}', '{}', 0, $4, $4)""",
        track.transcribed.library_id,
        f"captions_{track.transcribed.video_id}_de",
        track.transcribed.video_id,
        now,
    )
    refused = await send(track, FIRST)
    assert (refused.status_code, refused.json()["error"]["details"]["reason"]) == (409, "captions")


async def test_captions_that_were_deleted_are_imported_again(track: CaptionTrackStage) -> None:
    content = await full(track, "Guten Morgen.")
    assert (await send(track, content)).status_code == 200
    url = f"/videos/{track.transcribed.video_id}/captions/de"
    assert (await track.api.delete(url)).status_code == 204
    assert (await send(track, content)).json()["revision"] == 1


@pytest.mark.parametrize(
    ("form", "content", "path"),
    [
        ("vtt", "No header.", "content"),
        ("srt", "nothing", "content"),
        ("srt", "1\n01:00:00,000 --> 01:00:01,500\nViel zu spät.\n", "content"),
        ("srt", "1\n00:00:00,000 --> 00:00:01,500\n" + "x" * 2_001, "content"),
        ("ttml", "<!DOCTYPE tt [<!ENTITY a 'b'>]><tt/>", "content"),
        ("text", "words", "content"),
        ("sbv", "words", "format"),
    ],
)
async def test_hostile_files_are_refused(track: CaptionTrackStage, form: str, content: str, path: str) -> None:
    refused = await send(track, content, form=form)
    assert refused.status_code == 400
    assert [each["path"] for each in refused.json()["error"]["details"]["fields"]] == [path]


async def test_markup_is_text(track: CaptionTrackStage) -> None:
    content = await full(track, "<script>alert(1)</script>{\\an8}Guten Morgen.")
    made = (await send(track, content)).json()
    assert made["changes"][0]["after"]["text"] == "alert(1)Guten Morgen."
