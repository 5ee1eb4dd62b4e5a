"""The request pipeline: authentication, headers, idempotency and error handling."""

import asyncio
from datetime import timedelta

import httpx
import pytest

from cutroom.accounts.keys import KEY_PREFIX, generate_credential
from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.web import middleware
from dev.scratch import Accounts, Keyring, Person
from tests.conftest import MovableClock


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


async def test_credential_headers(anonymous: httpx.AsyncClient, key: Keyring) -> None:
    assert (await anonymous.get("/videos", headers={"Authorization": f"Bearer {key.secret}"})).status_code == 200
    assert (await anonymous.get("/videos", headers={"Authorization": f"bearer {key.secret}"})).status_code == 200
    assert (await anonymous.get("/videos", headers={"X-Api-Key": key.secret})).status_code == 200
    speech_header = await anonymous.get("/videos", headers={"xi-api-key": key.secret})
    assert code(speech_header) == (401, "UNAUTHENTICATED")
    missing = await anonymous.get("/videos")
    assert missing.json() == {"error": {"code": "UNAUTHENTICATED", "message": "Missing API key.", "details": {}}}
    assert missing.headers["WWW-Authenticate"] == "Bearer"


async def test_unknown_and_malformed_keys_are_indistinguishable(anonymous: httpx.AsyncClient) -> None:
    for secret in (generate_credential(KEY_PREFIX), "cr_nonsense", "x", "oat_" + "a" * 46):
        response = await anonymous.get("/videos", headers={"X-Api-Key": secret})
        assert response.json()["error"] == {"code": "INVALID_API_KEY", "message": "Invalid API key", "details": {}}


async def test_scope_is_checked_before_body(anonymous: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    reader = await accounts.key(person, scopes=[Scope.VIDEOS_READ])
    response = await anonymous.post("/folders", content=b"{", headers=reader.headers)
    assert code(response) == (403, "INSUFFICIENT_SCOPE")
    assert response.json()["error"]["details"] == {"required": ["videos:write"]}


async def test_responses_have_request_id_and_rate_limit_headers(api: httpx.AsyncClient) -> None:
    responses = [await api.get("/videos"), await api.get("/videos/none"), await api.post("/folders", json={})]
    for response in responses:
        assert {"x-request-id", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"} <= set(response.headers)
    assert len({response.headers["x-request-id"] for response in responses}) == 3


async def test_replay_is_byte_identical(api: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "once"}
    first = await api.post("/folders", json={"name": "a"}, headers=headers)
    again = await api.post("/folders/", json={"name": "a"}, headers=headers)
    assert (again.status_code, again.content) == (first.status_code, first.content) == (201, first.content)
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert len((await api.get("/folders")).json()["folders"]) == 1


@pytest.mark.parametrize(
    ("path", "name", "details"),
    [
        ("/folders", "b", {"pathMatch": True, "hashMatch": False}),
        ("/webhook-endpoints", "a", {"pathMatch": False, "hashMatch": True}),
        ("/webhook-endpoints", "b", {"pathMatch": False, "hashMatch": False}),
    ],
)
async def test_reused_key_with_other_request_conflicts(
    api: httpx.AsyncClient, path: str, name: str, details: dict[str, bool]
) -> None:
    headers = {"Idempotency-Key": "once"}
    await api.post("/folders", json={"name": "a"}, headers=headers)
    response = await api.post(path, json={"name": name}, headers=headers)
    assert code(response) == (409, "IDEMPOTENCY_REPLAY")
    assert response.json()["error"]["details"] == details


async def test_response_is_stored_for_24_hours(api: httpx.AsyncClient, clock: MovableClock) -> None:
    headers = {"Idempotency-Key": "once"}
    first = await api.post("/folders", json={"name": "a"}, headers=headers)
    clock.shift = timedelta(hours=23, minutes=59, seconds=50)
    assert (await api.post("/folders", json={"name": "a"}, headers=headers)).content == first.content
    clock.shift = timedelta(hours=24, seconds=10)
    assert (await api.post("/folders", json={"name": "a"}, headers=headers)).content != first.content
    assert (await api.post("/folders", json={"name": "b"}, headers=headers)).status_code == 409


async def test_rotated_api_key_of_the_same_account_replays(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, key: Keyring
) -> None:
    headers = {"Idempotency-Key": "once"}
    first = await api.post("/folders", json={"name": "a"}, headers=headers)
    rotated = await accounts.key(person)
    await accounts.connection.execute("UPDATE api_keys SET revoked_at = now() WHERE id = $1", key.id)
    again = await api.post("/folders", json={"name": "a"}, headers={**headers, **rotated.headers})
    assert (again.status_code, again.content) == (first.status_code, first.content) == (201, first.content)
    assert again.headers["idempotency-replayed"] == "true"
    other_body = await api.post("/folders", json={"name": "b"}, headers={**headers, **rotated.headers})
    assert code(other_body) == (409, "IDEMPOTENCY_REPLAY")


async def test_idempotency_keys_are_scoped_to_the_library_and_the_account(
    anonymous: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    workspace_id = await accounts.workspace(person)
    member = await accounts.person()
    await accounts.member(workspace_id, member, role=Role.EDITOR)
    keys = [
        await accounts.key(person),
        await accounts.key(person, library_id=workspace_id),
        await accounts.key(member, library_id=workspace_id),
    ]
    created = [
        await anonymous.post("/folders", json={"name": "a"}, headers={**each.headers, "Idempotency-Key": "once"})
        for each in keys
    ]
    assert [response.status_code for response in created] == [201] * 3
    assert len({response.json()["id"] for response in created}) == 3


@pytest.mark.parametrize(
    ("body", "status"), [(b"{", 400), (b'{"name": ""}', 400), (b'{"name": "a", "parentId": "none"}', 404)]
)
async def test_error_responses_are_stored(api: httpx.AsyncClient, body: bytes, status: int) -> None:
    headers = {"Idempotency-Key": "once", "Content-Type": "application/json"}
    first = await api.post("/folders", content=body, headers=headers)
    again = await api.post("/folders", content=body, headers=headers)
    assert first.status_code == status
    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"


async def test_authorization_errors_are_not_stored(
    anonymous: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    key = await accounts.key(person, scopes=[Scope.VIDEOS_READ])
    headers = {**key.headers, "Idempotency-Key": "once"}
    assert (await anonymous.post("/folders", json={"name": "a"}, headers=headers)).status_code == 403
    await accounts.connection.execute("UPDATE api_keys SET scopes = '{videos:write}' WHERE id = $1", key.id)
    assert (await anonymous.post("/folders", json={"name": "a"}, headers=headers)).status_code == 201


async def test_concurrent_duplicates_have_one_effect(api: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "once"}
    duplicates = await asyncio.gather(*(api.post("/folders", json={"name": "a"}, headers=headers) for _ in range(20)))
    assert len({duplicate.content for duplicate in duplicates}) == 1
    assert len((await api.get("/folders")).json()["folders"]) == 1


async def test_concurrent_duplicate_times_out_with_retry_after(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware, "DUPLICATE_WAIT_SECONDS", 0.2)
    async with accounts.connection.transaction():  # another request holds the key
        await accounts.connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"{person.library_id} {person.user_id} once"
        )
        response = await api.post("/folders", json={"name": "a"}, headers={"Idempotency-Key": "once"})
    assert code(response) == (409, "CONFLICT")
    assert response.headers["retry-after"] == "1"
    assert (await api.post("/folders", json={"name": "a"}, headers={"Idempotency-Key": "once"})).status_code == 201


@pytest.mark.parametrize("key_header", ["", "x" * 256])
async def test_idempotency_key_length_is_limited(api: httpx.AsyncClient, key_header: str) -> None:
    response = await api.post("/folders", json={"name": "a"}, headers={"Idempotency-Key": key_header})
    assert code(response) == (400, "INVALID_ARGUMENT")
    assert response.json()["error"]["details"]["fields"][0]["path"] == "Idempotency-Key"


async def test_stored_response_is_encrypted(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    created = await api.post(
        "/webhook-endpoints", json={"url": "https://hooks.example.com/a"}, headers={"Idempotency-Key": "once"}
    )
    secret: str = created.json()["secret"]
    sealed = await accounts.connection.fetchval(
        "SELECT sealed_body FROM idempotency_records WHERE library_id = $1", person.library_id
    )
    assert secret.encode() not in sealed
    again = await api.post(
        "/webhook-endpoints", json={"url": "https://hooks.example.com/a"}, headers={"Idempotency-Key": "once"}
    )
    assert again.json()["secret"] == secret
