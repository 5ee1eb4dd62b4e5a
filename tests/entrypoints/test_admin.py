"""Tests the admin commands end to end, including their effect on the API."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from cutroom.accounts.scopes import ALL_SCOPES
from cutroom.entrypoints.admin import app
from cutroom.platform.ids import new_id
from dev.scratch import Accounts

Admin = Callable[..., Awaitable[Any]]


@pytest.fixture
def run(environment: dict[str, str]) -> Admin:
    """Runs a command; returns its JSON output, or stderr if it is expected to fail."""

    async def run(*arguments: str, fails: int = 0) -> Any:  # noqa: ANN401 (JSON)
        # The command runs its own event loop, so it needs its own thread.
        result = await asyncio.to_thread(CliRunner().invoke, app, arguments, env=environment)
        assert result.exit_code == fails, result.output
        if fails:
            assert result.stdout == ""
            return result.stderr
        assert result.stderr == ""
        return json.loads(result.stdout)

    return run


@pytest.fixture
async def email(run: Admin) -> str:
    """Email address of a new user on the business plan."""
    address = f"{new_id()}@example.com"
    await run("user", "create", address, "--name", "Ada", "--plan", "business")
    return address


@pytest.fixture
async def workspace_id(run: Admin, email: str) -> str:
    made = await run("workspace", "create", "Team", "--owner", email, "--plan", "pro")
    return str(made["workspaceId"])


async def status(client: httpx.AsyncClient, key: str) -> int:
    return (await client.get("/folders", headers={"X-Api-Key": key})).status_code


async def test_user_is_created_with_library_and_plan(run: Admin, accounts: Accounts) -> None:
    address = f"{new_id()}@Example.com"
    made = await run("user", "create", address, "--plan", "creator")
    assert set(made) == {"userId", "libraryId"}
    row = await accounts.connection.fetchrow(
        "SELECT u.email, l.kind, l.plan FROM users u, libraries l WHERE u.id = $1 AND l.id = $2",
        made["userId"],
        made["libraryId"],
    )
    assert row is not None
    assert tuple(row) == (address.lower(), "personal", "creator")


async def test_default_plan_is_free(run: Admin, accounts: Accounts) -> None:
    made = await run("user", "create", f"{new_id()}@example.com")
    assert await accounts.connection.fetchval("SELECT plan FROM libraries WHERE id = $1", made["libraryId"]) == "free"


async def test_duplicate_email_is_an_error(run: Admin, email: str) -> None:
    assert "ALREADY_EXISTS" in await run("user", "create", email.upper(), fails=1)


async def test_key_works_until_revoked(run: Admin, email: str, anonymous: httpx.AsyncClient) -> None:
    made = await run("key", "create", email, "--name", "laptop")
    assert set(made["scopes"]) == set(ALL_SCOPES)
    assert await status(anonymous, made["key"]) == 200
    assert await run("key", "revoke", made["keyId"]) == {"keyId": made["keyId"], "revoked": True}
    assert await status(anonymous, made["key"]) == 401
    assert "NOT_FOUND" in await run("key", "revoke", made["keyId"], fails=1)


async def test_key_is_limited_to_its_scopes(run: Admin, email: str, anonymous: httpx.AsyncClient) -> None:
    made = await run("key", "create", email, "--scope", "videos:read", "--scope", "jobs:read")
    assert made["scopes"] == ["jobs:read", "videos:read"]
    headers = {"X-Api-Key": made["key"]}
    assert (await anonymous.get("/folders", headers=headers)).status_code == 200
    refused = await anonymous.post("/folders", json={"name": "New"}, headers=headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "INSUFFICIENT_SCOPE")


async def test_speech_key_on_the_free_plan_is_an_error(run: Admin) -> None:
    address = f"{new_id()}@example.com"
    await run("user", "create", address)
    assert "PERMISSION_DENIED" in await run("key", "create", address, "--scope", "tts:read", fails=1)


async def test_member_has_their_role_until_removed(
    run: Admin, email: str, workspace_id: str, anonymous: httpx.AsyncClient
) -> None:
    guest = f"{new_id()}@example.com"
    await run("user", "create", guest)
    assert "NOT_FOUND" in await run("key", "create", guest, "--workspace", workspace_id, fails=1)
    put = await run("member", "put", workspace_id, guest, "--role", "viewer")
    assert put == {"workspaceId": workspace_id, "email": guest, "role": "viewer"}
    headers = {"X-Api-Key": (await run("key", "create", guest, "--workspace", workspace_id))["key"]}
    assert (await anonymous.post("/folders", json={"name": "New"}, headers=headers)).status_code == 403
    await run("member", "put", workspace_id, guest)  # the default role is editor
    folder = await anonymous.post("/folders", json={"name": "New"}, headers=headers)
    assert (folder.status_code, folder.json()["workspaceId"]) == (201, workspace_id)
    await run("member", "remove", workspace_id, guest)
    refused = await anonymous.get("/folders", headers=headers)
    assert (refused.status_code, refused.json()["error"]["code"]) == (401, "INVALID_API_KEY")
    assert "NOT_FOUND" in await run("member", "remove", workspace_id, guest, fails=1)
    owner = await run("key", "create", email, "--workspace", workspace_id)
    assert await status(anonymous, owner["key"]) == 200


async def test_grant_is_idempotent_per_reference(run: Admin, email: str) -> None:
    first = await run("credits", "grant", email, "100", "--reference", "invoice-1")
    assert first == {"transactionId": first["transactionId"], "balance": 100.0}
    assert "ALREADY_EXISTS" in await run("credits", "grant", email, "100", "--reference", "invoice-1", fails=1)
    assert (await run("credits", "grant", email, "0.125"))["balance"] == 100.125
    assert (await run("credits", "grant", email, "0.125"))["balance"] == 100.25


async def test_workspace_credits_are_separate_from_the_owner(run: Admin, email: str, workspace_id: str) -> None:
    assert (await run("credits", "grant", email, "5", "--workspace", workspace_id))["balance"] == 5
    assert (await run("credits", "grant", email, "1"))["balance"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("workspace", "create", "Team", "--owner", "unknown@example.com"),
        ("key", "create", "unknown@example.com"),
        ("credits", "grant", "unknown@example.com", "1"),
        ("key", "revoke", "01j9z3k4m5n6p7q8r9s0t1v2w3"),
    ],
)
async def test_unknown_user_or_key_is_not_found(run: Admin, arguments: tuple[str, ...]) -> None:
    assert "NOT_FOUND" in await run(*arguments, fails=1)


@pytest.mark.parametrize(
    "arguments",
    [
        ("member", "put", "{workspace}", "{email}"),
        ("member", "remove", "{workspace}", "{email}"),
        ("key", "create", "{email}", "--workspace", "{workspace}"),
        ("credits", "grant", "{email}", "5", "--workspace", "{workspace}"),
    ],
    ids=" ".join,
)
async def test_unknown_workspace_is_not_found(
    run: Admin, accounts: Accounts, email: str, arguments: tuple[str, ...]
) -> None:
    workspace = new_id()
    filled = [argument.format(workspace=workspace, email=email) for argument in arguments]
    assert "NOT_FOUND" in await run(*filled, fails=1)
    for table in ("members", "api_keys", "ledger_transactions"):
        count = f"SELECT count(*) FROM {table} WHERE library_id = $1"  # noqa: S608
        assert await accounts.connection.fetchval(count, workspace) == 0


async def test_personal_library_members_cannot_be_changed(run: Admin, email: str) -> None:
    owner = f"{new_id()}@example.com"
    library_id = (await run("user", "create", owner))["libraryId"]
    assert "NOT_FOUND" in await run("member", "put", library_id, email, fails=1)
    assert "NOT_FOUND" in await run("member", "remove", library_id, owner, fails=1)


@pytest.mark.parametrize(
    "arguments",
    [
        ("credits", "grant", "a@example.com", "0"),
        ("credits", "grant", "a@example.com", "--", "-1"),
        ("credits", "grant", "a@example.com", "much"),
        ("credits", "grant", "a@example.com", "nan"),
        ("credits", "grant", "a@example.com", "inf"),
        ("credits", "grant", "a@example.com", "1e300"),
        ("user", "create", "a@example.com", "--plan", "gold"),
        ("user", "create"),
        ("workspace", "create", "Team"),
        ("member", "put", "w", "a@example.com", "--role", "king"),
        ("key", "create", "a@example.com", "--scope", "videos:delete"),
        ("nonsense",),
    ],
    ids=" ".join,
)
async def test_invalid_argument_is_a_usage_error(run: Admin, arguments: tuple[str, ...]) -> None:
    await run(*arguments, fails=2)


async def test_failed_command_rolls_back(run: Admin, accounts: Accounts, email: str) -> None:
    before = await accounts.connection.fetchval("SELECT count(*) FROM libraries")
    await run("user", "create", email, fails=1)
    await run("workspace", "create", "Team", "--owner", "unknown@example.com", fails=1)
    assert await accounts.connection.fetchval("SELECT count(*) FROM libraries") == before


async def test_owner_database_url_is_required(
    environment: dict[str, str], run: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUTROOM_OWNER_DATABASE_URL", raising=False)
    del environment["CUTROOM_OWNER_DATABASE_URL"]
    assert "CUTROOM_OWNER_DATABASE_URL" in await run("user", "create", f"{new_id()}@example.com", fails=2)


def test_installed_command_prints_json(environment: dict[str, str]) -> None:
    command = Path(sys.executable).with_name("cutroom-server")
    done = subprocess.run(
        [command, "admin", "user", "create", f"{new_id()}@example.com"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
        check=True,
    )
    assert set(json.loads(done.stdout)) == {"userId", "libraryId"}


async def test_commands_are_logged_and_the_log_is_verified(
    run: Admin, accounts: Accounts, environment: dict[str, str]
) -> None:
    address = f"{new_id()}@example.com"
    library_id = (await run("user", "create", address))["libraryId"]
    key = await run("key", "create", address, "--scope", "videos:read")
    await run("key", "revoke", key["keyId"])
    entries = await accounts.connection.fetch(
        "SELECT action, actor_kind, actor_id, targets FROM audit_entries WHERE library_id = $1 ORDER BY sequence",
        library_id,
    )
    assert [row["action"] for row in entries] == ["user.create", "key.create", "key.revoke"]
    assert {(row["actor_kind"], row["actor_id"]) for row in entries} == {("system", "admin")}
    assert entries[2]["targets"] == {"keyId": key["keyId"]}
    verified = await run("audit", "verify", "--library", library_id)
    head = verified["libraries"][0]["head"]
    assert verified == {
        "libraries": [{"libraryId": library_id, "head": head, "faultCount": 0, "faults": []}],
        "ok": True,
    }
    assert head.startswith("3:")
    later = f"4:{head.partition(':')[2]}"
    arguments = ["audit", "verify", "--library", library_id, "--head", later]
    result = await asyncio.to_thread(CliRunner().invoke, app, arguments, env=environment)
    assert result.exit_code == 1
    assert json.loads(result.stdout)["libraries"][0]["faults"] == [
        {"sequence": 4, "problem": "entries up to the expected head 4 are missing"}
    ]
    assert "SEQUENCE:HASH" in await run("audit", "verify", "--library", library_id, "--head", "x", fails=2)
    assert "--library" in await run("audit", "verify", "--head", head, fails=2)


async def test_plan_and_quotas_of_a_library_are_set(run: Admin, accounts: Accounts, workspace_id: str) -> None:
    done = await run("library", "plan", workspace_id, "creator")
    assert done == {"libraryId": workspace_id, "plan": "creator"}
    assert await accounts.connection.fetchval("SELECT plan FROM libraries WHERE id = $1", workspace_id) == "creator"
    first = await run("library", "quotas", workspace_id, "--storage-bytes", "5000", "--unfinished-jobs", "0")
    assert first == {"libraryId": workspace_id, "storageBytes": 5000, "mediaMinutes": None, "unfinishedJobs": 0}
    second = await run("library", "quotas", workspace_id, "--media-minutes", "90")
    assert second == {**first, "mediaMinutes": 90}
    assert await run("library", "quotas", workspace_id) == second
    reset = await run("library", "quotas", workspace_id, "--reset", "--media-minutes", "60")
    assert reset == {"libraryId": workspace_id, "storageBytes": None, "mediaMinutes": 60, "unfinishedJobs": None}
    actions = await accounts.connection.fetch(
        "SELECT action, details FROM audit_entries WHERE library_id = $1 ORDER BY sequence DESC LIMIT 4", workspace_id
    )
    assert [row["action"] for row in actions] == [*["library.quotas"] * 3, "library.plan"]
    assert actions[0]["details"] == {"after": {"storageBytes": None, "mediaMinutes": 60, "unfinishedJobs": None}}
    assert actions[3]["details"] == {"before": {"plan": "pro"}, "after": {"plan": "creator"}}
    for command in (["plan", new_id(), "pro"], ["quotas", new_id(), "--reset"]):
        assert "NOT_FOUND" in await run("library", *command, fails=1)
    assert await run("library", "quotas", workspace_id, "--media-minutes", "-1", fails=2)


async def test_library_is_suspended_and_resumed(run: Admin, accounts: Accounts, workspace_id: str) -> None:
    suspended = "SELECT suspended_at IS NOT NULL FROM libraries WHERE id = $1"
    done = await run("library", "suspend", workspace_id)
    assert done == {"libraryId": workspace_id, "suspended": True, "canceledJobs": 0}
    assert await accounts.connection.fetchval(suspended, workspace_id)
    await run("library", "resume", workspace_id)
    assert not await accounts.connection.fetchval(suspended, workspace_id)
    assert "NOT_FOUND" in await run("library", "suspend", new_id(), fails=1)


async def test_second_factor_is_reset(run: Admin, email: str, accounts: Accounts) -> None:
    assert await run("account", "reset-second-factor", email) == {
        "email": email,
        "wasEnabled": False,
        "deletedPasskeys": 0,
    }
    library_id = await accounts.connection.fetchval(
        "SELECT m.library_id FROM members m JOIN users u ON u.id = m.user_id WHERE u.email = $1", email
    )
    await accounts.connection.execute(
        "INSERT INTO account_security (library_id, totp_secret, totp_enabled_at) VALUES ($1, '', now())", library_id
    )
    await accounts.connection.execute("INSERT INTO recovery_codes (library_id, hash) VALUES ($1, 'a')", library_id)
    await accounts.connection.execute(
        """INSERT INTO sessions (id, user_id, hash, chosen_library, created_at, seen_at, expires_at)
           SELECT $1, m.user_id, $1::text::bytea, m.library_id, now(), now(), now()
           FROM members m WHERE m.library_id = $2""",
        new_id(),
        library_id,
    )
    await accounts.connection.execute(
        """INSERT INTO passkeys
               (library_id, id, credential_id, public_key, sign_count, name, created_at, last_challenge_at)
           VALUES ($1, $2, $2::text::bytea, '', 0, 'x', now(), now())""",
        library_id,
        new_id(),
    )
    done = await run("account", "reset-second-factor", email, "--passkeys")
    assert done == {"email": email, "wasEnabled": True, "deletedPasskeys": 1}
    left = await accounts.connection.fetchrow(
        """SELECT (SELECT totp_secret FROM account_security WHERE library_id = $1) AS secret,
                  (SELECT count(*) FROM recovery_codes WHERE library_id = $1) AS codes,
                  (SELECT count(*) FROM sessions WHERE chosen_library = $1) AS sessions,
                  (SELECT action FROM audit_entries WHERE library_id = $1 ORDER BY sequence DESC LIMIT 1) AS action""",
        library_id,
    )
    assert left is not None
    assert tuple(left) == (None, 0, 0, "secondFactor.reset")
    assert "NOT_FOUND" in await run("account", "reset-second-factor", "nobody@example.com", fails=1)
