"""A transcript is what was said, when and by whom, whatever its length, and whatever happens to the worker."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from proofs.report import Report, prove
from proofs.transcripts_accuracy import prove_accuracy
from proofs.transcripts_long import prove_long

BRIEF_SECONDS = 180.0


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    with TemporaryDirectory() as name:
        folder = Path(name)
        await prove_accuracy(report, folder, short=short)
        await prove_long(
            report,
            folder,
            brief_seconds=BRIEF_SECONDS,
            long_seconds=365.0 if short else 3600.0,  # the shortest that has two pieces, or a dozen
            kill_at=(2,) if short else (2, 5, 9),
        )


if __name__ == "__main__":
    sys.exit(prove("Transcripts", proof))
