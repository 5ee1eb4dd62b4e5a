"""Review links through HTTP: what is returned and stored, expiry, quota, access."""

from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.reviews import links
from cutroom.reviews.links import hash_of
from dev.scratch import Accounts, Person
from tests.library.conftest import AddRow, add  # noqa: F401 (a fixture)


@pytest.fixture
async def url(add: AddRow) -> str:  # noqa: F811
    return f"/videos/{await add('videos', status='ready', title='x')}/review-links"


async def create(api: httpx.AsyncClient, url: str, **body: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    response = await api.post(url, json={"role": "comment", **body})
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()
    return found


async def test_secret_is_returned_once_and_stored_as_a_keyed_hash(
    api: httpx.AsyncClient, url: str, accounts: Accounts, settings: Settings
) -> None:
    created = await create(api, url, label="Ana")
    secret = created.pop("url").removeprefix(f"{settings.base_url}/review/")
    assert secret.startswith("rev_")
    assert (await api.get(url)).json() == {"links": [created]}
    row = await accounts.connection.fetchrow("SELECT * FROM review_links WHERE id = $1", created["id"])
    assert row is not None
    assert row["hash"] == hash_of(secret, SecretBox(settings.secret_key.get_secret_value()))
    assert not any(secret in str(value) for value in dict(row).values())
    entries = await accounts.connection.fetch(
        "SELECT targets, details FROM audit_entries WHERE library_id = $1 ORDER BY sequence", row["library_id"]
    )
    assert not any(secret in str(dict(entry)) or "Ana" in str(dict(entry)) for entry in entries)


async def test_link_expires_in_two_weeks_unless_it_says_otherwise(api: httpx.AsyncClient, url: str) -> None:
    at = (system_clock() + timedelta(days=3)).replace(microsecond=0)
    made = [
        (await create(api, url), 14),
        (await create(api, url, expiresInDays=90), 90),
        (await create(api, url, expiresAt=at.isoformat()), 3),
    ]
    for link, days in made:
        lifetime = datetime.fromisoformat(link["expiresAt"]) - datetime.fromisoformat(link["createdAt"])
        assert abs(lifetime - timedelta(days=days)) < timedelta(minutes=1)


REFUSED: list[dict[str, Any]] = [
    {"role": "owner"},
    {"expiresInDays": 0},
    {"expiresInDays": 91},
    {"expiresAt": "2020-01-01T00:00:00Z"},
    {"expiresAt": (system_clock() + timedelta(days=91)).isoformat()},
    {"expiresAt": (system_clock() + timedelta(days=2)).isoformat(), "expiresInDays": 2},
    {"label": "x" * 121},
    {"label": "a\nb"},
]


@pytest.mark.parametrize("body", REFUSED)
async def test_other_roles_and_lifetimes_are_refused(api: httpx.AsyncClient, url: str, body: dict[str, Any]) -> None:
    response = await api.post(url, json={"role": "view", **body})
    assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_ARGUMENT")


async def test_expired_links_are_not_listed_and_leave_room(
    api: httpx.AsyncClient, url: str, accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "MAX_LINKS", 2)
    old, new = await create(api, url), await create(api, url)
    full = await api.post(url, json={"role": "view"})
    assert (full.status_code, full.json()["error"]["details"]) == (409, {"reason": "quota", "limit": 2})
    await accounts.connection.execute("UPDATE review_links SET expires_at = now() WHERE id = $1", old["id"])
    assert [each["id"] for each in (await api.get(url)).json()["links"]] == [new["id"]]
    await create(api, url)


async def test_revoked_link_is_gone(api: httpx.AsyncClient, url: str) -> None:
    link = await create(api, url)
    other = (await api.delete(f"{url.replace(url.split('/')[2], new_id())}/{link['id']}")).status_code
    assert other == 404
    assert (await api.delete(f"{url}/{link['id']}")).status_code == 204
    assert (await api.delete(f"{url}/{link['id']}")).status_code == 404
    assert (await api.get(url)).json() == {"links": []}


async def test_links_need_a_scope_and_a_role_that_writes(
    anonymous: httpx.AsyncClient, accounts: Accounts, person: Person, url: str
) -> None:
    reading = await accounts.key(person, scopes=[Scope.VIDEOS_READ, Scope.DUBS_WRITE])
    refused = await anonymous.post(url, json={"role": "view"}, headers=reading.headers)
    assert refused.json()["error"]["code"] == "INSUFFICIENT_SCOPE"
    outsider = await accounts.key(await accounts.person())
    assert (await anonymous.get(url, headers=outsider.headers)).status_code == 404
    assert (await anonymous.post(url, json={"role": "view"}, headers=outsider.headers)).status_code == 404
    team, viewer = await accounts.workspace(person), await accounts.person()
    await accounts.member(team, viewer, role=Role.VIEWER)
    video_id = new_id()
    await accounts.connection.execute(
        "INSERT INTO videos (library_id, id, status, created_at) VALUES ($1, $2, 'ready', now())", team, video_id
    )
    key = await accounts.key(viewer, library_id=team)
    of_team = await anonymous.post(f"/videos/{video_id}/review-links", json={"role": "view"}, headers=key.headers)
    assert of_team.json()["error"]["code"] == "PERMISSION_DENIED"
