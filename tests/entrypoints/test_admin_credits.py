"""Tests the admin commands for credits."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from cutroom.credits.pricing import Action, BillableItem, load_prices
from cutroom.credits.rules import Charge
from cutroom.entrypoints.admin import app
from cutroom.jobs import lifecycle, service
from cutroom.jobs.ids import DubProduct, JobKey, JobType
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.jobs.service import NewJob
from cutroom.platform.clock import system_clock
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts
from tests.credits.conftest import LibraryLedger
from tests.support.transcribed_videos import insert_video

DUB = BillableItem(Action.DUB, "plus", "de")
SHIFTED = "UPDATE ledger_balances SET wallet = wallet + $2, escrow = escrow - $2 WHERE library_id = $1"
NOTHING = {"balance": 0.0, "escrow": 0.0, "usageBillingLimit": 0.0, "frozen": False}


@dataclass(frozen=True)
class CommandResult:
    """Exit code, JSON output and stderr of a command."""

    code: int
    output: Any
    error: str


Admin = Callable[..., Awaitable[CommandResult]]


@pytest.fixture
def admin(environment: dict[str, str]) -> Admin:
    async def admin(*arguments: str) -> CommandResult:
        # The command runs its own event loop, so it needs its own thread.
        result = await asyncio.to_thread(CliRunner().invoke, app, ["credits", *arguments], env=environment)
        return CommandResult(result.exit_code, json.loads(result.stdout) if result.stdout else None, result.stderr)

    return admin


@dataclass(frozen=True)
class Client:
    """A user with the ledger of their library."""

    email: str
    user_id: str
    library_ledger: LibraryLedger


async def add_client(runtime: Runtime, accounts: Accounts, environment: dict[str, str], plan: str) -> Client:
    email = f"{new_id()}@example.com"
    arguments = ["user", "create", email, "--plan", plan]
    made = json.loads((await asyncio.to_thread(CliRunner().invoke, app, arguments, env=environment)).stdout)
    return Client(email, made["userId"], LibraryLedger(runtime, accounts.connection, made["libraryId"]))


@pytest.fixture
async def client(runtime: Runtime, accounts: Accounts, environment: dict[str, str]) -> AsyncIterator[Client]:
    """A user on the business plan; the ledger must be consistent at the end."""
    made = await add_client(runtime, accounts, environment, "business")
    yield made
    assert await made.library_ledger.faults() == []


@asynccontextmanager
async def inconsistent(library_ledger: LibraryLedger) -> AsyncIterator[None]:
    """Makes the ledger inconsistent within the block."""
    await library_ledger.owner.execute(SHIFTED, library_ledger.library_id, 400)
    try:
        yield
    finally:
        await library_ledger.owner.execute(SHIFTED, library_ledger.library_id, -400)


# Balances and statements.


async def test_balance_shows_wallet_escrow_limit_and_frozen_state(admin: Admin, client: Client) -> None:
    assert await admin("balance", client.email) == CommandResult(0, NOTHING, "")
    await admin("grant", client.email, "10.5")
    await client.library_ledger.hold_lines(3_250)
    assert (await admin("balance", client.email)).output == {**NOTHING, "balance": 7.25, "escrow": 3.25}
    await admin("usage-billing", client.email, "40")
    await client.library_ledger.freeze()
    assert (await admin("balance", client.email)).output == {
        "balance": 7.25,
        "escrow": 3.25,
        "usageBillingLimit": 40.0,
        "frozen": True,
    }


async def test_statement_lists_transactions_newest_first(admin: Admin, client: Client) -> None:
    assert (await admin("statement", client.email)).output == {"movements": []}
    granted = await admin("grant", client.email, "10", "--reference", "invoice-1")
    await asyncio.sleep(0.002)  # ids of one millisecond have no order
    (line_id,) = await client.library_ledger.hold_lines(3_000, holder="job")
    await asyncio.sleep(0.002)
    await client.library_ledger.capture("job")
    movements = (await admin("statement", client.email)).output["movements"]
    assert [(each["kind"], each["reference"], each["wallet"], each["escrow"]) for each in movements] == [
        ("capture", line_id, 0.0, -3.0),
        ("hold", "job", -3.0, 3.0),
        ("grant", "invoice-1", 10.0, 0.0),
    ]
    assert movements[-1]["transactionId"] == granted.output["transactionId"]
    assert (await admin("statement", client.email, "--limit", "2")).output == {"movements": movements[:2]}


async def test_workspace_has_its_own_credits(admin: Admin, client: Client, environment: dict[str, str]) -> None:
    arguments = ["workspace", "create", "Team", "--owner", client.email, "--plan", "business"]
    made = await asyncio.to_thread(CliRunner().invoke, app, arguments, env=environment)
    of_team = ("--workspace", json.loads(made.stdout)["workspaceId"])
    await admin("grant", client.email, "5", *of_team)
    await admin("usage-billing", client.email, "3", *of_team)
    assert (await admin("balance", client.email, *of_team)).output == {
        **NOTHING,
        "balance": 5.0,
        "usageBillingLimit": 3.0,
    }
    assert (await admin("balance", client.email)).output == NOTHING
    assert len((await admin("statement", client.email, *of_team)).output["movements"]) == 1
    assert (await admin("statement", client.email)).output == {"movements": []}
    for command in ("check", "unfreeze"):
        assert (await admin(command, client.email, *of_team)).code == 0


# Receipts.


async def run_job(runtime: Runtime, client: Client, principal: Any, video_id: str, *, ends: list[str]) -> str:  # noqa: ANN401
    """A dub requested once for each of `ends`, and ended so; its id."""
    key = JobKey(JobType.DUB, video_id, language="de", product=DubProduct.PLUS)
    prices, library_id = load_prices(), client.library_ledger.library_id
    for attempt, end in enumerate(ends, 1):
        ref, charge = JobRef(library_id, key.id, attempt), Charge((DUB,), is_subscriber=True)
        async with runtime.database.transaction(library_id) as connection:
            now, wanted = system_clock(), NewJob(key, video_id, charge=charge)
            await service.request_jobs(connection, principal, [wanted], prices=prices, now=now)
            await lifecycle.start(connection, ref, prices=prices, now=now)
            if end == "ready":
                await lifecycle.complete(connection, ref, result={}, now=now)
            elif end == "failed":
                await lifecycle.fail(connection, ref, failure=Failure("INTERNAL", "It broke."), now=now)
    return key.id


async def test_receipt_shows_every_attempt(
    admin: Admin, client: Client, runtime: Runtime, environment: dict[str, str]
) -> None:
    await admin("grant", client.email, "10")
    made = await asyncio.to_thread(CliRunner().invoke, app, ["key", "create", client.email], env=environment)
    async with runtime.database.connection() as connection:
        secret = json.loads(made.stdout)["key"]
        principal = await runtime.authenticator.authenticate(connection, secret, now=system_clock(), speech=False)
    video_id = new_id()
    await client.library_ledger.owner.execute(
        """INSERT INTO videos (library_id, id, status, import_status, duration_seconds, created_at)
           VALUES ($1, $2, 'ready', 'ready', 60, now())""",
        client.library_ledger.library_id,
        video_id,
    )
    job_id = await run_job(runtime, client, principal, video_id, ends=["failed", "ready"])
    shown = (await admin("receipt", job_id)).output
    assert shown["jobId"] == job_id
    assert [
        (each["attempt"], each["quoted"], each["held"], each["captured"], each["returned"])
        for each in shown["attempts"]
    ] == [(1, 2.0, 2.0, 0.0, 2.0), (2, 2.0, 2.0, 2.0, 0.0)]
    entries = [entry for each in shown["attempts"] for line in each["lines"] for entry in line["entries"]]
    known = {f"{transaction}/{account}" for transaction, account, _ in await client.library_ledger.entries()}
    assert len(set(entries)) == 8
    assert set(entries) <= known
    async with client.library_ledger.transaction() as connection:
        job = await service.get_job(connection, client.library_ledger.library_id, job_id)
    assert job.result is not None
    assert {"attempt": 2, **job.result["receipt"]} == shown["attempts"][1]


async def test_unknown_job_has_no_receipt(admin: Admin) -> None:
    result = await admin("receipt", f"import_{new_id()}")
    assert (result.code, result.output) == (1, None)
    assert "NOT_FOUND" in result.error


# Usage billing.


@pytest.mark.parametrize(("plan", "may"), [("free", False), ("creator", False), ("pro", False), ("business", True)])
async def test_usage_billing_requires_a_plan_that_includes_it(
    admin: Admin, runtime: Runtime, accounts: Accounts, environment: dict[str, str], plan: str, *, may: bool
) -> None:
    made = await add_client(runtime, accounts, environment, plan)
    result = await admin("usage-billing", made.email, "25")
    if may:
        assert result == CommandResult(0, {"email": made.email, "usageBillingLimit": 25.0}, "")
    else:
        assert (result.code, result.output) == (1, None)
        assert "PERMISSION_DENIED" in result.error
        assert plan in result.error
    assert (await made.library_ledger.balances()).overdraft == (25_000 if may else 0)
    assert (await admin("usage-billing", made.email, "0")).code == 0  # off is always possible


async def test_usage_billing_allows_a_negative_balance_and_appears_in_quotes(
    admin: Admin, client: Client, environment: dict[str, str], anonymous: httpx.AsyncClient
) -> None:
    await admin("usage-billing", client.email, "2.5")
    await client.library_ledger.hold_lines(2_000)
    assert (await admin("balance", client.email)).output["balance"] == -2.0
    made = await asyncio.to_thread(CliRunner().invoke, app, ["key", "create", client.email], env=environment)
    video_id = await insert_video(client.library_ledger.owner, client.library_ledger.library_id, duration_seconds=None)
    response = await anonymous.post(
        f"/videos/{video_id}/quote",
        json={"transcriptOnly": True, "durationSeconds": 60},
        headers={"X-Api-Key": json.loads(made.stdout)["key"]},
    )
    quote = response.json()
    assert (quote["balance"], quote["usageBillingActive"], quote["sufficient"]) == (-2.0, True, True)


async def test_limit_cannot_be_lower_than_the_debt(admin: Admin, client: Client) -> None:
    await admin("usage-billing", client.email, "10")
    await client.library_ledger.hold_lines(4_000)
    for limit in ("3.999", "0"):
        result = await admin("usage-billing", client.email, limit)
        assert (result.code, result.output) == (1, None)
        assert "CONFLICT" in result.error
        assert '"balance": -4.0' in result.error
    assert (await client.library_ledger.balances()).overdraft == 10_000
    assert (await admin("usage-billing", client.email, "4")).code == 0
    assert (await client.library_ledger.balances()).available == 0
    await admin("grant", client.email, "4")
    assert (await admin("usage-billing", client.email, "0")).code == 0
    assert not (await client.library_ledger.balances()).usage_billing


# Ledger check.


async def test_check_of_a_consistent_ledger_reports_nothing(admin: Admin, client: Client) -> None:
    assert await admin("check", client.email) == CommandResult(0, {"faults": []}, "")  # no entries yet
    await admin("grant", client.email, "10")
    await client.library_ledger.hold_lines(1_000)
    assert await admin("check", client.email) == CommandResult(0, {"faults": []}, "")
    assert not (await client.library_ledger.balances()).is_frozen


async def test_check_of_an_inconsistent_ledger_reports_faults_and_freezes_until_repaired(
    admin: Admin, client: Client
) -> None:
    await admin("grant", client.email, "10")
    await client.library_ledger.hold_lines(1_000)
    async with inconsistent(client.library_ledger):
        result = await admin("check", client.email)
        assert result.code == 1
        assert {
            (each["fault"], each["subject"], each["expected"], each["found"]) for each in result.output["faults"]
        } == {
            ("balance is not the sum of its entries", "wallet", 9_000, 9_400),
            ("balance is not the sum of its entries", "escrow", 1_000, 600),
            ("escrow is not the sum of open lines", "escrow", 1_000, 600),
        }
        assert (await admin("balance", client.email)).output["frozen"] is True
        rejected = await admin("unfreeze", client.email)
        assert (rejected.code, rejected.output) == (1, None)
        assert "FAILED_PRECONDITION" in rejected.error
        assert (await client.library_ledger.balances()).is_frozen
    assert await admin("check", client.email) == CommandResult(0, {"faults": []}, "")
    assert (await client.library_ledger.balances()).is_frozen  # repaired, but not unfrozen yet
    assert await admin("unfreeze", client.email) == CommandResult(0, {"email": client.email, "frozen": False}, "")
    assert not (await client.library_ledger.balances()).is_frozen
    await client.library_ledger.hold_lines(1_000)


# Unknown users and invalid amounts.


@pytest.mark.parametrize("command", ["balance", "statement", "check", "unfreeze", "usage-billing"])
@pytest.mark.parametrize("of", ["unknown user", "unknown workspace"])
async def test_unknown_user_or_workspace_is_not_found(admin: Admin, client: Client, command: str, of: str) -> None:
    email = client.email if of == "unknown workspace" else "unknown@example.com"
    amount = ("1",) if command == "usage-billing" else ()
    workspace = ("--workspace", new_id()) if of == "unknown workspace" else ()
    result = await admin(command, email, *amount, *workspace)
    assert (result.code, result.output) == (1, None)
    assert "NOT_FOUND" in result.error


@pytest.mark.parametrize(
    "arguments",
    [
        ("usage-billing", "{email}", "--", "-1"),
        ("usage-billing", "{email}", "much"),
        ("usage-billing", "{email}", "nan"),
        ("usage-billing", "{email}", "inf"),
        ("usage-billing", "{email}", "1e300"),
        ("usage-billing", "{email}"),
        ("statement", "{email}", "--limit", "0"),
        ("statement", "{email}", "--limit", "1001"),
        ("balance",),
        ("receipt",),
        ("check",),
    ],
    ids=" ".join,
)
async def test_invalid_argument_is_a_usage_error(admin: Admin, client: Client, arguments: tuple[str, ...]) -> None:
    result = await admin(*(argument.format(email=client.email) for argument in arguments))
    assert (result.code, result.output) == (2, None)
    assert await client.library_ledger.accounts() == (0, 0, 0, 0)
