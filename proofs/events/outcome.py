"""Compares what each reader has received with the log."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import asyncpg


@dataclass(slots=True)
class Outcome:
    """Faults of all readers, and latencies of events that were published while nothing was disturbed."""

    readers: int = 0
    deliveries: int = 0
    connections: int = 0
    missed: int = 0
    duplicated_ids: int = 0
    out_of_order: int = 0
    unknown: int = 0
    latencies: list[float] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)

    def add(self, reader: Mapping[str, Any], log: Sequence[str], committing_at: Mapping[str, float]) -> None:
        received = [event_id for event_id, _ in reader["received"]]
        places = {event_id: place for place, event_id in enumerate(log)}
        known = [places[each] for each in received if each in places]
        self.readers += 1
        self.connections += reader["connections"]
        self.deliveries += len(received)
        self.unknown += len(received) - len(known)
        self.missed += len(places) - len(set(known))
        self.duplicated_ids += len(received) - len(set(received))
        self.out_of_order += sum(after <= before for before, after in pairwise(known))
        for event_id, at in reader["received"]:
            if event_id in committing_at:
                self.latencies.append(at - committing_at[event_id])
        for status, count in reader["statuses"].items():
            self.statuses[status] = self.statuses.get(status, 0) + count

    def percentile_ms(self, share: int) -> float:
        return round(statistics.quantiles(self.latencies, n=100)[share - 1] * 1000, 1)


async def read_logs(connection: asyncpg.Connection, libraries: Sequence[str]) -> dict[str, list[str]]:
    """Ids of the events of each library, in the order of the log."""
    rows = await connection.fetch(
        """SELECT library_id, id FROM events WHERE library_id = ANY ($1) AND position > 0
           ORDER BY library_id, position""",
        list(libraries),
    )
    logs: dict[str, list[str]] = {library_id: [] for library_id in libraries}
    for row in rows:
        logs[row["library_id"]].append(row["id"])
    return logs
