"""Changing videos, folders and brand voices: their fields, and what depends on them."""

import asyncio
from typing import Any

import httpx
import pytest

from cutroom.library.branding import require_brand_voice
from cutroom.library.videos import set_text
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.library.conftest import AddRow
from tests.library.test_routes import check_not_found, check_refused, make
from tests.library.test_videos import ids, page


@pytest.fixture
async def video(add: AddRow) -> str:
    return f"/videos/{await add('videos', status='ready', title='Old', transcript_language='en')}"


async def patch(api: httpx.AsyncClient, url: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    response = await api.patch(url, json=fields)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


async def test_sent_fields_of_a_video_change_and_the_others_stay(api: httpx.AsyncClient, video: str) -> None:
    folder = await make(api, "Season 2")
    first = await patch(
        api,
        video,
        description=" Two\nlines ",
        defaultLanguageCode="PT-br",
        folderIds=[folder["id"]],
        labels=[" a ", "b"],
    )
    expected = {
        "title": "Old",
        "description": " Two\nlines ",
        "defaultLanguageCode": "pt-BR",
        "folderIds": [folder["id"]],
        "labels": ["a", "b"],
    }
    assert expected.items() <= first.items()
    assert await patch(api, video, title="  New ") == {**first, "title": "New"}
    assert (await page(api))["videos"] == [(await api.get(video)).json()]


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("title", "", "title"),
        ("title", "  ", "title"),
        ("title", "x" * 501, "title"),
        ("title", 7, "title"),
        ("description", "", "description"),
        ("description", "x" * 20_001, "description"),
        ("defaultLanguageCode", "english", "defaultLanguageCode"),
        ("defaultLanguageCode", "", "defaultLanguageCode"),
        ("folderIds", "x", "folderIds"),
        ("folderIds", [""], "folderIds.0"),
        ("folderIds", ["a", "a"], "folderIds"),
        ("folderIds", [f"f{n}" for n in range(21)], "folderIds"),
        ("labels", ["x" * 51], "labels.0"),
        ("labels", ["ok", " "], "labels.1"),
        ("labels", ["a", " a"], "labels"),
        ("labels", [f"l{n}" for n in range(21)], "labels"),
        ("labels", [7], "labels.0"),
        ("labels", {"a": "b"}, "labels"),
        ("status", "ready", "status"),
        ("default_language_code", "klingon", "default_language_code"),
    ],
)
async def test_invalid_change_of_a_video_is_rejected_with_field(
    api: httpx.AsyncClient, video: str, field: str, value: object, path: str
) -> None:
    before = (await api.get(video)).json()
    check_refused(await api.patch(video, json={"description": "x", field: value}), path)
    assert (await api.get(video)).json() == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", "x" * 500),
        ("description", "x" * 20_000),
        ("labels", [f"{n}" * 25 for n in range(10, 30)]),
        ("labels", ["ÅÄÖ 字幕", "'; --", "a,b", "🎬" * 50]),
    ],
)
async def test_values_at_the_limit_round_trip(api: httpx.AsyncClient, video: str, field: str, value: object) -> None:
    assert (await patch(api, video, **{field: value}))[field] == value
    assert (await api.get(video)).json()[field] == value


async def test_null_selects_the_detected_language_again(api: httpx.AsyncClient, video: str) -> None:
    assert (await patch(api, video, defaultLanguageCode="de"))["defaultLanguageCode"] == "de"
    assert (await patch(api, video, defaultLanguageCode=None))["defaultLanguageCode"] == "en"


async def test_folder_of_another_library_is_not_found(
    api: httpx.AsyncClient, video: str, accounts: Accounts, add: AddRow
) -> None:
    mine = await make(api, "Mine")
    theirs = await add("folders", library_id=(await accounts.person()).library_id, name="Theirs", depth=1)
    for folder_ids in ([theirs], [mine["id"], new_id()], ["x" * 5_000]):
        check_not_found(await api.patch(video, json={"folderIds": folder_ids, "title": "New"}))
    assert (await api.get(video)).json()["title"] == "Old"


async def test_videos_are_listed_by_label(api: httpx.AsyncClient, add: AddRow, accounts: Accounts) -> None:
    both = sorted([await add("videos", status="ready", labels=["talk", "2026"]) for _ in range(3)], reverse=True)
    other = await add("videos", status="ready", labels=["2026"])
    await add("videos", status="ready")
    await add("videos", status="ready", labels=["talk"], library_id=(await accounts.person()).library_id)
    assert ids(await page(api, label="talk")) == both
    assert set(ids(await page(api, label="2026"))) == {other, *both}
    assert ids(await page(api, label="Talk")) == []
    first = await page(api, label="talk", limit=2)
    assert ids(first) == both[:2]
    assert ids(await page(api, label="talk", pageToken=first["nextPageToken"])) == both[2:]
    for wrong in ({}, {"label": "2026"}):  # a token of another list
        refused = await api.get("/videos", params={**wrong, "pageToken": first["nextPageToken"]})
        check_refused(refused, "pageToken")


@pytest.mark.parametrize("label", ["", "x" * 51, "\x00", "a\x00b"])
async def test_invalid_label_filter_is_rejected(api: httpx.AsyncClient, label: str) -> None:
    check_refused(await api.get("/videos", params={"label": label}), "label")


async def test_text_written_by_a_product_is_a_new_revision(
    api: httpx.AsyncClient, video: str, accounts: Accounts, person: Person
) -> None:
    stale = (await api.get(video)).headers["etag"]
    video_id = video.rpartition("/")[2]
    await set_text(accounts.connection, person.library_id, video_id, field="title", text="Written", now=system_clock())
    refused = await api.patch(video, json={"title": "Mine"}, headers={"If-Match": stale})
    assert (refused.status_code, refused.json()["error"]["details"]) == (409, {"revision": 2})


async def test_progress_of_a_video_is_no_new_revision(api: httpx.AsyncClient, video: str, accounts: Accounts) -> None:
    before = (await api.get(video)).headers["etag"]
    await accounts.connection.execute(
        "UPDATE videos SET transcript_status = 'ready', poster_path = 'x' WHERE id = $1", video.rpartition("/")[2]
    )
    assert (await api.get(video)).headers["etag"] == before


async def test_folder_is_moved_with_the_folders_inside(api: httpx.AsyncClient) -> None:
    root, target = await make(api, "Root"), await make(api, "Target")
    inside = await make(api, "Inside", root["id"])
    moved = await patch(api, f"/folders/{root['id']}", parentId=target["id"])
    assert (moved["parentId"], moved["path"]) == (target["id"], ["Target", "Root"])
    assert (await api.get(f"/folders/{inside['id']}")).json()["path"] == ["Target", "Root", "Inside"]
    check_refused(await api.post("/folders", json={"name": "Four", "parentId": inside["id"]}), "parentId")
    back = await patch(api, f"/folders/{root['id']}", parentId=None, name="Again")
    assert (back["parentId"], back["path"]) == (None, ["Again"])
    await make(api, "Third level", inside["id"])
    listed = (await api.get("/folders")).json()["folders"]
    assert [each["path"] for each in listed] == [
        ["Again"],
        ["Target"],
        ["Again", "Inside"],
        ["Again", "Inside", "Third level"],
    ]


async def test_folder_cannot_be_moved_into_itself_or_too_deep(
    api: httpx.AsyncClient, accounts: Accounts, add: AddRow
) -> None:
    one = await make(api, "One")
    two = await make(api, "Two", one["id"])
    other = await make(api, "Other")
    await make(api, "Inside", other["id"])
    theirs = await add("folders", library_id=(await accounts.person()).library_id, name="Theirs", depth=1)
    before = (await api.get("/folders")).json()
    for folder, parent_id in ((one, one["id"]), (one, two["id"]), (other, two["id"]), (one, "All Videos"), (one, "")):
        check_refused(await api.patch(f"/folders/{folder['id']}", json={"parentId": parent_id}), "parentId")
    for parent_id in (theirs, new_id()):
        check_not_found(await api.patch(f"/folders/{one['id']}", json={"parentId": parent_id}))
    assert (await api.get("/folders")).json() == before


async def test_folders_moved_into_each_other_at_once_form_no_cycle(api: httpx.AsyncClient) -> None:
    for number in range(5):
        one, two = await make(api, f"One {number}"), await make(api, f"Two {number}")
        responses = await asyncio.gather(
            api.patch(f"/folders/{one['id']}", json={"parentId": two["id"]}),
            api.patch(f"/folders/{two['id']}", json={"parentId": one["id"]}),
        )
        assert sorted(each.status_code for each in responses) == [200, 400]
    assert len((await api.get("/folders")).json()["folders"]) == 10


@pytest.mark.parametrize("name", ["", " ", "x" * 121, "all videos", 7, None])
async def test_invalid_folder_name_is_rejected(api: httpx.AsyncClient, name: object) -> None:
    folder = await make(api, "Old")
    check_refused(await api.patch(f"/folders/{folder['id']}", json={"name": name}), "name")


async def test_deleted_folder_leaves_its_videos(api: httpx.AsyncClient, add: AddRow) -> None:
    outer, other = await make(api, "Outer"), await make(api, "Other")
    inner = await make(api, "Inner", outer["id"])
    video_id = await add("videos", status="ready", folder_ids=[inner["id"], other["id"]])
    refused = await api.delete(f"/folders/{outer['id']}")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "CONFLICT")
    assert (await api.delete(f"/folders/{inner['id']}")).status_code == 204
    found = await api.get(f"/videos/{video_id}")
    assert (found.json()["folderIds"], found.headers["etag"]) == ([other["id"]], '"2"')
    assert (await api.delete(f"/folders/{outer['id']}")).status_code == 204


async def test_video_is_never_left_in_a_deleted_folder(api: httpx.AsyncClient, add: AddRow) -> None:
    for _ in range(5):
        folder = await make(api, "Short-lived")
        videos = [await add("videos", status="ready") for _ in range(3)]
        deleted, *changed = await asyncio.gather(
            api.delete(f"/folders/{folder['id']}"),
            *(api.patch(f"/videos/{each}", json={"folderIds": [folder["id"]]}) for each in videos),
        )
        assert deleted.status_code == 204
        assert {each.status_code for each in changed} <= {200, 404}
        for each in videos:
            assert "folderIds" not in (await api.get(f"/videos/{each}")).json()


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"guidelines": " "}, "guidelines"),
        ({"guidelines": "x" * 4_001}, "guidelines"),
        ({"colors": ["red"]}, "colors.0"),
        ({"colors": [f"#00000{n}" for n in range(9)]}, "colors"),
    ],
)
async def test_invalid_change_of_a_brand_voice_is_rejected(
    api: httpx.AsyncClient, add: AddRow, fields: dict[str, object], path: str
) -> None:
    brand_id = await add("brand_voices", name="Calm", guidelines="Whisper.")
    check_refused(await api.patch(f"/brand-voices/{brand_id}", json=fields), path)


async def test_brand_voice_in_use_is_kept_until_the_job_has_finished(
    api: httpx.AsyncClient, add: AddRow, accounts: Accounts, person: Person
) -> None:
    brand_id, other = [await add("brand_voices", name=name, guidelines="Whisper.") for name in ("Calm", "Loud")]
    job_id = await add_job(accounts, person, {"brandVoiceId": brand_id})
    refused = await api.delete(f"/brand-voices/{brand_id}")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "CONFLICT")
    assert refused.json()["error"]["details"] == {"reason": "in_use", "jobIds": [job_id]}
    assert (await api.delete(f"/brand-voices/{other}")).status_code == 204
    await accounts.connection.execute("UPDATE jobs SET status = 'ready', finished_at = now() WHERE id = $1", job_id)
    assert (await api.delete(f"/brand-voices/{brand_id}")).status_code == 204
    assert (await api.get("/brand-voices")).json() == {"brandVoices": []}


async def add_job(accounts: Accounts, person: Person, plan: dict[str, Any]) -> str:
    """Inserts an unfinished thumbnail job."""
    now, job_id = system_clock(), f"thumbnail_{new_id()}"
    state = {"type": "thumbnail", "status": "queued", "attempt": 1, "depends_on": [], "progress": 0}
    times = {"created_at": now, "updated_at": now}
    row = {"library_id": person.library_id, "id": job_id, "plan": plan, **state, **times}
    await insert(accounts.connection, "jobs", row)
    return job_id


async def test_deletion_starts_after_a_request_that_uses_the_brand_voice(
    api: httpx.AsyncClient, runtime: Runtime, add: AddRow, accounts: Accounts, person: Person
) -> None:
    brand_id = await add("brand_voices", name="Calm", guidelines="Whisper.")
    async with runtime.database.transaction(person.library_id) as connection:
        await require_brand_voice(connection, person.library_id, brand_id)
        deleting = asyncio.create_task(api.delete(f"/brand-voices/{brand_id}"))
        await asyncio.sleep(0.3)
        assert not deleting.done()
        await add_job(accounts, person, {"automations": [{"brandVoiceId": brand_id}]})
    assert (await deleting).status_code == 409
