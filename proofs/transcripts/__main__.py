"""A transcript is what was said, when and by whom, whatever its length, and whatever happens to the worker."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from proofs.stage.report import Report, prove
from proofs.transcripts.accuracy import prove_accuracy
from proofs.transcripts.long import prove_long

BRIEF_SECONDS, LONG_SECONDS = 180.0, 3600.0
KILL_AT = (2, 5, 9)  # pieces of a dozen


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    """The short form leaves out what a long file costs: time, memory, and pieces done again after kills."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        await prove_accuracy(report, folder, short=short)
        if not short:
            await prove_long(report, folder, brief_seconds=BRIEF_SECONDS, long_seconds=LONG_SECONDS, kill_at=KILL_AT)


if __name__ == "__main__":
    sys.exit(prove("Transcripts", proof))
