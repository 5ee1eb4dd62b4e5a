"""Kills the worker with -9 during synthesis: the audio still arrives and is charged once."""

import asyncio
import time

import httpx

from cutroom.credits import ledger
from proofs.speech.long_text import make_text
from proofs.stage.report import Report
from tests.support.stage import Stage


async def prove_kills(report: Report, stage: Stage, voices: dict[str, str], *, kills: int, characters: int) -> None:
    before = await _balance(stage)
    delivered, mischarged = 0, 0
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=300) as client:
        for number in range(kills):
            text = f"This is reading number {number}. {make_text(characters)}"
            request = asyncio.create_task(_synthesize(client, voices["en"], text))
            await _wait_for_first_passage(stage)
            stage.worker.kill()
            stage.worker.start()
            audio = await request
            delivered += len(audio) > len(text) * 1_000
            spent = before - await _balance(stage)
            mischarged += spent != 1_000 * (number + 1)
        # The client disconnects and retries: one synthesis, one credit.
        text = f"The caller hangs up. {make_text(characters)}"
        abandoned = asyncio.create_task(_synthesize(client, voices["en"], text))
        await _wait_for_first_passage(stage)
        abandoned.cancel()
        audio = await _synthesize(client, voices["en"], text)
        delivered += len(audio) > len(text) * 1_000
        spent = before - await _balance(stage)
        mischarged += spent != 1_000 * (kills + 1)
    faults = await stage.accounts.connection.fetch("SELECT * FROM ledger_faults($1)", stage.person.library_id)
    expected = kills + 1
    claim = f"complete responses: worker killed {kills} times, client disconnected once"
    report.claim(claim, expected=str(expected), measured=delivered, holds=delivered == expected)
    report.claim("... not charged exactly once", expected="0", measured=mischarged, holds=mischarged == 0)
    report.claim("... ledger faults", expected="0", measured=len(faults), holds=not faults)
    report.figures(double_charges=mischarged, speech_kills=kills, readings_arrived=delivered)


async def _synthesize(client: httpx.AsyncClient, voice_id: str, text: str) -> bytes:
    response = await client.post(
        f"/v1/text-to-speech/{voice_id}", params={"output_format": "pcm_24000"}, json={"text": text}
    )
    response.raise_for_status()
    return response.content


async def _wait_for_first_passage(stage: Stage) -> None:
    """Wait until a running synthesis has stored its first passage."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        row = await stage.accounts.connection.fetchrow(
            """SELECT s.passage_sizes
               FROM syntheses s JOIN jobs j ON j.library_id = s.library_id AND j.id = 'speech_' || s.id
               WHERE j.status = 'processing' AND s.passage_sizes <> '{}'"""
        )
        if row is not None:
            return
        await asyncio.sleep(0.05)
    raise RuntimeError("no synthesis has started")


async def _balance(stage: Stage) -> int:
    """Credits that are neither spent nor held."""
    return await ledger.wallet_balance(stage.accounts.connection, stage.person.library_id)
