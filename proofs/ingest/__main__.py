"""Ingest: standard upload clients, crashes of every process, and memory for long files."""

import sys

from dev.scratch import Accounts, scratch
from proofs.ingest.kills import prove_kills
from proofs.ingest.memory import prove_memory
from proofs.ingest.uploads import prove_uploads
from proofs.stage.report import Report, prove
from proofs.stage.requirements import GB, Needs


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    accounts = await Accounts.open(await scratch("proof_uploads"))
    try:
        await prove_uploads(report, accounts, short=short)
    finally:
        await accounts.close()
    await prove_kills(report, rounds=1 if short else 3, batch=1 if short else 4)
    await prove_memory(report, short_seconds=60 if short else 120, long_seconds=300 if short else 7200)


if __name__ == "__main__":
    sys.exit(
        prove("Ingest", proof, needs=Needs(programs=("ffmpeg", "curl"), disk_bytes=8 * GB, short_disk_bytes=2 * GB))
    )
