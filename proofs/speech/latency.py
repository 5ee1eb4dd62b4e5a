"""Time to first byte for a short sentence, compared with the bare engine."""

import asyncio
import time

import httpx

from cutroom.engines.registry import Engines
from proofs.stage.report import Report
from tests.support.stage import Stage

MAX_RATIO = 1.5
LINES = (  # of similar length
    "The train to the coast leaves in ten minutes.",
    "Please bring a warm coat and something to eat.",
    "She opened the letter and read it twice.",
    "There is a small bakery behind the church.",
    "Nobody had told them that the road was closed.",
    "The children were asleep before the film ended.",
    "He found his old camera in a box of books.",
    "We should call them before they go to bed.",
    "The soup was hot and tasted of fresh herbs.",
    "A cold wind came down from the mountains.",
)


async def prove_latency(report: Report, stage: Stage, engines: Engines, voices: dict[str, str], *, rounds: int) -> None:
    """Alternate between both, so that other load on the machine affects them equally."""
    voice_id = voices["en"]
    name = await stage.accounts.connection.fetchval("SELECT name FROM stock_voices WHERE id = $1", voice_id)
    language = await stage.accounts.connection.fetchval("SELECT language FROM stock_voices WHERE id = $1", voice_id)
    synthesizer = await asyncio.to_thread(engines.synthesizer)
    ours, bare = [], []
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=120) as client:
        for line in LINES[: rounds + 1]:
            started = time.perf_counter()
            await asyncio.to_thread(synthesizer.synthesize, line, voice=name, language=language)
            bare.append(time.perf_counter() - started)
            ours.append(await _first_byte(client, voice_id, line))
    # The first round warms up. The minimum of the others, because load on the machine only adds time.
    first_byte, bare_seconds = min(ours[1:]), min(bare[1:])
    ratio = round(first_byte / bare_seconds, 2)
    report.claim(
        f"time to first byte relative to bare Kokoro, best of {rounds}",
        expected=f"<= {MAX_RATIO}",
        measured=f"{ratio} ({first_byte:.2f} / {bare_seconds:.2f} s)",
        holds=ratio <= MAX_RATIO,
    )
    report.figures(latency_ratio=ratio, first_byte_seconds=round(first_byte, 3))


async def _first_byte(client: httpx.AsyncClient, voice_id: str, line: str) -> float:
    started, seconds = time.perf_counter(), 0.0
    async with client.stream("POST", f"/v1/text-to-speech/{voice_id}/stream", json={"text": line}) as response:
        response.raise_for_status()
        async for _ in response.aiter_raw():
            seconds = seconds or time.perf_counter() - started
    return seconds
