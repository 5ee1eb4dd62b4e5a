"""Defines the workflow that stores the files of edited captions."""

from datetime import timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.workflow import ActivityRunner
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.captions.editing.activities import CaptionEditingActivities
    from cutroom.products.captions.editing.tracks import PUBLISH_WORKFLOW, TrackRef

# Edits come in bursts: only the last of a burst is published.
QUIET_TIME = timedelta(seconds=2)

speech = ActivityRunner(TaskQueue.SPEECH, start_to_close=timedelta(minutes=10))


@workflow.defn(name=PUBLISH_WORKFLOW)
class PublishCaptionsWorkflow:
    """Stores the subtitle files of captions after an edit, unless a later one follows at once."""

    @workflow.run
    async def run(self, ref: TrackRef) -> None:
        await workflow.sleep(QUIET_TIME)
        await speech.run(CaptionEditingActivities.publish_captions, ref)
