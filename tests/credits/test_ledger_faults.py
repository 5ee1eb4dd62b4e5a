"""Every ledger inconsistency is detected by name and freezes spending."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from cutroom.credits import ledger
from cutroom.credits.rules import Charge
from cutroom.errors import Code, CutroomError
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Connection, insert
from cutroom.platform.ids import new_id
from dev.scratch import Accounts
from tests.credits.conftest import SPEECH, LibraryLedger

ACCOUNTS = "transaction between the wrong accounts"
UNBALANCED = "transaction does not sum to zero"
BALANCE = "balance is not the sum of its entries"
ESCROW = "escrow is not the sum of open lines"
SETTLED = "line state does not match its settlement"
NO_LINE = "settlement without a line"
HOLD = "hold is not the sum of its lines"
NO_HOLD = "line without a hold"
HOLDS = "finished job holds escrow"
UNCHARGED = "ready job was never charged"
GONE = "balance row is missing"
NO_JOB = "holder of a line has no job"
CHARGE_MISMATCH = "escrow lines do not match the charge"
EVERY_FAULT = {ACCOUNTS, UNBALANCED, BALANCE, ESCROW, SETTLED, NO_LINE, HOLD, NO_HOLD, HOLDS, UNCHARGED}
EVERY_FAULT |= {GONE, NO_JOB, CHARGE_MISMATCH}

CHARGE = Charge((SPEECH,), is_subscriber=False).as_json()


@dataclass(frozen=True)
class LedgerScenario:
    """A library with jobs and lines in every state; statements refer to their ids by name."""

    library_ledger: LibraryLedger
    names: dict[str, str] = field(default_factory=dict)

    async def add_job(self, name: str, status: str, attempt: int = 1, **columns: Any) -> str:  # noqa: ANN401
        job_id = self.names[name] = f"transcript_{new_id()}"
        now = system_clock()
        row = {
            "library_id": self.library_ledger.library_id,
            "id": job_id,
            "type": "transcript",
            "status": status,
            "attempt": attempt,
            "plan": {},
            "depends_on": [],
            "charge": CHARGE,
            "progress": 0,
            "created_at": now,
            "updated_at": now,
            "finished_at": now if status in {"ready", "failed"} else None,
            "error_code": "INTERNAL" if status == "failed" else None,
            **columns,
        }
        await insert(self.library_ledger.owner, "jobs", row)
        return job_id

    async def add_line(self, name: str, millicredits: int, **named: Any) -> None:  # noqa: ANN401
        (self.names[name],) = await self.library_ledger.hold_lines(millicredits, **named)


@pytest.fixture
async def scenario(library_ledger: LibraryLedger) -> LedgerScenario:
    """Jobs in every state and a second attempt; one open and one expired reservation."""
    scenario = LedgerScenario(library_ledger, {"library": library_ledger.library_id})
    scenario.names["grant"] = await library_ledger.grant(100_000)
    await scenario.add_job("queued", "queued")
    await scenario.add_job("free", "ready", charge=None)
    await scenario.add_line("held", 1_000, holder=await scenario.add_job("running", "processing"))
    await scenario.add_line("captured", 2_000, holder=await scenario.add_job("ready", "ready"))
    await scenario.add_line("released", 3_000, holder=await scenario.add_job("failed", "failed"))
    again = await scenario.add_job("again", "ready", 2)
    await scenario.add_line("first", 4_000, holder=again)
    await library_ledger.release(again)
    await scenario.add_line("second", 4_000, holder=f"{again}.2")
    await library_ledger.capture(f"{again}.2")
    await library_ledger.capture(scenario.names["ready"])
    await library_ledger.release(scenario.names["failed"])
    tomorrow = system_clock() + timedelta(days=1)
    await scenario.add_line("reserved", 5_000, reservation_id=new_id(), expires_at=tomorrow)
    await scenario.add_line("expired", 6_000, reservation_id=new_id(), expires_at=tomorrow - timedelta(days=1))
    assert await library_ledger.expire(system_clock()) == 1
    return scenario


@asynccontextmanager
async def corrupted(scenario: LedgerScenario, *statements: str) -> AsyncIterator[Connection]:
    """Corrupt the ledger as the schema owner inside the block."""
    owner = scenario.library_ledger.owner
    transaction = owner.transaction()
    await transaction.start()
    try:
        for statement in statements:
            changed = await owner.execute(statement.format(**scenario.names))
            assert not changed.endswith(" 0"), f"nothing was corrupted by {statement}"
        yield owner
    finally:
        await transaction.rollback()


ENTRY = "UPDATE ledger_entries SET millicredits = millicredits {change} WHERE transaction_id = '{{grant}}'"
POST = "SELECT post_movement('{{library}}', 'new', '{kind}', '{about}', {amount}, now())"

# Corrupting statements and the faults they cause.
CORRUPTIONS: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "an entry is too large": (
        (ENTRY.format(change="+ 1") + " AND account = 'wallet'",),
        {UNBALANCED, BALANCE},
    ),
    "an entry is missing": (
        ("DELETE FROM ledger_entries WHERE transaction_id = '{grant}' AND account = 'grant'",),
        {UNBALANCED, BALANCE, ACCOUNTS},
    ),
    "all entries of a transaction are missing": (
        ("DELETE FROM ledger_entries WHERE transaction_id = '{grant}'",),
        {UNBALANCED, BALANCE, ACCOUNTS},
    ),
    "all entries of a transaction are too large": ((ENTRY.format(change="* 2"),), {BALANCE}),
    "a grant from revenue": (
        ("UPDATE ledger_entries SET account = 'revenue' WHERE transaction_id = '{grant}' AND account = 'grant'",),
        {BALANCE, ACCOUNTS},
    ),
    "the wallet is too large": (
        ("UPDATE ledger_balances SET wallet = wallet + 1, granted = granted - 1 WHERE library_id = '{library}'",),
        {BALANCE},
    ),
    "revenue is too large": (
        ("UPDATE ledger_balances SET wallet = wallet - 1, revenue = revenue + 1 WHERE library_id = '{library}'",),
        {BALANCE},
    ),
    "escrow is too small": (
        ("UPDATE ledger_balances SET wallet = wallet + 1, escrow = escrow - 1 WHERE library_id = '{library}'",),
        {BALANCE, ESCROW},
    ),
    "an open line is too large": (
        ("UPDATE escrow_lines SET millicredits = 1001 WHERE id = '{held}'",),
        {ESCROW, HOLD},
    ),
    "an open line is missing": (("DELETE FROM escrow_lines WHERE id = '{held}'",), {ESCROW, HOLD}),
    "an open line is marked captured": (
        ("UPDATE escrow_lines SET state = 'captured', ended_at = now() WHERE id = '{held}'",),
        {ESCROW, SETTLED},
    ),
    "an open line is marked released": (
        ("UPDATE escrow_lines SET state = 'released', ended_at = now() WHERE id = '{reserved}'",),
        {ESCROW, SETTLED},
    ),
    "a captured line is marked released": (
        ("UPDATE escrow_lines SET state = 'released' WHERE id = '{captured}'",),
        {SETTLED, UNCHARGED},
    ),
    "a released line is marked captured": (
        ("UPDATE escrow_lines SET state = 'captured' WHERE id = '{released}'",),
        {SETTLED},
    ),
    "a captured line is marked open": (
        ("UPDATE escrow_lines SET state = 'open', ended_at = NULL WHERE id = '{captured}'",),
        {ESCROW, SETTLED, HOLDS, UNCHARGED},
    ),
    "a captured line is too large": (
        ("UPDATE escrow_lines SET millicredits = 2001 WHERE id = '{captured}'",),
        {SETTLED, HOLD},
    ),
    "a captured line is also released": (
        (
            "DROP INDEX ledger_transactions_settled_key",
            POST.format(kind="release", about="{captured}", amount=2_000),
        ),
        {ESCROW, SETTLED},
    ),
    "a line is captured twice": (
        (
            "DROP INDEX ledger_transactions_settled_key",
            "DROP INDEX ledger_transactions_reference_key",
            POST.format(kind="capture", about="{captured}", amount=2_000),
        ),
        {ESCROW, SETTLED},
    ),
    "a captured line is marked open after the fact": (
        (POST.format(kind="capture", about="{held}", amount=1_000),),
        {ESCROW, SETTLED},
    ),
    "a line is partly released": (
        (
            "UPDATE escrow_lines SET state = 'released', ended_at = now() WHERE id = '{held}'",
            POST.format(kind="release", about="{held}", amount=999),
        ),
        {ESCROW, SETTLED},
    ),
    "a capture of no line": ((POST.format(kind="capture", about="nothing", amount=1),), {ESCROW, NO_LINE}),
    "a release of no line": ((POST.format(kind="release", about="nothing", amount=1),), {ESCROW, NO_LINE}),
    "a hold without lines": ((POST.format(kind="hold", about="nothing", amount=1),), {ESCROW, HOLD}),
    "a captured line is missing": (
        ("DELETE FROM escrow_lines WHERE id = '{captured}'",),
        {HOLD, NO_LINE, UNCHARGED},
    ),
    "a line without a hold": (
        ("UPDATE escrow_lines SET hold_id = 'nothing' WHERE id = '{held}'",),
        {HOLD, NO_HOLD},
    ),
    "a line whose hold is a grant": (
        ("UPDATE escrow_lines SET hold_id = '{grant}' WHERE id = '{held}'",),
        {HOLD, NO_HOLD},
    ),
    "a line refers to another hold": (
        (
            "UPDATE escrow_lines SET hold_id = (SELECT hold_id FROM escrow_lines WHERE id = '{held}') "
            "WHERE id = '{reserved}'",
        ),
        {HOLD},
    ),
    "a ready job still holds": (
        ("UPDATE jobs SET status = 'ready', finished_at = now() WHERE id = '{running}'",),
        {HOLDS, UNCHARGED},
    ),
    "a failed job still holds": (
        ("UPDATE jobs SET status = 'failed', error_code = 'INTERNAL', finished_at = now() WHERE id = '{running}'",),
        {HOLDS},
    ),
    "an earlier attempt still holds": (("UPDATE jobs SET attempt = 2 WHERE id = '{running}'",), {HOLDS}),
    "a ready job never held anything": (
        ("UPDATE jobs SET status = 'ready', finished_at = now() WHERE id = '{queued}'",),
        {UNCHARGED},
    ),
    "a ready job was refunded": (
        ("UPDATE jobs SET status = 'ready', error_code = NULL WHERE id = '{failed}'",),
        {UNCHARGED},
    ),
    "the balance row is missing": (("DELETE FROM ledger_balances WHERE library_id = '{library}'",), {GONE}),
    "a line has no holder": (
        ("UPDATE escrow_lines SET holder = 'unknown' WHERE id = '{held}'",),
        {NO_JOB},
    ),
    "a captured line has no holder": (
        ("UPDATE escrow_lines SET holder = 'unknown' WHERE id = '{captured}'",),
        {NO_JOB, UNCHARGED},
    ),
    "the job of a line is missing": (("DELETE FROM jobs WHERE id = '{running}'",), {NO_JOB}),
    "the holder is a nonexistent attempt": (
        ("UPDATE escrow_lines SET holder = '{failed}.2' WHERE id = '{released}'",),
        {NO_JOB},
    ),
    "the holder is malformed": (
        ("UPDATE escrow_lines SET holder = '{failed}.x' WHERE id = '{released}'",),
        {NO_JOB},
    ),
    "the language of a line differs from the charge": (
        ("UPDATE escrow_lines SET language = 'de' WHERE id = '{captured}'",),
        {CHARGE_MISMATCH},
    ),
    "the terms of a line differ from the charge": (
        ("UPDATE escrow_lines SET terms = '{{\"words\": 1}}' WHERE id = '{held}'",),
        {CHARGE_MISMATCH},
    ),
    "the charge has more items than lines": (
        ("UPDATE jobs SET charge = jsonb_set(charge, '{{items,1}}', charge #> '{{items,0}}') WHERE id = '{running}'",),
        {CHARGE_MISMATCH},
    ),
    "the holder already has a line": (
        ("UPDATE escrow_lines SET holder = '{running}' WHERE id = '{released}'",),
        {CHARGE_MISMATCH},
    ),
    "a job without a charge holds a line": (
        ("UPDATE jobs SET charge = NULL WHERE id = '{running}'",),
        {CHARGE_MISMATCH},
    ),
    "a later attempt was not charged": (("UPDATE jobs SET attempt = 3 WHERE id = '{again}'",), {UNCHARGED}),
}


async def test_consistent_ledger_has_no_faults(scenario: LedgerScenario) -> None:
    library_ledger = scenario.library_ledger
    assert await library_ledger.faults() == []
    now = system_clock()
    assert await library_ledger.owner.fetch("SELECT * FROM check_ledger($1, $2)", library_ledger.library_id, now) == []
    row = await library_ledger.owner.fetchrow(
        "SELECT frozen_at, checked_at FROM ledger_balances WHERE library_id = $1", library_ledger.library_id
    )
    assert row is not None
    assert tuple(row) == (None, now)
    await library_ledger.hold_lines(1)


@pytest.mark.parametrize(("statements", "faults"), CORRUPTIONS.values(), ids=list(CORRUPTIONS))
async def test_fault_is_detected(scenario: LedgerScenario, statements: tuple[str, ...], faults: set[str]) -> None:
    async with corrupted(scenario, *statements):
        assert {fault[0] for fault in await scenario.library_ledger.faults()} == faults
    assert await scenario.library_ledger.faults() == []


def test_every_fault_has_a_case() -> None:
    assert set().union(*(faults for _, faults in CORRUPTIONS.values())) == EVERY_FAULT


@pytest.mark.parametrize(("statements", "faults"), CORRUPTIONS.values(), ids=list(CORRUPTIONS))
async def test_fault_freezes_spending(scenario: LedgerScenario, statements: tuple[str, ...], faults: set[str]) -> None:
    library_id, now = scenario.library_ledger.library_id, system_clock()
    async with corrupted(scenario, *statements) as owner:
        seen = await owner.fetch("SELECT * FROM check_ledger($1, $2)", library_id, now)
        assert {row["fault"] for row in seen} == faults
        frozen_at = "SELECT frozen_at FROM ledger_balances WHERE library_id = $1"
        assert await owner.fetchval(frozen_at, library_id) == now
        await owner.execute("SELECT set_config('cutroom.library_id', $1, true)", library_id)
        with pytest.raises(CutroomError) as refused:
            await ledger.hold(owner, library_id, transaction_id=new_id(), reference=new_id(), millicredits=1, now=now)
        assert refused.value.code is Code.FAILED_PRECONDITION
        later = now + timedelta(hours=1)  # frozen_at keeps the first time
        await owner.fetch("SELECT * FROM check_ledger($1, $2)", library_id, later)
        assert await owner.fetchval(frozen_at, library_id) == now


async def test_fault_reports_location_and_amounts(scenario: LedgerScenario) -> None:
    held = scenario.names["held"]
    async with corrupted(scenario, "UPDATE escrow_lines SET millicredits = 1001 WHERE id = '{held}'"):
        hold_id = await scenario.library_ledger.owner.fetchval("SELECT hold_id FROM escrow_lines WHERE id = $1", held)
        assert sorted(await scenario.library_ledger.faults()) == [
            (ESCROW, "escrow", 6_001, 6_000),
            (HOLD, hold_id, 1_001, 1_000),
        ]
    more = "UPDATE ledger_balances SET wallet = wallet + 7, granted = granted - 7 WHERE library_id = '{library}'"
    async with corrupted(scenario, more):
        found = {fault[1:3]: fault[3] for fault in await scenario.library_ledger.faults()}
    wallet = (await scenario.library_ledger.accounts()).wallet
    assert found == {("wallet", wallet): wallet + 7, ("grant", -100_000): -100_007}


async def test_faults_are_scoped_to_library(scenario: LedgerScenario, accounts: Accounts) -> None:
    neighbour = LibraryLedger(
        scenario.library_ledger.runtime, scenario.library_ledger.owner, (await accounts.person()).library_id
    )
    await neighbour.grant(1_000)
    await neighbour.hold_lines(300)
    async with corrupted(scenario, "DELETE FROM ledger_entries WHERE library_id = '{library}'") as owner:
        assert await neighbour.faults() == []
        for library_id in (scenario.library_ledger.library_id, neighbour.library_id):
            await owner.fetch("SELECT * FROM check_ledger($1, now())", library_id)
        rows = await owner.fetch(
            "SELECT library_id FROM ledger_balances WHERE library_id = ANY($1) AND frozen_at IS NULL",
            [scenario.library_ledger.library_id, neighbour.library_id],
        )
        assert [row["library_id"] for row in rows] == [neighbour.library_id]


async def test_repaired_ledger_stays_frozen_until_reviewed(scenario: LedgerScenario) -> None:
    library_ledger = scenario.library_ledger
    await library_ledger.freeze()
    assert await library_ledger.owner.fetch("SELECT * FROM check_ledger($1, now())", library_ledger.library_id) == []
    assert (await library_ledger.balances()).is_frozen


async def test_application_role_can_check_ledger(scenario: LedgerScenario) -> None:
    async with scenario.library_ledger.transaction() as connection:
        assert await connection.fetch("SELECT * FROM check_ledger($1, now())", scenario.library_ledger.library_id) == []
