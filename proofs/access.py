"""Nobody reaches what is not theirs: every operation as every kind of caller, and the wall in the database behind it."""

import asyncio
import sys
import time
from collections.abc import Iterable

import asyncpg
import httpx

from cutroom.accounts import service
from cutroom.errors import Code
from cutroom.platform.clock import system_clock
from cutroom.platform.settings import Settings
from dev.scratch import Accounts, environment_of, scratch
from dev.server import Server
from proofs.access_answers import Expected, Tally, fault_in, refusal
from proofs.access_callers import Stage, bearer, cases_of, set_the_stage
from proofs.access_document import OPEN_PATH, Operation, read_operations
from proofs.access_tables import fill_empty_tables
from proofs.access_wall import Wall, fingerprint, prove_pool_forgets
from proofs.report import Report, prove

FAILURES_PER_MINUTE = 1_000_000  # guesses are what this proof is made of
REVOCATION_GOAL_MS = 1_000
ASKERS = 4
TOLD = 20  # faults that are printed; all are counted


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    settings = await scratch("proof_access")
    settings = settings.model_copy(update={"failed_credentials_per_minute": FAILURES_PER_MINUTE})
    accounts, server, tally = await Accounts.open(settings), Server(environment_of(settings)), Tally()
    server.start()
    try:
        stage = await set_the_stage(accounts)
        async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
            operations = await _prove_operations(report, client, stage, tally=tally, short=short)
            revocation_ms = await _prove_revocation(client, stage, operations, rounds=2 if short else 10)
        foreign_rows = await _prove_wall(stage, settings, tally)
    finally:
        server.stop()
        await accounts.close()
    for fault in tally.wrong[:TOLD]:
        report.note(fault)
    wrong, cases = len(tally.wrong), tally.cases
    report.claim("every caller gets exactly its answer", wanted="0 wrong", measured=f"{wrong}/{cases}", holds=not wrong)
    report.claim("rows of another library seen", wanted="0", measured=foreign_rows, holds=not foreign_rows)
    report.claim(
        "a revoked key is refused",
        wanted=f"within {REVOCATION_GOAL_MS} ms",
        measured=f"{revocation_ms} ms",
        holds=revocation_ms <= REVOCATION_GOAL_MS,
    )
    report.figures(
        cases=cases, wrong=wrong, operations=len(operations), revocation_ms=revocation_ms, foreign_rows=foreign_rows
    )


async def _prove_operations(
    report: Report, client: httpx.AsyncClient, stage: Stage, *, tally: Tally, short: bool
) -> list[Operation]:
    document = (await client.get("/v1/openapi.json")).json()
    operations, faults = read_operations(document, frozenset(stage.owner.ids))
    for fault in faults:
        report.note(fault)
    asked = f"{len(operations)}, and {len(faults)} cannot be asked"
    report.claim(
        "every operation declares its scope and can be asked",
        wanted="0 cannot",
        measured=asked,
        holds=bool(operations) and not faults,
    )
    untouched = [stage.owner.library_id, stage.team.library_id]
    before = await fingerprint(stage.founder.accounts.connection, untouched)
    for credential in ({}, bearer("garbage")):
        answer = await client.get(OPEN_PATH, headers=credential)
        tally.check(OPEN_PATH, fault_in(answer, Expected(statuses=frozenset({200}))))
    for operation in operations:
        async for case in cases_of(operation, stage, short=short):
            answer = await _ask(client, operation, case.ids, headers=case.headers)
            tally.check(f"{operation.name} as {case.caller}", fault_in(answer, case.expected))
        if operation.is_paged:
            await _prove_page_tokens(client, operation, stage, tally=tally)
    after = await fingerprint(stage.founder.accounts.connection, untouched)
    for table in before.keys() | after.keys():
        same = before.get(table) == after.get(table)
        tally.check(table, None if same else "a request that was refused has changed it")
    return operations
