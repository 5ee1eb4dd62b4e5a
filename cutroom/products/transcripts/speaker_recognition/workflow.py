"""Defines the workflow that makes the voice print of a confirmed speaker."""

from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.workflow import ActivityRunner, run_control_activity
    from cutroom.platform.task_queues import TaskQueue
    from cutroom.products.transcripts.speaker_recognition.activities import SpeakerEmbeddingActivities
    from cutroom.products.transcripts.speaker_recognition.service import EMBED_WORKFLOW, SpeakerEmbeddingRef

speech = ActivityRunner(TaskQueue.SPEECH, start_to_close=timedelta(minutes=10))


@workflow.defn(name=EMBED_WORKFLOW)
class EmbedSpeakerWorkflow:
    """Embeds the segments of the speaker, and stores their mean or the reason why there is none."""

    @workflow.run
    async def run(self, ref: SpeakerEmbeddingRef) -> None:
        try:
            await speech.run(SpeakerEmbeddingActivities.embed_speaker, ref)
        except FailureError:
            await run_control_activity(SpeakerEmbeddingActivities.fail_speaker_embedding, ref)
