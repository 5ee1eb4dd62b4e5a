"""The operator's commands on credits: what they tell of a library's money, and what they let it do."""

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

DUB = BillableItem(Action.DUB, "plus", "de")
SHIFTED = "UPDATE ledger_balances SET wallet = wallet + $2, escrow = escrow - $2 WHERE library_id = $1"
NOTHING = {"balance": 0.0, "escrow": 0.0, "usageBillingLimit": 0.0, "frozen": False}


@dataclass(frozen=True)
class Said:
    """What a command printed, as JSON and as words, and how it ended."""

    code: int
    shown: Any
    error: str


Admin = Callable[..., Awaitable[Said]]


@pytest.fixture
def admin(environment: dict[str, str]) -> Admin:
    async def admin(*arguments: str) -> Said:
        # The command has an event loop of its own, so it gets a thread of its own.
        result = await asyncio.to_thread(CliRunner().invoke, app, ["credits", *arguments], env=environment)
        return Said(result.exit_code, json.loads(result.stdout) if result.stdout else None, result.stderr)

    return admin


@dataclass(frozen=True)
class Client:
    """A person of the operator's, with the money of their library."""

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
    """On the business plan; the library_ledger are right at the end."""
    made = await add_client(runtime, accounts, environment, "business")
    yield made
    assert await made.library_ledger.faults() == []


@asynccontextmanager
async def wrong(library_ledger: LibraryLedger) -> AsyncIterator[None]:
    """LibraryLedger with a fault that everybody sees, until the end of the block."""
    await library_ledger.owner.execute(SHIFTED, library_ledger.library_id, 400)
    try:
        yield
    finally:
        await library_ledger.owner.execute(SHIFTED, library_ledger.library_id, -400)


# Balances and statements.


async def test_the_balance_shows_wallet_escrow_limit_and_whether_it_is_frozen(admin: Admin, client: Client) -> None:
    assert await admin("balance", client.email) == Said(0, NOTHING, "")
    await admin("grant", client.email, "10.5")
    await client.library_ledger.hold_lines(3_250)
    assert (await admin("balance", client.email)).shown == {**NOTHING, "balance": 7.25, "escrow": 3.25}
    await admin("usage-billing", client.email, "40")
    await client.library_ledger.freeze()
    assert (await admin("balance", client.email)).shown == {
        "balance": 7.25,
        "escrow": 3.25,
        "usageBillingLimit": 40.0,
        "frozen": True,
    }


async def test_the_statement_tells_movements_newest_first(admin: Admin, client: Client) -> None:
    assert (await admin("statement", client.email)).shown == {"movements": []}
    granted = await admin("grant", client.email, "10", "--reference", "invoice-1")
    await asyncio.sleep(0.002)  # ids of one millisecond have no order
    (line_id,) = await client.library_ledger.hold_lines(3_000, holder="job")
    await asyncio.sleep(0.002)
    await client.library_ledger.capture("job")
    told = (await admin("statement", client.email)).shown["movements"]
    assert [(each["kind"], each["reference"], each["wallet"], each["escrow"]) for each in told] == [
        ("capture", line_id, 0.0, -3.0),
        ("hold", "job", -3.0, 3.0),
        ("grant", "invoice-1", 10.0, 0.0),
    ]
    assert told[-1]["transactionId"] == granted.shown["transactionId"]
    assert (await admin("statement", client.email, "--limit", "2")).shown == {"movements": told[:2]}


async def test_a_workspace_has_its_own_money(admin: Admin, client: Client, environment: dict[str, str]) -> None:
    arguments = ["workspace", "create", "Team", "--owner", client.email, "--plan", "business"]
    made = await asyncio.to_thread(CliRunner().invoke, app, arguments, env=environment)
    of_team = ("--workspace", json.loads(made.stdout)["workspaceId"])
    await admin("grant", client.email, "5", *of_team)
    await admin("usage-billing", client.email, "3", *of_team)
    assert (await admin("balance", client.email, *of_team)).shown == {
        **NOTHING,
        "balance": 5.0,
        "usageBillingLimit": 3.0,
    }
    assert (await admin("balance", client.email)).shown == NOTHING
    assert len((await admin("statement", client.email, *of_team)).shown["movements"]) == 1
    assert (await admin("statement", client.email)).shown == {"movements": []}
    for command in ("check", "unfreeze"):
        assert (await admin(command, client.email, *of_team)).code == 0


# Receipts.


async def run_job(runtime: Runtime, client: Client, principal: Any, video_id: str, *, ends: list[str]) -> str:  # noqa: ANN401
    """A dub that is asked for as often as it takes, each attempt with its end; its id."""
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


async def test_a_receipt_shows_every_attempt_with_its_entries(
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
    shown = (await admin("receipt", job_id)).shown
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


async def test_a_job_that_nobody_knows_has_no_receipt(admin: Admin) -> None:
    said = await admin("receipt", f"import_{new_id()}")
    assert (said.code, said.shown) == (1, None)
    assert "NOT_FOUND" in said.error


# Usage billing.


@pytest.mark.parametrize(("plan", "may"), [("free", False), ("creator", False), ("pro", False), ("business", True)])
async def test_usage_billing_needs_a_plan_that_has_it(
    admin: Admin, runtime: Runtime, accounts: Accounts, environment: dict[str, str], plan: str, *, may: bool
) -> None:
    made = await add_client(runtime, accounts, environment, plan)
    said = await admin("usage-billing", made.email, "25")
    if may:
        assert said == Said(0, {"email": made.email, "usageBillingLimit": 25.0}, "")
    else:
        assert (said.code, said.shown) == (1, None)
        assert "PERMISSION_DENIED" in said.error
        assert plan in said.error
    assert (await made.library_ledger.balances()).overdraft == (25_000 if may else 0)
    assert (await admin("usage-billing", made.email, "0")).code == 0  # off is always possible


async def test_usage_billing_lets_a_wallet_below_zero_and_shows_in_quotes(
    admin: Admin, client: Client, environment: dict[str, str], anonymous: httpx.AsyncClient
) -> None:
    await admin("usage-billing", client.email, "2.5")
    await client.library_ledger.hold_lines(2_000)
    assert (await admin("balance", client.email)).shown["balance"] == -2.0
    made = await asyncio.to_thread(CliRunner().invoke, app, ["key", "create", client.email], env=environment)
    video_id = new_id()
    await client.library_ledger.owner.execute(
        "INSERT INTO videos (library_id, id, status, created_at) VALUES ($1, $2, 'ready', now())",
        client.library_ledger.library_id,
        video_id,
    )
    answer = await anonymous.post(
        f"/videos/{video_id}/quote",
        json={"transcriptOnly": True, "durationSeconds": 60},
        headers={"X-Api-Key": json.loads(made.stdout)["key"]},
    )
    told = answer.json()
    assert (told["balance"], told["usageBillingActive"], told["sufficient"]) == (-2.0, True, True)


async def test_the_limit_cannot_go_below_the_debt(admin: Admin, client: Client) -> None:
    await admin("usage-billing", client.email, "10")
    await client.library_ledger.hold_lines(4_000)
    for limit in ("3.999", "0"):
        said = await admin("usage-billing", client.email, limit)
        assert (said.code, said.shown) == (1, None)
        assert "CONFLICT" in said.error
        assert '"balance": -4.0' in said.error
    assert (await client.library_ledger.balances()).overdraft == 10_000
    assert (await admin("usage-billing", client.email, "4")).code == 0
    assert (await client.library_ledger.balances()).available == 0
    await admin("grant", client.email, "4")
    assert (await admin("usage-billing", client.email, "0")).code == 0
    assert not (await client.library_ledger.balances()).usage_billing


# The check.


async def test_the_check_of_books_that_are_right_says_so(admin: Admin, client: Client) -> None:
    assert await admin("check", client.email) == Said(0, {"faults": []}, "")  # there is nothing yet
    await admin("grant", client.email, "10")
    await client.library_ledger.hold_lines(1_000)
    assert await admin("check", client.email) == Said(0, {"faults": []}, "")
    assert not (await client.library_ledger.balances()).is_frozen


async def test_the_check_of_books_that_are_wrong_says_how_and_freezes_until_they_are_mended(
    admin: Admin, client: Client
) -> None:
    await admin("grant", client.email, "10")
    await client.library_ledger.hold_lines(1_000)
    async with wrong(client.library_ledger):
        said = await admin("check", client.email)
        assert said.code == 1
        assert {(each["fault"], each["subject"], each["expected"], each["found"]) for each in said.shown["faults"]} == {
            ("balance is not the sum of its entries", "wallet", 9_000, 9_400),
            ("balance is not the sum of its entries", "escrow", 1_000, 600),
            ("escrow is not the sum of open lines", "escrow", 1_000, 600),
        }
        assert (await admin("balance", client.email)).shown["frozen"] is True
        refused = await admin("unfreeze", client.email)
        assert (refused.code, refused.shown) == (1, None)
        assert "FAILED_PRECONDITION" in refused.error
        assert (await client.library_ledger.balances()).is_frozen
    assert await admin("check", client.email) == Said(0, {"faults": []}, "")
    assert (await client.library_ledger.balances()).is_frozen  # mended, and nobody said yet that it was looked at
    assert await admin("unfreeze", client.email) == Said(0, {"email": client.email, "frozen": False}, "")
    assert not (await client.library_ledger.balances()).is_frozen
    await client.library_ledger.hold_lines(1_000)


# Who is nobody, and what is no amount.


@pytest.mark.parametrize("command", ["balance", "statement", "check", "unfreeze", "usage-billing"])
@pytest.mark.parametrize("of", ["nobody", "no workspace"])
async def test_nobody_has_no_money(admin: Admin, client: Client, command: str, of: str) -> None:
    email = client.email if of == "no workspace" else "nobody@example.com"
    amount = ("1",) if command == "usage-billing" else ()
    workspace = ("--workspace", new_id()) if of == "no workspace" else ()
    said = await admin(command, email, *amount, *workspace)
    assert (said.code, said.shown) == (1, None)
    assert "NOT_FOUND" in said.error


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
async def test_a_wrong_argument_is_a_usage_error(admin: Admin, client: Client, arguments: tuple[str, ...]) -> None:
    said = await admin(*(argument.format(email=client.email) for argument in arguments))
    assert (said.code, said.shown) == (2, None)
    assert await client.library_ledger.accounts() == (0, 0, 0, 0)
