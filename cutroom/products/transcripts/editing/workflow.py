"""Defines the workflow that aligns the words of an edited transcript and publishes it."""

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.workflow import ActivityRunner
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.transcripts.editing.activities import AlignmentActivities
    from cutroom.products.transcripts.editing.service import ALIGN_WORKFLOW, AlignmentRef

# Edits come in bursts: only the last of a burst is aligned.
QUIET_TIME = timedelta(seconds=2)

speech = ActivityRunner(TaskQueue.SPEECH, start_to_close=timedelta(minutes=10))


@workflow.defn(name=ALIGN_WORKFLOW)
class AlignTranscriptWorkflow:
    """Aligns what has changed since the last publication, then publishes the revision with its words and subtitles."""

    @workflow.run
    async def run(self, ref: AlignmentRef) -> None:
        await workflow.sleep(QUIET_TIME)
        plan = await speech.run(AlignmentActivities.plan_alignment, ref)
        if plan.is_superseded:
            return
        for chunk in plan.chunks:
            await speech.run(AlignmentActivities.align_chunk, ref, chunk)
        if not await speech.run(AlignmentActivities.publish_revision, ref):
            return
        await speech.run(AlignmentActivities.delete_alignment, ref)
