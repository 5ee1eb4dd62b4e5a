"""Segments of captions through HTTP: what is stale, edits, conflicts, concurrent editors and hostile input."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from dev.scratch import Accounts
from tests.products.captions.editing.track_stage import CaptionTrackStage

TEXTS = ["Good morning.", "The train leaves at 10:30 from platform 4."]
CHANGED = {"op": "replaceText", "id": "s1", "text": "Good evening."}


def set_text(segment_id: str, text: str) -> dict[str, Any]:
    return {"op": "setText", "id": segment_id, "text": text}


async def test_fresh_captions_are_those_of_the_transcript(track: CaptionTrackStage) -> None:
    found = await track.get()
    assert (found["revision"], found["transcriptRevision"], found["quality"]) == (1, 1, "publishable")
    assert (found["staleSegments"], found["reviewSegments"]) == (0, 0)
    assert found["regeneration"] == {
        "segments": 0,
        "translatedSegments": 0,
        "seconds": 0.0,
        "credits": 0.0,
        "estimatedSeconds": 0.0,
    }
    assert [(each["id"], each["source"], each["text"], each["stale"]) for each in found["segments"]] == [
        ("s1", TEXTS[0], TEXTS[0], []),
        ("s2", TEXTS[1], TEXTS[1], []),
    ]
    assert [(each["engine"], each["transcriptRevision"], each["edited"]) for each in found["segments"]] == [
        ("one", 1, False)
    ] * 2


async def test_an_edit_of_the_transcript_makes_segments_stale(track: CaptionTrackStage) -> None:
    inserted = {"op": "insert", "start": 10.0, "end": 12.5, "text": "Thanks.", "speaker": "speaker_2"}
    moved = {"op": "setTimes", "id": "s2", "start": 2.0, "end": 4.2}
    await track.edit_transcript(1, CHANGED, moved, inserted)
    found = await track.get()
    assert [each["stale"] for each in found["segments"]] == [["sourceChanged"], ["timesChanged"], ["added"]]
    assert [each["source"] for each in found["segments"]] == ["Good evening.", TEXTS[1], "Thanks."]
    assert [each.get("text") for each in found["segments"]] == [*TEXTS, None]
    assert (found["transcriptRevision"], found["staleSegments"]) == (2, 3)
    quote = found["regeneration"]
    assert (quote["translatedSegments"], quote["seconds"], quote["credits"]) == (2, 3.133, 0.1)
    assert quote["quality"] == "publishable"
    assert quote["estimatedSeconds"] > 0
    await track.edit_transcript(2, {"op": "delete", "ids": ["s2"]})
    removed = await track.segment("s2")
    assert (removed["stale"], removed["text"], "source" in removed) == (["removed"], TEXTS[1], False)


async def test_a_text_by_hand_is_seen_at_once_and_published_later(track: CaptionTrackStage, accounts: Accounts) -> None:
    response = await track.edit(1, set_text("s1", "Bom  dia. "))
    assert response.status_code == 200
    assert response.json() == {
        "videoId": track.transcribed.video_id,
        "language": "pt",
        "revision": 2,
        "changes": [
            {
                "id": "s1",
                "before": {"text": TEXTS[0], "edited": False},
                "after": {"text": "Bom dia.", "edited": True},
            }
        ],
        "totalChanges": 1,
    }
    segment = await track.segment("s1")
    assert (segment["text"], segment["translation"], segment["edited"]) == ("Bom dia.", TEXTS[0], True)
    library_id = track.transcribed.library_id
    payloads = await accounts.connection.fetch(
        "SELECT payload FROM events WHERE library_id = $1 AND type = 'captions.edited'", library_id
    )
    assert [row["payload"] for row in payloads] == [
        {
            "videoId": track.transcribed.video_id,
            "language": "pt",
            "revision": 2,
            "kind": "edit",
            "changedSegments": 1,
        }
    ]
    start = await accounts.connection.fetchrow(
        "SELECT * FROM outbox WHERE library_id = $1 AND workflow = 'publish-captions'", library_id
    )
    assert start is not None
    assert start["argument"] == {
        "library_id": library_id,
        "video_id": track.transcribed.video_id,
        "language": "pt",
        "revision": 2,
    }
    assert await track.balance() == 10_000


async def test_a_changed_source_marks_a_text_by_hand_for_review(track: CaptionTrackStage) -> None:
    await track.edit(1, set_text("s1", "Bom dia."))
    await track.edit_transcript(1, CHANGED)
    found = await track.get()
    segment = found["segments"][0]
    assert (segment["stale"], segment["review"], found["reviewSegments"]) == ([], True, 1)
    assert (found["staleSegments"], found["regeneration"]["credits"]) == (0, 0.0)
    accepted = await track.edit(2, {"op": "accept", "ids": ["s1"]})
    assert accepted.json()["revision"] == 3
    segment = await track.segment("s1")
    assert (segment["review"], segment["text"], segment["edited"]) == (False, "Bom dia.", True)
    await track.edit(3, {"op": "reset", "ids": ["s1"]})
    segment = await track.segment("s1")
    assert (segment["text"], segment["edited"], segment["stale"]) == (TEXTS[0], False, ["sourceChanged"])


async def test_a_text_for_an_older_revision_of_the_transcript_is_for_review(track: CaptionTrackStage) -> None:
    await track.edit_transcript(1, CHANGED)
    await track.edit(1, set_text("s1", "Bom dia."), transcriptRevision=1)
    assert (await track.segment("s1"))["review"]
    await track.edit(2, set_text("s1", "Boa noite."), transcriptRevision=2)
    assert not (await track.segment("s1"))["review"]
    unknown = await track.edit(3, set_text("s1", "x"), transcriptRevision=3)
    assert unknown.json()["error"]["details"]["fields"][0]["path"] == "transcriptRevision"


async def test_undo_reverts_the_last_change_and_itself(track: CaptionTrackStage) -> None:
    before = await track.rows()
    assert (await track.edit(1, {"op": "undo"})).json()["error"]["details"] == {"reason": "nothing_to_undo"}
    await track.edit(1, set_text("s1", "Bom dia."), set_text("s2", "O trem sai."))
    after = await track.rows()
    assert (await track.edit(2, {"op": "undo"})).json()["revision"] == 3
    assert await track.rows() == before
    assert (await track.edit(3, {"op": "undo"})).json()["revision"] == 4
    assert await track.rows() == after
    mixed = await track.edit(4, {"op": "undo"}, set_text("s1", "x"))
    assert mixed.json()["error"]["details"]["fields"][0]["path"] == "operations"


async def test_a_stale_revision_is_a_conflict_that_names_the_current_one(track: CaptionTrackStage) -> None:
    await track.edit(1, set_text("s1", "First."))
    response = await track.edit(1, set_text("s1", "Second."))
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["details"]) == (409, "CONFLICT", {"revision": 2})
    assert (await track.segment("s1"))["text"] == "First."


async def test_an_edit_that_changes_nothing_makes_no_revision(track: CaptionTrackStage) -> None:
    await track.edit(1, set_text("s1", "Bom dia."))
    response = await track.edit(2, set_text("s1", " Bom   dia."))
    assert (response.json()["revision"], response.json()["changes"]) == (2, [])


async def test_eight_editors_at_once_lose_no_change(track: CaptionTrackStage) -> None:
    """Each sets the text of its own segment, and repeats that with the current revision whenever it was too late."""
    inserted = [
        {"op": "insert", "start": 10.0 + at, "end": 10.5 + at, "text": f"Segment {at}", "speaker": "b"}
        for at in range(8)
    ]
    await track.edit_transcript(1, *inserted)
    ids = [each["id"] for each in (await track.get())["segments"] if each["stale"] == ["added"]]
    assert len(ids) == 8

    async def write(segment_id: str) -> None:
        revision = 1
        while (response := await track.edit(revision, set_text(segment_id, f"Text {segment_id}"))).status_code == 409:
            revision = response.json()["error"]["details"]["revision"]
        assert response.status_code == 200

    await asyncio.gather(*(write(each) for each in ids))
    found = await track.get()
    assert found["revision"] == 9
    assert {each["id"]: each["text"] for each in found["segments"] if each["edited"]} == {
        each: f"Text {each}" for each in ids
    }


@pytest.mark.parametrize(
    "operation",
    [
        set_text("s1", ""),
        set_text("s1", "   "),
        set_text("s1", "x" * 2_001),
        set_text("s1", "escape\x1b[2J"),
        set_text("s9", "x"),
        set_text("../s1", "x"),
        {"op": "setText", "id": "s1"},
        {"op": "setText", "id": "s1", "text": "x", "extra": 1},
        {"op": "replaceText", "id": "s1", "text": "x"},
        {"op": "accept", "ids": []},
        {"op": "accept", "ids": ["s9"]},
        {"op": "reset", "ids": ["s1"] * 501},
    ],
    ids=lambda operation: json.dumps(operation)[:40],
)
async def test_invalid_operations_change_nothing(track: CaptionTrackStage, operation: dict[str, Any]) -> None:
    response = await track.edit(1, set_text("s2", "Changed."), operation)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, "INVALID_ARGUMENT"), response.text
    assert error["details"]["fields"][0]["path"].startswith("operations.1"), error
    assert (await track.get())["revision"] == 1


async def test_other_languages_videos_and_unfinished_captions(
    track: CaptionTrackStage, api: httpx.AsyncClient, accounts: Accounts
) -> None:
    video_id = track.transcribed.video_id
    for path in (
        f"/videos/{video_id}/captions/es",
        f"/videos/{video_id}/captions/not_a_language",
        f"/videos/{new_id()}/captions/pt",
    ):
        assert (await api.get(f"{path}/segments")).status_code == 404
    job_id = f"captions_{video_id}_pt"
    await accounts.connection.execute("UPDATE jobs SET status = 'processing', finished_at = NULL WHERE id = $1", job_id)
    for response in (await api.get(f"{track.url}/segments"), await track.edit(1, set_text("s1", "x"))):
        assert (response.status_code, response.json()["error"]["code"]) == (409, "FAILED_PRECONDITION")
        assert response.json()["error"]["details"] == {"reason": "captions", "jobId": job_id}


async def test_captions_of_an_earlier_version_are_matched_by_their_times(
    track: CaptionTrackStage, accounts: Accounts
) -> None:
    """They say nothing about what they were made from, but the transcript knows its revision at that time."""
    names = ("start", "end", "speaker", "text", "deleted")
    rows = [{**{name: row[name] for name in names}, "words": 2} for row in (await track.rows()).values()]
    await accounts.connection.execute("UPDATE captions SET segments = $1", rows)
    found = await track.get()
    assert [(each["id"], each["stale"], each["text"]) for each in found["segments"]] == [
        ("s1", [], TEXTS[0]),
        ("s2", [], TEXTS[1]),
    ]
    await track.edit_transcript(1, CHANGED)
    assert [each["stale"] for each in (await track.get())["segments"]] == [["sourceChanged"], []]
    # Made while the transcript was edited: from which revision is not known.
    await accounts.connection.execute("UPDATE captions SET created_at = $1", system_clock())
    assert [each["stale"] for each in (await track.get())["segments"]] == [["sourceChanged"], ["sourceChanged"]]
    await track.edit(1, set_text("s2", "O trem sai."))
    assert [each["stale"] for each in (await track.get())["segments"]] == [["sourceChanged"], []]
