"""A bounded look at a URL before its video is accepted, done by a worker: this process never opens a caller's URL."""

import asyncio
import base64
import logging
from datetime import timedelta

from temporalio.client import WorkflowFailureError
from temporalio.service import RPCError

from cutroom.errors import Code, CutroomError
from cutroom.platform.ids import new_id
from cutroom.platform.temporal import TaskQueue
from cutroom.products.ingest.activities import PreflightRequest, PreflightResult
from cutroom.products.ingest.schemas import UrlSource
from cutroom.products.ingest.service import URL_PURPOSE
from cutroom.web.runtime import Runtime

LOOKS_AT_ONCE = 8  # in one process: each holds a database connection while it waits
WORKFLOW = "preflight"

_log = logging.getLogger(__name__)
_places = asyncio.Semaphore(LOOKS_AT_ONCE)


async def look_first(runtime: Runtime, source: UrlSource) -> None:
    """Refuse what a worker sees at once to be no use; when nobody looks in time, the import finds out later."""
    seconds = runtime.settings.preflight_seconds
    if not seconds or _places.locked():
        return
    async with _places:
        glimpse = await _look(runtime, source, seconds)
    if glimpse is not None and glimpse.refusal is not None:
        raise CutroomError(Code.UNSUPPORTED_SOURCE, message=glimpse.refusal)


async def _look(runtime: Runtime, source: UrlSource, seconds: float) -> PreflightResult | None:
    look_id = new_id()
    sealed = runtime.secret_box.seal(URL_PURPOSE, source.url.encode(), context=look_id)
    glance = PreflightRequest(video_id=look_id, type=source.type.value, sealed_url=base64.b64encode(sealed).decode())
    try:
        async with asyncio.timeout(seconds):
            glimpse: PreflightResult = await runtime.temporal.execute_workflow(
                WORKFLOW,
                glance,
                id=f"look_{look_id}",
                task_queue=TaskQueue.CONTROL,
                execution_timeout=timedelta(seconds=15),
                result_type=PreflightResult,
            )
    except (TimeoutError, RPCError, RuntimeError, WorkflowFailureError) as error:
        _log.info("a source was accepted unseen", extra={"error": repr(error)})
        return None
    return glimpse
