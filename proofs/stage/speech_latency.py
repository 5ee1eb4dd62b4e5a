"""Speaks short texts through the API as an interactive caller, and measures the time to the first byte of audio."""

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Self

import httpx
import psutil

from tests.support.stage import Stage

# Four hundred sentences of similar length. Each is spoken once, because a repeated one is answered from storage.
SUBJECTS = (
    *(
        "The train",
        "A boat",
        "The bus",
        "Our teacher",
        "The doctor",
        "A stranger",
        "The cook",
        "My friend",
        "The guest",
    ),
    *("A driver", "The singer", "Your uncle", "The farmer", "A pilot", "The judge", "Our sister", "The painter"),
    *("A child", "The baker", "The owner"),
)
PREDICATES = (
    *("leaves at ten.", "waits outside.", "comes home late.", "stops here.", "knows the way.", "arrives today."),
    *("stays inside.", "turns left.", "returns soon.", "sleeps well.", "sings all day.", "was very kind."),
    *("has no time.", "likes the sea.", "went north.", "needs a map.", "found a key.", "lost a shoe.", "reads a lot."),
    "drinks tea.",
)


@dataclass(frozen=True, slots=True)
class FirstByte:
    """Time from a request to its first byte of audio, and the CPU time that the worker used meanwhile.

    Both are infinite if there was no audio. On a machine whose cores are all busy, the CPU time tells how long the
    request waited for other work of the same worker, whatever else runs on the machine.
    """

    seconds: float
    worker_cpu_seconds: float


FAILED = FirstByte(math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class SpeechCaller:
    """Speaks a new text with each request."""

    client: httpx.AsyncClient
    voice_id: str
    worker: psutil.Process
    texts: Iterator[str]

    @classmethod
    async def open(cls, stage: Stage, client: httpx.AsyncClient) -> Self:
        """A caller with an English stock voice; speaks once, so that the worker has loaded what a request needs."""
        texts = (f"{subject} {predicate}" for predicate, subject in product(PREDICATES, SUBJECTS))
        caller = cls(client, await _find_voice(client, "en"), psutil.Process(stage.worker.pid), texts)
        await caller.speak()
        return caller

    async def speak(self) -> FirstByte:
        started, used, first = time.perf_counter(), self._cpu_seconds(), FAILED
        body = {"text": next(self.texts)}
        try:
            async with self.client.stream("POST", f"/v1/text-to-speech/{self.voice_id}", json=body) as response:
                response.raise_for_status()
                async for _ in response.aiter_raw():
                    if first is FAILED:
                        first = FirstByte(time.perf_counter() - started, self._cpu_seconds() - used)
        except httpx.HTTPError:
            return FAILED
        return first

    async def speak_times(self, count: int) -> list[FirstByte]:
        return [await self.speak() for _ in range(count)]

    def _cpu_seconds(self) -> float:
        times = self.worker.cpu_times()
        return times.user + times.system


async def _find_voice(client: httpx.AsyncClient, language: str) -> str:
    """The id of a stock voice of the language."""
    response = await client.get("/v2/voices", params={"page_size": 100, "category": "premade"})
    response.raise_for_status()
    for voice in response.json()["voices"]:
        if voice["labels"]["language"].partition("-")[0] == language:
            return str(voice["voice_id"])
    raise RuntimeError(f"no stock voice speaks {language}")


def percentile(values: Iterable[float], percent: float) -> float:
    """The nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]
