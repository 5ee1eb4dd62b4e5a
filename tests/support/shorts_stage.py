"""What the proofs of shorts stand on: somebody who uploads a film, asks for shorts, and takes them home."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from cutroom.media.crop_plan import CropPlan
from cutroom.platform.storage.objects import Storage
from cutroom.products.shorts.service import output_path
from tests.support.stage import Stage, upload

WAIT_SECONDS = 1800.0
POLL_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the transcript."""

    text: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Made:
    """One output as its user has it, and the plan that lies beside it."""

    told: dict[str, Any]
    path: Path
    plan: dict[str, Any]
    parts: Sequence[tuple[float, float]]  # start in the film, and length

    @property
    def crop(self) -> CropPlan:
        return CropPlan.from_json(json.dumps(self.plan["framing"]))

    @property
    def seconds(self) -> float:
        return sum(length for _, length in self.parts)

    def film_seconds(self, seconds: float) -> float:
        """Which time of the film is shown at a time of the output."""
        for start, length in self.parts:
            if seconds < length:
                return start + seconds
            seconds -= length
        return self.parts[-1][0] + self.parts[-1][1]


@dataclass(frozen=True, slots=True)
class User:
    """Somebody with a video that has a transcript."""

    stage: Stage
    client: httpx.AsyncClient
    video_id: str
    words: Sequence[Word]

    async def ask(self, **body: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        answer = await self.client.post(f"/v1/videos/{self.video_id}/shorts", json=body)
        answer.raise_for_status()
        asked: dict[str, Any] = answer.json()
        return asked

    async def wait(self, asked: dict[str, Any], *, meanwhile: Callable[[str], None] | None = None) -> httpx.Response:
        """The answer once it is an end; `meanwhile` is told each stage."""
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            self.stage.worker.keep_running()
            job = (await self.client.get(f"/v1/jobs/{asked['jobId']}")).json()
            if job["status"] in {"ready", "failed"}:
                return await self.client.get(f"/v1/shorts/{asked['shortsRequestId']}")
            if meanwhile is not None and job.get("stage"):
                meanwhile(job["stage"])
            await asyncio.sleep(POLL_SECONDS)
        raise RuntimeError(f"no end\n{self.stage.worker.read_log()[-3000:]}")

    async def take(self, request: dict[str, Any], folder: Path) -> list[Made]:
        """Every output, downloaded by its URL."""
        folder.mkdir(parents=True, exist_ok=True)
        rows = await self.stage.accounts.connection.fetch(
            "SELECT id, number, moments FROM shorts_outputs WHERE request_id = $1", request["shortsRequestId"]
        )
        known = {row["id"]: row for row in rows}
        made = []
        for output in request["outputs"]:
            row = known[output["outputId"]]
            path = folder / f"{row['number']}.mp4"
            for url, target in ((output["videoUrl"], path), (output["thumbnailUrl"], path.with_suffix(".jpg"))):
                answer = await self.client.get(url, headers={"Authorization": ""})
                answer.raise_for_status()
                target.write_bytes(answer.content)
            plan = json.loads(await self._read(request["shortsRequestId"], f"edit-{row['number']}.json"))
            path.with_suffix(".json").write_text(json.dumps(plan))
            parts = [(each["start"], each["seconds"]) for each in row["moments"]]
            made.append(Made(output, path, plan, parts))
        return made

    async def _read(self, request_id: str, name: str) -> bytes:
        path = output_path(self.stage.person.library_id, self.video_id, request_id, name)
        return b"".join([chunk async for chunk in Storage.connect(self.stage.settings).read(path)])


async def arrive(stage: Stage, client: httpx.AsyncClient, film: Path) -> User:
    """Upload the film and wait until its transcript is ready."""
    video_id = await upload(client, film)
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        transcript = (await client.get(f"/v1/videos/{video_id}/transcript")).json()
        if transcript["status"] == "ready":
            break
        if transcript["status"] == "failed" or time.monotonic() > deadline:
            raise RuntimeError(f"no transcript\n{stage.worker.read_log()[-3000:]}")
        await asyncio.sleep(POLL_SECONDS)
    aligned = (await client.get(transcript["wordAlignmentUrl"], headers={"Authorization": ""})).json()
    words = [Word(each["text"], each["start"], each["end"]) for each in aligned["words"]]
    return User(stage, client, video_id, words)
