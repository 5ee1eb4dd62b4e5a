"""Checks a URL on a worker before its video is accepted; the API process never opens callers' URLs."""

import asyncio
import base64
import logging
from datetime import timedelta

from temporalio.client import WorkflowFailureError
from temporalio.service import RPCError

from cutroom.errors import Code, CutroomError
from cutroom.platform.ids import new_id
from cutroom.platform.task_queues import TaskQueue
from cutroom.products.ingest.activities import PreflightRequest, PreflightResult
from cutroom.products.ingest.schemas import UrlSource
from cutroom.products.ingest.service import URL_PURPOSE
from cutroom.web.runtime import Runtime

MAX_CONCURRENT_PREFLIGHTS = 8  # per process; each holds a database connection while it waits
WORKFLOW = "preflight"

_log = logging.getLogger(__name__)
_slots = asyncio.Semaphore(MAX_CONCURRENT_PREFLIGHTS)


async def run_preflight(runtime: Runtime, source: UrlSource) -> None:
    """Rejects a source that cannot be imported; without a result in time, the import reports it later."""
    seconds = runtime.settings.preflight_seconds
    if not seconds or _slots.locked():
        return
    async with _slots:
        result = await _probe(runtime, source, seconds)
    if result is not None and result.refusal is not None:
        raise CutroomError(Code.UNSUPPORTED_SOURCE, message=result.refusal)


async def _probe(runtime: Runtime, source: UrlSource, seconds: float) -> PreflightResult | None:
    preflight_id = new_id()
    sealed = runtime.secret_box.seal(URL_PURPOSE, source.url.encode(), context=preflight_id)
    request = PreflightRequest(
        video_id=preflight_id, type=source.type.value, sealed_url=base64.b64encode(sealed).decode()
    )
    try:
        async with asyncio.timeout(seconds):
            result: PreflightResult = await runtime.temporal.execute_workflow(
                WORKFLOW,
                request,
                id=f"preflight_{preflight_id}",
                task_queue=TaskQueue.CONTROL,
                execution_timeout=timedelta(seconds=15),
                result_type=PreflightResult,
            )
    except (TimeoutError, RPCError, RuntimeError, WorkflowFailureError) as error:
        _log.info("source preflight skipped", extra={"error": repr(error)})
        return None
    return result
