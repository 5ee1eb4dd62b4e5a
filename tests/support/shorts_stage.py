"""A user of the API who uploads a video, creates shorts and downloads them; shared by proofs and benchmarks."""

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
class RenderedOutput:
    """A downloaded output and its edit plan."""

    output: dict[str, Any]
    path: Path
    plan: dict[str, Any]
    ranges: Sequence[tuple[float, float]]  # start in the source, and duration

    @property
    def crop(self) -> CropPlan:
        return CropPlan.from_json(json.dumps(self.plan["framing"]))

    @property
    def seconds(self) -> float:
        return sum(length for _, length in self.ranges)

    def source_seconds(self, seconds: float) -> float:
        """Source time shown at an output time."""
        for start, length in self.ranges:
            if seconds < length:
                return start + seconds
            seconds -= length
        return self.ranges[-1][0] + self.ranges[-1][1]


@dataclass(frozen=True, slots=True)
class ShortsUser:
    """A user with a transcribed video."""

    stage: Stage
    client: httpx.AsyncClient
    video_id: str
    words: Sequence[Word]

    async def create_shorts(self, **body: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        response = await self.client.post(f"/v1/videos/{self.video_id}/shorts", json=body)
        response.raise_for_status()
        request: dict[str, Any] = response.json()
        return request

    async def wait(self, request: dict[str, Any], *, on_stage: Callable[[str], None] | None = None) -> httpx.Response:
        """Polls until the job has ended; `on_stage` is called with each stage."""
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            self.stage.worker.keep_running()
            job = (await self.client.get(f"/v1/jobs/{request['jobId']}")).json()
            if job["status"] in {"ready", "failed"}:
                return await self.client.get(f"/v1/shorts/{request['shortsRequestId']}")
            if on_stage is not None and job.get("stage"):
                on_stage(job["stage"])
            await asyncio.sleep(POLL_SECONDS)
        raise RuntimeError(f"the job did not end\n{self.stage.worker.read_log()[-3000:]}")

    async def download_outputs(self, request: dict[str, Any], folder: Path) -> list[RenderedOutput]:
        """Downloads every output by its URL."""
        folder.mkdir(parents=True, exist_ok=True)
        rows = await self.stage.accounts.connection.fetch(
            "SELECT id, number, moments FROM shorts_outputs WHERE request_id = $1", request["shortsRequestId"]
        )
        rows_by_id = {row["id"]: row for row in rows}
        outputs = []
        for output in request["outputs"]:
            row = rows_by_id[output["outputId"]]
            path = folder / f"{row['number']}.mp4"
            for url, target in ((output["videoUrl"], path), (output["thumbnailUrl"], path.with_suffix(".jpg"))):
                response = await self.client.get(url, headers={"Authorization": ""})
                response.raise_for_status()
                target.write_bytes(response.content)
            plan = json.loads(await self._read(request["shortsRequestId"], f"edit-{row['number']}.json"))
            path.with_suffix(".json").write_text(json.dumps(plan))
            ranges = [(each["start"], each["seconds"]) for each in row["moments"]]
            outputs.append(RenderedOutput(output, path, plan, ranges))
        return outputs

    async def _read(self, request_id: str, name: str) -> bytes:
        path = output_path(self.stage.person.library_id, self.video_id, request_id, name)
        return b"".join([chunk async for chunk in Storage.connect(self.stage.settings).read(path)])


async def upload_and_transcribe(stage: Stage, client: httpx.AsyncClient, video: Path) -> ShortsUser:
    """Uploads a video and waits for its transcript."""
    video_id = await upload(client, video)
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
    return ShortsUser(stage, client, video_id, words)
