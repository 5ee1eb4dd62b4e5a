"""What became of the promised work: read in the database as its owner, and from the receiver of webhooks."""

import asyncio
import json
import time
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from cutroom.platform.db import Connection
from proofs.stage.webhook_receiver import Receiver
from proofs.upgrade.load import Tally

SETTLE_SECONDS = 300.0
POLL_SECONDS = 0.5
SPEECH_JOBS = """SELECT s.text, j.id FROM syntheses s JOIN jobs j
                     ON j.library_id = s.library_id AND j.id = 'speech_' || s.id WHERE s.text = ANY($1)"""
RUNNING = "SELECT id FROM jobs WHERE status = 'processing'"
UNFINISHED = "SELECT count(*) FROM jobs WHERE status IN ('queued', 'processing')"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of the work promised in one direction."""

    lost: list[str]
    double_charged: list[str]
    uncharged: list[str]
    unannounced: list[str]  # jobs without exactly one event
    jobs: int


async def wait_until_settled(database: Connection) -> bool:
    deadline = time.monotonic() + SETTLE_SECONDS
    while await database.fetchval(UNFINISHED):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(POLL_SECONDS)
    return True


async def read_outcome(database: Connection, tally: Tally, receiver: Receiver) -> Outcome:
    spoken = defaultdict(list)
    for row in await database.fetch(SPEECH_JOBS, tally.texts):
        spoken[row["text"]].append(row["id"])
    job_ids = [*tally.jobs, *(job_id for found in spoken.values() for job_id in found)]
    rows = {row["id"]: row for row in await database.fetch("SELECT * FROM jobs WHERE id = ANY($1)", job_ids)}
    charged = Counter(
        row["job_id"]
        for row in await database.fetch(
            "SELECT split_part(holder, '.', 1) AS job_id FROM escrow_lines WHERE state = 'captured'"
        )
    )
    lost = [each for each in tally.jobs if each not in rows]
    lost += [f"speech: {text}" for text in tally.texts if not spoken[text]]
    lost += [
        f"{each} {row['error_message'] or row['status']}" for each, row in rows.items() if row["status"] != "ready"
    ]
    items = {each: len(row["charge"]["items"]) if row["charge"] else 0 for each, row in rows.items()}
    announced = await _announced(receiver, tally.jobs)
    return Outcome(
        lost=lost,
        double_charged=[
            *(each for each, expected in items.items() if charged[each] > expected),
            *(text for text, found in spoken.items() if sum(charged[each] for each in found) > 1),
        ],
        uncharged=[each for each, expected in items.items() if charged[each] < expected],
        unannounced=[each for each in tally.jobs if announced[each] != 1],
        jobs=len(job_ids),
    )


async def _announced(receiver: Receiver, job_ids: Collection[str]) -> Counter[str]:
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
