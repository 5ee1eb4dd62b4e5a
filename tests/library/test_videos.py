"""Video routes: fields, pagination and invalid ids and tokens."""

import base64
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from cutroom.platform.ids import new_id
from dev.scratch import Accounts, Person
from tests.library.conftest import AddRow
from tests.library.test_routes import BAD_IDS, check_not_found, check_refused

CREATED = datetime.fromisoformat("2026-05-04T03:02:01.250000+00:00")


async def fill(add: AddRow, number: int, *, library_id: str | None = None) -> list[str]:
    """Insert videos one minute apart; return their ids, newest first."""
    elsewhere = {"library_id": library_id} if library_id else {}
    video_ids = []
    for minute in range(number):
        at = CREATED + timedelta(minutes=minute)
        video_ids.append(await add("videos", id=new_id(at.timestamp()), status="ready", created_at=at, **elsewhere))
    return video_ids[::-1]


async def page(api: httpx.AsyncClient, **parameters: str | int) -> dict[str, Any]:
    response = await api.get("/videos", params=parameters)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def ids(found: dict[str, Any]) -> list[str]:
    return [video["id"] for video in found["videos"]]


async def test_minimal_video_omits_unset_fields(api: httpx.AsyncClient, add: AddRow) -> None:
    video_id = await add("videos", status="queued", created_at=CREATED)
    bare = {"id": video_id, "status": "queued", "createdAt": "2026-05-04T03:02:01.250000Z"}
    assert (await api.get(f"/videos/{video_id}")).json() == bare
    assert await page(api) == {"videos": [bare]}


async def test_full_video_has_every_field(api: httpx.AsyncClient, add: AddRow) -> None:
    folders = [new_id(), new_id()]
    video_id = await add(
        "videos",
        status="processing",
        title="Ein „Titel“ <b>",
        description="Line one\nline two",
        duration_seconds=192.4,
        provider="youtube",
        media_type="audio",
        default_language_code="pt-BR",
        folder_ids=folders,
        import_status="ready",
        import_language="pt-BR",
        transcript_status="processing",
        transcript_language="pt",
        created_at=CREATED,
    )
    full = {
        "id": video_id,
        "status": "processing",
        "title": "Ein „Titel“ <b>",
        "description": "Line one\nline two",
        "duration": 192.4,
        "provider": "youtube",
        "mediaType": "audio",
        "defaultLanguageCode": "pt-BR",
        "folderIds": folders,
        "createdAt": "2026-05-04T03:02:01.250000Z",
        "import": {"status": "ready", "language": "pt-BR"},
        "transcript": {"status": "processing", "language": "pt"},
    }
    assert (await api.get(f"/videos/{video_id}")).json() == full
    assert await page(api) == {"videos": [full]}


async def test_unknown_stage_language_is_omitted(api: httpx.AsyncClient, add: AddRow) -> None:
    video_id = await add("videos", status="failed", import_status="failed", duration_seconds=0.0, title="")
    video = (await api.get(f"/videos/{video_id}")).json()
    assert video["import"] == {"status": "failed"}
    assert "transcript" not in video
    assert (video["duration"], video["title"]) == (0.0, "")  # empty values are not omitted


@pytest.mark.parametrize("status", ["queued", "processing", "ready", "failed"])
async def test_every_status_is_returned(api: httpx.AsyncClient, add: AddRow, status: str) -> None:
    video_id = await add("videos", status=status, import_status=status, transcript_status=status)
    video = (await api.get(f"/videos/{video_id}")).json()
    assert (video["status"], video["import"], video["transcript"]) == (status, {"status": status}, {"status": status})


@pytest.mark.parametrize("video_id", BAD_IDS)
async def test_missing_video_is_not_found(api: httpx.AsyncClient, video_id: str) -> None:
    check_not_found(await api.get(f"/videos/{video_id}"))


async def test_video_of_other_library_is_not_found(api: httpx.AsyncClient, accounts: Accounts, add: AddRow) -> None:
    (theirs,) = await fill(add, 1, library_id=(await accounts.person()).library_id)
    check_not_found(await api.get(f"/videos/{theirs}"))


async def test_default_page_size_is_20(api: httpx.AsyncClient, add: AddRow) -> None:
    video_ids = await fill(add, 21)
    found = await page(api)
    assert ids(found) == video_ids[:20]
    assert set(found) == {"videos", "nextPageToken"}


@pytest.mark.parametrize(("limit", "pages"), [(1, 7), (2, 4), (3, 3), (6, 2), (7, 1), (8, 1), (100, 1)])
async def test_paging_returns_every_video_once(api: httpx.AsyncClient, add: AddRow, limit: int, pages: int) -> None:
    video_ids = await fill(add, 7)
    walked = [await page(api, limit=limit)]
    while "nextPageToken" in walked[-1]:
        walked.append(await page(api, limit=limit, pageToken=walked[-1]["nextPageToken"]))
    assert [video_id for found in walked for video_id in ids(found)] == video_ids
    assert len(walked) == pages
    assert set(walked[-1]) == {"videos"}


async def test_paging_is_stable_under_concurrent_changes(
    api: httpx.AsyncClient, accounts: Accounts, add: AddRow
) -> None:
    video_ids = await fill(add, 6)
    first = await page(api, limit=3)
    await add("videos", status="queued")  # newest
    await accounts.connection.execute("DELETE FROM videos WHERE id = $1", video_ids[2])  # the video in the page token
    rest = await page(api, limit=3, pageToken=first["nextPageToken"])
    assert ids(rest) == video_ids[3:]


async def test_page_size_can_change_between_pages(api: httpx.AsyncClient, add: AddRow) -> None:
    video_ids = await fill(add, 5)
    first = await page(api, limit=1)
    assert ids(await page(api, limit=100, pageToken=first["nextPageToken"])) == video_ids[1:]


@pytest.mark.parametrize("limit", ["0", "101", "-1", "abc", "", "1.5", "1e2", "9" * 30, "null", "0x10"])
async def test_limit_out_of_range_is_rejected(api: httpx.AsyncClient, limit: str) -> None:
    check_refused(await api.get("/videos", params={"limit": limit}), "limit")


@pytest.mark.parametrize("limit", [1, 100])
async def test_limit_bounds_are_accepted(api: httpx.AsyncClient, limit: int) -> None:
    assert await page(api, limit=limit) == {"videos": []}


@pytest.mark.parametrize(
    "token",
    [
        "",
        "x",
        "garbage",
        "ü",
        "\x00",
        "01j9z3k4m5n6p7q8r9s0t1v2w3",
        "====",
        "A" * 56,
        "A" * 50_000,
        base64.urlsafe_b64encode(b"01j9z3k4m5n6p7q8r9s0t1v2w3" + bytes(16)).decode(),
        base64.urlsafe_b64encode(b"01j9z3k4m5n6p7q8r9s0t1v2w3").decode(),
    ],
    ids=lambda token: repr(token[:20]),
)
async def test_forged_page_token_is_rejected(api: httpx.AsyncClient, token: str) -> None:
    check_refused(await api.get("/videos", params={"pageToken": token}), "pageToken")


async def test_modified_page_token_is_rejected(api: httpx.AsyncClient, add: AddRow) -> None:
    await fill(add, 2)
    token = (await page(api, limit=1))["nextPageToken"]
    changed = [token[:at] + ("A" if kept != "A" else "B") + token[at + 1 :] for at, kept in enumerate(token)]
    for bad in (*changed, token[:-1], token[:-4], token + "A", token + "AAAA", token * 2):
        check_refused(await api.get("/videos", params={"pageToken": bad}), "pageToken")


async def test_page_token_of_other_library_is_rejected(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, add: AddRow
) -> None:
    await fill(add, 2)
    token = (await page(api, limit=1))["nextPageToken"]
    team = await accounts.workspace(person)
    for headers in (
        (await accounts.key(await accounts.person())).headers,
        (await accounts.key(person, library_id=team)).headers,
    ):
        check_refused(await api.get("/videos", params={"pageToken": token}, headers=headers), "pageToken")


async def test_page_token_works_with_other_key_of_library(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, add: AddRow
) -> None:
    video_ids = await fill(add, 2)
    token = (await page(api, limit=1))["nextPageToken"]
    api.headers.update((await accounts.key(person)).headers)
    assert ids(await page(api, pageToken=token)) == video_ids[1:]
