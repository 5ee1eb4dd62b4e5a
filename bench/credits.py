"""Holds and captures per second, on one hot wallet and over many, compared with the same SQL sent by bare asyncpg.

The product's side holds a price in one transaction and captures it in a second, without HTTP. Its statements are
recorded; the bare side sends the same ones, with arguments prepared in advance, through a pool of the same size.
Both run on uvloop. Rounds alternate, so that other load on the machine affects both equally.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import asyncpg
import uvloop
from rich.console import Console
from rich.table import Table

from cutroom.credits import escrow, ledger
from cutroom.credits.pricing import Action, BillableItem, load_prices
from cutroom.credits.rules import Charge
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database, register_json_codec
from cutroom.platform.ids import is_id, new_id
from cutroom.platform.settings import Settings
from dev.scratch import Accounts, scratch
from dev.services import control

GOAL = 0.5
CLIENTS = 16  # concurrent, one connection each
WALLETS = 200
MILLICREDITS = 1_000_000_000
BILL = Charge((BillableItem(Action.SPEECH, "speech"),), is_subscriber=True)
APPLICATION = "bench-ours"  # application_name of the product's connections
SAMPLE_SECONDS = 0.02
WAITS = """SELECT CASE WHEN state = 'active' THEN coalesce(wait_event_type || ' ' || wait_event, 'running')
                       WHEN state IS NULL THEN 'unknown' ELSE 'waiting for the client' END AS what
           FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1"""
# Plans made for empty tables would use sequential scans until autovacuum analyzes them.
ANALYZE = "ANALYZE ledger_balances, ledger_transactions, ledger_entries, escrow_lines"

Statement = tuple[str, str, tuple[Any, ...]]  # connection method, SQL, arguments
Cycle = list[Statement]


@dataclass(frozen=True, slots=True)
class RoundResult:
    """Throughput and CPU time of one round."""

    per_second: float
    cpu_us: float  # of this process, per hold and capture


async def pay(database: Database, library_id: str) -> None:
    """Hold and capture in two transactions, as jobs do."""
    holder, prices = new_id(), load_prices()
    async with database.transaction(library_id) as connection:
        now = system_clock()
        await escrow.hold(connection, library_id, BILL, holder=holder, video_id=None, prices=prices, now=now)
    async with database.transaction(library_id) as connection:
        await escrow.capture(connection, library_id, holder=holder, now=system_clock())


class RecordingConnection(asyncpg.Connection):
    """Records its statements."""

    recorded: Cycle = []  # noqa: RUF012 (shared: asyncpg creates the connections)

    def _record(self, method: str, sql: str, arguments: Sequence[Any]) -> None:
        if "pg_advisory_unlock_all" not in sql:  # sent by every asyncpg pool
            self.recorded.append((method, sql, tuple(arguments)))

    async def execute(self, query: str, *args: Any, **named: Any) -> str:  # noqa: ANN401 (as in the base class)
        self._record("execute", query, args)
        return await super().execute(query, *args, **named)

    async def executemany(self, command: str, args: Any, **named: Any) -> None:  # noqa: ANN401
        self._record("executemany", command, (args,))
        await super().executemany(command, args, **named)

    async def fetch(self, query: str, *args: Any, **named: Any) -> Any:  # noqa: ANN401
        self._record("fetch", query, args)
        return await super().fetch(query, *args, **named)

    async def fetchval(self, query: str, *args: Any, **named: Any) -> Any:  # noqa: ANN401
        self._record("fetchval", query, args)
        return await super().fetchval(query, *args, **named)


async def record(settings: Settings, library_id: str) -> Cycle:
    """The statements of one hold and capture."""
    pool = await asyncpg.create_pool(
        settings.database_url.get_secret_value(),
        min_size=1,
        max_size=1,
        init=register_json_codec,
        connection_class=RecordingConnection,
    )
    RecordingConnection.recorded.clear()
    await pay(Database(pool), library_id)
    await pool.close()
    return list(RecordingConnection.recorded)


def rewrite_ids(cycle: Cycle, library_id: str, *, of: str) -> Cycle:
    """The same statements for another payment in this library, with new ids."""
    ids = {of: library_id}

    def new(value: Any) -> Any:  # noqa: ANN401 (any SQL argument)
        if isinstance(value, str) and is_id(value):
            return ids.setdefault(value, new_id())
        if isinstance(value, list | tuple):
            return type(value)(new(each) for each in value)
        return json.dumps(value) if isinstance(value, dict) else value

    return [(method, sql, new(arguments)) for method, sql, arguments in cycle]


async def send(pool: "asyncpg.Pool[asyncpg.Record]", cycle: Cycle) -> None:
    """Send both transactions, each on a connection of the pool."""
    middle = next(number for number, (_, sql, _) in enumerate(cycle) if sql.startswith("COMMIT")) + 1
    for transaction in (cycle[:middle], cycle[middle:]):
        async with pool.acquire() as connection:
            for method, sql, arguments in transaction:
                await getattr(connection, method)(sql, *arguments)


class PaymentBench:
    """Runs rounds of both sides on the same libraries."""

    def __init__(
        self, database: Database, pool: "asyncpg.Pool[asyncpg.Record]", libraries: list[str], *, cycle: Cycle
    ) -> None:
        self.database = database
        self.pool = pool
        self.libraries = libraries
        self.cycle = cycle

    def _payments(self, wallets: int, count: int, *, ours: bool) -> list[Callable[[], Awaitable[None]]]:
        """The payments of a round, with arguments prepared before timing starts."""
        chosen = [self.libraries[number % wallets] for number in range(count)]
        random.shuffle(chosen)
        if ours:
            return [partial(pay, self.database, each) for each in chosen]
        cycles = [rewrite_ids(self.cycle, each, of=self.libraries[0]) for each in chosen]
        return [partial(send, self.pool, each) for each in cycles]

    async def round(self, wallets: int, count: int, *, ours: bool) -> RoundResult:
        payments = iter(self._payments(wallets, count, ours=ours))

        async def client() -> None:
            for payment in payments:
                await payment()

        cpu, began = time.process_time(), time.perf_counter()
        await asyncio.gather(*(client() for _ in range(CLIENTS)))
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        return RoundResult(count / seconds, cpu / count * 1e6)

    async def sample_waits(self, wallets: int, count: int) -> str:
        """Wait events of the product's connections, sampled in a round that is not counted."""
        seen: Counter[str] = Counter()

        async def sample() -> None:
            async with self.pool.acquire() as connection:  # same role: other roles cannot see wait events
                while True:
                    seen.update(row["what"] for row in await connection.fetch(WAITS, APPLICATION))
                    await asyncio.sleep(SAMPLE_SECONDS)

        sampling = asyncio.create_task(sample())
        await self.round(wallets, count, ours=True)
        sampling.cancel()
        with suppress(asyncio.CancelledError):
            await sampling
        total = sum(seen.values())
        return ", ".join(f"{what} {number / total:.0%}" for what, number in seen.most_common(4))


async def _libraries(accounts: Accounts) -> list[str]:
    libraries = []
    for _ in range(WALLETS):
        person = await accounts.person()
        await ledger.grant(
            accounts.connection, person.library_id, millicredits=MILLICREDITS, reference="bench", now=system_clock()
        )
        libraries.append(person.library_id)
    return libraries


Rounds = dict[int, list[tuple[RoundResult, RoundResult]]]


async def measure(*, rounds: int, count: int) -> tuple[Rounds, dict[int, str], int]:
    """Rounds for one wallet and for many, wait events, and the number of statements per payment."""
    control.start_all()
    settings = await scratch("bench_credits")
    accounts = await Accounts.open(settings)
    libraries = await _libraries(accounts)
    url = settings.database_url.get_secret_value()
    database = await Database.connect(url, CLIENTS, application=APPLICATION)
    cycle = await record(settings, libraries[0])
    pool = await asyncpg.create_pool(url, min_size=1, max_size=CLIENTS, server_settings={"jit": "off"})
    bench = PaymentBench(database, pool, libraries, cycle=cycle)
    measured: Rounds = {1: [], WALLETS: []}
    sample_waits = {}
    try:
        for wallets in measured:  # warms up prepared statements and code paths
            await bench.round(wallets, count // 2, ours=True)
            await bench.round(wallets, count // 2, ours=False)
        await accounts.connection.execute(ANALYZE)
        for number in range(rounds):
            for wallets, found in measured.items():
                first = await bench.round(wallets, count, ours=number % 2 == 0)
                second = await bench.round(wallets, count, ours=number % 2 == 1)
                found.append((first, second) if number % 2 == 0 else (second, first))
        for wallets in measured:
            sample_waits[wallets] = await bench.sample_waits(wallets, count)
        # Ledger only: these payments have no jobs.
        faults = [await accounts.connection.fetch("SELECT * FROM ledger_entry_faults($1)", each) for each in libraries]
        if any(faults):
            raise RuntimeError(f"ledger faults: {faults}")
    finally:
        await database.close()
        await pool.close()
        await accounts.close()
    return measured, sample_waits, len(cycle)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="fewer payments")
    short = parser.parse_args().short
    measured, sample_waits, statements = uvloop.run(measure(rounds=5 if short else 15, count=300 if short else 1_000))
    table = Table("wallets", "round", "ours, /s", "bare, /s", "ratio", "ours, µs CPU", "bare, µs CPU")
    figures: dict[str, Any] = {}
    for wallets, rounds in measured.items():
        for number, (ours, bare) in enumerate(rounds, 1):
            rates = (f"{ours.per_second:.0f}", f"{bare.per_second:.0f}", f"{ours.per_second / bare.per_second:.2f}")
            table.add_row(str(wallets), str(number), *rates, f"{ours.cpu_us:.0f}", f"{bare.cpu_us:.0f}")
        name = "hot" if wallets == 1 else "spread"
        figures |= {
            f"{name}_ratio": round(statistics.median(o.per_second / b.per_second for o, b in rounds), 2),
            f"{name}_per_second": round(statistics.median(o.per_second for o, _ in rounds)),
            f"{name}_bare_per_second": round(statistics.median(b.per_second for _, b in rounds)),
            f"{name}_cpu_us": round(statistics.median(o.cpu_us for o, _ in rounds)),
            f"{name}_bare_cpu_us": round(statistics.median(b.cpu_us for _, b in rounds)),
        }
    Console().print(table)
    for wallets, what in sample_waits.items():
        print(f"{wallets} wallets, {CLIENTS} clients, {statements} statements each; our connections: {what}")
    ok = min(figures["hot_ratio"], figures["spread_ratio"]) >= GOAL
    print(json.dumps({**figures, "goal": GOAL, "ok": ok}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
