"""Poisoned files, and workflows that cannot be started."""

import asyncio
import os
import struct
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from cutroom.jobs.steps import MAX_ATTEMPTS
from cutroom.platform.ids import new_id
from cutroom.platform.outbox import WorkflowStart, enqueue
from cutroom.platform.temporal import connect
from proofs.hardening.attacks import Scene
from proofs.hardening.sources import wait_for_job
from tests.support.stage import upload

FAMILY = "jobs"
END_SECONDS = 110.0
POISONED_STARTS = 3
LONGEST_ID = 1000  # of a workflow, in Temporal


def poisoned_files(good: bytes) -> dict[str, bytes]:
    """Contents that break a parser, by name."""
    return {
        "random.mp4": b"\x00\x00\x00\x18ftypmp42" + os.urandom(100_000),
        "cut short.mp4": good[: len(good) // 2],
        "empty boxes.mp4": b"\x00\x00\x00\x18ftypmp42" + bytes(12) + b"\x00\x00\x00\x08moov" * 50_000,
        "a lying length.wav": b"RIFF" + struct.pack("<I", 2**32 - 1) + b"WAVEfmt " + bytes(64),
        "a playlist.mp4": b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n",
        "a script.mp4": b"#!/bin/sh\ncat /etc/passwd\n",
    }


async def attack_jobs(scene: Scene) -> None:
    await asyncio.gather(_attack_with_files(scene), _attack_relay(scene))


async def _attack_with_files(scene: Scene) -> None:
    tenant = await scene.tenant("127.0.9.1")
    good = scene.video_file.read_bytes()
    videos = {}
    with TemporaryDirectory() as folder:
        for name, content in poisoned_files(good).items():
            path = Path(folder) / "file"
            path.write_bytes(content)
            videos[name] = await upload(tenant.client, path, file_name=name)
    outcomes = await asyncio.gather(*(wait_for_job(tenant.client, f"import_{each}") for each in videos.values()))
    for (name, video_id), outcome in zip(videos.items(), outcomes, strict=True):
        attempts = await _attempts(scene, f"import_{video_id}")
        is_sentence = outcome.endswith(".") and outcome not in {"ready", "still running"}
        happened = f"{outcome} (attempt {attempts})"
        scene.log.add(FAMILY, f"the file {name!r}", happened, succeeded=not is_sentence or attempts > MAX_ATTEMPTS)
    await tenant.client.aclose()


async def _attempts(scene: Scene, workflow_id: str) -> int:
    """The most attempts of any activity of a workflow."""
    client = await connect(scene.stage.settings)
    history = client.get_workflow_handle(workflow_id).fetch_history_events()
    started = [event.activity_task_started_event_attributes.attempt async for event in history]
    return max(started, default=0)


async def _attack_relay(scene: Scene) -> None:
    """Rows that Temporal refuses, ahead of the victim's job."""
    library_id = scene.attacker.library_id
    ids = [new_id() + "x" * 2 * LONGEST_ID for _ in range(POISONED_STARTS)]
    async with scene.runtime.database.transaction(library_id) as connection:
        for workflow_id in ids:
            await enqueue(connection, WorkflowStart(library_id, "import", workflow_id, {"job_id": workflow_id[:26]}))
    video_id = await upload(scene.victim.client, scene.video_file)
    outcome = await wait_for_job(scene.victim.client, f"import_{video_id}")
    tried = f"{POISONED_STARTS} workflows that Temporal refuses to start, ahead of another tenant's job"
    scene.log.add(FAMILY, tried, outcome, succeeded=outcome != "ready")
    deadline, aside = time.monotonic() + END_SECONDS, 0
    while aside < POISONED_STARTS and time.monotonic() < deadline:
        # As if the wait between two refusals were over.
        await scene.fetch("UPDATE outbox SET retry_at = now() WHERE workflow_id = ANY ($1) AND refusals > 0", ids)
        rows = await scene.fetch("SELECT 1 FROM outbox WHERE workflow_id = ANY ($1) AND set_aside_at IS NOT NULL", ids)
        aside = len(rows)
        await asyncio.sleep(0.2)
    tried = "… and are tried again for ever"
    scene.log.add(FAMILY, tried, f"{aside} of {POISONED_STARTS} set aside", succeeded=aside < POISONED_STARTS)
