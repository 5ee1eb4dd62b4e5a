"""Comments through HTTP: their fields, pages, authors and revisions."""

from typing import Any

import httpx
import pytest

from cutroom.platform.ids import new_id
from cutroom.reviews import service
from dev.scratch import Accounts, Person
from tests.library.conftest import AddRow, add  # noqa: F401 (a fixture)

COMMENT: dict[str, Any] = {"time": 12.5, "segmentId": "s3", "language": "pt-BR", "text": "The <b>river</b>\n& its name"}


@pytest.fixture
async def url(add: AddRow) -> str:  # noqa: F811
    return f"/videos/{await add('videos', status='ready', title='x')}/comments"


async def create(api: httpx.AsyncClient, url: str, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    response = await api.post(url, json={**COMMENT, **changes})
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()
    return found


async def test_comment_is_returned_as_it_was_sent(
    api: httpx.AsyncClient, url: str, person: Person, accounts: Accounts
) -> None:
    created = await create(api, url)
    name = await accounts.connection.fetchval("SELECT name FROM users WHERE id = $1", person.user_id)
    assert created == {
        **COMMENT,
        "id": created["id"],
        "videoId": url.split("/")[2],
        "authorKind": "key",
        "authorName": name,
        "userId": person.user_id,
        "resolved": False,
        "createdAt": created["createdAt"],
    }
    assert (await api.get(f"{url}/{created['id']}")).json() == created
    entries = await accounts.connection.fetch("SELECT targets, details FROM audit_entries ORDER BY sequence")
    assert not any("river" in str(dict(entry)) for entry in entries)


async def test_comments_are_listed_newest_first_in_pages(api: httpx.AsyncClient, url: str) -> None:
    made = [(await create(api, url, time=time))["id"] for time in (3, 1, 2)]
    first = (await api.get(url, params={"limit": 2})).json()
    rest = (await api.get(url, params={"limit": 2, "pageToken": first["nextPageToken"]})).json()
    assert [each["id"] for each in (*first["comments"], *rest["comments"])] == made[::-1]
    assert "nextPageToken" not in rest


@pytest.mark.parametrize(
    "changes",
    [
        {"time": -1},
        {"time": 1e9},
        {"time": "1"},
        {"text": " "},
        {"text": "x" * 2_001},
        {"text": "a\x00"},
        {"language": "english"},
        {"segmentId": "a b"},
    ],
)
async def test_unusable_comments_are_refused(api: httpx.AsyncClient, url: str, changes: dict[str, Any]) -> None:
    response = await api.post(url, json={**COMMENT, **changes})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")


async def test_change_needs_the_current_revision_if_one_is_given(api: httpx.AsyncClient, url: str) -> None:
    path = f"{url}/{(await create(api, url))['id']}"
    assert (await api.get(path)).headers["ETag"] == '"1"'
    resolved = await api.patch(path, json={"resolved": True}, headers={"If-Match": '"1"'})
    assert (resolved.json()["resolved"], resolved.headers["ETag"]) == (True, '"2"')
    for response in (
        await api.patch(path, json={"text": "b"}, headers={"If-Match": '"1"'}),
        await api.delete(path, headers={"If-Match": '"1"'}),
    ):
        assert (response.status_code, response.json()["error"]["details"]) == (409, {"revision": 2})
    reopened = await api.patch(path, json={"resolved": False, "text": "b"})
    assert (reopened.json()["resolved"], reopened.json()["text"]) == (False, "b")
    assert (await api.delete(path, headers={"If-Match": reopened.headers["ETag"]})).status_code == 204
    assert (await api.get(path)).status_code == 404


async def test_only_its_author_changes_a_text(api: httpx.AsyncClient, url: str, accounts: Accounts) -> None:
    created = await create(api, url)
    await accounts.connection.execute(
        "UPDATE review_comments SET user_id = $2 WHERE id = $1", created["id"], (await accounts.person()).user_id
    )
    path = f"{url}/{created['id']}"
    refused = await api.patch(path, json={"text": "other"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "PERMISSION_DENIED")
    assert (await api.patch(path, json={"resolved": True})).status_code == 200
    assert (await api.delete(path)).status_code == 204


async def test_comment_is_found_at_its_video_only(api: httpx.AsyncClient, url: str, add: AddRow) -> None:  # noqa: F811
    created, other = await create(api, url), await add("videos", status="ready", title="y")
    for video_id in (other, new_id(), "x"):
        path = f"/videos/{video_id}/comments/{created['id']}"
        assert (await api.get(path)).status_code == 404
        assert (await api.patch(path, json={"resolved": True})).status_code == 404
        assert (await api.delete(path)).status_code == 404
    assert (await api.get(f"{url}/x")).status_code == 404


async def test_comments_have_a_quota(api: httpx.AsyncClient, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_COMMENTS", 1)
    await create(api, url)
    full = await api.post(url, json=COMMENT)
    assert (full.status_code, full.json()["error"]["details"]) == (409, {"reason": "quota", "limit": 1})
