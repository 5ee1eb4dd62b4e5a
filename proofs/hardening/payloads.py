"""What Temporal stores: an operator of it, or a thief of its disk, reads no content of a library."""

import asyncio
from pathlib import Path

from temporalio.client import Client

from cutroom.platform.payload_codec import ENCODING
from dev.environment import data_dir
from proofs.hardening.attacks import Scene
from proofs.hardening.sources import wait_for_job
from tests.support.stage import upload
from tests.support.stored_payloads import sdk_payloads, stored_payloads

FAMILY = "payloads"
CANARY = "canary-91c7f2d4a6"
MIN_PAYLOADS = 20


async def attack_payloads(scene: Scene) -> None:
    """Import files that are named after a canary, and search every history and the store's files for it."""
    tenant = await scene.tenant("127.0.9.2")
    video_id = await upload(tenant.client, scene.video_file, file_name=f"{CANARY}.mp4")
    await wait_for_job(tenant.client, f"import_{video_id}")
    await tenant.client.aclose()
    await _scan_histories(scene)
    folder = data_dir() / "temporal"
    found = await asyncio.to_thread(_files_with, folder, CANARY.encode())
    scene.log.plaintext_payloads += len(found)
    scene.log.add(FAMILY, "the canary in the files of the store", ", ".join(found) or "none", succeeded=bool(found))


async def _scan_histories(scene: Scene) -> None:
    settings = scene.stage.settings
    client = await Client.connect(settings.temporal_address, namespace=settings.temporal_namespace)  # without a codec
    scanned = plain = named = 0
    async for found in client.list_workflows():
        history = await client.get_workflow_handle(found.id, run_id=found.run_id).fetch_history()
        payloads = stored_payloads(history)
        scanned += len(payloads)
        plain += sum(each["encoding"] != ENCODING or CANARY.encode() in each["data"] for each in payloads)
        plain += sum(CANARY.encode() in each["data"] for each in sdk_payloads(history))
        named += CANARY in history.to_json()
    scene.log.plaintext_payloads += plain + named
    happened = f"{plain} of {scanned}"
    scene.log.add(FAMILY, "payloads in plain text", happened, succeeded=plain > 0 or scanned < MIN_PAYLOADS)
    scene.log.add(FAMILY, "the canary anywhere in a history", f"{named} histories", succeeded=named > 0)


def _files_with(folder: Path, text: bytes) -> list[str]:
    return [path.name for path in sorted(folder.iterdir()) if path.is_file() and _contains(path, text)]


def _contains(path: Path, text: bytes) -> bool:
    """Read in blocks that overlap, because the store may be large."""
    tail = b""
    with path.open("rb") as file:
        while block := file.read(1 << 22):
            if text in tail + block:
                return True
            tail = block[-len(text) :]
    return False
