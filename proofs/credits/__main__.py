"""Credits: a consistent ledger under load and crashes, exact prices, and refunds of unused reservations."""

import secrets
import sys

from dev.scratch import environment_of
from dev.server import Server
from proofs.credits.expiry import prove_expiry
from proofs.credits.kills import prove_kills
from proofs.credits.quotes import prove_quotes
from proofs.credits.race import prove_race
from proofs.credits.random_walk import prove_random_walk
from proofs.credits.stage import open_stage
from proofs.stage.report import Report, prove

PROCESSES = 2


async def proof(report: Report, short: bool) -> None:  # noqa: FBT001 (the form of every proof)
    seed = secrets.randbits(32)
    async with open_stage("proof_credits") as stage:
        await prove_random_walk(report, stage, operations=1_000 if short else 10_000, seed=seed)
        await prove_kills(report, stage, kills=10 if short else 100, seed=seed)
        servers = [Server(environment_of(stage.settings)) for _ in range(PROCESSES)]
        try:
            for server in servers:
                server.start()
            await prove_race(report, stage, servers, rounds=1 if short else 5)
            urls = [server.url for server in servers]
            await prove_quotes(report, stage, urls, bundles=100 if short else 1_000, seed=seed)
        finally:
            for server in servers:
                server.stop()
    await prove_expiry(report, with_kill=not short)


if __name__ == "__main__":
    sys.exit(prove("Credits", proof))
