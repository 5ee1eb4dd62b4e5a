"""Recomputes a library's ledger in Python from its raw rows, alongside the database's own `ledger_faults` check."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg

from cutroom.platform.db import Connection
from proofs.stage.price_model import line_price, milli

# Debited and credited account of each transaction kind.
SIDES = {
    "grant": ("grant", "wallet"),
    "hold": ("wallet", "escrow"),
    "capture": ("escrow", "revenue"),
    "release": ("escrow", "wallet"),
}
SETTLED = {"captured": "capture", "released": "release"}
CHECKER = "ledger_faults:"
NONE = {"wallet": 0, "escrow": 0, "revenue": 0, "granted": 0, "overdraft": 0}

Rows = Sequence[asyncpg.Record]


@dataclass(frozen=True, slots=True)
class LedgerAudit:
    """One snapshot of a library's ledger, and its faults."""

    balances: dict[str, int]
    lines: dict[str, dict[str, Any]]
    faults: list[str]


async def audit_library(
    pool: "asyncpg.Pool[asyncpg.Record]", library_id: str, *, is_subscriber: bool = True
) -> LedgerAudit:
    """Audit one snapshot, as the schema's owner."""
    async with pool.acquire() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
        return await audit_ledger(connection, library_id, is_subscriber=is_subscriber)


async def audit_ledger(connection: Connection, library_id: str, *, is_subscriber: bool = True) -> LedgerAudit:
    async def rows(columns_and_table: str) -> Rows:
        return await connection.fetch(f"SELECT {columns_and_table} WHERE library_id = $1", library_id)

    found = await connection.fetchrow(
        "SELECT wallet, escrow, revenue, granted, overdraft FROM ledger_balances WHERE library_id = $1", library_id
    )
    balances = dict(found) if found is not None else dict(NONE)
    transactions = await rows("id, kind, reference FROM ledger_transactions")
    entries = await rows("transaction_id, account, millicredits FROM ledger_entries")
    lines = await rows("* FROM escrow_lines")
    jobs = await rows("id, status, attempt, charge, result FROM jobs")
    checked = await connection.fetch("SELECT * FROM ledger_faults($1)", library_id)

    def audit() -> LedgerAudit:
        amounts, faults = _amounts(transactions, entries)
        faults += _balances(balances, entries, lines)
        faults += _holds(transactions, amounts, lines)
        faults += _settlements(transactions, amounts, lines)
        faults += [fault for line in lines for fault in _price(line, is_subscriber=is_subscriber)]
        faults += _jobs(jobs, lines)
        faults += [f"{CHECKER} {dict(fault)}" for fault in checked]
        return LedgerAudit(balances, {line["id"]: dict(line) for line in lines}, faults)

    # In a thread, so that transactions that hold locks are not delayed.
    return await asyncio.to_thread(audit)


def _amounts(transactions: Rows, entries: Rows) -> tuple[dict[str, int], list[str]]:
    """The amount of each transaction, and faults where its entries do not match its kind."""
    sides: dict[str, dict[str, int]] = defaultdict(dict)
    for entry in entries:
        sides[entry["transaction_id"]][entry["account"]] = entry["millicredits"]
    amounts, faults = {}, []
    for transaction in transactions:
        giver, taker = SIDES[transaction["kind"]]
        found = sides.pop(transaction["id"], {})
        amount = found.get(taker, 0)
        if amount <= 0 or found != {giver: -amount, taker: amount}:
            faults.append(f"{transaction['kind']} {transaction['id']} has the entries {found}")
        amounts[transaction["id"]] = amount
    return amounts, faults + [f"entries without a transaction: {orphan}" for orphan in sides]


def _balances(balances: dict[str, int], entries: Rows, lines: Rows) -> list[str]:
    sums: Counter[str] = Counter()
    for entry in entries:
        sums[entry["account"]] += entry["millicredits"]
    faults = [
        f"{account} is {balances[column]}, its entries add up to {sums[account]}"
        for account, column in {
            "wallet": "wallet",
            "escrow": "escrow",
            "revenue": "revenue",
            "grant": "granted",
        }.items()
        if balances[column] != sums[account]
    ]
    held = sum(line["millicredits"] for line in lines if line["state"] == "open")
    if balances["escrow"] != held:
        faults.append(f"escrow is {balances['escrow']}, open lines add up to {held}")
    return faults + balance_faults(balances)


def balance_faults(balances: dict[str, int]) -> list[str]:
    """Faults visible in the balances alone, at any time."""
    faults = []
    if balances["wallet"] < -balances["overdraft"]:
        faults.append(f"wallet is {balances['wallet']}, its limit is {-balances['overdraft']}")
    if min(balances["escrow"], balances["revenue"], -balances["granted"]) < 0:
        faults.append(f"an account has the wrong sign: {balances}")
    if balances["wallet"] + balances["escrow"] + balances["revenue"] != -balances["granted"]:
        faults.append(f"balances do not add up to the grants: {balances}")
    return faults


def _holds(transactions: Rows, amounts: dict[str, int], lines: Rows) -> list[str]:
    held: Counter[str] = Counter()
    for line in lines:
        held[line["hold_id"]] += line["millicredits"]
    holds = {transaction["id"] for transaction in transactions if transaction["kind"] == "hold"}
    faults = [f"hold {one} is {amounts[one]}, its lines {held[one]}" for one in holds if amounts[one] != held[one]]
    return faults + [f"lines without a hold: {one}" for one in set(held) - holds]


def _settlements(transactions: Rows, amounts: dict[str, int], lines: Rows) -> list[str]:
    """Every closed line was settled exactly once, in full and as its state says; nothing else was settled."""
    found = [
        (transaction["reference"], transaction["kind"], amounts[transaction["id"]])
        for transaction in transactions
        if transaction["kind"] in SETTLED.values()
    ]
    expected = [
        (line["id"], SETTLED[line["state"]], line["millicredits"]) for line in lines if line["state"] in SETTLED
    ]
    missing, extra = Counter(expected) - Counter(found), Counter(found) - Counter(expected)
    return [f"not settled: {one}" for one in missing] + [f"settled without a line: {one}" for one in extra]


def _price(line: asyncpg.Record, *, is_subscriber: bool) -> list[str]:
    expected = line_price(
        line["action"],
        line["product"],
        terms=line["terms"],
        duration_ms=line["duration_milliseconds"],
        is_subscriber=is_subscriber,
    )
    return (
        [] if line["millicredits"] == expected else [f"line {line['id']} costs {line['millicredits']}, not {expected}"]
    )


def _jobs(jobs: Rows, lines: Rows) -> list[str]:
    """Ready jobs were charged, failed jobs were not, and old attempts hold nothing.

    A line that a cheaper one replaces was released before the job ended.
    """
    replaced = {line["replaces"] for line in lines}
    of_holder: dict[str, list[asyncpg.Record]] = defaultdict(list)
    for line in lines:
        if line["holder"] is not None:
            of_holder[line["holder"]].append(line)
    faults = []
    for job in jobs:
        held: list[asyncpg.Record] = []
        for attempt in range(1, job["attempt"] + 1):
            held = of_holder.pop(job["id"] if attempt == 1 else f"{job['id']}.{attempt}", [])
            status = job["status"] if attempt == job["attempt"] else "failed"
            allowed = {"ready": {"captured"}, "failed": {"released"}}.get(status, {"open"})
            if not {line["state"] for line in held if line["id"] not in replaced} <= allowed:
                faults.append(f"job {job['id']}, attempt {attempt}, {status}: {[line['state'] for line in held]}")
        if job["charge"] is not None:
            faults += _receipt(job, held)
            first = [line for line in held if line["replaces"] is None]
            if len(first) not in {0, len(job["charge"]["items"])}:
                faults.append(f"job {job['id']} holds {len(first)} lines for {len(job['charge']['items'])} items")
    return faults + [f"held by an unknown job: {holder}" for holder in of_holder]


def _saved(line: asyncpg.Record, held: list[asyncpg.Record]) -> int:
    """What a line costs less than the one that it replaces."""
    costs: dict[str, int] = {each["id"]: each["millicredits"] for each in held}
    return costs[line["replaces"]] - costs[line["id"]]


def _receipt(job: asyncpg.Record, held: list[asyncpg.Record]) -> list[str]:
    if job["status"] == "ready" and not held:
        return [f"job {job['id']} was not charged"]
    if job["status"] not in {"ready", "failed"}:
        return []
    receipt, total = job["result"]["receipt"], sum(line["millicredits"] for line in held if line["replaces"] is None)
    saved = sum(_saved(line, held) for line in held if line["replaces"] is not None)
    captured = total - saved if job["status"] == "ready" else 0
    expected = {"held": total, "captured": captured, "returned": total - captured} | ({"quoted": total} if held else {})
    found = {name: milli(receipt[name]) for name in expected}
    ids = [line["lineItemId"] for line in receipt["lines"]]
    if found == expected and ids == sorted(line["id"] for line in held):
        return []
    return [f"receipt of {job['id']} is {found}, not {expected}"]
