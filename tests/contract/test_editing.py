"""Every resource that can be changed: revisions, concurrent changes, access and bodies, through HTTP."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import ALL_SCOPES, Scope
from cutroom.platform.clock import system_clock
from cutroom.platform.db import insert
from cutroom.platform.ids import new_id
from cutroom.products.speech.rules import new_voice_id
from dev.scratch import Accounts, Person
from tests.support.api_document import DOCUMENT


@dataclass(frozen=True)
class Editable:
    """A resource with a PATCH operation: how to insert one, and bodies for it."""

    path: str
    table: str
    row: dict[str, Any]
    change: dict[str, Any]
    scope: Scope = Scope.VIDEOS_WRITE
    required: tuple[str, ...] = ()  # fields that cannot be null
    cleared: dict[str, Any] = field(default_factory=dict)  # fields that null clears, with a value to set first
    ignores_unknown_fields: bool = False

    def __str__(self) -> str:
        return self.table


VOICE = {"labels": {}, "remove_noise": False, "sample_count": 1}
ENDPOINT = {"url": "https://hooks.example.com/a", "events": ["job.ready"], "sealed_secret": b"sealed"}
EDITABLE = [
    Editable(
        "/videos/{videoId}",
        "videos",
        {"status": "ready", "title": "Old"},
        {"title": "New"},
        cleared={
            "title": "A",
            "description": "B",
            "defaultLanguageCode": "pt-BR",
            "folderIds": [],
            "labels": ["a", "b"],
        },
    ),
    Editable("/folders/{folderId}", "folders", {"name": "Old", "depth": 1}, {"name": "New"}, required=("name",)),
    Editable("/characters/{characterId}", "characters", {"name": "Old"}, {"name": "New"}, required=("name",)),
    Editable(
        "/brand-voices/{brandVoiceId}",
        "brand_voices",
        {"name": "Old", "guidelines": "Whisper."},
        {"name": "New"},
        required=("name", "guidelines"),
        cleared={"colors": ["#12ab9f"]},
    ),
    Editable(
        "/glossary/terms/{termId}",
        "glossary_terms",
        {"term": "gate", "term_key": "gate", "language": "en", "keep": True, "case_sensitive": False},
        {"term": "sluice gate"},
        scope=Scope.DUBS_WRITE,
        required=("term", "language", "keep", "caseSensitive", "translations", "pronunciations"),
        cleared={"note": "Of a dam."},
    ),
    Editable(
        "/cast/members/{memberId}",
        "cast_members",
        {"name": "Ana"},
        {"name": "Ana Duarte"},
        scope=Scope.DUBS_WRITE,
        required=("name", "voices"),
    ),
    Editable(
        "/webhook-endpoints/{endpointId}",
        "webhook_endpoints",
        ENDPOINT,
        {"url": "https://hooks.example.com/b"},
        scope=Scope.WEBHOOKS_WRITE,
        required=("url", "events", "enabled"),
    ),
    Editable(
        "/voices/{voice_id}",
        "voices",
        {"name": "Old", **VOICE},
        {"name": "New"},
        scope=Scope.TTS_WRITE,
        required=("name",),
        cleared={"description": "Warm."},
        ignores_unknown_fields=True,
    ),
]
SETTINGS = {"/library/retention"}  # one per library, without an id: tests/retention/policy
COMMENTS = {"/videos/{videoId}/comments/{commentId}"}  # of a video: tests/reviews
# Changes of a revision: tests/products/*/editing
DOCUMENTS = {
    "/videos/{videoId}/transcript",
    "/videos/{videoId}/transcript/optimized",
    "/videos/{videoId}/captions/{lang}/segments",
    "/videos/{videoId}/dubs/{lang}/segments",
}
WITH_DELETE = {each.path for each in EDITABLE}

Place = Callable[[Editable, str, Person], Awaitable[str]]


@pytest.fixture
def place(accounts: Accounts) -> Place:
    """Inserts a resource into a library, and returns its URL."""

    async def place(editable: Editable, library_id: str, person: Person) -> str:
        row = {"library_id": library_id, "id": new_id(), "created_at": system_clock(), **editable.row}
        if editable.table == "webhook_endpoints":
            row["user_id"] = person.user_id
        if editable.table == "voices":
            row |= {"id": new_voice_id(), "job_id": f"voice_{new_id()}"}
            await insert(accounts.connection, "jobs", _voice_job(library_id, row["job_id"]))
        await insert(accounts.connection, editable.table, row)
        return f"{editable.path.partition('{')[0]}{row['id']}"

    return place


def _voice_job(library_id: str, job_id: str) -> dict[str, Any]:
    now = system_clock()
    state = {"type": "voice", "status": "ready", "attempt": 1, "plan": {}, "depends_on": [], "progress": 0}
    times = {"created_at": now, "updated_at": now, "finished_at": now}
    return {"library_id": library_id, "id": job_id, **state, **times}


@pytest.fixture(params=EDITABLE, ids=str)
def editable(request: pytest.FixtureRequest) -> Editable:
    found: Editable = request.param
    return found


@pytest.fixture
async def url(editable: Editable, place: Place, person: Person) -> str:
    return await place(editable, person.library_id, person)


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


async def tag(api: httpx.AsyncClient, url: str) -> str:
    response = await api.get(url)
    assert response.status_code == 200, response.text
    return response.headers["etag"]


def test_every_operation_that_changes_a_resource_is_covered() -> None:
    patched = {path.removeprefix("/v1") for path, methods in DOCUMENT["paths"].items() if "patch" in methods}
    nested = SETTINGS | COMMENTS | DOCUMENTS
    assert patched - nested == {each.path for each in EDITABLE}
    for path in patched - nested:
        methods = DOCUMENT["paths"][f"/v1{path}"]
        assert ("delete" in methods) == (path in WITH_DELETE)
        for method in methods.keys() & {"get", "patch"}:
            assert "ETag" in methods[method]["responses"]["200"]["headers"], (method, path)
        for method in methods.keys() & {"patch", "delete"}:
            assert {"404", "409"} <= set(methods[method]["responses"]), (method, path)
            assert "If-Match" in {each["name"] for each in methods[method]["parameters"]}, (method, path)


async def test_change_returns_the_resource_with_a_new_etag(
    api: httpx.AsyncClient, editable: Editable, url: str
) -> None:
    before = (await api.get(url)).json()
    first = await tag(api, url)
    changed = await api.patch(url, json=editable.change, headers={"If-Match": first})
    assert changed.status_code == 200, changed.text
    found = await api.get(url)
    assert changed.json() == found.json() == {**before, **editable.change, **_derived(editable)}
    assert changed.headers["etag"] == found.headers["etag"] != first
    assert (await api.head(url)).headers["etag"] == found.headers["etag"]


def _derived(editable: Editable) -> dict[str, Any]:
    """Fields that follow from the changed ones."""
    return {"path": ["New"]} if editable.table == "folders" else {}


async def test_change_without_effect_keeps_the_revision(api: httpx.AsyncClient, editable: Editable, url: str) -> None:
    await api.patch(url, json=editable.change)
    first = await tag(api, url)
    again = await api.patch(url, json=editable.change)
    assert (again.status_code, again.headers["etag"]) == (200, first)


async def test_stale_change_is_refused_with_the_current_revision(
    api: httpx.AsyncClient, editable: Editable, url: str
) -> None:
    stale = await tag(api, url)
    changed = await api.patch(url, json=editable.change)
    methods = ["PATCH", "DELETE"] if editable.path in WITH_DELETE else ["PATCH"]
    for method in methods:
        for if_match in (stale, '"none"', f"{stale}, W/{stale}"):
            body = editable.change if method == "PATCH" else None
            refused = await api.request(method, url, headers={"If-Match": if_match}, json=body)
            assert code(refused) == (409, "CONFLICT"), refused.text
            assert refused.json()["error"]["details"] == {"revision": int(changed.headers["etag"].strip('"'))}
    assert (await api.get(url)).json() == changed.json()


async def test_one_of_two_concurrent_changes_of_a_revision_wins(
    api: httpx.AsyncClient, editable: Editable, url: str, accounts: Accounts
) -> None:
    for _ in range(5):
        headers = {"If-Match": await tag(api, url)}
        bodies = [_numbered(editable), _numbered(editable)]
        responses = await asyncio.gather(*(api.patch(url, json=body, headers=headers) for body in bodies))
        assert sorted(each.status_code for each in responses) == [200, 409]
        won = next(body for body, each in zip(bodies, responses, strict=True) if each.status_code == 200)
        assert won.items() <= (await api.get(url)).json().items()
    sql = f"SELECT revision FROM {editable.table} WHERE id = $1"  # noqa: S608 (a constant)
    assert await accounts.connection.fetchval(sql, url.rpartition("/")[2]) == 6


def _numbered(editable: Editable) -> dict[str, Any]:
    return {name: f"{value}{new_id()}" for name, value in editable.change.items()}


async def test_without_if_match_the_last_change_wins(api: httpx.AsyncClient, editable: Editable, url: str) -> None:
    bodies = [_numbered(editable) for _ in range(3)]
    responses = await asyncio.gather(*(api.patch(url, json=body) for body in bodies))
    assert [each.status_code for each in responses] == [200] * 3
    final = (await api.get(url)).json()
    assert any(body.items() <= final.items() for body in bodies)


@pytest.mark.parametrize("form", ["*", "{tag}", "W/{tag}", '"0", {tag}', '"0" ,W/{tag}', "1"])
async def test_if_match_may_list_several_tags(api: httpx.AsyncClient, editable: Editable, url: str, form: str) -> None:
    headers = {"If-Match": form.format(tag=await tag(api, url))}
    assert (await api.patch(url, json=editable.change, headers=headers)).status_code == 200


@pytest.mark.parametrize("if_match", ["", '"', ",", "2", '"1 2"', "*, *", "nonsense"])
async def test_tag_that_is_no_revision_conflicts(
    api: httpx.AsyncClient, editable: Editable, url: str, if_match: str
) -> None:
    refused = await api.patch(url, json=editable.change, headers={"If-Match": if_match})
    assert code(refused) == (409, "CONFLICT"), refused.text
    assert refused.json()["error"]["details"] == {"revision": 1}


@pytest.mark.parametrize("body", [{}, None, [], "name", 7])
async def test_body_without_a_change_is_rejected(api: httpx.AsyncClient, url: str, body: object) -> None:
    refused = await api.patch(url, json=body)
    assert code(refused) == (400, "INVALID_ARGUMENT"), refused.text
    assert [each["path"] for each in refused.json()["error"]["details"]["fields"]] == ["body"]


@pytest.mark.parametrize("content", [b"{", b'{"name": "a\\u0000"}', b"x" * (1024 * 1024 + 1)])
async def test_unreadable_body_is_rejected(api: httpx.AsyncClient, url: str, content: bytes) -> None:
    refused = await api.patch(url, content=content, headers={"Content-Type": "application/json"})
    assert code(refused) == (400, "INVALID_ARGUMENT"), refused.text


async def test_unknown_fields_are_refused_except_by_speech(
    api: httpx.AsyncClient, editable: Editable, url: str
) -> None:
    response = await api.patch(url, json={**editable.change, "colour": 1, "id": "x"})
    if editable.ignores_unknown_fields:
        assert response.status_code == 200
        assert code(await api.patch(url, json={"colour": 1})) == (400, "INVALID_ARGUMENT")
    else:
        assert code(response) == (400, "INVALID_ARGUMENT")
        assert {each["path"] for each in response.json()["error"]["details"]["fields"]} == {"colour", "id"}


async def test_null_clears_what_can_be_absent(api: httpx.AsyncClient, editable: Editable, url: str) -> None:
    for name in editable.required:
        refused = await api.patch(url, json={name: None})
        assert code(refused) == (400, "INVALID_ARGUMENT"), name
        assert [each["path"] for each in refused.json()["error"]["details"]["fields"]] == [name]
    for name, value in editable.cleared.items():
        changed = await api.patch(url, json={name: value})
        assert changed.status_code == 200, changed.text
        assert changed.json().get(name, []) == value
        assert name not in (await api.patch(url, json={name: None})).json()


async def test_scope_and_role_are_required(
    api: httpx.AsyncClient, editable: Editable, url: str, place: Place, accounts: Accounts, person: Person
) -> None:
    workspace_id, viewer = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, viewer, role=Role.VIEWER)
    shared = await place(editable, workspace_id, person)
    reader = await accounts.key(person, scopes=ALL_SCOPES - {editable.scope})
    viewing = await accounts.key(viewer, library_id=workspace_id)
    for headers, at, expected in (
        (reader.headers, url, "INSUFFICIENT_SCOPE"),
        (viewing.headers, shared, "PERMISSION_DENIED"),
    ):
        assert code(await api.patch(at, json=editable.change, headers=headers)) == (403, expected)
        if editable.path in WITH_DELETE:
            assert code(await api.delete(at, headers=headers)) == (403, expected)
    assert await tag(api, url) == '"1"'


async def test_other_libraries_cannot_read_change_or_delete_it(
    api: httpx.AsyncClient, editable: Editable, url: str, accounts: Accounts, person: Person
) -> None:
    other = await accounts.person()
    team = await accounts.workspace(person)
    for key in (await accounts.key(other), await accounts.key(person, library_id=team)):
        headers = {**key.headers, "If-Match": '"1"'}
        responses = [await api.get(url, headers=headers), await api.patch(url, json=editable.change, headers=headers)]
        if editable.path in WITH_DELETE and editable.table != "webhook_endpoints":  # 403 by the contract
            responses.append(await api.delete(url, headers=headers))
        for response in responses:
            assert response.json() == {"error": {"code": "NOT_FOUND", "message": "Resource not found.", "details": {}}}
    assert await tag(api, url) == '"1"'


async def test_deleted_resource_is_gone(api: httpx.AsyncClient, editable: Editable, url: str) -> None:
    if editable.path not in WITH_DELETE:
        assert code(await api.delete(url)) == (405, "METHOD_NOT_ALLOWED")
        return
    deleted = await api.delete(url, headers={"If-Match": await tag(api, url)})
    assert (deleted.status_code, deleted.content) == (204, b"")
    for response in (
        await api.get(url),
        await api.patch(url, json=editable.change),
        await api.delete(url),
        await api.delete(url, headers={"If-Match": "*"}),
    ):
        assert code(response) == (404, "NOT_FOUND")


@pytest.mark.parametrize("bad_id", ["nope", "01j9z3k4m5n6p7q8r9s0t1v2w3", "%00", "%ff", "' OR 1=1 --", "x" * 4_000])
async def test_unknown_ids_are_not_found(api: httpx.AsyncClient, editable: Editable, bad_id: str) -> None:
    url = editable.path.partition("{")[0] + bad_id
    responses = [await api.get(url), await api.patch(url, json=editable.change)]
    if editable.path in WITH_DELETE:
        responses.append(await api.delete(url))
    for response in responses:
        assert code(response) == (404, "NOT_FOUND")
