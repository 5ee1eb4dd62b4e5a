"""Tests the admin commands for the key ring and webhook secrets."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook, WebhookVerificationError
from typer.testing import CliRunner

from cutroom.entrypoints.admin import app
from cutroom.library.playback import PURPOSE
from cutroom.platform.clock import system_clock
from cutroom.platform.secret_box import SecretBox
from cutroom.platform.settings import Settings
from cutroom.web.runtime import Runtime
from cutroom.webhooks.deliveries import Delivery, load_webhook
from cutroom.webhooks.publishing import publish_event
from cutroom.webhooks.signing import signed_headers
from dev.scratch import Accounts, Person
from tests.webhooks.test_routes import register

Admin = Callable[..., Awaitable[Any]]


@pytest.fixture
async def run(environment: dict[str, str], accounts: Accounts) -> AsyncIterator[Admin]:
    """Runs a command; returns its JSON output, or stderr if it is expected to fail."""

    async def run(*arguments: str, group: str = "keys", fails: int = 0) -> Any:  # noqa: ANN401 (JSON)
        result = await asyncio.to_thread(CliRunner().invoke, app, (group, *arguments), env=environment)
        assert result.exit_code == fails, result.output
        return result.stderr if fails else json.loads(result.stdout)

    yield run
    await accounts.connection.execute("DELETE FROM key_ring")  # other tests share it


async def test_rotation_is_listed(run: Admin) -> None:
    assert await run("list") == {"keys": []}
    new = await run("rotate", "--grace-hours", "1", "--activation-seconds", "600")
    assert (new["id"], new["verifiesUntil"]) == (1, None)
    latest, initial = (await run("list"))["keys"]
    assert (latest, initial["id"]) == (new, 0)
    active_from = datetime.fromisoformat(new["activeFrom"])
    assert datetime.fromisoformat(initial["verifiesUntil"]) == active_from + timedelta(hours=1)
    assert active_from == datetime.fromisoformat(new["createdAt"]) + timedelta(minutes=10)
    assert "not active yet" in await run("rotate", fails=1)


async def test_rotation_is_logged(run: Admin) -> None:
    before = (await run("show", "--limit", "1", group="audit"))["entries"]
    new = await run("rotate", "--grace-hours", "1", "--activation-seconds", "600")
    assert "not active yet" in await run("rotate", fails=1)
    [entry] = (await run("show", "--limit", "1", group="audit"))["entries"]
    assert entry["sequence"] == (before[0]["sequence"] + 1 if before else 1)
    assert (entry["action"], entry["targets"]) == ("keyRing.rotate", {"ringKeyId": new["id"]})
    assert entry["actor"] == {"kind": "system", "id": "admin", "userId": None}
    assert entry["after"] == {"activationSeconds": 600, "graceHours": 1}
    verified = await run("verify", "--library", "installation", group="audit")
    assert verified["ok"]
    assert verified["libraries"][0]["head"].startswith(f"{entry['sequence']}:")


async def test_clients_of_the_operator_are_logged(run: Admin) -> None:
    arguments = ("create", "Reader", "--redirect", "https://reader.example.com/callback")
    client_id = (await run(*arguments, group="client"))["clientId"]
    await run("revoke", client_id, group="client")
    revoked, created = (await run("show", "--limit", "2", group="audit"))["entries"]
    assert (created["action"], revoked["action"]) == ("oauth.client.create", "oauth.client.revoke")
    assert created["targets"] == revoked["targets"] == {"clientId": client_id}


async def test_playback_keys_of_a_cdn_include_the_next_one(run: Admin, settings: Settings) -> None:
    derived = SecretBox(settings.secret_key.get_secret_value()).verification_keys(PURPOSE)
    assert await run("playback") == {"00000000": derived[0].hex()}
    await run("rotate")
    keys = await run("playback")
    assert set(keys) == {"00000000", "00000001"}
    assert keys["00000000"] == derived[0].hex() != keys["00000001"]
    assert settings.secret_key.get_secret_value() not in json.dumps(keys)


async def test_both_webhook_secrets_sign_during_the_grace_period(
    run: Admin, api: httpx.AsyncClient, accounts: Accounts, person: Person, runtime: Runtime
) -> None:
    endpoint = await register(api)
    event_id = await publish_event(
        accounts.connection, person.library_id, type="job.ready", data={}, now=system_clock()
    )
    delivery = Delivery(person.library_id, event_id, endpoint["id"])

    async def accepted(*secrets: str) -> list[bool]:
        webhook = await load_webhook(accounts.connection, delivery, secret_box=runtime.secret_box)
        assert webhook is not None
        headers = signed_headers(webhook.secrets, webhook.body, message_id=event_id, at=system_clock())
        return [_verifies(secret, webhook.body, headers) for secret in secrets]

    first = endpoint["secret"]
    rotated = await run("rotate-webhook", endpoint["id"])
    second = rotated["secret"]
    assert second.startswith("whsec_")
    assert datetime.fromisoformat(rotated["previousSecretUntil"]) > system_clock() + timedelta(hours=23)
    assert await accepted(first, second) == [True, True]
    third = (await run("rotate-webhook", endpoint["id"], "--grace-hours", "0"))["secret"]
    assert await accepted(first, second, third) == [False, False, True]
    row = await accounts.connection.fetchrow("SELECT * FROM webhook_endpoints WHERE id = $1", endpoint["id"])
    assert not any(secret in str(dict(row or {})) for secret in (first, second, third))
    actions = await accounts.connection.fetch(
        "SELECT action FROM audit_entries WHERE library_id = $1 ORDER BY sequence DESC LIMIT 2", person.library_id
    )
    assert [each["action"] for each in actions] == ["webhookEndpoint.rotateSecret"] * 2


async def test_secret_of_an_unknown_or_deleted_endpoint_is_not_rotated(run: Admin, api: httpx.AsyncClient) -> None:
    endpoint = await register(api)
    await api.delete(f"/webhook-endpoints/{endpoint['id']}")
    for endpoint_id in (endpoint["id"], "unknown"):
        assert "NOT_FOUND" in await run("rotate-webhook", endpoint_id, fails=1)


def _verifies(secret: str, body: bytes, headers: dict[str, str]) -> bool:
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return False
    return True
