"""A worker that is killed with -9 in the middle of a reading: the sound still comes, and is paid for once."""

import asyncio
import time

import httpx

from cutroom.credits import ledger
from proofs.speech.long import make_text
from proofs.stage.report import Report
from tests.support.stage import Stage


async def prove_kills(report: Report, stage: Stage, voices: dict[str, str], *, kills: int, characters: int) -> None:
    before = await _balance(stage)
    arrived, doubles = 0, 0
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
        for number in range(kills):
            text = f"This is reading number {number}. {make_text(characters)}"
            asking = asyncio.create_task(_ask(client, voices["en"], text))
            await _until_begun(stage)
            stage.worker.kill()
            stage.worker.start()
            sound = await asking
            arrived += len(sound) > len(text) * 1_000
            spent = before - await _balance(stage)
            doubles += spent != 1_000 * (number + 1)
        # The caller hangs up, and asks again: one reading, one credit.
        text = f"Somebody hangs up. {make_text(characters)}"
        hasty = asyncio.create_task(_ask(client, voices["en"], text))
        await _until_begun(stage)
        hasty.cancel()
        sound = await _ask(client, voices["en"], text)
        arrived += len(sound) > len(text) * 1_000
        spent = before - await _balance(stage)
        doubles += spent != 1_000 * (kills + 1)
    faults = await stage.accounts.connection.fetch("SELECT * FROM ledger_faults($1)", stage.person.library_id)
    expected = kills + 1
    claim = f"readings that arrive whole: the worker killed {kills} times, the caller gone once"
    report.claim(claim, expected=str(expected), measured=arrived, holds=arrived == expected)
    report.claim("... charged other than once", expected="0", measured=doubles, holds=doubles == 0)
    report.claim("... faults in the books", expected="0", measured=len(faults), holds=not faults)
    report.figures(double_charges=doubles, speech_kills=kills, readings_arrived=arrived)


async def _ask(client: httpx.AsyncClient, voice_id: str, text: str) -> bytes:
    answer = await client.post(
        f"/v1/text-to-speech/{voice_id}", params={"output_format": "pcm_24000"}, json={"text": text}
    )
    answer.raise_for_status()
    return answer.content


async def _until_begun(stage: Stage) -> None:
    """One passage of the newest reading is there, and others are not."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        row = await stage.accounts.connection.fetchrow(
            """SELECT s.sizes FROM syntheses s JOIN jobs j ON j.library_id = s.library_id AND j.id = 'speech_' || s.id
               WHERE j.status = 'processing' AND s.sizes <> '{}'"""
        )
        if row is not None:
            return
        await asyncio.sleep(0.05)
    raise RuntimeError("no reading was begun")


async def _balance(stage: Stage) -> int:
    """What is neither spent nor held."""
    return await ledger.wallet_balance(stage.accounts.connection, stage.person.library_id)
