"""The order in which a transcript is made."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from cutroom.jobs.lifecycle import JobRef
    from cutroom.jobs.workflow import run_job
    from cutroom.platform.temporal import Queue
    from cutroom.products.transcripts.activities import PieceOrder, SpeechFound, TranscriptActivities
    from cutroom.products.transcripts.pieces import SpeechPiece, leader
    from cutroom.products.transcripts.service import UNKNOWN_LANGUAGE

# Our own parts may be away for a while: the work waits for them, and goes on soon after.
RETRY = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=15))
HEARTBEAT = timedelta(seconds=15)
STEP_TIMEOUT = timedelta(minutes=60)
TRANSCRIPT_TIMEOUT = timedelta(hours=24)
PIECES_AT_ONCE = 16  # of one transcript, over all workers


@workflow.defn(name="transcript")
class MakeTranscript:
    """Find speech, hear one piece to know the language, hear the others side by side, put it together."""

    @workflow.run
    async def run(self, ref: JobRef) -> None:
        await run_job(ref, partial(self._steps, ref))

    async def _steps(self, ref: JobRef, plan: dict[str, Any]) -> dict[str, Any]:
        video_id, language = plan["video_id"], plan.get("language")
        found: SpeechFound = await self._do(TranscriptActivities.find_speech, ref, video_id)
        if found.pieces:
            first = leader(found.pieces)
            heard = await self._hear(ref, video_id, found, first, language)
            language = language or heard
            gate = asyncio.Semaphore(PIECES_AT_ONCE)

            async def hear(piece: SpeechPiece) -> None:
                async with gate:
                    await self._hear(ref, video_id, found, piece, language)

            await asyncio.gather(*(hear(piece) for piece in found.pieces if piece != first))
        result: dict[str, Any] = await self._do(
            TranscriptActivities.join_transcript, ref, video_id, found, language or UNKNOWN_LANGUAGE
        )
        await self._do(TranscriptActivities.clear_transcript_pieces, ref, video_id)
        return result

    async def _hear(
        self, ref: JobRef, video_id: str, found: SpeechFound, piece: SpeechPiece, language: str | None
    ) -> str | None:
        """The language that was heard, if any was."""
        spoken = sum(each.speech_seconds for each in found.pieces)
        before = sum(each.speech_seconds for each in found.pieces[: piece.index + 1])
        known = language if language != UNKNOWN_LANGUAGE else None
        order = PieceOrder(piece, known, progress=8 + int(82 * before / spoken))
        heard: str = await self._do(TranscriptActivities.recognise_piece, ref, video_id, order)
        return heard if heard != UNKNOWN_LANGUAGE else None

    async def _do(self, step: Any, *arguments: Any) -> Any:  # noqa: ANN401 (any of the activities)
        return await workflow.execute_activity_method(
            step,
            args=list(arguments),
            task_queue=Queue.SPEECH,
            start_to_close_timeout=STEP_TIMEOUT,
            schedule_to_close_timeout=TRANSCRIPT_TIMEOUT,
            heartbeat_timeout=HEARTBEAT,
            retry_policy=RETRY,
        )
