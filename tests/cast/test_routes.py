"""The cast through HTTP: members, appearances, and where speakers are recognized."""

import json
from typing import Any

import httpx
import numpy as np
import pytest

from cutroom.cast import appearances, recognition
from cutroom.cast.matching import RecognizedSpeaker
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.support.transcribed_videos import advertise_languages, insert_video

SPEAKERS = [{"id": "speaker_1", "label": "Speaker 1"}, {"id": "speaker_2", "label": "Speaker 2"}]
SEGMENTS = [
    {"start": 0.0, "end": 9.0, "speaker": "speaker_1", "text": "Good evening.", "deleted": False, "words": 2},
    {"start": 9.0, "end": 18.0, "speaker": "speaker_2", "text": "Welcome back.", "deleted": False, "words": 2},
]
ENGINE = "wespeaker"


async def create(api: httpx.AsyncClient, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    response = await api.post("/cast/members", json={"name": "Ana Duarte", **changes})
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()
    return found


async def opt_in(api: httpx.AsyncClient, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    response = await api.put("/cast/recognition", json={"recognizeSpeakers": True, **changes})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


async def insert_dialogue(accounts: Accounts, library_id: str, *, folder_ids: list[str] | None = None) -> str:
    """A video with two speakers."""
    video_id = await insert_video(accounts.connection, library_id, duration_seconds=18.0)
    await accounts.connection.execute(
        "UPDATE transcripts SET segments = $2, speakers = $3 WHERE video_id = $1", video_id, SEGMENTS, SPEAKERS
    )
    await accounts.connection.execute("UPDATE videos SET folder_ids = $2 WHERE id = $1", video_id, folder_ids or [])
    return video_id


async def add(
    api: httpx.AsyncClient, member: dict[str, Any], video_id: str, *, speaker: str = "speaker_1"
) -> httpx.Response:
    return await api.post(f"/cast/members/{member['id']}/videos/{video_id}/speakers/{speaker}")


async def remove(
    api: httpx.AsyncClient, member: dict[str, Any], video_id: str, *, speaker: str = "speaker_1"
) -> httpx.Response:
    return await api.delete(f"/cast/members/{member['id']}/videos/{video_id}/speakers/{speaker}")


async def save_embedding(runtime: Runtime, accounts: Accounts, library_id: str, video_id: str) -> None:
    """Store a print for each speaker of the video who waits for one, as the worker does."""
    vector = np.eye(1, 256, dtype=np.float32)[0]
    rows = await accounts.connection.fetch("SELECT id FROM cast_appearances WHERE video_id = $1", video_id)
    async with runtime.database.transaction(library_id) as connection:
        for row in rows:
            await appearances.save_embedding(
                connection, library_id, row["id"], vector, engine=ENGINE, secret_box=runtime.secret_box
            )


async def test_member_is_returned_as_it_was_sent(api: httpx.AsyncClient) -> None:
    created = await create(api)
    assert created == {
        "id": created["id"],
        "name": "Ana Duarte",
        "voices": {},
        "speakerEmbeddings": 0,
        "createdAt": created["createdAt"],
    }
    assert (await api.get(f"/cast/members/{created['id']}")).json() == created


async def test_members_are_listed_newest_first_in_pages(api: httpx.AsyncClient) -> None:
    made = [(await create(api, name=f"Person {number}"))["id"] for number in range(5)]
    first = (await api.get("/cast/members", params={"limit": 4})).json()
    rest = (await api.get("/cast/members", params={"limit": 4, "pageToken": first["nextPageToken"]})).json()
    assert [each["id"] for each in (*first["members"], *rest["members"])] == made[::-1]
    assert "nextPageToken" not in rest


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"name": " "}, "name"),
        ({"name": "<b>"}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"voices": {"pt": "unknown"}}, "voices.pt"),
        ({"voices": {"english": "x"}}, "voices.english"),
        ({"voices": {"pt": "a", "PT": "b"}}, "voices"),
    ],
)
async def test_invalid_members_are_refused(api: httpx.AsyncClient, changes: dict[str, Any], path: str) -> None:
    response = await api.post("/cast/members", json={"name": "Ana", **changes})
    assert response.status_code == 400, response.text
    [field] = response.json()["error"]["details"]["fields"]
    assert field["path"].startswith(path)


async def test_stock_voices_must_speak_the_language(api: httpx.AsyncClient, accounts: Accounts) -> None:
    await advertise_languages(accounts.connection, ["pt"])
    voice = await accounts.connection.fetchval(
        "SELECT id FROM stock_voices WHERE language = 'pt' AND engine = 'advertised'"
    )
    created = await create(api, voices={"pt-BR": voice})
    assert created["voices"] == {"pt-BR": voice}
    refused = await api.patch(f"/cast/members/{created['id']}", json={"voices": {"es": voice}})
    assert refused.json()["error"]["details"]["fields"][0]["path"] == "voices.es"


async def test_members_of_unknown_folders_and_videos_are_not_found(api: httpx.AsyncClient) -> None:
    member = await create(api)
    assert (await api.post("/cast/members", json={"name": "Ana", "folderId": new_id()})).status_code == 404
    assert (
        await api.put("/cast/recognition", json={"recognizeSpeakers": False, "folderIds": [new_id()]})
    ).status_code == 404
    assert (await add(api, member, new_id())).status_code == 404


async def test_recognition_is_off_by_default(api: httpx.AsyncClient) -> None:
    assert (await api.get("/cast/recognition")).json() == {"recognizeSpeakers": False, "folderIds": []}


async def test_without_opting_in_a_speaker_is_named_without_a_embedding(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    member, video_id = await create(api), await insert_dialogue(accounts, person.library_id)
    added = (await add(api, member, video_id)).json()
    assert (added["source"], added["embeddingStatus"]) == ("confirmed", "none")
    assert not await accounts.connection.fetchval(
        "SELECT count(*) FROM outbox WHERE library_id = $1 AND workflow = 'embed-speaker'", person.library_id
    )
    speakers = (await api.get(f"/videos/{video_id}/transcript")).json()["speakers"]
    assert speakers == [{**SPEAKERS[0], "castMemberId": member["id"]}, SPEAKERS[1]]


async def test_confirming_starts_one_embedding(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, runtime: Runtime
) -> None:
    await opt_in(api)
    member, video_id = await create(api), await insert_dialogue(accounts, person.library_id)
    added, again = (await add(api, member, video_id)).json(), (await add(api, member, video_id)).json()
    assert added["embeddingStatus"] == "pending"
    assert again == added
    started = await accounts.connection.fetch(
        "SELECT argument FROM outbox WHERE library_id = $1 AND workflow = 'embed-speaker'", person.library_id
    )
    assert len({row["argument"]["appearance_id"] for row in started}) == 1
    await save_embedding(runtime, accounts, person.library_id, video_id)
    assert (await api.get(f"/cast/members/{member['id']}")).json()["speakerEmbeddings"] == 1
    listed = (await api.get(f"/cast/members/{member['id']}/appearances")).json()
    assert listed == {"appearances": [{**added, "embeddingStatus": "ready"}]}


async def test_a_speaker_is_one_member_and_moves_to_another(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    ana, ben = await create(api), await create(api, name="Ben")
    video_id = await insert_dialogue(accounts, person.library_id)
    await add(api, ana, video_id)
    await add(api, ben, video_id)
    assert (await api.get(f"/cast/members/{ana['id']}/appearances")).json() == {"appearances": []}
    assert len((await api.get(f"/cast/members/{ben['id']}/appearances")).json()["appearances"]) == 1
    assert (await add(api, ana, video_id, speaker="speaker_9")).status_code == 404


async def test_a_video_without_transcript_is_refused(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    video_id = await insert_video(accounts.connection, person.library_id, duration_seconds=9.0, transcript=None)
    refused = await add(api, await create(api), video_id)
    assert refused.status_code == 409
    assert refused.json()["error"]["details"]["reason"] == "transcript"


async def test_deleting_erases_embeddings(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, runtime: Runtime
) -> None:
    await opt_in(api)
    member, video_id = await create(api), await insert_dialogue(accounts, person.library_id)
    await add(api, member, video_id)
    await save_embedding(runtime, accounts, person.library_id, video_id)
    assert (await remove(api, member, video_id)).status_code == 204
    assert (await remove(api, member, video_id)).status_code == 404
    await add(api, member, video_id, speaker="speaker_2")
    await save_embedding(runtime, accounts, person.library_id, video_id)
    assert (await api.delete(f"/cast/members/{member['id']}")).status_code == 204
    assert not await accounts.connection.fetchval(
        "SELECT count(*) FROM cast_appearances WHERE library_id = $1", person.library_id
    )


async def test_opting_out_erases_embeddings_of_other_folders(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, runtime: Runtime
) -> None:
    outer = (await api.post("/folders", json={"name": "Series"})).json()["id"]
    inner = (await api.post("/folders", json={"name": "Season", "parentId": outer})).json()["id"]
    await opt_in(api)
    member = await create(api)
    videos = [await insert_dialogue(accounts, person.library_id, folder_ids=ids) for ids in ([inner], [])]
    for video_id in videos:
        await add(api, member, video_id)
        await save_embedding(runtime, accounts, person.library_id, video_id)
    state = await opt_in(api, recognizeSpeakers=False, folderIds=[outer])
    assert state == {"recognizeSpeakers": False, "folderIds": [outer]}
    states = {
        each["videoId"]: each["embeddingStatus"]
        for each in (await api.get(f"/cast/members/{member['id']}/appearances")).json()["appearances"]
    }
    assert states == {videos[0]: "ready", videos[1]: "none"}
    kept = await accounts.connection.fetch(
        "SELECT video_id FROM cast_appearances WHERE library_id = $1 AND sealed_embedding IS NOT NULL",
        person.library_id,
    )
    assert [row["video_id"] for row in kept] == [videos[0]]


async def test_the_cast_of_a_video_is_that_of_its_folders(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, runtime: Runtime, worker_database: Database
) -> None:
    series = (await api.post("/folders", json={"name": "Series"})).json()["id"]
    other = (await api.post("/folders", json={"name": "Talks"})).json()["id"]
    await opt_in(api)
    for number, folder_id in enumerate((series, other, None)):
        member = await create(api, name=f"Person {number}", folderId=folder_id)
        source = await insert_dialogue(accounts, person.library_id)
        await add(api, member, source)
        await save_embedding(runtime, accounts, person.library_id, source)
    target = await insert_dialogue(accounts, person.library_id, folder_ids=[series])

    async def names(engine: str = ENGINE) -> set[str]:
        async with worker_database.transaction(person.library_id) as connection:
            cast = await recognition.load_cast(
                connection, person.library_id, target, engine=engine, secret_box=runtime.secret_box
            )
        assert all(np.isclose(np.linalg.norm(vector), 1.0) for each in cast for vector in each.vectors)
        return {each.name for each in cast}

    assert await names() == {"Person 0", "Person 2"}
    assert await names("another embedder") == set()
    await opt_in(api, recognizeSpeakers=False, folderIds=[other])
    assert await names() == set()


async def test_another_recognition_keeps_confirmed_speakers_who_are_recognized_again(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, runtime: Runtime, worker_database: Database
) -> None:
    await opt_in(api)
    ana, ben = await create(api), await create(api, name="Ben")
    video_id = await insert_dialogue(accounts, person.library_id)
    added = (await add(api, ana, video_id)).json()
    await save_embedding(runtime, accounts, person.library_id, video_id)
    await add(api, ben, video_id, speaker="speaker_2")
    found = [RecognizedSpeaker("speaker_2", ana["id"], "Ana", 0.9)]
    async with worker_database.transaction(person.library_id) as connection:
        await recognition.replace_recognized(connection, person.library_id, video_id, found, now=system_clock())
    listed = (await api.get(f"/cast/members/{ana['id']}/appearances")).json()["appearances"]
    assert listed == [{**added, "speakerId": "speaker_2", "embeddingStatus": "ready"}]
    assert (await api.get(f"/cast/members/{ben['id']}/appearances")).json() == {"appearances": []}


async def test_names_and_embeddings_are_in_no_audit_entry(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, runtime: Runtime
) -> None:
    await opt_in(api)
    member, video_id = await create(api), await insert_dialogue(accounts, person.library_id)
    await add(api, member, video_id)
    await save_embedding(runtime, accounts, person.library_id, video_id)
    await api.patch(f"/cast/members/{member['id']}", json={"name": "Anabela"})
    await remove(api, member, video_id)
    await api.delete(f"/cast/members/{member['id']}")
    rows = await accounts.connection.fetch(
        "SELECT action, targets, details FROM audit_entries WHERE library_id = $1", person.library_id
    )
    recorded = {row["action"]: json.dumps([row["targets"], row["details"]]) for row in rows}
    expected = {"createCastMember", "updateCastMember", "deleteCastMember", "setCastRecognition"}
    assert expected | {"createCastAppearance", "deleteCastAppearance"} <= recorded.keys()
    assert not any(text in each for each in recorded.values() for text in ("Ana", "similarity", "sealed"))
