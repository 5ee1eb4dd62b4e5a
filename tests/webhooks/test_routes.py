"""The webhook registry, on a real database."""

import base64
from typing import Any

import httpx
import pytest

from cutroom.accounts.principals import Role
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from cutroom.webhooks.service import SECRET_PURPOSE
from dev.scratch import Accounts, Person

URL = "https://hooks.example.com/cutroom"
EVENTS = ["video.ready", "video.failed", "job.ready", "job.failed"]
PATH = "/webhook-endpoints"


async def register(api: httpx.AsyncClient, url: str = URL, headers: dict[str, str] | None = None) -> dict[str, Any]:
    answer = await api.post(PATH, json={"url": url}, headers=headers)
    assert answer.status_code == 201, answer.text
    endpoint: dict[str, Any] = answer.json()
    return endpoint


async def listed(api: httpx.AsyncClient) -> list[dict[str, Any]]:
    answer = await api.get(PATH)
    assert answer.status_code == 200
    assert set(answer.json()) == {"webhookEndpoints"}
    endpoints: list[dict[str, Any]] = answer.json()["webhookEndpoints"]
    return endpoints


def check_error(answer: httpx.Response, status: int, code: str) -> None:
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text


async def test_a_new_endpoint_answers_with_its_secret_and_exactly_four_events(api: httpx.AsyncClient) -> None:
    endpoint = await register(api)
    secret = endpoint["secret"]
    assert endpoint == {"id": endpoint["id"], "url": URL, "events": EVENTS, "secret": secret}
    assert secret.startswith("whsec_")
    assert len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) == 32


async def test_the_secret_is_in_the_creation_answer_and_in_no_other(api: httpx.AsyncClient) -> None:
    endpoint = await register(api)
    assert await listed(api) == [{"id": endpoint["id"], "url": URL, "events": EVENTS}]
    again = await api.post(PATH, json={"url": URL})
    assert endpoint["secret"] not in again.text


async def test_every_endpoint_has_a_secret_of_its_own(api: httpx.AsyncClient) -> None:
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
async def test_a_bad_url_is_refused_by_field(api: httpx.AsyncClient, body: dict[str, object]) -> None:
    answer = await api.post(PATH, json=body)
    check_error(answer, 400, "INVALID_ARGUMENT")
    assert [field["path"] for field in answer.json()["error"]["details"]["fields"]] == ["url"]
    assert await listed(api) == []


async def test_one_url_is_registered_once_in_a_library(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    first = await register(api)
    check_error(await api.post(PATH, json={"url": URL}), 409, "ALREADY_EXISTS")
    other_key = (await accounts.key(person)).headers
    check_error(await api.post(PATH, json={"url": URL}, headers=other_key), 409, "ALREADY_EXISTS")
    assert [endpoint["id"] for endpoint in await listed(api)] == [first["id"]]


async def test_two_libraries_may_register_one_url(api: httpx.AsyncClient, accounts: Accounts, person: Person) -> None:
    team = (await accounts.key(person, library_id=await accounts.workspace(person))).headers
    stranger = (await accounts.key(await accounts.person())).headers
    made = [await register(api), await register(api, headers=team), await register(api, headers=stranger)]
    assert len({endpoint["id"] for endpoint in made}) == 3


async def test_a_url_can_be_registered_again_after_its_endpoint_was_deleted(api: httpx.AsyncClient) -> None:
    for _ in range(3):
        endpoint = await register(api)
        assert (await api.delete(f"{PATH}/{endpoint['id']}")).status_code == 204
    again = await register(api)
    assert [endpoint["id"] for endpoint in await listed(api)] == [again["id"]]


async def test_a_library_has_at_most_20_endpoints(api: httpx.AsyncClient) -> None:
    made = [await register(api, f"{URL}/{n}") for n in range(20)]
    refused = await api.post(PATH, json={"url": f"{URL}/20"})
    check_error(refused, 409, "CONFLICT")
    assert refused.json()["error"]["details"] == {"maxEndpoints": 20}
    assert len(await listed(api)) == 20
    await api.delete(f"{PATH}/{made[0]['id']}")
    await register(api, f"{URL}/20")


async def test_a_deleted_endpoint_is_gone_and_deleting_it_again_is_not_found(
    api: httpx.AsyncClient, accounts: Accounts
) -> None:
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
async def test_an_endpoint_that_is_not_there_is_not_found(api: httpx.AsyncClient, endpoint_id: str) -> None:
    check_error(await api.delete(f"{PATH}/{endpoint_id}"), 404, "NOT_FOUND")


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.EDITOR])
async def test_a_colleagues_endpoint_is_seen_but_not_deleted(
    api: httpx.AsyncClient, accounts: Accounts, person: Person, role: Role
) -> None:
    workspace_id, colleague = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, colleague, role=role)
    theirs = await register(api, headers=(await accounts.key(colleague, library_id=workspace_id)).headers)
    api.headers.update((await accounts.key(person, library_id=workspace_id)).headers)
    assert [endpoint["id"] for endpoint in await listed(api)] == [theirs["id"]]
    check_error(await api.delete(f"{PATH}/{theirs['id']}"), 403, "PERMISSION_DENIED")
    assert [endpoint["id"] for endpoint in await listed(api)] == [theirs["id"]]


async def test_another_key_of_the_same_person_may_delete_it(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    endpoint = await register(api)
    other_key = (await accounts.key(person)).headers
    assert (await api.delete(f"{PATH}/{endpoint['id']}", headers=other_key)).status_code == 204


async def test_an_endpoint_of_another_library_is_forbidden_until_it_is_deleted(
    api: httpx.AsyncClient, accounts: Accounts, person: Person
) -> None:
    stranger = (await accounts.key(await accounts.person())).headers
    own_team = (await accounts.key(person, library_id=await accounts.workspace(person))).headers
    endpoint = await register(api)
    for headers in (stranger, own_team):
        check_error(await api.delete(f"{PATH}/{endpoint['id']}", headers=headers), 403, "PERMISSION_DENIED")
    assert len(await listed(api)) == 1
    await api.delete(f"{PATH}/{endpoint['id']}")
    check_error(await api.delete(f"{PATH}/{endpoint['id']}", headers=stranger), 404, "NOT_FOUND")


async def test_the_secret_is_sealed_at_rest_and_opens_for_its_own_row_only(
    api: httpx.AsyncClient, accounts: Accounts, runtime: Runtime
) -> None:
    # A retained answer holds the secret too, so one is made.
    answer = await api.post(PATH, json={"url": URL}, headers={"Idempotency-Key": new_id()})
    endpoint = answer.json()
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
    assert runtime.secrecy.unseal(SECRET_PURPOSE, sealed, endpoint["id"]) == secret.encode()
    with pytest.raises(ValueError, match="sealed"):
        runtime.secrecy.unseal(SECRET_PURPOSE, sealed, new_id())
