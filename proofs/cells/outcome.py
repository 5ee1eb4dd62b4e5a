"""What became of the promises: read in the database of the library's cell, as its owner, and from the receiver."""

import asyncio
import json
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from cutroom.platform.db import Connection
from proofs.cells.load import Tenant
from proofs.stage.ledger_audit import audit_ledger
from proofs.stage.webhook_receiver import Receiver

SETTLE_SECONDS = 240.0
POLL_SECONDS = 0.5
_UNFINISHED = "SELECT count(*) FROM jobs WHERE library_id = $1 AND status IN ('queued', 'processing')"
_SPOKEN = """SELECT s.text, j.id FROM syntheses s
               JOIN jobs j ON j.library_id = s.library_id AND j.id = 'speech_' || s.id
              WHERE s.library_id = $1 AND s.text = ANY($2)"""
_CHARGED = """SELECT split_part(holder, '.', 1) AS job_id FROM escrow_lines
               WHERE library_id = $1 AND state = 'captured'"""


@dataclass
class Outcome:
    """Of one library."""

    lost: list[str] = field(default_factory=list)
    double_charged: list[str] = field(default_factory=list)
    unannounced: list[str] = field(default_factory=list)  # imports without exactly one event
    ledger_faults: list[str] = field(default_factory=list)
    jobs: int = 0


async def wait_until_settled(database: Connection, library_id: str) -> bool:
    deadline = time.monotonic() + SETTLE_SECONDS
    while await database.fetchval(_UNFINISHED, library_id):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(POLL_SECONDS)
    return True


async def read_outcome(database: Connection, tenant: Tenant, receiver: Receiver) -> Outcome:
    promised, outcome = tenant.promises, Outcome()
    for table, ids in {"folders": promised.folders, "videos": promised.videos}.items():
        sql = f"SELECT id FROM {table} WHERE library_id = $1"  # noqa: S608 (our own names)
        found = {row["id"] for row in await database.fetch(sql, tenant.library_id)}
        outcome.lost += [f"{table} {each}" for each in ids if each not in found]
    spoken = defaultdict(list)
    for row in await database.fetch(_SPOKEN, tenant.library_id, promised.texts):
        spoken[row["text"]].append(row["id"])
    outcome.lost += [f"speech {text}" for text in promised.texts if not spoken[text]]
    ids = [*promised.jobs, *(each for found in spoken.values() for each in found)]
    rows = await database.fetch("SELECT * FROM jobs WHERE library_id = $1 AND id = ANY($2)", tenant.library_id, ids)
    jobs = {row["id"]: row for row in rows}
    outcome.jobs = len(ids)
    outcome.lost += [f"job {each}" for each in ids if each not in jobs]
    outcome.lost += [f"{id_} {row['error_message']}" for id_, row in jobs.items() if row["status"] != "ready"]
    charged = Counter(row["job_id"] for row in await database.fetch(_CHARGED, tenant.library_id))
    items = {id_: len(row["charge"]["items"]) if row["charge"] else 0 for id_, row in jobs.items()}
    outcome.double_charged = [id_ for id_, count in items.items() if charged[id_] > count]
    outcome.double_charged += [text for text, found in spoken.items() if sum(charged[each] for each in found) > 1]
    outcome.lost += [f"charge of {id_}" for id_, count in items.items() if charged[id_] < count]
    async with database.transaction(isolation="repeatable_read", readonly=True):
        outcome.ledger_faults = (await audit_ledger(database, tenant.library_id)).faults
    imports = [each for each in promised.jobs if each.startswith("import_")]
    announced = await _announced(receiver, imports)
    outcome.unannounced = [each for each in imports if announced[each] != 1]
    return outcome


async def _announced(receiver: Receiver, job_ids: Sequence[str]) -> Counter[str]:
    """Distinct `job.ready` events by job; repeated deliveries of an event share its message id."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        ids: dict[str, set[str]] = defaultdict(set)
        for delivery in receiver.deliveries:
            event = json.loads(delivery.body)
            if event["type"] == "job.ready" and delivery.verified:
                ids[event["data"]["id"]].add(delivery.message_id)
        if ids.keys() >= set(job_ids) or time.monotonic() > deadline:
            return Counter({job_id: len(found) for job_id, found in ids.items()})
        await asyncio.sleep(POLL_SECONDS)
