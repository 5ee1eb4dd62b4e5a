"""Admin commands for credits: grants, balances, statements, receipts, usage billing and the ledger check."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Any

import typer

from cutroom.accounts.plans import load_plans
from cutroom.credits import ledger, receipts
from cutroom.credits.pricing import MILLICREDITS, to_credits
from cutroom.entrypoints.operator import Email, library_id_of, record, run, show
from cutroom.errors import Code, CutroomError, not_found
from cutroom.jobs.ids import workflow_id
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Credits of a library.")

Workspace = Annotated[
    str | None, typer.Option("--workspace", help="Use this workspace instead of the personal library.")
]


def _millicredits(credits_: float) -> int:
    return int((Decimal(str(credits_)) * MILLICREDITS).to_integral_value(ROUND_HALF_UP))


@app.command("grant")
def grant_credits(
    email: Email,
    credits_: Annotated[float, typer.Argument(metavar="CREDITS", min=0.001, max=1_000_000_000)],
    *,
    workspace: Workspace = None,
    reference: Annotated[str | None, typer.Option(help="Idempotency reference: a second grant with it fails.")] = None,
) -> None:
    """Grant credits to a library."""

    async def work(connection: Connection, settings: Settings) -> tuple[str, int]:
        library_id = await library_id_of(connection, email, workspace)
        transaction_id = await ledger.grant(
            connection,
            library_id,
            millicredits=_millicredits(credits_),
            reference=reference or new_id(),
            now=system_clock(),
        )
        targets, after = {"transactionId": transaction_id}, {"millicredits": _millicredits(credits_)}
        await record(connection, settings, library_id, "credits.grant", targets=targets, after=after)
        return transaction_id, await ledger.wallet_balance(connection, library_id)

    transaction_id, millicredits = run(work)
    show(transactionId=transaction_id, balance=to_credits(millicredits))


@app.command("balance")
def show_balance(email: Email, *, workspace: Workspace = None) -> None:
    """Show the balance and the credits in escrow."""

    async def work(connection: Connection, _settings: Settings) -> ledger.AccountBalances:
        return await ledger.get_balances(connection, await library_id_of(connection, email, workspace))

    balances = run(work)
    show(
        balance=to_credits(balances.wallet),
        escrow=to_credits(balances.escrow),
        usageBillingLimit=to_credits(balances.overdraft),
        frozen=balances.is_frozen,
    )


@app.command("statement")
def show_statement(
    email: Email,
    *,
    workspace: Workspace = None,
    limit: Annotated[int, typer.Option(min=1, max=receipts.MAX_STATEMENT, help="Number of transactions.")] = 100,
) -> None:
    """Show the transactions of a library, newest first."""

    async def work(connection: Connection, _settings: Settings) -> list[dict[str, Any]]:
        return await receipts.statement(connection, await library_id_of(connection, email, workspace), limit=limit)

    show(movements=run(work))


@app.command("receipt")
def show_receipt(job_id: Annotated[str, typer.Argument(help="The job's id.")]) -> None:
    """Show the quote, hold, capture and release of every attempt of a job."""

    async def work(connection: Connection, _settings: Settings) -> list[dict[str, Any]]:
        job = await connection.fetchrow("SELECT library_id, attempt FROM jobs WHERE id = $1", job_id)
        if job is None:
            raise not_found()
        return [
            {
                "attempt": attempt,
                **await receipts.receipt(connection, job["library_id"], holder=workflow_id(job_id, attempt)),
            }
            for attempt in range(1, job["attempt"] + 1)
        ]

    show(jobId=job_id, attempts=run(work))


@app.command("usage-billing")
def set_usage_billing(
    email: Email,
    limit: Annotated[float, typer.Argument(metavar="CREDITS", min=0, max=1_000_000_000)],
    *,
    workspace: Workspace = None,
) -> None:
    """Set how far below zero a wallet may go, if the plan allows it; 0 disables usage billing."""

    async def work(connection: Connection, settings: Settings) -> None:
        library_id = await library_id_of(connection, email, workspace)
        plan = await connection.fetchval("SELECT plan FROM libraries WHERE id = $1", library_id)
        if limit and not load_plans(settings.plans_file)[plan].usage_billing:
            raise CutroomError(Code.PERMISSION_DENIED, message=f"The plan {plan} does not include usage billing.")
        balances = await ledger.get_balances(connection, library_id)
        if balances.wallet < -_millicredits(limit):
            message = "The balance is below that limit: grant credits first."
            raise CutroomError(Code.CONFLICT, message=message, details={"balance": to_credits(balances.wallet)})
        await ledger.set_overdraft(connection, library_id, millicredits=_millicredits(limit))
        after = {"usageBillingMillicredits": _millicredits(limit)}
        await record(connection, settings, library_id, "credits.usageBilling", after=after)

    run(work)
    show(email=email, usageBillingLimit=limit)


@app.command("warn-below")
def set_low_balance(
    email: Email,
    threshold: Annotated[float, typer.Argument(metavar="CREDITS", min=0, max=1_000_000_000)],
    *,
    workspace: Workspace = None,
) -> None:
    """Set the balance below which a `credits.low` event is published; 0 disables it."""

    async def work(connection: Connection, settings: Settings) -> None:
        library_id = await library_id_of(connection, email, workspace)
        await ledger.set_low_balance(connection, library_id, millicredits=_millicredits(threshold))
        after = {"lowBalanceMillicredits": _millicredits(threshold)}
        await record(connection, settings, library_id, "credits.warnBelow", after=after)

    run(work)
    show(email=email, warnBelow=threshold)


@app.command("check")
def check_ledger(email: Email, *, workspace: Workspace = None) -> None:
    """Check the ledger of a library; on inconsistencies, freezes its spending and exits with 1."""

    async def work(connection: Connection, _settings: Settings) -> list[dict[str, Any]]:
        library_id = await library_id_of(connection, email, workspace)
        return [
            dict(row)
            for row in await connection.fetch("SELECT * FROM check_ledger($1, $2)", library_id, system_clock())
        ]

    faults = run(work)
    show(faults=faults)
    if faults:
        raise typer.Exit(1)


@app.command("unfreeze")
def unfreeze(email: Email, *, workspace: Workspace = None) -> None:
    """Unfreeze a library after its ledger has been repaired; fails while it is inconsistent."""

    async def work(connection: Connection, _settings: Settings) -> None:
        library_id = await library_id_of(connection, email, workspace)
        if await connection.fetch("SELECT * FROM ledger_faults($1)", library_id):
            raise CutroomError(Code.FAILED_PRECONDITION, message="The ledger is still inconsistent.")
        await ledger.unfreeze(connection, library_id)

    run(work)
    show(email=email, frozen=False)
