"""Defines the workflow that compares existing transcripts with the cast."""

from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.workflow import ActivityRunner, run_control_activity
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.transcripts.recognition_runs.activities import RecognitionRunActivities
    from cutroom.products.transcripts.recognition_runs.service import RUN_WORKFLOW, RecognitionRunRef

speech = ActivityRunner(TaskQueue.SPEECH, start_to_close=timedelta(minutes=30))


@workflow.defn(name=RUN_WORKFLOW)
class RecognizeCastWorkflow:
    """Compares one video after another, so that new transcripts are not delayed; continues as new after some."""

    @workflow.run
    async def run(self, ref: RecognitionRunRef) -> None:
        video_ids = await run_control_activity(RecognitionRunActivities.list_videos, ref)
        for video_id in video_ids:
            try:
                await speech.run(RecognitionRunActivities.recognize_in_video, ref, video_id)
            except FailureError:
                await run_control_activity(RecognitionRunActivities.fail_video, ref, video_id)
        if video_ids:
            workflow.continue_as_new(ref)
        await run_control_activity(RecognitionRunActivities.finish, ref)
