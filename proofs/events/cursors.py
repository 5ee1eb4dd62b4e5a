"""Cursors that are expired, malformed, of another library, or ahead of the log, on every operation that takes one."""

import base64
from datetime import timedelta

import httpx
from temporalio.testing import ActivityEnvironment

from cutroom.events.activities import EventActivities
from cutroom.events.rules import RETENTION, encode_cursor
from cutroom.events.service import publish_event, read_bounds
from cutroom.platform.clock import system_clock
from cutroom.platform.db import Database
from dev.scratch import Accounts, Person

OLD = RETENTION + timedelta(days=15)  # in a partition that ends before the retention begins
OLDER = OLD + timedelta(days=60)  # in the default partition
GONE, INVALID, OK = 410, 400, 200


async def wrong_responses(accounts: Accounts, database: Database, client: httpx.AsyncClient) -> list[str]:
    """What was answered otherwise than it should be."""
    person, other = await accounts.person(), await accounts.person()
    headers = (await accounts.key(person)).headers
    await _publish_old(accounts, database, person)
    async with database.transaction(person.library_id) as connection:
        bounds = await read_bounds(connection, person.library_id)
    assert (bounds.last, bounds.deleted) == (6, 4), bounds
    cursor = {position: encode_cursor(person.library_id, position) for position in (0, 1, 3, 4, 5, 6, 7)}
    raw = base64.urlsafe_b64decode(cursor[5] + "=")
    cases = {
        **{cursor[position]: GONE for position in (0, 1, 3, 7)},
        **{cursor[position]: OK for position in (4, 5, 6)},
        encode_cursor(other.library_id, 5): INVALID,
        cursor[5][:-1]: INVALID,
        f"{cursor[5]}A": INVALID,
        base64.urlsafe_b64encode(raw[:7] + b"\x06" + raw[8:]).decode().rstrip("="): INVALID,
        "5": INVALID,
        "é": INVALID,
        "-1": INVALID,
        "A" * 19: INVALID,
    }
    wrong = []
    for given, expected in cases.items():
        ways: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
            "list": ("/v1/events", {"after": given}, {}),
            "wait": ("/v1/events", {"after": given, "wait": "1"}, {}),
            "stream": ("/v1/events/stream", {"after": given}, {}),
        }
        if given.isascii():
            ways["last event"] = ("/v1/events/stream", {}, {"Last-Event-ID": given})
        for way, (path, parameters, more) in ways.items():
            async with client.stream("GET", path, params=parameters, headers={**headers, **more}) as response:
                if response.status_code != expected:
                    wrong.append(f"{way} {given!r}: {response.status_code}, not {expected}")
                elif expected == OK and way == "list":
                    await response.aread()
                    events = len(response.json()["events"])
                    if events != 6 - next(position for position, each in cursor.items() if each == given):
                        wrong.append(f"{way} {given!r}: {events} events")
    return wrong


async def _publish_old(accounts: Accounts, database: Database, person: Person) -> None:
    """Four events that are deleted by the daily maintenance, one way and the other, and two that stay."""
    now = system_clock()
    await accounts.connection.execute("SELECT create_event_partitions($1)", now - OLD)
    for age in (OLDER, OLDER, OLD, OLD, timedelta(), timedelta()):
        async with database.transaction(person.library_id) as connection:
            data = {"id": "job_old"}
            await publish_event(connection, person.library_id, type="job.ready", data=data, now=now - age)
    maintenance = EventActivities(database=database, clock=system_clock)
    await ActivityEnvironment().run(maintenance.purge_events)
