"""Follows libraries as clients do, over HTTP: `python -m proofs.events.reader PLAN OUTPUT`.

Streams and long polls, on any of the API processes, which continue after their last cursor however they were cut off.
The process ends when the file OUTPUT.heads names the last event of each library and every reader has received it.
"""

import asyncio
import contextlib
import json
import random
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import httpx

WAIT_SECONDS = 20
RETRY_SECONDS = 0.2
LOOK_SECONDS = 0.2
READ_SECONDS = 40.0  # more than twice the time between two heartbeats


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """What one process reads."""

    urls: list[str]
    libraries: list[dict[str, str]]  # id and key
    readers: int  # of each library
    polling: float  # share of the readers
    cut_after: int  # events that a connection lasts at least, once the file OUTPUT.cut exists; at most three times
    seed: int = 0


@dataclass(slots=True)
class Reader:
    """One client, and what it has received."""

    library_id: str
    key: str
    polls: bool
    cursor: str = ""
    received: list[tuple[str, float]] = field(default_factory=list)
    connections: int = 0
    statuses: dict[int, int] = field(default_factory=dict)  # other than 200

    def note(self, event_id: str) -> None:
        self.received.append((event_id, time.monotonic()))


@dataclass(slots=True)
class Reading:
    """All clients of this process."""

    plan: ReadingPlan
    output: Path
    client: httpx.AsyncClient
    random: random.Random
    heads: dict[str, str] = field(default_factory=dict)
    cuts: bool = False

    async def run(self) -> None:
        readers = [
            Reader(each["id"], each["key"], polls=number < self.plan.polling * self.plan.readers)
            for each in self.plan.libraries
            for number in range(self.plan.readers)
        ]
        for reader in readers:
            await self._begin(reader)
        tasks = [asyncio.create_task(self._follow(each)) for each in readers]
        self.output.with_suffix(".started").touch()
        heads, cut = self.output.with_suffix(".heads"), self.output.with_suffix(".cut")
        while not self.heads:
            await asyncio.sleep(LOOK_SECONDS)
            self.cuts = cut.exists()
            if heads.exists():
                self.heads = json.loads(heads.read_text())
        deadline = time.monotonic() + float(self.heads.pop("seconds"))
        while not all(map(self._is_complete, readers)) and time.monotonic() < deadline:
            await asyncio.sleep(LOOK_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.output.write_text("\n".join(json.dumps(asdict(each)) for each in readers))

    def _is_complete(self, reader: Reader) -> bool:
        return self.heads[reader.library_id] in {each for each, _ in reader.received[-20:]}

    async def _begin(self, reader: Reader) -> None:
        page = await self.client.get(f"{self._url()}/v1/events?types=video.failed", headers=_headers(reader))
        reader.cursor = page.raise_for_status().json()["cursor"]

    def _url(self) -> str:
        return self.random.choice(self.plan.urls)

    async def _follow(self, reader: Reader) -> None:
        while True:
            reader.connections += 1
            try:
                await (self._poll(reader) if reader.polls else self._stream(reader))
            except httpx.HTTPError:
                await asyncio.sleep(RETRY_SECONDS)  # until a process is back

    async def _poll(self, reader: Reader) -> None:
        parameters: dict[str, str | int] = {"after": reader.cursor, "wait": WAIT_SECONDS, "limit": 100}
        response = await self.client.get(f"{self._url()}/v1/events", params=parameters, headers=_headers(reader))
        if await self._is_refused(reader, response.status_code):
            return
        page = response.json()
        for event in page["events"]:
            reader.note(event["id"])
        reader.cursor = page["cursor"]

    async def _stream(self, reader: Reader) -> None:
        headers, left = {**_headers(reader), "Last-Event-ID": reader.cursor}, self._lasts()
        async with self.client.stream("GET", f"{self._url()}/v1/events/stream", headers=headers) as response:
            if await self._is_refused(reader, response.status_code):
                return
            event: dict[str, str] = {}
            async for line in response.aiter_lines():
                if line:
                    name, _, value = line.partition(": ")
                    event[name] = value
                    continue
                if "data" in event:
                    reader.note(json.loads(event["data"])["id"])
                    left -= 1
                reader.cursor = event.get("id", reader.cursor)
                event = {}
                if left <= 0 and self.cuts:
                    return

    def _lasts(self) -> int:
        return self.random.randint(self.plan.cut_after, 3 * self.plan.cut_after)

    async def _is_refused(self, reader: Reader, status: int) -> bool:
        if status == httpx.codes.OK:
            return False
        reader.statuses[status] = reader.statuses.get(status, 0) + 1
        await asyncio.sleep(RETRY_SECONDS)  # the database is down
        return True


def _headers(reader: Reader) -> dict[str, str]:
    return {"Authorization": f"Bearer {reader.key}"}


async def main(plan: ReadingPlan, output: Path) -> None:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    timeout = httpx.Timeout(READ_SECONDS, pool=None)
    async with httpx.AsyncClient(limits=limits, timeout=timeout, trust_env=False, verify=False) as client:  # noqa: S501
        await Reading(plan, output, client, random.Random(plan.seed)).run()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(ReadingPlan(**json.loads(sys.argv[1])), Path(sys.argv[2])))
