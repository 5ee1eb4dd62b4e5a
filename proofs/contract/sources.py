"""A service whose worker looks at sources before they are accepted; the others of this proof have no worker."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from cutroom.platform.ids import new_id
from cutroom.platform.temporal import Queue
from proofs.contract.stage import OWNER, Answer, Caller, Stage
from tests.support.stage import open_stage

LOOK_SECONDS = 10.0  # as long as may be set: the worker has only just started
ACCEPTED = 202
TRIES = 6  # what nobody looked at in time is accepted


@asynccontextmanager
async def looking(stage: Stage) -> AsyncIterator[Stage]:
    """The same stage before another service, on a database of its own, so that its worker finds no other work."""
    with TemporaryDirectory() as folder:
        queues = f"{Queue.CONTROL},{Queue.EGRESS}"
        other = open_stage(
            "proof_contract_sources",
            Path(folder),
            worker_module="proofs.contract.worker",
            preflight_seconds=LOOK_SECONDS,
            worker_queues=queues,
        )
        async with other as opened, httpx.AsyncClient(base_url=opened.api.url, timeout=60) as client:
            owner = Caller(opened.key.headers, {})
            yield replace(stage, client=client, callers={OWNER: owner})


async def send_useless_source(stage: Stage) -> list[Answer]:
    """A name that leads nowhere."""
    answers: list[Answer] = []
    while len(answers) < TRIES and (not answers or answers[-1].status == ACCEPTED):
        source = {"type": "https", "url": f"https://films.example.com/{new_id()}.mp4"}
        answers.append(await stage.ask("POST /videos", {"source": source}))
    return answers[-1:]
