"""Reserve and capture per second, on one hot wallet and over many, beside the same statements sent bare by asyncpg.

Our way is the product's below HTTP: a price is held in one transaction and captured in a second. What statements
that makes is recorded from it; the bare way sends these, with arguments prepared beforehand, through a pool of the
same size and nothing of ours around them. Both run on the event loop that the API runs on. Rounds alternate, so that
whatever else the machine does weighs on both alike.
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
CLIENTS = 16  # at once, on as many connections
WALLETS = 200
MILLICREDITS = 1_000_000_000
BILL = Charge((BillableItem(Action.SPEECH, "speech"),), is_subscriber=True)
APPLICATION = "bench-ours"  # the name of our connections
SAMPLE_SECONDS = 0.02
WAITS = """SELECT CASE WHEN state = 'active' THEN coalesce(wait_event_type || ' ' || wait_event, 'running')
                       WHEN state IS NULL THEN 'unseen' ELSE 'waits for the client' END AS what
           FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1"""
# Plans made while the tables were empty would read them whole, until the server looks by itself, some minute.
ANALYZE = "ANALYZE ledger_balances, ledger_transactions, ledger_entries, escrow_lines"

Statement = tuple[str, str, tuple[Any, ...]]  # the method of a connection, the SQL, its arguments
Cycle = list[Statement]


@dataclass(frozen=True, slots=True)
class RoundResult:
    """One round one way."""

    per_second: float
    cpu_us: float  # of this process, for one reserve and capture


async def pay(database: Database, library_id: str) -> None:
    """Hold and capture, as the job envelope does: two transactions."""
    holder, prices = new_id(), load_prices()
    async with database.transaction(library_id) as connection:
        now = system_clock()
        await escrow.hold(connection, library_id, BILL, holder=holder, video_id=None, prices=prices, now=now)
    async with database.transaction(library_id) as connection:
        await escrow.capture(connection, library_id, holder=holder, now=system_clock())


class RecordingConnection(asyncpg.Connection):
    """Keeps what it is asked to send."""

    recorded: Cycle = []  # noqa: RUF012 (one for all: asyncpg makes the connections)

    def _record(self, method: str, sql: str, arguments: Sequence[Any]) -> None:
        if "pg_advisory_unlock_all" not in sql:  # a pool's own question, asked by every pool
            self.recorded.append((method, sql, tuple(arguments)))

    async def execute(self, query: str, *args: Any, **named: Any) -> str:  # noqa: ANN401 (as the class above)
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
    """The statements of one reserve and capture."""
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
    """The same statements for another payment, in this library: every id in them is new."""
    ids = {of: library_id}

    def new(value: Any) -> Any:  # noqa: ANN401 (whatever SQL takes)
        if isinstance(value, str) and is_id(value):
            return ids.setdefault(value, new_id())
        if isinstance(value, list | tuple):
            return type(value)(new(each) for each in value)
        return json.dumps(value) if isinstance(value, dict) else value

    return [(method, sql, new(arguments)) for method, sql, arguments in cycle]


async def send(pool: "asyncpg.Pool[asyncpg.Record]", cycle: Cycle) -> None:
    """Bare: the two transactions, each on a connection of the pool."""
    middle = next(number for number, (_, sql, _) in enumerate(cycle) if sql.startswith("COMMIT")) + 1
    for transaction in (cycle[:middle], cycle[middle:]):
        async with pool.acquire() as connection:
            for method, sql, arguments in transaction:
                await getattr(connection, method)(sql, *arguments)


class PaymentBench:
    """Both ways, on the same libraries."""

    def __init__(
        self, database: Database, pool: "asyncpg.Pool[asyncpg.Record]", libraries: list[str], *, cycle: Cycle
    ) -> None:
        self.database = database
        self.pool = pool
        self.libraries = libraries
        self.cycle = cycle

    def _payments(self, wallets: int, count: int, *, ours: bool) -> list[Callable[[], Awaitable[None]]]:
        """What a round consists of; its arguments are made before the clock runs."""
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
        """What our connections are found waiting for, in a round that is not counted."""
        seen: Counter[str] = Counter()

        async def sample() -> None:
            async with self.pool.acquire() as connection:  # of the same role: others are not told
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
    """For one wallet and for many: rounds both ways, what ours waits for, and the statements of a payment."""
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
        for wallets in measured:  # statements are prepared and code paths warm before the first round
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
        # Only the money: no job stands behind what is paid here.
        faults = [await accounts.connection.fetch("SELECT * FROM ledger_entry_faults($1)", each) for each in libraries]
        if any(faults):
            raise RuntimeError(f"the books are wrong afterwards: {faults}")
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
