"""Several editors change the same dub while the API is killed; none of their changes is lost or made twice."""

import asyncio
import random
from dataclasses import dataclass, field
from typing import Any

import httpx

from proofs.editing.dubbed_video import EditedDub
from proofs.stage.report import Report

EDITORS, CHANGES = 8, 4  # changes of each editor
KILL_AFTER = (5, 12, 20)  # accepted changes
RETRY_SECONDS = 0.5
REFUSED = frozenset({429, 500, 502, 503})  # while it starts, or for too many requests: sent again


@dataclass
class Editors:
    """Editors who each add words to the pronunciations of a line, and repeat what was refused."""

    edited: EditedDub
    accepted: list[str] = field(default_factory=list)
    unanswered: int = 0
    kills: int = 0

    async def run(self) -> None:
        killer = asyncio.create_task(self._kill())
        await asyncio.gather(*(self._edit(number) for number in range(EDITORS)))
        await killer

    async def _kill(self) -> None:
        for count in KILL_AFTER:
            while len(self.accepted) < count:
                await asyncio.sleep(0.01)
            self.edited.stage.api.kill()
            self.kills += 1
            await asyncio.to_thread(self.edited.stage.api.start)

    async def _edit(self, number: int) -> None:
        rng = random.Random(number)
        for change in range(CHANGES):
            word = f"word{number}x{change}"
            while not await self._add(rng, number, word):
                pass
            self.accepted.append(word)

    async def _add(self, rng: random.Random, number: int, word: str) -> bool:
        """Add a word to what is there now; False if someone else was faster, or if there was no answer."""
        try:
            read = await self.edited.read()
            line = read["segments"][number % len(read["segments"])]
            known: dict[str, str] = line["edits"].get("pronunciation") or {}
            if word in known:  # accepted, but the answer was lost
                return True
            spelling = f"spelled{rng.randrange(1000)}"
            change = {"id": line["id"], "pronunciation": {**known, word: spelling}}
            response = await self.edited.patch(read["revision"], change)
            if response.status_code not in {200, 409}:
                response.raise_for_status()
        except (httpx.TransportError, httpx.HTTPStatusError) as error:
            if isinstance(error, httpx.HTTPStatusError) and error.response.status_code not in REFUSED:
                raise
            self.unanswered += 1
            await asyncio.sleep(RETRY_SECONDS)
            return False
        return response.status_code == 200


async def prove_editors(report: Report, edited: EditedDub) -> None:
    """Editors who send changes at the same time, each until it is accepted, lose none; nor does a kill."""
    before, editors = await edited.read(), Editors(edited)
    await editors.run()
    after = await edited.read()
    lost = count_lost(editors, after)
    twice = after["revision"] - before["revision"] - EDITORS * CHANGES
    holds = lost == 0 and twice == 0 and editors.kills == len(KILL_AFTER)
    report.claim(
        f"edits lost by {EDITORS} concurrent editors, the API killed {editors.kills} times",
        expected="0",
        measured=f"{lost}; {twice} made twice, {editors.unanswered} requests without an answer",
        holds=holds,
    )
    report.figures(lost_edits=lost, editor_kills=editors.kills)
    changes = [
        {"id": each["id"], "pronunciation": None} for each in after["segments"] if each["edits"].get("pronunciation")
    ]
    (await edited.patch(after["revision"], *changes)).raise_for_status()


def count_lost(editors: Editors, read: dict[str, Any]) -> int:
    """Accepted words that are not there."""
    present = {word for line in read["segments"] for word in line["edits"].get("pronunciation") or {}}
    return len({*editors.accepted} - present) + EDITORS * CHANGES - len({*editors.accepted})
