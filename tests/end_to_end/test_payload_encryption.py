"""Scans what Temporal stores of a real import, with a client that cannot decrypt it."""

import os
from pathlib import Path

import httpx
import pytest
from temporalio.client import Client
from temporalio.worker import Replayer

from cutroom.entrypoints.worker import WORKFLOWS
from cutroom.platform.data_keys import SYSTEM
from cutroom.platform.payload_codec import ENCODING
from cutroom.platform.temporal import connect
from tests.support.stage import Stage, make_video, open_stage, upload, wait_for_imports
from tests.support.stored_payloads import sdk_payloads, stored_payloads

CANARY = "canary-4d81e6b0"
EVERY = [workflow for workflows in WORKFLOWS.values() for workflow in workflows]


async def import_videos(stage: Stage, folder: Path) -> list[str]:
    """A video that becomes ready and a file that fails, both named after the canary."""
    broken = folder / "broken.mp4"
    broken.write_text(CANARY)
    video = make_video(folder / "video.mp4", 2)
    async with httpx.AsyncClient(base_url=stage.api.url, headers=stage.key.headers, timeout=60) as caller:
        videos = [await upload(caller, each, file_name=f"{CANARY}.mp4") for each in (video, broken)]
    statuses = await wait_for_imports(stage, videos, seconds=300)
    assert [statuses[each] for each in videos] == ["ready", "failed"], stage.worker.read_log()[-3000:]
    return [f"import_{each}" for each in videos]


@pytest.mark.timeout(600)
async def test_no_content_of_a_library_is_stored_in_plain_text(tmp_path: Path) -> None:
    async with open_stage(f"payloads_{os.getpid()}", tmp_path) as stage:
        settings, library_id = stage.settings, stage.person.library_id.encode()
        imports = await import_videos(stage, tmp_path)
        plain_client = await Client.connect(settings.temporal_address, namespace=settings.temporal_namespace)
        scanned, libraries = 0, {}
        async for found in plain_client.list_workflows():
            history = await plain_client.get_workflow_handle(found.id, run_id=found.run_id).fetch_history()
            payloads = stored_payloads(history)
            assert CANARY not in history.to_json(), found.id
            assert {each["encoding"] for each in payloads} <= {ENCODING}, found.id
            assert not any(CANARY.encode() in each["data"] for each in [*payloads, *sdk_payloads(history)])
            scanned += len(payloads)
            libraries[found.id] = {each["library"] for each in payloads}
        assert scanned >= 20
        assert {library_id, SYSTEM.encode()} >= set().union(*libraries.values())
        for workflow_id in imports:
            assert libraries[workflow_id] == {library_id}
            history = await plain_client.get_workflow_handle(workflow_id).fetch_history()
            converter = (await connect(settings)).data_converter
            await Replayer(workflows=EVERY, data_converter=converter).replay_workflow(history)
