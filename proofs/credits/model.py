"""What the books of one library must say, kept in plain Python from the answers that operations gave."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import asyncpg

from cutroom.credits.pricing import Action, Work
from cutroom.jobs.ids import JobKey
from cutroom.jobs.service import workflow_id
from proofs.credits.stage import Tenant
from proofs.stage.ledger_audit import Books, balance_faults

HELD = "SELECT * FROM escrow_lines WHERE library_id = $1 AND holder = $2 ORDER BY id"
ENDED = {"captured", "released"}


@dataclass(slots=True)
class Line:
    """One line in escrow."""

    id: str
    millicredits: int
    work: Work
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
    """One job, in its newest attempt."""

    key: JobKey
    video_id: str
    attempt: int = 1
    status: str = "queued"
    is_waiting: bool = False
    waiter: "Job | None" = None

    @property
    def holder(self) -> str:
        return workflow_id(self.key.id, self.attempt)

    def becomes(self, status: str, *, attempt: int) -> None:
        """Answers may arrive in another order than the commits were made in: what is older changes nothing."""
        if attempt > self.attempt or (attempt == self.attempt and self.status not in {"ready", "failed"}):
            self.attempt, self.status = attempt, status


@dataclass(slots=True)
class Model:
    """One library."""

    tenant: Tenant
    clock: datetime
    videos: dict[str, float | None]  # how long each is, once that is known
    coming: dict[str, float]  # how long those will be that began without a duration
    grants_begun: int
    grants_done: int
    lines: dict[str, Line] = field(default_factory=dict)
    reservations: dict[str, list[Line]] = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    expired: int = 0  # lines that went back, as the product counted them
    settled: set[str] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)

    @property
    def library_id(self) -> str:
        return self.tenant.library_id

    def expect(self, holds: bool, what: str) -> None:  # noqa: FBT001 (it reads as an assertion)
        if not holds:
            self.broken.append(what)

    def reserve(self, reservation_id: str, lines: list[Line]) -> None:
        self.reservations[reservation_id] = lines
        self.lines.update({line.id: line for line in lines})

    def hold(self, rows: Sequence[asyncpg.Record], works: Iterable[Work]) -> None:
        """A holder has exactly the lines that its bill names, and no line has two holders."""
        found = [_work_of(row) for row in rows]
        self.expect(sorted(map(repr, found)) == sorted(map(repr, works)), f"held {found}, asked for {works}")
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
        """The model's line; one that a job paid by itself is written down when it is first seen."""
        line = self.lines.get(row["id"])
        if line is None:
            self.expect(row["reservation_id"] is None, f"line {row['id']} came from nowhere")
            seconds = self.videos[row["video_id"]] or self.coming.get(row["video_id"])
            known = None if seconds is None else round(seconds * 1000)
            billed = row["duration_milliseconds"]
            self.expect(billed in {None, known}, f"line {row['id']} bills {billed} ms of {known}")
            line = Line(row["id"], row["millicredits"], _work_of(row), row["video_id"], billed)
            self.lines[line.id] = line
        return line

    def observe(self, balances: dict[str, int], *, granted_before: int) -> None:
        """Balances seen at some moment, while others pay: whatever the order was, these hold."""
        self.broken += balance_faults(balances)
        granted = -balances["granted"]
        self.expect(granted_before <= granted <= self.grants_begun, f"{granted} was granted")

    def compare(self, books: Books) -> None:
        """At rest, the books are the model's to the last line and milli-credit."""
        self.broken += books.faults
        gone = [row for row in books.lines.values() if row["state"] == "released" and row["holder"] is None]
        self.expect(len(gone) == self.expired, f"{len(gone)} lines went back, {self.expired} were told")
        for row in gone:
            line = self.lines.get(row["id"])
            early = row["expires_at"] > self.clock
            self.expect(line is not None and not early, f"line {row['id']} should not have gone back")
            if line is not None:
                line.state = "released"
        self.expect(set(books.lines) == set(self.lines), "there are other lines than were made")
        for line in self.lines.values():
            row = books.lines.get(line.id, {})
            found = (row.get("state"), row.get("holder"), row.get("millicredits"))
            wanted = (line.state, line.holder, line.millicredits)
            self.expect(found == wanted, f"line {line.id} is {found}, not {wanted}")
        sums: Counter[str] = Counter()
        for line in self.lines.values():
            sums[line.state] += line.millicredits
        self.expect(self.grants_begun == self.grants_done, "a grant is under way at rest")
        wanted_balances = {
            "wallet": self.grants_done - sums["open"] - sums["captured"],
            "escrow": sums["open"],
            "revenue": sums["captured"],
            "granted": -self.grants_done,
        }
        for account, wanted_balance in wanted_balances.items():
            found_balance = books.balances[account]
            self.expect(found_balance == wanted_balance, f"{account} is {found_balance}, not {wanted_balance}")


def _work_of(row: asyncpg.Record) -> Work:
    return Work(Action(row["action"]), row["product"], row["language"], row["terms"])
