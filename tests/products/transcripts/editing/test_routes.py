"""Editing a transcript through HTTP: revisions, conflicts, undo, hostile input, and what readers see."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from cutroom.platform.ids import new_id
from cutroom.products.transcripts.editing import revisions
from dev.scratch import Accounts
from tests.products.conftest import TranscribedVideo

TEXTS = ["Good morning.", "The train leaves at 10:30 from platform 4."]


def replace_text(segment_id: str, text: str) -> dict[str, Any]:
    return {"op": "replaceText", "id": segment_id, "text": text}


async def edit(api: httpx.AsyncClient, video_id: str, revision: int, *operations: dict[str, Any]) -> httpx.Response:
    body = {"revision": revision, "operations": list(operations)}
    return await api.patch(f"/videos/{video_id}/transcript", json=body)


async def segments(api: httpx.AsyncClient, video_id: str) -> list[dict[str, Any]]:
    body = (await api.get(f"/videos/{video_id}/transcript")).json()
    assert body["status"] == "ready"
    found: list[dict[str, Any]] = body["segments"]
    return found


async def texts(api: httpx.AsyncClient, video_id: str) -> list[str]:
    return [each["text"] for each in await segments(api, video_id)]


async def test_an_edit_is_seen_at_once_and_has_an_author(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts
) -> None:
    video_id = transcribed.video_id
    response = await edit(api, video_id, 1, replace_text("s1", "Good evening."))
    assert response.status_code == 200
    before = {"id": "s1", "start": 1.0, "end": 1.633, "speaker": "speaker_1", "deleted": False}
    assert response.json() == {
        "videoId": video_id,
        "revision": 2,
        "changes": [
            {
                "id": "s1",
                "before": {**before, "text": "Good morning."},
                "after": {**before, "text": "Good evening."},
            }
        ],
        "totalChanges": 1,
        "speakers": [],
    }
    assert await texts(api, video_id) == ["Good evening.", TEXTS[1]]
    page = (await api.get(f"/videos/{video_id}/transcript/revisions")).json()
    assert (page["revision"], [each["revision"] for each in page["revisions"]]) == (2, [2, 1])
    edited, recognized = page["revisions"]
    assert edited["operations"] == {"replaceText": 1}
    assert (edited["kind"], edited["actorKind"], recognized["kind"], recognized["actorKind"]) == (
        "edit",
        "key",
        "recognition",
        "engine",
    )
    assert "userId" in edited
    rows = await accounts.connection.fetch(
        "SELECT payload FROM events WHERE library_id = $1 AND type = 'transcript.edited'", transcribed.library_id
    )
    assert [row["payload"] for row in rows] == [
        {"videoId": video_id, "revision": 2, "kind": "edit", "changedSegments": 1}
    ]
    start = await accounts.connection.fetchrow(
        "SELECT * FROM outbox WHERE library_id = $1 AND workflow = 'align-transcript'", transcribed.library_id
    )
    assert start is not None
    assert start["argument"] == {"library_id": transcribed.library_id, "video_id": video_id, "revision": 2}


async def test_a_stale_revision_is_a_conflict_that_names_the_current_one(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    await edit(api, transcribed.video_id, 1, replace_text("s1", "First."))
    response = await edit(api, transcribed.video_id, 1, replace_text("s1", "Second."))
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["details"]) == (409, "CONFLICT", {"revision": 2})
    assert (await texts(api, transcribed.video_id))[0] == "First."


async def test_eight_editors_at_once_lose_no_change(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    """Each adds its own speaker's segment after reading the current revision again, whenever it was too late."""
    video_id = transcribed.video_id

    async def add(number: int) -> None:
        revision = 1
        inserted = {
            "op": "insert",
            "start": 10.0 + number,
            "end": 10.5 + number,
            "text": f"Editor {number}",
            "speaker": "b",
        }
        while (response := await edit(api, video_id, revision, inserted)).status_code == 409:
            revision = response.json()["error"]["details"]["revision"]
        assert response.status_code == 200

    await asyncio.gather(*(add(number) for number in range(8)))
    assert await texts(api, video_id) == [*TEXTS, *(f"Editor {number}" for number in range(8))]
    assert (await api.get(f"/videos/{video_id}/transcript/revisions")).json()["revision"] == 9


async def test_undo_redo_and_restore_are_revisions(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    video_id = transcribed.video_id
    path = f"/videos/{video_id}/transcript"
    for revision, text in enumerate(("A", "B", "C"), start=1):
        await edit(api, video_id, revision, replace_text("s1", text))

    async def step(action: str, revision: int) -> str:
        response = await api.post(f"{path}/{action}", json={"revision": revision})
        assert (response.status_code, response.json().get("revision")) == (200, revision + 1), response.text
        return (await texts(api, video_id))[0]

    assert [await step("undo", 4), await step("undo", 5), await step("redo", 6)] == ["B", "A", "B"]
    assert await step("revisions/1/restore", 7) == TEXTS[0]
    assert await step("undo", 8) == "B"
    kinds = [each["kind"] for each in (await api.get(f"{path}/revisions")).json()["revisions"]]
    assert kinds == ["undo", "restore", "redo", "undo", "undo", "edit", "edit", "edit", "recognition"]
    old = (await api.get(f"{path}/revisions/3")).json()
    assert [each["text"] for each in old["segments"]] == ["B", TEXTS[1]]
    compared = (await api.get(f"{path}/revisions/2/comparison?to=4")).json()
    assert (compared["from"], compared["to"], compared["totalChanges"]) == (2, 4, 1)
    assert [each["after"]["text"] for each in compared["changes"]] == ["C"]


async def test_nothing_to_undo_or_redo(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    for action, reason in (("undo", "nothing_to_undo"), ("redo", "nothing_to_redo")):
        response = await api.post(f"/videos/{transcribed.video_id}/transcript/{action}", json={"revision": 1})
        error = response.json()["error"]
        assert (response.status_code, error["code"], error["details"]) == (
            409,
            "FAILED_PRECONDITION",
            {"reason": reason},
        )


async def test_split_is_between_the_recognized_words(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    """Words are a third of a second apart: the fourth of the second segment starts at 2.667."""
    response = await edit(api, transcribed.video_id, 1, {"op": "split", "id": "s2", "at": 17})
    assert response.status_code == 200
    found = await segments(api, transcribed.video_id)
    assert [(each["text"], each["start"], each["end"]) for each in found[1:]] == [
        ("The train leaves", 1.667, 2.633),
        ("at 10:30 from platform 4.", 2.667, 4.3),
    ]


async def test_an_edit_that_changes_nothing_makes_no_revision(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    response = await edit(api, transcribed.video_id, 1, replace_text("s1", " Good  morning. "))
    assert (response.status_code, response.json()["revision"], response.json()["changes"]) == (200, 1, [])


async def test_revisions_are_paged(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    path = f"/videos/{transcribed.video_id}/transcript/revisions"
    for revision in range(1, 6):
        await edit(api, transcribed.video_id, revision, replace_text("s1", f"Text {revision}"))
    found, query = [], "?limit=2"
    while True:
        page = (await api.get(path + query)).json()
        found += [each["revision"] for each in page["revisions"]]
        if "nextPageToken" not in page:
            break
        query = f"?limit=2&pageToken={page['nextPageToken']}"
    assert found == [6, 5, 4, 3, 2, 1]
    assert (await api.get(f"{path}?pageToken=made-up")).status_code == 400
    assert (await api.get(f"{path}?limit=0")).status_code == 400


LONE_SURROGATE = '{"revision":1,"operations":[{"op":"replaceText","id":"s1","text":"\\ud800"}]}'


@pytest.mark.parametrize(
    "operation",
    [
        replace_text("s1", ""),
        replace_text("s1", "   "),
        replace_text("s1", "x" * 2_001),
        replace_text("s1", "nul\x00"),
        replace_text("s1", "escape\x1b[2J"),
        replace_text("s1", "line\u2028separator"),
        replace_text("s9", "x"),
        replace_text("../s1", "x"),
        {"op": "replaceText", "id": "s1"},
        {"op": "replaceText", "id": "s1", "text": 5},
        {"op": "replaceText", "id": "s1", "text": "x", "extra": 1},
        {"op": "unknown", "id": "s1"},
        {"id": "s1", "text": "x"},
        {"op": "split", "id": "s1", "at": 0},
        {"op": "split", "id": "s1", "at": 13},
        {"op": "split", "id": "s1", "at": 5, "seconds": 50},
        {"op": "merge", "ids": ["s1"]},
        {"op": "merge", "ids": ["s1", "s1"]},
        {"op": "setSpeaker", "ids": ["s1"], "speaker": "<b>"},
        {"op": "setSpeaker", "ids": [], "speaker": "b"},
        {"op": "setTimes", "id": "s1", "start": -1, "end": 1},
        {"op": "setTimes", "id": "s1", "start": 1.0, "end": 3.0},
        {"op": "setTimes", "id": "s1", "start": 1.5, "end": 1.2},
        {"op": "setTimes", "id": "s2", "start": 2.0, "end": 61.0},
        {"op": "setTimes", "id": "s2", "start": 2.0, "end": 1e300},
        {"op": "insert", "start": 1.1, "end": 1.2, "text": "x", "speaker": "b"},
        {"op": "delete", "ids": ["s1"] * 501},
    ],
    ids=lambda operation: json.dumps(operation)[:40],
)
async def test_invalid_operations_change_nothing(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, operation: dict[str, Any]
) -> None:
    response = await edit(api, transcribed.video_id, 1, {"op": "delete", "ids": ["s2"]}, operation)
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, "INVALID_ARGUMENT"), response.text
    nul = "\x00" in str(operation.get("text"))
    assert error["details"]["fields"][0]["path"].startswith("body" if nul else "operations.1"), error
    assert not any(each["deleted"] for each in await segments(api, transcribed.video_id))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        "[]",
        '{"revision": 1}',
        '{"revision": 1, "operations": []}',
        '{"revision": 0, "operations": [{"op": "delete", "ids": ["s1"]}]}',
        '{"revision": "1", "operations": [{"op": "delete", "ids": ["s1"]}]}',
        '{"revision": 1, "operations": [{"op": "setTimes", "id": "s1", "start": NaN, "end": 1}]}',
        '{"revision": 1, "operations": [{"op": "setTimes", "id": "s1", "start": 0, "end": Infinity}]}',
        '{"revision": 1, "operations": [{"op": "setTimes", "id": "s1", "start": 0, "end": 1e400}]}',
        LONE_SURROGATE,
        json.dumps({"revision": 1, "operations": [{"op": "delete", "ids": ["s1"]}] * 201}),
        json.dumps({"revision": 1, "operations": [replace_text("s1", "x" * 2_000_000)]}),
    ],
    ids=lambda content: content[:40],
)
async def test_malformed_bodies_are_refused(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, content: str
) -> None:
    headers = {"Content-Type": "application/json"}
    path = f"/videos/{transcribed.video_id}/transcript"
    response = await api.patch(path, content=content, headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")
    assert await texts(api, transcribed.video_id) == TEXTS


@pytest.mark.parametrize("revision", ["0", "-1", "x", "1.5", "99999999999"])
async def test_malformed_revision_numbers_are_refused(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, revision: str
) -> None:
    path = f"/videos/{transcribed.video_id}/transcript/revisions/{revision}"
    assert (await api.get(path)).status_code == 400
    assert (await api.post(f"{path}/restore", json={"revision": 1})).status_code == 400


async def test_unknown_revisions_and_videos_are_404(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    path = f"/videos/{transcribed.video_id}/transcript/revisions"
    assert (await api.get(f"{path}/2")).status_code == 404
    assert (await api.get(f"{path}/1/comparison?to=2")).status_code == 404
    assert (await api.post(f"{path}/2/restore", json={"revision": 1})).status_code == 404
    assert (await edit(api, new_id(), 1, replace_text("s1", "x"))).status_code == 404


async def test_unfinished_transcript_cannot_be_edited(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    await transcribed.job(status="processing", finished_at=None)
    response = await edit(api, transcribed.video_id, 1, replace_text("s1", "x"))
    error = response.json()["error"]
    details = {"reason": "transcript", "jobId": f"transcript_{transcribed.video_id}"}
    assert (response.status_code, error["code"], error["details"]) == (409, "FAILED_PRECONDITION", details)


async def test_a_repeated_undo_with_an_idempotency_key_is_made_once(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    await edit(api, transcribed.video_id, 1, replace_text("s1", "A"))
    path, headers = f"/videos/{transcribed.video_id}/transcript/undo", {"Idempotency-Key": "once"}
    first, second = [await api.post(path, json={"revision": 2}, headers=headers) for _ in range(2)]
    assert (first.json(), second.status_code) == (second.json(), 200)
    assert second.headers["Idempotency-Replayed"] == "true"


async def test_unpublished_revisions_are_never_pruned(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, monkeypatch: pytest.MonkeyPatch, accounts: Accounts
) -> None:
    """The current revision and the published one can always be read."""
    monkeypatch.setattr(revisions, "MAX_REVISIONS", 3)
    monkeypatch.setattr(revisions, "PRUNED_EVERY", 1)
    for revision in range(1, 7):
        assert (await edit(api, transcribed.video_id, revision, replace_text("s1", f"T{revision}"))).status_code == 200
    assert (await texts(api, transcribed.video_id))[0] == "T6"
    count = "SELECT count(*) FROM transcript_revisions WHERE video_id = $1"
    assert await accounts.connection.fetchval(count, transcribed.video_id) == 6  # none is published yet


async def test_an_edit_of_a_long_transcript_writes_little(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts
) -> None:
    rows = [
        {
            "start": at * 1.5,
            "end": at * 1.5 + 1.4,
            "speaker": f"speaker_{at % 3}",
            "text": f"This is sentence {at} of a long talk about {new_id()}, which is long.",
            "deleted": False,
            "words": 0,
        }
        for at in range(2_500)
    ]
    await accounts.connection.execute(
        "UPDATE transcripts SET segments = $2 WHERE video_id = $1", transcribed.video_id, rows
    )
    position = "SELECT pg_current_wal_insert_lsn()"
    written = []
    for revision in range(1, 4):
        before = await accounts.connection.fetchval(position)
        response = await edit(api, transcribed.video_id, revision, replace_text("s1200", f"Corrected {revision}."))
        assert response.status_code == 200
        written.append(await accounts.connection.fetchval("SELECT pg_current_wal_insert_lsn() - $1::pg_lsn", before))
    assert min(written) <= 200_000, written


async def test_renaming_and_merging_speakers_can_be_reverted(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    async def labels() -> dict[str, str]:
        body = (await api.get(f"/videos/{transcribed.video_id}/transcript")).json()
        return {each["id"]: each["label"] for each in body["speakers"]}

    first = await edit(
        api,
        transcribed.video_id,
        1,
        {"op": "setSpeaker", "ids": ["s2"], "speaker": "guest"},
        {"op": "renameSpeaker", "speaker": "speaker_1", "label": "Ada <b>"},
    )
    assert first.json()["speakers"] == [
        {"id": "speaker_1", "before": "Speaker 1", "after": "Ada <b>"},
        {"id": "guest", "after": "guest"},
    ]
    assert await labels() == {"speaker_1": "Ada <b>", "guest": "guest"}
    merge = {"op": "mergeSpeakers", "speakers": ["guest"], "into": "speaker_1"}
    second = await edit(api, transcribed.video_id, 2, merge)
    assert second.json()["speakers"] == [{"id": "guest", "before": "guest"}]
    assert await labels() == {"speaker_1": "Ada <b>"}
    assert {each["speaker"] for each in await segments(api, transcribed.video_id)} == {"speaker_1"}
    for revision in (3, 4):
        response = await api.post(f"/videos/{transcribed.video_id}/transcript/undo", json={"revision": revision})
        assert response.status_code == 200
    assert await labels() == {"speaker_1": "Speaker 1"}
    comparison = await api.get(f"/videos/{transcribed.video_id}/transcript/revisions/1/comparison?to=3")
    assert comparison.json()["speakers"] == [{"id": "speaker_1", "before": "Speaker 1", "after": "Ada <b>"}]


async def test_a_renamed_speaker_alone_is_a_revision(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    rename = {"op": "renameSpeaker", "speaker": "speaker_1", "label": "Ada"}
    response = (await edit(api, transcribed.video_id, 1, rename)).json()
    assert (response["revision"], response["totalChanges"]) == (2, 0)
    assert (await edit(api, transcribed.video_id, 2, rename)).json()["revision"] == 2


async def import_text(
    api: httpx.AsyncClient, video_id: str, content: str, *, format_: str = "text", revision: int = 1
) -> httpx.Response:
    body = {"revision": revision, "format": format_, "content": content}
    return await api.post(f"/videos/{video_id}/transcript/import", json=body)


async def test_a_corrected_script_becomes_a_revision_for_undo(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, accounts: Accounts
) -> None:
    video_id = transcribed.video_id
    response = await import_text(api, video_id, "Good morning!\nThe train leaves at 10:45 from platform 4.")
    assert (response.status_code, response.json()["revision"], response.json()["totalChanges"]) == (200, 2, 2)
    assert [each["id"] for each in response.json()["changes"]] == ["s1", "s2"]
    assert await texts(api, video_id) == ["Good morning!", "The train leaves at 10:45 from platform 4."]
    latest = (await api.get(f"/videos/{video_id}/transcript/revisions")).json()["revisions"][0]
    assert (latest["kind"], latest["operations"]) == ("edit", {"import.text": 1})
    start = await accounts.connection.fetchval(
        "SELECT argument FROM outbox WHERE library_id = $1 AND workflow = 'align-transcript'", transcribed.library_id
    )
    assert start["revision"] == 2
    reverted = await api.post(f"/videos/{video_id}/transcript/undo", json={"revision": 2})
    assert reverted.status_code == 200
    assert await texts(api, video_id) == TEXTS


@pytest.mark.parametrize(
    ("format_", "content"),
    [
        ("text", "Something else entirely."),
        ("text", " \n "),
        ("srt", "Good morning."),
        ("vtt", "00:01.000 --> 00:02.000\nGood morning.\n"),
        ("ttml", "<tt><body>"),
        ("ttml", '<!DOCTYPE tt SYSTEM "http://127.0.0.1/"><tt/>'),
    ],
)
async def test_a_text_that_cannot_be_placed_changes_nothing(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, format_: str, content: str
) -> None:
    response = await import_text(api, transcribed.video_id, content, format_=format_)
    assert (response.status_code, response.json()["error"]["details"]["fields"][0]["path"]) == (400, "content")
    assert await texts(api, transcribed.video_id) == TEXTS


async def test_the_import_of_an_older_revision_is_a_conflict(
    api: httpx.AsyncClient, transcribed: TranscribedVideo
) -> None:
    await edit(api, transcribed.video_id, 1, replace_text("s1", "First."))
    response = await import_text(api, transcribed.video_id, "Good morning.")
    assert (response.status_code, response.json()["error"]["details"]) == (409, {"revision": 2})


async def kept_texts(api: httpx.AsyncClient, video_id: str) -> list[str]:
    return [each["text"] for each in await segments(api, video_id) if not each["deleted"]]


async def test_cut_words_are_left_out_of_the_edit_list(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    video_id = transcribed.video_id
    path = f"/videos/{video_id}/transcript/edit-list"
    whole = (await api.get(path)).json()
    assert (whole["revision"], whole["cuts"], len(whole["kept"])) == (1, [], 1)
    cut = {"op": "deleteWords", "id": "s2", "ranges": [{"from": 4, "to": 10}]}
    assert (await edit(api, video_id, 1, cut)).status_code == 200
    assert await kept_texts(api, video_id) == [TEXTS[0], "The", "leaves at 10:30 from platform 4."]
    found = (await api.get(path, params={"frameRate": "50", "format": "otio"})).json()
    assert (found["revision"], len(found["cuts"]), len(found["kept"])) == (2, 1, 2)
    assert found["file"]["name"].endswith(".otio")
    assert json.loads(found["file"]["content"])["OTIO_SCHEMA"] == "Timeline.1"
    [span] = found["cuts"]
    [_, before, _, after] = await segments(api, video_id)
    assert before["end"] - 0.001 <= span["start"] < span["end"] <= after["start"] + 0.001
    assert found["keptDuration"] == pytest.approx(found["duration"] - (span["end"] - span["start"]))


async def test_suggested_cuts_can_be_applied_as_they_are(api: httpx.AsyncClient, transcribed: TranscribedVideo) -> None:
    video_id = transcribed.video_id
    await edit(api, video_id, 1, replace_text("s2", "The train leaves, um, at 10:30 from from platform 4."))
    found = (await api.get(f"/videos/{video_id}/transcript/cut-suggestions")).json()
    assert (found["revision"], found["totalSuggestions"]) == (2, 2)
    assert [(each["kind"], each["text"]) for each in found["suggestions"]] == [
        ("filler", "um,"),
        ("repeat", "from"),
    ]
    ranges = [{"from": each["from"], "to": each["to"]} for each in found["suggestions"]]
    response = await edit(api, video_id, 2, {"op": "deleteWords", "id": "s2", "ranges": ranges})
    assert response.status_code == 200, response.text
    assert await kept_texts(api, video_id) == [TEXTS[0], "The train leaves,", "at 10:30", "from platform 4."]
