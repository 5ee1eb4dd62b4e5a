"""The API contract: every promise checked against the running service, and Schemathesis over the OpenAPI document."""

import sys

from rich.markup import escape

from proofs.contract.broken_database import broken_database
from proofs.contract.checks import (
    Outcome,
    check_rows,
    needs_all_responses,
    needs_breakage,
    needs_worker,
    require_complete,
)
from proofs.contract.preflight import with_preflight
from proofs.contract.schemathesis import run_schemathesis
from proofs.contract.stage import Stage, open_stage
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs
from tests.contract.promises import Promise, check_document, read_promises

MAX_NOTES = 60  # printed violations; all are counted


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    promises, outcome = read_promises(), Outcome()
    require_complete(promises)
    async with open_stage("proof_contract") as stage:
        document = (await stage.client.get("/v1/openapi.json")).json()
        undocumented = [
            f"line {promise.number}: {promise}: {violation}"
            for promise in promises
            if (violation := check_document(promise, document))
        ]
        await _check(stage, promises, outcome)
        fuzzed = await run_schemathesis(stage, short=short)
    for line in (
        *outcome.skipped,
        *undocumented[:MAX_NOTES],
        *outcome.failed[:MAX_NOTES],
        *fuzzed.failures[:MAX_NOTES],
        *fuzzed.notes,
    ):
        report.note(escape(line))
    report.claim(
        "promises that the OpenAPI document breaks",
        expected="0",
        measured=f"{len(undocumented)} of {len(promises)}",
        holds=bool(promises) and not undocumented,
    )
    report.claim(
        "promises that the running service breaks",
        expected="0 broken",
        measured=f"{len(outcome.failed)} broken, {len(outcome.skipped)} not checked here",
        holds=not outcome.failed,
    )
    report.claim(
        "Schemathesis failures",
        expected="0",
        measured=f"{len(fuzzed.failures)} in {fuzzed.cases} requests to {fuzzed.operations} operations",
        holds=not fuzzed.failures and fuzzed.cases > 0,
    )
    report.claim(
        "... OpenAPI links followed",
        expected="> 0",
        measured=fuzzed.links,
        holds=not fuzzed.links.startswith(("none", "0 ")),
    )
    report.figures(
        rows=len(promises),
        failed=len(undocumented) + len(outcome.failed),
        skipped=len(outcome.skipped),
        requests=len(stage.responses),
        schemathesis_cases=fuzzed.cases,
        schemathesis_links=fuzzed.links,
        schemathesis_failures=len(fuzzed.failures),
    )


async def _check(stage: Stage, promises: list[Promise], outcome: Outcome) -> None:
    """Single promises first, then those that need a worker or a broken database, then those about all responses."""
    last = [promise for promise in promises if needs_all_responses(promise)]
    outage = [promise for promise in promises if needs_breakage(promise)]
    preflighted = [promise for promise in promises if needs_worker(promise)]
    rest = [promise for promise in promises if promise not in (*last, *outage, *preflighted)]
    await check_rows(stage, rest, outcome)
    async with with_preflight(stage) as other:
        await check_rows(other, preflighted, outcome)
    async with broken_database(stage):
        await check_rows(stage, outage, outcome)
    await check_rows(stage, last, outcome)


if __name__ == "__main__":
    sys.exit(prove("API contract", proof, needs=Needs(programs=("schemathesis",))))
