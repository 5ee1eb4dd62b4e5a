"""The operator's commands on credits: grants, balances, statements, receipts, usage billing, and the check."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Any

import typer

from cutroom.accounts.plans import load_plans
from cutroom.credits import ledger, receipts
from cutroom.credits.pricing import MILLICREDITS, to_credits
from cutroom.entrypoints.operator import Email, library_id_of, run, show
from cutroom.errors import Code, CutroomError, not_found
from cutroom.jobs.service import workflow_id
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection
from cutroom.platform.ids import new_id
from cutroom.platform.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Credits of a library.")

Workspace = Annotated[str | None, typer.Option("--workspace", help="This workspace, not the personal library.")]


def _millicredits(credits_: float) -> int:
    return int((Decimal(str(credits_)) * MILLICREDITS).to_integral_value(ROUND_HALF_UP))


@app.command("grant")
def grant_credits(
    email: Email,
    credits_: Annotated[float, typer.Argument(metavar="CREDITS", min=0.001, max=1_000_000_000)],
    *,
    workspace: Workspace = None,
    reference: Annotated[str | None, typer.Option(help="Grants with one reference happen once.")] = None,
) -> None:
    """Give credits to a library."""

    async def work(connection: Connection, _settings: Settings) -> tuple[str, int]:
        library_id = await library_id_of(connection, email, workspace)
        transaction_id = await ledger.grant(
            connection,
            library_id,
            millicredits=_millicredits(credits_),
            reference=reference or new_id(),
            now=system_clock(),
        )
        return transaction_id, await ledger.wallet_balance(connection, library_id)

    transaction_id, millicredits = run(work)
    show(transactionId=transaction_id, balance=to_credits(millicredits))


@app.command("balance")
def show_balance(email: Email, *, workspace: Workspace = None) -> None:
    """What a library has, and what of it is in escrow."""

    async def work(connection: Connection, _settings: Settings) -> ledger.AccountBalances:
        return await ledger.get_balances(connection, await library_id_of(connection, email, workspace))

    has = run(work)
    show(
        balance=to_credits(has.wallet),
        escrow=to_credits(has.escrow),
        usageBillingLimit=to_credits(has.overdraft),
        frozen=has.is_frozen,
    )


@app.command("statement")
def show_statement(
    email: Email,
    *,
    workspace: Workspace = None,
    limit: Annotated[int, typer.Option(min=1, max=receipts.MAX_STATEMENT, help="How many movements.")] = 100,
) -> None:
    """The movements of a library, newest first."""

    async def work(connection: Connection, _settings: Settings) -> list[dict[str, Any]]:
        return await receipts.statement(connection, await library_id_of(connection, email, workspace), limit=limit)

    show(movements=run(work))


@app.command("receipt")
def show_receipt(job_id: Annotated[str, typer.Argument(help="The job's id.")]) -> None:
    """What every attempt at a job was quoted, and what was held, captured and returned."""

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
    """How far below zero a wallet may go, on a plan that allows it; 0 turns usage billing off."""

    async def work(connection: Connection, settings: Settings) -> None:
        library_id = await library_id_of(connection, email, workspace)
        plan = await connection.fetchval("SELECT plan FROM libraries WHERE id = $1", library_id)
        if limit and not load_plans(settings.plans_file)[plan].usage_billing:
            raise CutroomError(Code.PERMISSION_DENIED, message=f"The plan {plan} has no usage billing.")
        has = await ledger.get_balances(connection, library_id)
        if has.wallet < -_millicredits(limit):
            message = "The wallet is further below zero than that: grant credits first."
            raise CutroomError(Code.CONFLICT, message=message, details={"balance": to_credits(has.wallet)})
        await connection.execute(
            """INSERT INTO ledger_balances (library_id, overdraft) VALUES ($1, $2)
               ON CONFLICT (library_id) DO UPDATE SET overdraft = excluded.overdraft""",
            library_id,
            _millicredits(limit),
        )

    run(work)
    show(email=email, usageBillingLimit=limit)


@app.command("check")
def check_books(email: Email, *, workspace: Workspace = None) -> None:
    """Look at the books of a library; ends with 1, and freezes spending there, when they are wrong."""

    async def work(connection: Connection, _settings: Settings) -> list[dict[str, Any]]:
        library_id = await library_id_of(connection, email, workspace)
        return [
            dict(fault)
            for fault in await connection.fetch("SELECT * FROM check_ledger($1, $2)", library_id, system_clock())
        ]

    faults = run(work)
    show(faults=faults)
    if faults:
        raise typer.Exit(1)


@app.command("unfreeze")
def unfreeze(email: Email, *, workspace: Workspace = None) -> None:
    """Let a library spend again, after its books were mended; refused while they are wrong."""

    async def work(connection: Connection, _settings: Settings) -> None:
        library_id = await library_id_of(connection, email, workspace)
        if await connection.fetch("SELECT * FROM ledger_faults($1)", library_id):
            raise CutroomError(Code.FAILED_PRECONDITION, message="The books are still wrong.")
        await connection.execute("UPDATE ledger_balances SET frozen_at = NULL WHERE library_id = $1", library_id)

    run(work)
    show(email=email, frozen=False)
