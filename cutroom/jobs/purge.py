"""Removes the content of jobs whose video is purged; what was charged for them stays."""

from cutroom.platform.db import Connection


async def strip_jobs(connection: Connection, library_id: str, video_id: str) -> None:
    """Remove plans, results and error messages. Rows and receipts stay, because the ledger refers to them."""
    await connection.execute(
        """UPDATE jobs SET plan = '{}', error_details = NULL, stage = NULL,
               result = CASE WHEN result ? 'receipt' THEN jsonb_build_object('receipt', result -> 'receipt') END,
               error_message = CASE WHEN error_code IS NOT NULL THEN 'The video of this job was deleted.' END
           WHERE library_id = $1 AND $2 IN (video_id, plan ->> 'hosted_video_id', plan ->> 'dubbed_video_id')""",
        library_id,
        video_id,
    )
