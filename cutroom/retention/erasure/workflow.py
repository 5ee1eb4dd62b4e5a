"""The workflow that destroys a library."""

from dataclasses import replace
from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.workflow import HEARTBEAT_TIMEOUT, ActivityRunner, run_control_activity
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.hosting.activities import HostingActivities
    from cutroom.retention.erasure.activities import ErasureActivities
    from cutroom.retention.erasure.caches import SWEEP_INTERVAL
    from cutroom.retention.erasure.rules import ErasureRequest
    from cutroom.retention.erasure.service import WORKFLOW

# After this long, no activity of the library writes, and every worker has dropped its local copies.
WRITERS_WAIT = HEARTBEAT_TIMEOUT + SWEEP_INTERVAL
# For the part of an upload that was being received when the rows were deleted.
UPLOADS_WAIT = timedelta(seconds=5)

# What an erasure began must finish: no overall deadline, so it outlasts an outage of any service.
erasing = ActivityRunner(
    TaskQueue.CONTROL,
    start_to_close=timedelta(hours=6),
    schedule_to_close=None,
    heartbeat_timeout=timedelta(minutes=10),
    maximum_interval=timedelta(minutes=1),
)

provider = erasing.with_options(queue=TaskQueue.EGRESS)


@workflow.defn(name=WORKFLOW)
class EraseLibraryWorkflow:
    """Destroys a library: log first, then work, histories, objects, limits and rows, then the certificate."""

    @workflow.run
    async def run(self, request: ErasureRequest) -> None:
        await run_control_activity(ErasureActivities.append_to_erasure_log, request)
        await erasing.run(ErasureActivities.stop_library_work, request)
        await workflow.sleep(WRITERS_WAIT)
        survey = await erasing.run(ErasureActivities.survey_library, request)
        if survey.rows.get("hostings"):
            hosted = await provider.run(HostingActivities.delete_hosted_assets, request.library_id)
            survey = replace(survey, hosted_assets=hosted)
        await erasing.run(ErasureActivities.delete_library_histories, request)
        await erasing.run(ErasureActivities.delete_library_objects, request)
        await erasing.run(ErasureActivities.forget_library_limits, request)
        await erasing.run(ErasureActivities.erase_library_rows, request)
        await workflow.sleep(UPLOADS_WAIT)
        await erasing.run(ErasureActivities.delete_library_objects, request)
        await run_control_activity(ErasureActivities.issue_certificate, request, survey)
