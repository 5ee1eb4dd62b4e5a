"""Folder, character and brand voice routes."""

from datetime import datetime
from typing import Any

import httpx
import obstore
import pytest

from cutroom.library.rules import character_path
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.library.conftest import AddRow

CREATED = datetime.fromisoformat("2026-05-04T03:02:01+00:00")
OLDER, NEWER = new_id(CREATED.timestamp()), new_id(CREATED.timestamp() + 60)


async def make(api: httpx.AsyncClient, name: str, parent_id: str | None = None) -> dict[str, Any]:
    body = {"name": name} if parent_id is None else {"name": name, "parentId": parent_id}
    created = await api.post("/folders", json=body)
    assert created.status_code == 201, created.text
    folder: dict[str, Any] = created.json()
    return folder


def check_refused(response: httpx.Response, path: str) -> None:
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert error["code"] == "INVALID_ARGUMENT"
    assert [field["path"] for field in error["details"]["fields"]] == [path]


def check_not_found(response: httpx.Response) -> None:
    assert response.status_code == 404, response.text
    assert response.json() == {"error": {"code": "NOT_FOUND", "message": "Resource not found.", "details": {}}}


async def test_folder_is_created_listed_and_read(api: httpx.AsyncClient) -> None:
    created = await api.post("/folders", json={"name": "  Interviews "})
    assert created.status_code == 201
    folder = created.json()
    assert folder == {"id": folder["id"], "name": "Interviews", "parentId": None, "path": ["Interviews"]}
    assert (await api.get("/folders")).json() == {"folders": [folder]}
    assert (await api.get(f"/folders/{folder['id']}")).json() == folder


async def test_folders_nest_three_levels_and_no_deeper(api: httpx.AsyncClient) -> None:
    one = await make(api, "One")
    two = await make(api, "Two", one["id"])
    three = await make(api, "Three", two["id"])
    assert three == {
        "id": three["id"],
        "name": "Three",
        "parentId": two["id"],
        "path": ["One", "Two", "Three"],
    }
    assert (await api.get(f"/folders/{three['id']}")).json() == three
    check_refused(await api.post("/folders", json={"name": "Four", "parentId": three["id"]}), "parentId")
    assert len((await api.get("/folders")).json()["folders"]) == 3


async def test_folders_are_listed_parents_first(api: httpx.AsyncClient) -> None:
    old = await make(api, "Old")
    below = await make(api, "Below", old["id"])
    new = await make(api, "New")
    deep = await make(api, "Deep", below["id"])
    also_below = await make(api, "Also below", new["id"])
    listed = (await api.get("/folders")).json()["folders"]
    assert listed == [old, new, below, also_below, deep]
    seen: set[str | None] = {None}
    for folder in listed:
        assert folder["parentId"] in seen
        seen.add(folder["id"])


async def test_folder_names_need_not_be_unique(api: httpx.AsyncClient) -> None:
    first, second = await make(api, "Same"), await make(api, "Same")
    assert first["id"] != second["id"]


@pytest.mark.parametrize("parent_id", ["nope", "01j9z3k4m5n6p7q8r9s0t1v2w3", "x" * 5_000, "ü", "' OR 1=1 --", "%00"])
async def test_unknown_parent_is_not_found(api: httpx.AsyncClient, parent_id: str) -> None:
    check_not_found(await api.post("/folders", json={"name": "New", "parentId": parent_id}))


async def test_parent_in_other_library_is_not_found(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    mine = await make(api, "Mine")
    other = await accounts.person()
    theirs = (await accounts.key(other)).headers
    team = (await accounts.key(person, library_id=await accounts.workspace(person))).headers
    for headers in (theirs, team):  # another user's library, and another library of the same user
        body = {"name": "New", "parentId": mine["id"]}
        check_not_found(await api.post("/folders", json=body, headers=headers))
        check_not_found(await api.get(f"/folders/{mine['id']}", headers=headers))
        assert (await api.get("/folders", headers=headers)).json() == {"folders": []}


@pytest.mark.parametrize("parent_id", ["All Videos", "all videos", "ALL  VIDEOS"])
async def test_reserved_folder_cannot_be_parent(api: httpx.AsyncClient, parent_id: str) -> None:
    check_refused(await api.post("/folders", json={"name": "New", "parentId": parent_id}), "parentId")


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "name"),
        ({"name": None}, "name"),
        ({"name": 7}, "name"),
        ({"name": ["a"]}, "name"),
        ({"name": ""}, "name"),
        ({"name": " \t\n\u00a0"}, "name"),
        ({"name": "a" * 121}, "name"),
        ({"name": "🎬" * 121}, "name"),
        ({"name": "All Videos"}, "name"),
        ({"name": "  all   videos "}, "name"),
        ({"name": "a", "parentId": ""}, "parentId"),
        ({"name": "a", "parentId": 7}, "parentId"),
        ({"name": "nul \x00"}, "body"),
        ([], "body"),
        ("name", "body"),
    ],
)
async def test_invalid_folder_is_rejected_with_field(api: httpx.AsyncClient, body: object, path: str) -> None:
    check_refused(await api.post("/folders", json=body), path)
    assert (await api.get("/folders")).json() == {"folders": []}


async def test_invalid_unicode_name_is_rejected(api: httpx.AsyncClient) -> None:
    content = b'{"name": "half a pair \\ud83c"}'
    response = await api.post("/folders", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == 400, response.text
    assert response.json()["error"]["code"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    "name", ["a", "a" * 120, "🎬" * 120, "Überblick 字幕 ñ", "'; DROP TABLE folders; --", "a/b\\c"]
)
async def test_name_round_trips(api: httpx.AsyncClient, name: str) -> None:
    folder = await make(api, name)
    assert (await api.get(f"/folders/{folder['id']}")).json()["name"] == name


async def test_workspace_resources_have_workspace_id(api: httpx.AsyncClient, accounts: Accounts, add: AddRow) -> None:
    owner = await accounts.person()
    workspace_id = await accounts.workspace(owner)
    api.headers.update((await accounts.key(owner, library_id=workspace_id)).headers)
    folder = await make(api, "Team")
    assert folder["workspaceId"] == workspace_id
    video_id = await add("videos", library_id=workspace_id, status="ready")
    await add("characters", library_id=workspace_id, name="Ada")
    await add("brand_voices", library_id=workspace_id, name="Calm", guidelines="Whisper.")
    responses = [
        (await api.get(f"/folders/{folder['id']}")).json(),
        *(await api.get("/folders")).json()["folders"],
        (await api.get(f"/videos/{video_id}")).json(),
        *(await api.get("/videos")).json()["videos"],
        *(await api.get("/characters")).json()["characters"],
        *(await api.get("/brand-voices")).json()["brandVoices"],
    ]
    assert [response.get("workspaceId") for response in responses] == [workspace_id] * 6


BAD_IDS = [
    "nope",
    "01j9z3k4m5n6p7q8r9s0t1v2w3",
    "01J9Z3K4M5N6P7Q8R9S0T1V2W3",
    "%00",
    "01j9z3k4m5n6p7q8r9s0t1v2w%00",
    "%ff",
    "%C3%BC",
    "%F0%9F%8E%AC",
    "..",
    "%20",
    "%27%20OR%201%3D1",
    "x" * 5_000,
]


@pytest.mark.parametrize("folder_id", BAD_IDS)
async def test_missing_folder_is_not_found(api: httpx.AsyncClient, folder_id: str) -> None:
    check_not_found(await api.get(f"/folders/{folder_id}"))


async def test_library_lists_up_to_1000_folders(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    rows = [(person.library_id, new_id(), f"Folder {n}", 1, system_clock()) for n in range(999)]
    await accounts.connection.copy_records_to_table(
        "folders", records=rows, columns=["library_id", "id", "name", "depth", "created_at"]
    )
    last = await make(api, "The thousandth", rows[0][1])
    listed = (await api.get("/folders")).json()["folders"]
    assert len(listed) == 1_000
    assert listed[-1] == last
    check_refused(await api.post("/folders", json={"name": "One too many"}), "name")


async def test_characters_are_listed_newest_first_with_images(
    api: httpx.AsyncClient, viewer: httpx.AsyncClient, runtime: Runtime, person: Person, add: AddRow
) -> None:
    old = await add("characters", id=OLDER, name="Ada", created_at=CREATED)
    new = await add("characters", id=NEWER, name="Bob without images", created_at=CREATED)
    images: dict[str, bytes] = {}
    for content in (b"first image", b"second image"):
        path = character_path(person.library_id, new_id())
        await obstore.put_async(runtime.storage.store, path, content)
        images[await add("character_images", character_id=old, storage_path=path)] = content
    response = await api.get("/characters")
    assert response.status_code == 200
    bob, ada = response.json()["characters"]
    assert bob == {
        "id": new,
        "name": "Bob without images",
        "referenceImages": [],
        "createdAt": "2026-05-04T03:02:01Z",
    }
    assert ada == {
        "id": old,
        "name": "Ada",
        "referenceImages": ada["referenceImages"],
        "createdAt": "2026-05-04T03:02:01Z",
    }
    assert [set(image) for image in ada["referenceImages"]] == [{"id", "url"}] * 2
    downloaded = {image["id"]: (await viewer.get(image["url"])).content for image in ada["referenceImages"]}
    assert list(downloaded.items()) == sorted(images.items())


async def test_brand_voices_are_listed_newest_first_with_optional_colors(api: httpx.AsyncClient, add: AddRow) -> None:
    colors = ["#ff0000", "#00ff00"]
    old = await add("brand_voices", id=OLDER, name="Loud", guidelines="SHOUT.", colors=colors, created_at=CREATED)
    new = await add("brand_voices", id=NEWER, name="Calm", guidelines="Whisper.", created_at=CREATED)
    assert (await api.get("/brand-voices")).json() == {
        "brandVoices": [
            {"id": new, "name": "Calm", "guidelines": "Whisper.", "createdAt": "2026-05-04T03:02:01Z"},
            {
                "id": old,
                "name": "Loud",
                "guidelines": "SHOUT.",
                "colors": colors,
                "createdAt": "2026-05-04T03:02:01Z",
            },
        ]
    }


@pytest.mark.parametrize(
    ("path", "empty"),
    [
        ("/folders", {"folders": []}),
        ("/videos", {"videos": []}),
        ("/characters", {"characters": []}),
        ("/brand-voices", {"brandVoices": []}),
    ],
)
async def test_lists_exclude_other_libraries(
    api: httpx.AsyncClient, accounts: Accounts, add: AddRow, path: str, empty: dict[str, list[object]]
) -> None:
    other = (await accounts.person()).library_id
    await add("folders", library_id=other, name="Theirs", depth=1)
    await add("videos", library_id=other, status="ready")
    await add("characters", library_id=other, name="Theirs")
    await add("brand_voices", library_id=other, name="Theirs", guidelines="x")
    response = await api.get(path)
    assert (response.status_code, response.json()) == (200, empty)
