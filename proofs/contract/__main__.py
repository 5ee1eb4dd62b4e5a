"""Everything that the interface promises, row by row on the running service, and Schemathesis over its document."""

import sys

from rich.markup import escape

from proofs.contract.breakage import broken_database
from proofs.contract.rows import Outcome, check_rows, needs_breakage, needs_everything, needs_worker
from proofs.contract.schemathesis import run_schemathesis
from proofs.contract.sources import looking
from proofs.contract.stage import Stage, open_stage
from proofs.stage.report import Report, prove
from tests.contract.promises import Promise, fault_of, read_promises

TOLD = 60  # faults that are printed; all are counted


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    promises, outcome = read_promises(), Outcome()
    async with open_stage("proof_contract") as stage:
        document = (await stage.client.get("/v1/openapi.json")).json()
        undocumented = [
            f"line {promise.number}: {promise}: {fault}"
            for promise in promises
            if (fault := fault_of(promise, document))
        ]
        await _check(stage, promises, outcome)
        found = await run_schemathesis(stage, short=short)
    for line in (*outcome.skipped, *undocumented[:TOLD], *outcome.failed[:TOLD], *found.failures[:TOLD], *found.notes):
        report.note(escape(line))
    report.claim(
        "every promise is in the document",
        wanted="0 missing",
        measured=f"{len(undocumented)} of {len(promises)}",
        holds=bool(promises) and not undocumented,
    )
    report.claim(
        "... and the running service keeps it",
        wanted="0 broken",
        measured=f"{len(outcome.failed)} broken, {len(outcome.skipped)} not shown here",
        holds=not outcome.failed,
    )
    report.claim(
        "Schemathesis finds nothing",
        wanted="0 of any check",
        measured=f"{len(found.failures)} in {found.cases} requests to {found.operations} operations",
        holds=not found.failures and found.cases > 0,
    )
    report.claim(
        "... also along the links",
        wanted="some",
        measured=found.links,
        holds=not found.links.startswith(("none", "0 ")),
    )
    report.figures(
        rows=len(promises),
        failed=len(undocumented) + len(outcome.failed),
        skipped=len(outcome.skipped),
        requests=len(stage.answers),
        schemathesis_cases=found.cases,
        schemathesis_links=found.links,
        schemathesis_failures=len(found.failures),
    )


async def _check(stage: Stage, promises: list[Promise], outcome: Outcome) -> None:
    """What can be asked, then what needs a worker or a broken database, then what holds for all answers together."""
    last = [promise for promise in promises if needs_everything(promise) and "behaves" not in promise.part]
    breaking = [promise for promise in promises if needs_breakage(promise)]
    looked = [promise for promise in promises if needs_worker(promise)]
    rest = [promise for promise in promises if promise not in (*last, *breaking, *looked)]
    await check_rows(stage, rest, outcome)
    async with looking(stage) as other:
        await check_rows(other, looked, outcome)
    async with broken_database(stage):
        await check_rows(stage, breaking, outcome)
    await check_rows(stage, last, outcome)


if __name__ == "__main__":
    sys.exit(prove("What the interface promises", proof))
