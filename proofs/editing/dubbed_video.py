"""A dub that is edited through the API, and the lossless mix behind its track."""

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np

from cutroom.media.local_cache import LocalMediaCache
from cutroom.media.sandbox import Sandbox
from cutroom.platform.storage.objects import Storage
from cutroom.products.dubs.artifacts import DubArtifacts, DubRef
from cutroom.products.dubs.mixing import MIX_RATE
from cutroom.products.dubs.script import PlacedLine
from tests.support.dub_stage import WAIT_SECONDS, decode_samples
from tests.support.stage import Stage, WorkerProcess

if TYPE_CHECKING:
    from tests.support.dub_stage import AudioSamples

POLL_SECONDS = 0.2
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class EditedDub:
    """The dub of a video into one language."""

    stage: Stage
    client: httpx.AsyncClient
    video_id: str
    language: str
    folder: Path

    @property
    def path(self) -> str:
        return f"/v1/videos/{self.video_id}/dubs/{self.language}"

    async def read(self) -> dict[str, Any]:
        found: dict[str, Any] = (await self.client.get(f"{self.path}/segments")).raise_for_status().json()
        return found

    async def patch(self, revision: int, *changes: dict[str, Any]) -> httpx.Response:
        return await self.client.patch(f"{self.path}/segments", json={"revision": revision, "changes": list(changes)})

    async def edit_transcript(self, *operations: dict[str, Any]) -> httpx.Response:
        revision = (await self.read())["transcriptRevision"]
        body = {"revision": revision, "operations": list(operations)}
        return await self.client.patch(f"/v1/videos/{self.video_id}/transcript", json=body)

    async def balance(self) -> int:
        found: int = await self.stage.accounts.connection.fetchval(
            "SELECT wallet FROM ledger_balances WHERE library_id = $1", self.stage.person.library_id
        )
        return found

    async def regenerate(self, segment_ids: list[str] | None = None) -> tuple[dict[str, Any], int]:
        """Regenerate what is outdated, or some of it; return the quote and the milli-credits that were charged."""
        read, before = await self.read(), await self.balance()
        body: dict[str, Any] = {"revision": read["revision"], "transcriptRevision": read["transcriptRevision"]}
        if segment_ids is not None:
            body["segmentIds"] = segment_ids
        quote = (await self.client.post(f"{self.path}/regenerate/quote", json=body)).raise_for_status().json()
        (await self.client.post(f"{self.path}/regenerate", json=body)).raise_for_status()
        deadline = time.monotonic() + WAIT_SECONDS
        while (job := (await self.read())["job"])["status"] not in {"ready", "failed"}:
            if time.monotonic() > deadline:
                raise RuntimeError(f"the regeneration has not ended: {job}")
            await asyncio.sleep(POLL_SECONDS)
        if job["status"] == "failed":
            raise RuntimeError(f"{job}\n{self.stage.worker.read_log()[-3000:]}")
        return quote, before - await self.balance()

    async def mix(self) -> "AudioSamples":
        """The mix of the published track, before it is compressed."""
        dub, artifacts = await self._published()
        script, schedule = await artifacts.script(dub), await artifacts.schedule(dub, "schedule")
        return await self._joined(artifacts, [dub.mixed_path(script, schedule, at) for at in range(script.chunk_count)])

    async def schedule(self) -> Sequence[PlacedLine]:
        """The published lines that a voice speaks."""
        dub, artifacts = await self._published()
        return (await artifacts.schedule(dub, "schedule")).lines

    async def line_audio(self, key: str) -> bytes:
        """The audio of a line as it was synthesized."""
        dub, artifacts = await self._published()
        return await artifacts.read(dub.line_path(key))

    async def background(self) -> "AudioSamples":
        """The sound without speech, as it is mixed."""
        dub, artifacts = await self._published()
        script = await artifacts.script(dub)
        return await self._joined(artifacts, [dub.background_path(script, at) for at in range(script.chunk_count)])

    async def _published(self) -> tuple[DubRef, DubArtifacts]:
        generation = await self.stage.accounts.connection.fetchval(
            "SELECT generation FROM dubs WHERE video_id = $1 AND language = $2", self.video_id, self.language
        )
        dub = DubRef(self.stage.person.library_id, self.video_id, self.language, "plus")
        storage = Storage.connect(self.stage.settings)
        cache = LocalMediaCache(storage, self.folder / "cache", max_bytes=10**9)
        return replace(dub, generation=generation), DubArtifacts(storage, cache, Sandbox())

    @staticmethod
    async def _joined(artifacts: DubArtifacts, paths: list[str]) -> "AudioSamples":
        chunks = [decode_samples(await artifacts.read(path), rate=MIX_RATE, channels=2) for path in paths]
        return np.concatenate(chunks, axis=1)


def cpu_seconds(worker: WorkerProcess) -> float:
    """CPU time of a worker and of the programs that it has run."""
    fields = Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS
