"""Transcripts: word accuracy, timing, diarization, bounded cost of long files, and recovery from worker crashes."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from proofs.stage.report import Report, prove
from proofs.stage.requirements import GB, Needs
from proofs.transcripts.accuracy import prove_accuracy
from proofs.transcripts.long import prove_long

BRIEF_SECONDS, LONG_SECONDS = 180.0, 1800.0
KILL_AT = (1, 3, 5)  # chunks of about six


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    """The short form omits the long file: its time, memory, and chunks repeated after kills."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        await prove_accuracy(report, folder, short=short)
        if not short:
            await prove_long(report, folder, brief_seconds=BRIEF_SECONDS, long_seconds=LONG_SECONDS, kill_at=KILL_AT)


if __name__ == "__main__":
    needs = Needs(model_set="ci", programs=("ffmpeg", "espeak-ng"), disk_bytes=2 * GB, short_disk_bytes=1 * GB)
    sys.exit(prove("Transcripts", proof, needs=needs))
