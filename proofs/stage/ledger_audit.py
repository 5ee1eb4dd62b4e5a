"""The books of a library read raw and added up again in Python, beside what the database's own check says."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg

from cutroom.platform.db import Connection
from proofs.stage.price_model import line_price, milli

# From which account to which each kind of movement goes.
SIDES = {
    "grant": ("grant", "wallet"),
    "hold": ("wallet", "escrow"),
    "capture": ("escrow", "revenue"),
    "release": ("escrow", "wallet"),
}
SETTLED = {"captured": "capture", "released": "release"}
CHECKER = "the database says"
NONE = {"wallet": 0, "escrow": 0, "revenue": 0, "granted": 0, "overdraft": 0}

Rows = Sequence[asyncpg.Record]


@dataclass(frozen=True, slots=True)
class Books:
    """Everything that is written about one library, in one snapshot, and what is wrong with it."""

    balances: dict[str, int]
    lines: dict[str, dict[str, Any]]
    faults: list[str]


async def look(pool: "asyncpg.Pool[asyncpg.Record]", library_id: str, *, is_subscriber: bool = True) -> Books:
    """One snapshot, as the schema's owner."""
    async with pool.acquire() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
        return await read_books(connection, library_id, is_subscriber=is_subscriber)


async def read_books(connection: Connection, library_id: str, *, is_subscriber: bool = True) -> Books:
    async def rows(columns_and_table: str) -> Rows:
        return await connection.fetch(f"SELECT {columns_and_table} WHERE library_id = $1", library_id)

    found = await connection.fetchrow(
        "SELECT wallet, escrow, revenue, granted, overdraft FROM ledger_balances WHERE library_id = $1", library_id
    )
    balances = dict(found) if found is not None else dict(NONE)
    movements = await rows("id, kind, reference FROM ledger_transactions")
    entries = await rows("transaction_id, account, millicredits FROM ledger_entries")
    lines = await rows("* FROM escrow_lines")
    jobs = await rows("id, status, attempt, bill, result FROM jobs")
    checked = await connection.fetch("SELECT * FROM ledger_faults($1)", library_id)

    def add_up() -> Books:
        amounts, faults = _amounts(movements, entries)
        faults += _balances(balances, entries, lines)
        faults += _holds(movements, amounts, lines)
        faults += _settlements(movements, amounts, lines)
        faults += [fault for line in lines for fault in _price(line, is_subscriber=is_subscriber)]
        faults += _jobs(jobs, lines)
        faults += [f"{CHECKER} {dict(fault)}" for fault in checked]
        return Books(balances, {line["id"]: dict(line) for line in lines}, faults)

    # In a thread: transactions that hold locks go on meanwhile.
    return await asyncio.to_thread(add_up)


def _amounts(movements: Rows, entries: Rows) -> tuple[dict[str, int], list[str]]:
    """How much each movement moved, where it has the two sides that its kind has."""
    sides: dict[str, dict[str, int]] = defaultdict(dict)
    for entry in entries:
        sides[entry["transaction_id"]][entry["account"]] = entry["millicredits"]
    amounts, faults = {}, []
    for movement in movements:
        giver, taker = SIDES[movement["kind"]]
        found = sides.pop(movement["id"], {})
        amount = found.get(taker, 0)
        if amount <= 0 or found != {giver: -amount, taker: amount}:
            faults.append(f"{movement['kind']} {movement['id']} has the sides {found}")
        amounts[movement["id"]] = amount
    return amounts, faults + [f"entries without a movement: {orphan}" for orphan in sides]


def _balances(balances: dict[str, int], entries: Rows, lines: Rows) -> list[str]:
    sums: Counter[str] = Counter()
    for entry in entries:
        sums[entry["account"]] += entry["millicredits"]
    faults = [
        f"{account} is {balances[column]}, its entries come to {sums[account]}"
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
        faults.append(f"escrow is {balances['escrow']}, open lines come to {held}")
    return faults + balance_faults(balances)


def balance_faults(balances: dict[str, int]) -> list[str]:
    """What can be seen in the balances alone, at any moment."""
    faults = []
    if balances["wallet"] < -balances["overdraft"]:
        faults.append(f"the wallet is at {balances['wallet']} and may go to {-balances['overdraft']}")
    if min(balances["escrow"], balances["revenue"], -balances["granted"]) < 0:
        faults.append(f"an account is on the wrong side of zero: {balances}")
    if balances["wallet"] + balances["escrow"] + balances["revenue"] != -balances["granted"]:
        faults.append(f"what was granted is not what there is: {balances}")
    return faults


def _holds(movements: Rows, amounts: dict[str, int], lines: Rows) -> list[str]:
    held: Counter[str] = Counter()
    for line in lines:
        held[line["hold_id"]] += line["millicredits"]
    holds = {movement["id"] for movement in movements if movement["kind"] == "hold"}
    faults = [f"hold {one} is {amounts[one]}, its lines {held[one]}" for one in holds if amounts[one] != held[one]]
    return faults + [f"lines without a hold: {one}" for one in set(held) - holds]


def _settlements(movements: Rows, amounts: dict[str, int], lines: Rows) -> list[str]:
    """Every line that ended was settled once, as it says and in full; nothing else was."""
    found = [
        (movement["reference"], movement["kind"], amounts[movement["id"]])
        for movement in movements
        if movement["kind"] in SETTLED.values()
    ]
    wanted = [(line["id"], SETTLED[line["state"]], line["millicredits"]) for line in lines if line["state"] in SETTLED]
    missing, extra = Counter(wanted) - Counter(found), Counter(found) - Counter(wanted)
    return [f"not settled: {one}" for one in missing] + [f"settled without reason: {one}" for one in extra]


def _price(line: asyncpg.Record, *, is_subscriber: bool) -> list[str]:
    wanted = line_price(
        line["action"],
        line["product"],
        terms=line["terms"],
        duration_ms=line["duration_milliseconds"],
        is_subscriber=is_subscriber,
    )
    return [] if line["millicredits"] == wanted else [f"line {line['id']} costs {line['millicredits']}, not {wanted}"]


def _jobs(jobs: Rows, lines: Rows) -> list[str]:
    """A job that is ready was charged, one that failed was not, and old attempts hold nothing."""
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
            if not {line["state"] for line in held} <= allowed:
                faults.append(f"job {job['id']}, attempt {attempt}, {status}: {[line['state'] for line in held]}")
        if job["bill"] is not None:
            faults += _receipt(job, held)
            if len(held) not in {0, len(job["bill"]["works"])}:
                faults.append(f"job {job['id']} holds {len(held)} lines for {len(job['bill']['works'])} works")
    return faults + [f"held by nobody: {holder}" for holder in of_holder]


def _receipt(job: asyncpg.Record, held: list[asyncpg.Record]) -> list[str]:
    if job["status"] == "ready" and not held:
        return [f"job {job['id']} was not charged"]
    if job["status"] not in {"ready", "failed"}:
        return []
    receipt, total = job["result"]["receipt"], sum(line["millicredits"] for line in held)
    captured = total if job["status"] == "ready" else 0
    wanted = {"held": total, "captured": captured, "returned": total - captured} | ({"quoted": total} if held else {})
    found = {name: milli(receipt[name]) for name in wanted}
    ids = [line["lineItemId"] for line in receipt["lines"]]
    if found == wanted and ids == sorted(line["id"] for line in held):
        return []
    return [f"the receipt of {job['id']} says {found}, not {wanted}"]
