"""Tests a bucket on a worker before it is stored; the API process never connects to callers' stores."""

import asyncio
import base64
import json
import logging
from dataclasses import asdict
from datetime import timedelta

from temporalio.client import WorkflowFailureError
from temporalio.service import RPCError

from cutroom.platform.ids import new_id
from cutroom.platform.task_queues import TaskQueue
from cutroom.retention.copies.activities import CHECK_PURPOSE, BucketCheck, CheckedBucket
from cutroom.retention.copies.bucket import BucketAccess
from cutroom.retention.copies.rules import CHECK_SECONDS, StoreFault
from cutroom.retention.copies.service import CHECK_WORKFLOW
from cutroom.web.runtime import Runtime

MAX_CONCURRENT_CHECKS = 8  # per process; each holds a database connection while it waits
UNTESTED = StoreFault("untested", "The bucket cannot be tested at the moment. Try again later.")

_log = logging.getLogger(__name__)
_slots = asyncio.Semaphore(MAX_CONCURRENT_CHECKS)


async def check_bucket(runtime: Runtime, access: BucketAccess) -> StoreFault | None:
    """Writes and deletes a small object; returns why that failed. Does nothing if preflights are disabled."""
    if not runtime.settings.preflight_seconds:
        return None
    if _slots.locked():
        return UNTESTED
    check_id = new_id()
    sealed = runtime.secret_box.seal(CHECK_PURPOSE, json.dumps(asdict(access)).encode(), context=check_id)
    check = BucketCheck(check_id, base64.b64encode(sealed).decode())
    try:
        async with _slots, asyncio.timeout(CHECK_SECONDS):
            checked: CheckedBucket = await runtime.temporal.execute_workflow(
                CHECK_WORKFLOW,
                check,
                id=f"check-destination_{check_id}",
                task_queue=TaskQueue.CONTROL,
                execution_timeout=timedelta(seconds=CHECK_SECONDS),
                result_type=CheckedBucket,
            )
    except (TimeoutError, RPCError, RuntimeError, WorkflowFailureError) as error:
        _log.info("bucket check failed", extra={"error": repr(error)})
        return UNTESTED
    return checked.fault
