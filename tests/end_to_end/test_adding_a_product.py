"""The example product of docs/adding-a-product.md runs one job when built as the page says."""

import asyncio
import time
from pathlib import Path

import httpx
import pytest

from cutroom.platform.storage.objects import Storage
from dev.structure import example_product
from tests.support.stage import make_video, open_stage, upload, wait_for_imports

WAIT_SECONDS = 300.0
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.timeout(600)
async def test_the_example_product_runs_a_job(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    example_product.build(tree)
    # Without the working directory on the path, PYTHONPATH comes before the installed package.
    environment = {"PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1"}
    async with open_stage("test_example_product", tmp_path / "stage", environment=environment) as stage:
        headers = {"Authorization": f"Bearer {stage.key.secret}"}
        async with httpx.AsyncClient(base_url=stage.api.url, headers=headers, timeout=30) as client:
            video = await asyncio.to_thread(make_video, tmp_path / "video.mp4", 2)
            video_id = await upload(client, video)
            created = await client.post(f"/v1/videos/{video_id}/waveforms", json={"width": 640})
            assert created.status_code == 202, created.text
            job_id = created.json()["id"]
            assert job_id.startswith("waveform_")
            await wait_for_imports(stage, [video_id], seconds=WAIT_SECONDS)
            deadline = time.monotonic() + WAIT_SECONDS
            job = created.json()
            while job["status"] not in {"ready", "failed"} and time.monotonic() < deadline:
                await asyncio.sleep(0.2)
                job = (await client.get(f"/v1/jobs/{job_id}")).json()
            assert job["status"] == "ready", (job, stage.worker.read_log()[-3000:])
            path = job["result"]["storagePath"]
            image = b"".join([part async for part in Storage.connect(stage.settings).read(path)])
            assert image.startswith(PNG)
            document = (await client.get("/v1/openapi.json")).json()
            assert "/v1/videos/{videoId}/waveforms" in document["paths"]
