"""The order in which a transcript is made."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import ActivityRunner, run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.transcripts.activities import SpeechFound, TranscriptActivities, TranscriptChunkTask
    from cutroom.products.transcripts.chunks import SpeechPiece, leader
    from cutroom.products.transcripts.service import UNKNOWN_LANGUAGE

# Our own parts may be away for a while: the work waits for them, and goes on soon after.
PIECES_AT_ONCE = 16  # of one transcript, over all workers
run_activity = ActivityRunner(Queue.SPEECH, start_to_close=timedelta(hours=1))


@workflow.defn(name="transcript")
class TranscriptWorkflow:
    """Find speech, hear one piece to know the language, hear the others side by side, put it together."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        video_id, language = plan["video_id"], plan.get("language")
        found: SpeechFound = await run_activity(TranscriptActivities.find_speech, ref, video_id)
        if found.pieces:
            first = leader(found.pieces)
            heard = await self._hear(ref, video_id, found, first, language)
            language = language or heard
            gate = asyncio.Semaphore(PIECES_AT_ONCE)

            async def hear(piece: SpeechPiece) -> None:
                async with gate:
                    await self._hear(ref, video_id, found, piece, language)

            await asyncio.gather(*(hear(piece) for piece in found.pieces if piece != first))
        result: dict[str, Any] = await run_activity(
            TranscriptActivities.join_transcript, ref, video_id, found, language or UNKNOWN_LANGUAGE
        )
        await run_activity(TranscriptActivities.clear_transcript_pieces, ref, video_id)
        return result

    async def _hear(
        self, ref: JobRef, video_id: str, found: SpeechFound, piece: SpeechPiece, language: str | None
    ) -> str | None:
        """The language that was heard, if any was."""
        known = language if language != UNKNOWN_LANGUAGE else None
        order = TranscriptChunkTask(piece, known, of=len(found.pieces))
        heard: str = await run_activity(TranscriptActivities.recognise_piece, ref, video_id, order)
        return heard if heard != UNKNOWN_LANGUAGE else None
