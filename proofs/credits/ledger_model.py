"""A model of one library's ledger, updated from the results of operations."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import asyncpg

from cutroom.credits.pricing import Action, BillableItem
from cutroom.jobs.ids import JobKey, workflow_id
from proofs.credits.stage import Tenant
from proofs.stage.ledger_audit import LedgerAudit, balance_faults

HELD = "SELECT * FROM escrow_lines WHERE library_id = $1 AND holder = $2 ORDER BY id"
ENDED = {"captured", "released"}


@dataclass(slots=True)
class Line:
    """One line in escrow."""

    id: str
    millicredits: int
    work: BillableItem
    video_id: str
    duration_ms: int | None
    reservation_id: str | None = None
    expires_at: datetime | None = None
    holder: str | None = None
    state: str = "open"

    def is_spent(self, now: datetime) -> bool:
        return (
            self.holder is not None or self.state in ENDED or (self.expires_at is not None and self.expires_at <= now)
        )


@dataclass(slots=True)
class Job:
    """A job in its latest attempt."""

    key: JobKey
    video_id: str
    attempt: int = 1
    status: str = "queued"
    is_waiting: bool = False
    dependent: "Job | None" = None

    @property
    def holder(self) -> str:
        return workflow_id(self.key.id, self.attempt)

    def becomes(self, status: str, *, attempt: int) -> None:
        """Update the status; results may arrive in another order than their commits, so older attempts are ignored."""
        if attempt > self.attempt or (attempt == self.attempt and self.status not in {"ready", "failed"}):
            self.attempt, self.status = attempt, status


@dataclass(slots=True)
class Model:
    """The expected state of one library."""

    tenant: Tenant
    clock: datetime
    videos: dict[str, float | None]  # durations, None while unknown
    coming: dict[str, float]  # durations that become known later
    grants_begun: int
    grants_done: int
    lines: dict[str, Line] = field(default_factory=dict)
    reservations: dict[str, list[Line]] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    expired: int = 0  # expired lines, as returned by the product
    settled: set[str] = field(default_factory=set)
    violations: list[str] = field(default_factory=list)

    @property
    def library_id(self) -> str:
        return self.tenant.library_id

    def expect(self, holds: bool, what: str) -> None:  # noqa: FBT001 (reads as an assertion)
        if not holds:
            self.violations.append(what)

    def reserve(self, reservation_id: str, lines: list[Line]) -> None:
        self.reservations[reservation_id] = lines
        self.lines.update({line.id: line for line in lines})

    def hold(self, rows: Sequence[asyncpg.Record], items: Iterable[BillableItem]) -> None:
        """A holder has exactly the lines that it pays for, and no line has two holders."""
        found = [_work_of(row) for row in rows]
        self.expect(sorted(map(repr, found)) == sorted(map(repr, items)), f"held {found}, requested {items}")
        for row in rows:
            line = self._line(row)
            self.expect(line.holder in {None, row["holder"]}, f"line {line.id} has two holders")
            self.expect(line.video_id == row["video_id"], f"line {line.id} pays for another video")
            line.holder = row["holder"]

    def settle(self, holder: str, rows: Sequence[asyncpg.Record], *, state: str) -> None:
        self.expect(holder not in self.settled, f"{holder} was settled twice")
        self.settled.add(holder)
        for row in rows:
            line = self._line(row)
            self.expect(line.state == "open", f"line {line.id} was {line.state} before it was {state}")
            self.expect(row["state"] == state, f"line {line.id} is {row['state']}, not {state}")
            line.holder, line.state = holder, state

    def _line(self, row: asyncpg.Record) -> Line:
        """The model's line; lines that a job paid from the wallet are added when first seen."""
        line = self.lines.get(row["id"])
        if line is None:
            self.expect(row["reservation_id"] is None, f"line {row['id']} is unknown")
            seconds = self.videos[row["video_id"]] or self.coming.get(row["video_id"])
            known = None if seconds is None else round(seconds * 1000)
            billed = row["duration_milliseconds"]
            self.expect(billed in {None, known}, f"line {row['id']} bills {billed} ms of {known}")
            line = Line(row["id"], row["millicredits"], _work_of(row), row["video_id"], billed)
            self.lines[line.id] = line
        return line

    def observe(self, balances: dict[str, int], *, granted_before: int) -> None:
        """Invariants of balances read while other operations run."""
        self.violations += balance_faults(balances)
        granted = -balances["granted"]
        self.expect(granted_before <= granted <= self.grants_begun, f"{granted} was granted")

    def compare(self, audit: LedgerAudit) -> None:
        """With no operation running, the ledger equals the model in every line and milli-credit."""
        self.violations += audit.faults
        gone = [row for row in audit.lines.values() if row["state"] == "released" and row["holder"] is None]
        self.expect(len(gone) == self.expired, f"{len(gone)} lines expired, {self.expired} were reported")
        for row in gone:
            line = self.lines.get(row["id"])
            early = row["expires_at"] > self.clock
            self.expect(line is not None and not early, f"line {row['id']} expired early")
            if line is not None:
                line.state = "released"
        self.expect(set(audit.lines) == set(self.lines), "lines differ from the model's")
        for line in self.lines.values():
            row = audit.lines.get(line.id, {})
            found = (row.get("state"), row.get("holder"), row.get("millicredits"))
            expected = (line.state, line.holder, line.millicredits)
            self.expect(found == expected, f"line {line.id} is {found}, not {expected}")
        sums: Counter[str] = Counter()
        for line in self.lines.values():
            sums[line.state] += line.millicredits
        self.expect(self.grants_begun == self.grants_done, "a grant is unfinished")
        wanted_balances = {
            "wallet": self.grants_done - sums["open"] - sums["captured"],
            "escrow": sums["open"],
            "revenue": sums["captured"],
            "granted": -self.grants_done,
        }
        for account, wanted_balance in wanted_balances.items():
            found_balance = audit.balances[account]
            self.expect(found_balance == wanted_balance, f"{account} is {found_balance}, not {wanted_balance}")


def _work_of(row: asyncpg.Record) -> BillableItem:
    return BillableItem(Action(row["action"]), row["product"], row["language"], row["terms"])
