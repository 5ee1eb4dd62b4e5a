"""Request handling: idempotency under concurrency and crashes, rate limits without Redis, and error responses."""

import sys

from dev.scratch import Accounts, scratch
from proofs.envelope.crashes import prove_crashes
from proofs.envelope.duplicates import prove_duplicates
from proofs.envelope.malformed import prove_malformed
from proofs.envelope.property import prove_property
from proofs.envelope.redis import prove_redis_outage
from proofs.stage.report import Report, prove
from proofs.stage.requirements import Needs


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    settings = await scratch("proof_envelope")
    accounts = await Accounts.open(settings)
    try:
        await prove_duplicates(report, accounts, rounds=5 if short else 40)
        await prove_property(report, accounts, steps=300 if short else 2_000)
        await prove_crashes(report, accounts, repeats=2 if short else 20)
        await prove_redis_outage(report, accounts)
        await prove_malformed(report, accounts)
    finally:
        await accounts.close()


if __name__ == "__main__":
    sys.exit(prove("Request envelope", proof, needs=Needs(programs=("redis-server", "redis-cli"))))
