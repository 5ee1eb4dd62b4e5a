"""Webhook endpoint routes."""

import base64
from typing import Any

import httpx
import pytest

from cutroom.accounts.principals import Role
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from cutroom.webhooks.signing import SECRET_PURPOSE
from dev.scratch import Accounts, Person

URL = "https://hooks.example.com/cutroom"
EVENTS = ["video.ready", "video.failed", "job.ready", "job.failed"]
PATH = "/webhook-endpoints"


async def register(api: httpx.AsyncClient, url: str = URL, headers: dict[str, str] | None = None) -> dict[str, Any]:
    response = await api.post(PATH, json={"url": url}, headers=headers)
    assert response.status_code == 201, response.text
    endpoint: dict[str, Any] = response.json()
    return endpoint


async def listed(api: httpx.AsyncClient) -> list[dict[str, Any]]:
    response = await api.get(PATH)
    assert response.status_code == 200
    assert set(response.json()) == {"webhookEndpoints"}
    endpoints: list[dict[str, Any]] = response.json()["webhookEndpoints"]
    return endpoints


def check_error(response: httpx.Response, status: int, code: str) -> None:
    assert (response.status_code, response.json()["error"]["code"]) == (status, code), response.text


async def test_new_endpoint_has_secret_and_four_events(api: httpx.AsyncClient) -> None:
    endpoint = await register(api)
    secret = endpoint["secret"]
    assert endpoint == {"id": endpoint["id"], "url": URL, "events": EVENTS, "enabled": True, "secret": secret}
    assert secret.startswith("whsec_")
    assert len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) == 32


async def test_secret_is_returned_only_on_creation(api: httpx.AsyncClient) -> None:
    endpoint = await register(api)
    assert await listed(api) == [{"id": endpoint["id"], "url": URL, "events": EVENTS, "enabled": True}]
    again = await api.post(PATH, json={"url": URL})
    assert endpoint["secret"] not in again.text


async def test_secrets_are_unique_per_endpoint(api: httpx.AsyncClient) -> None:
    secrets = {(await register(api, f"{URL}/{n}"))["secret"] for n in range(5)}
    assert len(secrets) == 5


async def test_endpoints_are_listed_newest_first(api: httpx.AsyncClient) -> None:
    for n in range(3):
        await register(api, f"{URL}/{n}")
    assert [endpoint["url"] for endpoint in await listed(api)] == [f"{URL}/2", f"{URL}/1", f"{URL}/0"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"url": None},
        {"url": 7},
        {"url": ""},
        {"url": "http://example.com/"},
        {"url": "https://localhost/"},
        {"url": "https://user:pass@example.com/"},
        {"url": "https://example.com/\r\nx"},
        {"url": "https://bücher.example.com/"},
        {"url": "https://example.com/" + "a" * 3_000},
        {"url": [URL]},
    ],
)
async def test_invalid_url_is_rejected_with_field(api: httpx.AsyncClient, body: dict[str, object]) -> None:
    response = await api.post(PATH, json=body)
    check_error(response, 400, "INVALID_ARGUMENT")
    assert [field["path"] for field in response.json()["error"]["details"]["fields"]] == ["url"]
    assert await listed(api) == []


async def test_duplicate_url_is_rejected_within_library(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    first = await register(api)
    check_error(await api.post(PATH, json={"url": URL}), 409, "ALREADY_EXISTS")
    other_key = (await accounts.key(person)).headers
    check_error(await api.post(PATH, json={"url": URL}, headers=other_key), 409, "ALREADY_EXISTS")
    assert [endpoint["id"] for endpoint in await listed(api)] == [first["id"]]


async def test_url_can_be_registered_in_two_libraries(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    team = (await accounts.key(person, library_id=await accounts.workspace(person))).headers
    other_user = (await accounts.key(await accounts.person())).headers
    endpoints = [await register(api), await register(api, headers=team), await register(api, headers=other_user)]
    assert len({endpoint["id"] for endpoint in endpoints}) == 3


async def test_deleted_url_can_be_registered_again(api: httpx.AsyncClient) -> None:
    for _ in range(3):
        endpoint = await register(api)
        assert (await api.delete(f"{PATH}/{endpoint['id']}")).status_code == 204
    again = await register(api)
    assert [endpoint["id"] for endpoint in await listed(api)] == [again["id"]]


async def test_endpoints_per_library_are_limited(api: httpx.AsyncClient) -> None:
    endpoints = [await register(api, f"{URL}/{n}") for n in range(20)]
    refused = await api.post(PATH, json={"url": f"{URL}/20"})
    check_error(refused, 409, "CONFLICT")
    assert refused.json()["error"]["details"] == {"maxEndpoints": 20}
    assert len(await listed(api)) == 20
    await api.delete(f"{PATH}/{endpoints[0]['id']}")
    await register(api, f"{URL}/20")


async def test_deleting_endpoint_twice_is_not_found(api: httpx.AsyncClient, accounts: Accounts) -> None:
    endpoint, kept = await register(api), await register(api, f"{URL}/kept")
    deleted = await api.delete(f"{PATH}/{endpoint['id']}")
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert [each["id"] for each in await listed(api)] == [kept["id"]]
    check_error(await api.delete(f"{PATH}/{endpoint['id']}"), 404, "NOT_FOUND")
    row = await accounts.connection.fetchrow("SELECT * FROM webhook_endpoints WHERE id = $1", endpoint["id"])
    assert row is not None  # a soft delete
    assert row["deleted_at"] is not None


@pytest.mark.parametrize(
    "endpoint_id",
    [
        "nope",
        "01j9z3k4m5n6p7q8r9s0t1v2w3",
        "%00",
        "01j9z3k4m5n6p7q8r9s0t1v2w%00",
        "%ff",
        "%F0%9F%8E%AC",
        "%27%20OR%201%3D1",
        "x" * 5_000,
    ],
)
async def test_missing_endpoint_is_not_found(api: httpx.AsyncClient, endpoint_id: str) -> None:
    check_error(await api.delete(f"{PATH}/{endpoint_id}"), 404, "NOT_FOUND")


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.EDITOR])
async def test_endpoint_of_other_member_is_visible_but_not_deletable(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, role: Role
) -> None:
    workspace_id, colleague = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, colleague, role=role)
    theirs = await register(api, headers=(await accounts.key(colleague, library_id=workspace_id)).headers)
    api.headers.update((await accounts.key(person, library_id=workspace_id)).headers)
    assert [endpoint["id"] for endpoint in await listed(api)] == [theirs["id"]]
    check_error(await api.delete(f"{PATH}/{theirs['id']}"), 403, "PERMISSION_DENIED")
    assert [endpoint["id"] for endpoint in await listed(api)] == [theirs["id"]]


async def test_other_key_of_same_user_can_delete_endpoint(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    endpoint = await register(api)
    other_key = (await accounts.key(person)).headers
    assert (await api.delete(f"{PATH}/{endpoint['id']}", headers=other_key)).status_code == 204


async def test_endpoint_of_other_library_is_forbidden_until_deleted(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    other_user = (await accounts.key(await accounts.person())).headers
    own_team = (await accounts.key(person, library_id=await accounts.workspace(person))).headers
    endpoint = await register(api)
    for headers in (other_user, own_team):
        check_error(await api.delete(f"{PATH}/{endpoint['id']}", headers=headers), 403, "PERMISSION_DENIED")
    assert len(await listed(api)) == 1
    await api.delete(f"{PATH}/{endpoint['id']}")
    check_error(await api.delete(f"{PATH}/{endpoint['id']}", headers=other_user), 404, "NOT_FOUND")


async def test_secret_is_encrypted_and_bound_to_its_row(
    api: httpx.AsyncClient, accounts: Accounts, runtime: Runtime
) -> None:
    # The stored idempotent response contains the secret too.
    response = await api.post(PATH, json={"url": URL}, headers={"Idempotency-Key": new_id()})
    endpoint = response.json()
    secret: str = endpoint["secret"]
    plain, raw = secret.removeprefix("whsec_"), base64.b64decode(secret.removeprefix("whsec_"))
    for table in ("webhook_endpoints", "idempotency_records"):
        rows = await accounts.connection.fetch(f"SELECT t::text AS row FROM {table} t")  # noqa: S608
        assert rows
        for row in rows:
            assert plain[:12] not in row["row"]
            assert plain.encode().hex()[:24] not in row["row"]
            assert raw.hex()[:24] not in row["row"]
    sealed = await accounts.connection.fetchval(
        "SELECT sealed_secret FROM webhook_endpoints WHERE id = $1", endpoint["id"]
    )
    assert runtime.secret_box.unseal(SECRET_PURPOSE, sealed, endpoint["id"]) == secret.encode()
    with pytest.raises(ValueError, match="sealed"):
        runtime.secret_box.unseal(SECRET_PURPOSE, sealed, new_id())
