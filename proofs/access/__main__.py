"""Access control: every operation as every kind of caller, and row-level security underneath."""

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
from proofs.access.callers import Headers, Stage, bearer, cases_of, open_stage
from proofs.access.document import OPEN_PATH, Operation, read_operations
from proofs.access.responses import Expected, Tally, fault_in, refusal
from proofs.access.row_level_security import RowLevelSecurity, fingerprint, prove_pool_resets_library
from proofs.stage.access_fixtures import LibraryFixture
from proofs.stage.report import Report, prove
from tests.support.relations import fill_empty_tables

FAILURES_PER_MINUTE = 1_000_000  # the proof sends mostly invalid credentials
REVOCATION_GOAL_MS = 1_000
POLLERS = 4
MIN_REFUSALS = 25  # per poller, before the key counts as revoked
EVENT_STREAM = "text/event-stream"
MAX_NOTES = 20  # printed faults; all are counted


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    settings = await scratch("proof_access")
    # Hosting is configured but never called: no worker runs.
    changes = {"failed_credentials_per_minute": FAILURES_PER_MINUTE, "mux_token_id": "unused"}
    settings = settings.model_copy(update=changes)
    accounts, server = await Accounts.open(settings), Server(environment_of(settings))
    responses, statements = Tally(), Tally()
    server.start()
    try:
        stage = await open_stage(accounts)
        async with httpx.AsyncClient(base_url=server.url, timeout=30) as client:
            operations = await _prove_operations(report, client, stage, tally=responses, short=short)
            revocation_ms = await _prove_revocation(client, stage, operations, rounds=2 if short else 10)
        foreign_rows = await _prove_row_level_security(stage, settings, statements)
    finally:
        server.stop()
        await accounts.close()
    _claim_none_wrong(report, "every caller gets exactly the expected response", responses)
    _claim_none_wrong(report, "the database refuses statements across libraries", statements)
    report.claim("visible rows of another library", expected="0", measured=foreign_rows, holds=not foreign_rows)
    report.claim_time(
        "a revoked key is refused",
        expected=f"within {REVOCATION_GOAL_MS} ms",
        measured=f"{revocation_ms} ms",
        holds=revocation_ms <= REVOCATION_GOAL_MS,
    )
    report.figures(
        cases=responses.cases + statements.cases,
        wrong=len(responses.wrong) + len(statements.wrong),
        operations=len(operations),
        revocation_ms=revocation_ms,
        foreign_rows=foreign_rows,
    )


def _claim_none_wrong(report: Report, claim: str, tally: Tally) -> None:
    wrong, cases = len(tally.wrong), tally.cases
    for fault in tally.wrong[:MAX_NOTES]:
        report.note(escape(fault))
    report.claim(claim, expected="0 wrong", measured=f"{wrong} wrong of {cases}", holds=bool(cases) and not wrong)


async def _prove_operations(
    report: Report, client: httpx.AsyncClient, stage: Stage, *, tally: Tally, short: bool
) -> list[Operation]:
    document = (await client.get("/v1/openapi.json")).json()
    operations, faults = read_operations(document, frozenset(stage.owner.ids))
    for fault in faults:
        report.note(escape(fault))
    described = f"{len(operations)}, and {len(faults)} cannot be called"
    report.claim(
        "every operation declares its scope and can be called",
        expected="0 cannot",
        measured=described,
        holds=bool(operations) and not faults,
    )
    untouched = [stage.owner.library_id, stage.team.library_id]
    before = await fingerprint(stage.factory.accounts.connection, untouched)
    for credential in ({}, bearer("garbage")):
        response = await client.get(OPEN_PATH, headers=credential)
        tally.check(OPEN_PATH, fault_in(response, Expected(statuses=frozenset({200}))))
    for operation in operations:
        async for case in cases_of(operation, stage, short=short):
            response = await _call(client, operation, case.ids, headers=case.headers)
            tally.check(f"{operation.name} as {case.caller}", fault_in(response, case.expected))
        if operation.is_paged:
            await _prove_page_tokens(client, operation, stage, tally=tally)
    after = await fingerprint(stage.factory.accounts.connection, untouched)
    for table in before.keys() | after.keys():
        same = before.get(table) == after.get(table)
        tally.check(table, None if same else "changed by a rejected request")
    return operations


async def _call(
    client: httpx.AsyncClient,
    operation: Operation,
    ids: Mapping[str, str],
    *,
    headers: Headers,
    query: Mapping[str, str] | None = None,
) -> httpx.Response:
    async with client.stream(
        operation.method.upper(),
        operation.url(ids),
        params={**operation.query_of(ids), **(query or {})},
        json=operation.body,
        headers=headers,
    ) as response:
        if response.headers.get("content-type", "").startswith(EVENT_STREAM):  # it does not end by itself
            return httpx.Response(response.status_code, headers=response.headers, request=response.request)
        await response.aread()
        return response


async def _prove_page_tokens(client: httpx.AsyncClient, operation: Operation, stage: Stage, *, tally: Tally) -> None:
    """A page token is valid for its own list and library only."""
    other = stage.outsiders["a foreign user"]
    other_headers, owner_headers = bearer(other.key.secret), bearer(stage.owner.key.secret)
    first = await _call(client, operation, other.ids, headers=other_headers, query={"limit": "1"})
    token = first.json().get("nextPageToken")
    if token is None:
        tally.check(operation.name, "no nextPageToken with limit=1; add a second row to the fixtures")
        return
    passed = Expected(statuses=operation.passes, hidden=stage.owner.markers)
    invalid = refusal(Code.INVALID_ARGUMENT, details=None, hidden=other.markers | stage.owner.markers)
    forged = token[:-1] + ("A" if token[-1] != "A" else "B")
    for caller, library, headers, sent, expected in (
        ("its own page token", other, other_headers, token, passed),
        ("another library's page token", stage.owner, owner_headers, token, invalid),
        ("a forged page token", other, other_headers, forged, invalid),
    ):
        response = await _call(client, operation, library.ids, headers=headers, query={"pageToken": sent})
        fault = fault_in(response, expected)
        if fault is None and expected is invalid and '"path":"pageToken"' not in response.text:
            fault = f"the error does not name pageToken: {response.text}"
        tally.check(f"{operation.name} with {caller}", fault)


async def _prove_revocation(
    client: httpx.AsyncClient, stage: Stage, operations: Iterable[Operation], *, rounds: int
) -> float:
    """The longest time from the start of a revocation until the key is rejected for good, in milliseconds."""
    operation = next(each for each in operations if each.method == "get" and not each.path_names)
    longest = 0.0
    for _ in range(rounds):
        library = await stage.factory.personal()
        polled = PolledResponses(warm=asyncio.Event(), outcomes=[])
        polling = asyncio.gather(*(_poll_until_refused(client, operation, library, polled) for _ in range(POLLERS)))
        await polled.warm.wait()
        started = time.perf_counter()
        await service.revoke_key(stage.factory.accounts.connection, library.key.id, now=system_clock())
        await polling
        refused = [at for at, status in polled.outcomes if status == 401]
        accepted = [at for at, status in polled.outcomes if status in operation.passes]
        if not refused or not accepted or len(refused) + len(accepted) != len(polled.outcomes):
            raise RuntimeError(f"a revoked key got {sorted({status for _, status in polled.outcomes})}")
        longest = max(longest, min(refused) - started, max(accepted) - started)
    return round(longest * 1000, 1)


@dataclass(frozen=True, slots=True)
class PolledResponses:
    """Time and status of every response; `warm` is set once the pollers are at full speed."""

    warm: asyncio.Event
    outcomes: list[tuple[float, int]]


async def _poll_until_refused(
    client: httpx.AsyncClient, operation: Operation, library: LibraryFixture, polled: PolledResponses
) -> None:
    """Poll without pause, and for a while after the first refusal in case the key becomes valid again."""
    refusals, deadline = 0, time.perf_counter() + 10 * REVOCATION_GOAL_MS / 1000
    while refusals < MIN_REFUSALS and time.perf_counter() < deadline:
        response = await _call(client, operation, library.ids, headers=bearer(library.key.secret))
        polled.outcomes.append((time.perf_counter(), response.status_code))
        refusals += response.status_code == 401
        if len(polled.outcomes) > 10 * POLLERS:
            polled.warm.set()


async def _prove_row_level_security(stage: Stage, settings: Settings, tally: Tally) -> int:
    schema_owner = stage.factory.accounts.connection
    for library in (stage.owner, stage.outsiders["a foreign user"]):
        await fill_empty_tables(schema_owner, library.library_id)
    before = await fingerprint(schema_owner, [stage.owner.library_id])
    other, foreign_rows = stage.outsiders["a foreign user"], 0
    for url in (settings.api_database, settings.worker_database, settings.relay_database):
        application = await asyncpg.connect(url)
        try:
            foreign_rows += await RowLevelSecurity(tally, schema_owner, application, stage.owner, other).prove()
        finally:
            await application.close()
    after = await fingerprint(schema_owner, [stage.owner.library_id])
    tally.check("the owner's rows", None if before == after else "changed by a role of the application")
    await prove_pool_resets_library(tally, settings, stage.owner)
    return foreign_rows


if __name__ == "__main__":
    sys.exit(prove("Access control", proof))
