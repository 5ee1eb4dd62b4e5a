"""An API with a worker that checks sources before they are accepted; the rest of the proof runs without a worker."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from cutroom.platform.ids import new_id
from cutroom.platform.task_queues import TaskQueue
from proofs.contract.stage import OWNER, ApiResponse, Caller, Stage
from tests.support.stage import open_stage

PREFLIGHT_SECONDS = 10.0  # the maximum: the worker has only just started
ACCEPTED = 202
TRIES = 6  # a source that is not checked in time is accepted


@asynccontextmanager
async def with_preflight(stage: Stage) -> AsyncIterator[Stage]:
    """The same stage with another API on its own database, so that its worker has no other work."""
    with TemporaryDirectory() as folder:
        other = open_stage(
            "proof_contract_sources",
            Path(folder),
            worker_module="proofs.contract.worker",
            preflight_seconds=PREFLIGHT_SECONDS,
            worker_queues=[TaskQueue.CONTROL, TaskQueue.EGRESS],
        )
        async with other as opened, httpx.AsyncClient(base_url=opened.api.url, timeout=60) as client:
            owner = Caller(opened.key.headers, {})
            yield replace(stage, client=client, callers={OWNER: owner})


async def send_unreachable_source(stage: Stage) -> list[ApiResponse]:
    """Submit a URL whose host does not exist."""
    responses: list[ApiResponse] = []
    while len(responses) < TRIES and (not responses or responses[-1].status == ACCEPTED):
        source = {"type": "https", "url": f"https://media.example.com/{new_id()}.mp4"}
        responses.append(await stage.call("POST /videos", {"source": source}))
    return responses[-1:]
