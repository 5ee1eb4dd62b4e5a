"""Nobody reaches what is not theirs: every operation as every kind of caller, and the database's own wall behind."""

import asyncio
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import asyncpg
import httpx
from rich.markup import escape

from cutroom.accounts import service
from cutroom.errors import Code
from cutroom.platform.clock import system_clock
from cutroom.platform.settings import Settings
from dev.scratch import Accounts, environment_of, scratch
from dev.server import Server
from proofs.access.callers import Headers, Stage, bearer, cases_of, set_the_stage
from proofs.access.document import OPEN_PATH, Operation, read_operations
from proofs.access.responses import Expected, Tally, fault_in, refusal
from proofs.access.row_level_security import Wall, fingerprint, prove_pool_forgets
from proofs.access.tables import fill_empty_tables
from proofs.stage.access_fixtures import Holding
from proofs.stage.report import Report, prove

FAILURES_PER_MINUTE = 1_000_000  # guesses are what this proof is made of
REVOCATION_GOAL_MS = 1_000
ASKERS = 4
REFUSALS = 25  # of each asker, before it believes them
TOLD = 20  # faults that are printed; all are counted


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    settings = await scratch("proof_access")
    # With a host, which nobody asks: there is no worker here.
    changes = {"failed_credentials_per_minute": FAILURES_PER_MINUTE, "mux_token_id": "nobody"}
    settings = settings.model_copy(update=changes)
    accounts, server = await Accounts.open(settings), Server(environment_of(settings))
    asked, tried = Tally(), Tally()
    server.start()
    try:
        stage = await set_the_stage(accounts)
        async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
            operations = await _prove_operations(report, client, stage, tally=asked, short=short)
            revocation_ms = await _prove_revocation(client, stage, operations, rounds=2 if short else 10)
        foreign_rows = await _prove_wall(stage, settings, tried)
    finally:
        server.stop()
        await accounts.close()
    _claim_none_wrong(report, "every caller gets exactly its answer", asked)
    _claim_none_wrong(report, "the database refuses what no code confines", tried)
    report.claim("rows of another library seen", wanted="0", measured=foreign_rows, holds=not foreign_rows)
    report.claim(
        "a revoked key is refused",
        wanted=f"within {REVOCATION_GOAL_MS} ms",
        measured=f"{revocation_ms} ms",
        holds=revocation_ms <= REVOCATION_GOAL_MS,
    )
    report.figures(
        cases=asked.cases + tried.cases,
        wrong=len(asked.wrong) + len(tried.wrong),
        operations=len(operations),
        revocation_ms=revocation_ms,
        foreign_rows=foreign_rows,
    )


def _claim_none_wrong(report: Report, claim: str, tally: Tally) -> None:
    wrong, cases = len(tally.wrong), tally.cases
    for fault in tally.wrong[:TOLD]:
        report.note(escape(fault))
    report.claim(claim, wanted="0 wrong", measured=f"{wrong} wrong of {cases}", holds=bool(cases) and not wrong)


async def _prove_operations(
    report: Report, client: httpx.AsyncClient, stage: Stage, *, tally: Tally, short: bool
) -> list[Operation]:
    document = (await client.get("/v1/openapi.json")).json()
    operations, faults = read_operations(document, frozenset(stage.owner.ids))
    for fault in faults:
        report.note(escape(fault))
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


async def _ask(
    client: httpx.AsyncClient,
    operation: Operation,
    ids: Mapping[str, str],
    *,
    headers: Headers,
    query: Mapping[str, str] | None = None,
) -> httpx.Response:
    return await client.request(
        operation.method.upper(),
        operation.url(ids),
        params={**operation.query, **(query or {})},
        json=operation.body,
        headers=headers,
    )


async def _prove_page_tokens(client: httpx.AsyncClient, operation: Operation, stage: Stage, *, tally: Tally) -> None:
    """A page token opens its own list, and no other library's."""
    stranger = stage.foreigners["a foreign user"]
    theirs, ours = bearer(stranger.key.secret), bearer(stage.owner.key.secret)
    first = await _ask(client, operation, stranger.ids, headers=theirs, query={"limit": "1"})
    token = first.json().get("nextPageToken")
    if token is None:
        tally.check(operation.name, "a page of one has no nextPageToken; seed two rows of it in the fixtures")
        return
    passed = Expected(statuses=operation.passes, hidden=stage.owner.marks)
    invalid = refusal(Code.INVALID_ARGUMENT, details=None, hidden=stranger.marks | stage.owner.marks)
    forged = token[:-1] + ("A" if token[-1] != "A" else "B")
    for caller, holding, headers, sent, expected in (
        ("its own page token", stranger, theirs, token, passed),
        ("another library's page token", stage.owner, ours, token, invalid),
        ("a forged page token", stranger, theirs, forged, invalid),
    ):
        answer = await _ask(client, operation, holding.ids, headers=headers, query={"pageToken": sent})
        fault = fault_in(answer, expected)
        if fault is None and expected is invalid and '"path":"pageToken"' not in answer.text:
            fault = f"the fault is not told of pageToken: {answer.text}"
        tally.check(f"{operation.name} with {caller}", fault)


async def _prove_revocation(
    client: httpx.AsyncClient, stage: Stage, operations: Iterable[Operation], *, rounds: int
) -> float:
    """The longest time from a revocation's start until the key has been refused and is never accepted again."""
    operation = next(each for each in operations if each.method == "get" and not each.path_names)
    longest = 0.0
    for _ in range(rounds):
        holding = await stage.founder.personal()
        asked = Asked(warm=asyncio.Event(), answers=[])
        asking = asyncio.gather(*(_ask_until_refused(client, operation, holding, asked) for _ in range(ASKERS)))
        await asked.warm.wait()
        started = time.perf_counter()
        await service.revoke_key(stage.founder.accounts.connection, holding.key.id, now=system_clock())
        await asking
        refused = [at for at, status in asked.answers if status == 401]
        accepted = [at for at, status in asked.answers if status in operation.passes]
        if not refused or not accepted or len(refused) + len(accepted) != len(asked.answers):
            raise RuntimeError(f"a revoked key was answered {sorted({status for _, status in asked.answers})}")
        longest = max(longest, min(refused) - started, max(accepted) - started)
    return round(longest * 1000, 1)


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking all the time: when each answer came, and its status."""

    warm: asyncio.Event
    answers: list[tuple[float, int]]


async def _ask_until_refused(client: httpx.AsyncClient, operation: Operation, holding: Holding, asked: Asked) -> None:
    """Ask again as soon as answered, and for some time after the first refusal, in case the key comes back."""
    refusals, deadline = 0, time.perf_counter() + 10 * REVOCATION_GOAL_MS / 1000
    while refusals < REFUSALS and time.perf_counter() < deadline:
        answer = await _ask(client, operation, holding.ids, headers=bearer(holding.key.secret))
        asked.answers.append((time.perf_counter(), answer.status_code))
        refusals += answer.status_code == 401
        if len(asked.answers) > 10 * ASKERS:
            asked.warm.set()


async def _prove_wall(stage: Stage, settings: Settings, tally: Tally) -> int:
    schema_owner = stage.founder.accounts.connection
    for holding in (stage.owner, stage.foreigners["a foreign user"]):
        await fill_empty_tables(schema_owner, holding.library_id)
    before = await fingerprint(schema_owner, [stage.owner.library_id])
    application = await asyncpg.connect(settings.database_url.get_secret_value())
    try:
        other = stage.foreigners["a foreign user"]
        foreign_rows = await Wall(tally, schema_owner, application, stage.owner, other).prove()
    finally:
        await application.close()
    after = await fingerprint(schema_owner, [stage.owner.library_id])
    tally.check("the owner's rows", None if before == after else "the application's role has changed them")
    await prove_pool_forgets(tally, settings, stage.owner)
    return foreign_rows


if __name__ == "__main__":
    sys.exit(prove("Who may do what", proof))
