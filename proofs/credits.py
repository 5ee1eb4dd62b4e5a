"""Credits hold: books that always add up, exact prices, and money that comes back, whatever is killed."""

import secrets
import sys

from proofs.credits_stage import open_stage
from proofs.credits_walk import prove_walk
from proofs.report import Report, prove


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    seed = secrets.randbits(32)
    async with open_stage("proof_credits") as stage:
        await prove_walk(report, stage, operations=1_000 if short else 10_000, seed=seed)


if __name__ == "__main__":
    sys.exit(prove("Credits", proof))
