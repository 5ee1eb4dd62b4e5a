"""50 concurrent duplicates of one POST over two API processes: one effect, one response."""

import asyncio

import httpx

from dev.scratch import Accounts, environment_of
from dev.server import Server
from proofs.stage.report import Report

DUPLICATES = 50


async def prove_duplicates(report: Report, accounts: Accounts, *, rounds: int) -> None:
    servers = [Server(environment_of(accounts.settings)) for _ in range(2)]
    try:
        for server in servers:
            server.start()
        effects, responses = await _rounds(accounts, servers, rounds)
    finally:
        for server in servers:
            server.stop()
    most = max(effects)
    report.claim(
        f"{DUPLICATES} concurrent duplicates over two processes, {rounds} rounds: effects per round",
        expected="1",
        measured=f"{min(effects)} to {most}",
        holds=set(effects) == {1},
    )
    report.claim("... distinct responses per round", expected="1", measured=max(responses), holds=set(responses) == {1})
    report.figures(duplicates_effects=most, duplicates_rounds=rounds)


async def _rounds(accounts: Accounts, servers: list[Server], rounds: int) -> tuple[list[int], list[int]]:
    """Effects and distinct responses of each round."""
    person = await accounts.person()
    key = await accounts.key(person)
    effects, responses = [], []
    async with httpx.AsyncClient(
        headers=key.headers, timeout=30, limits=httpx.Limits(max_connections=DUPLICATES)
    ) as client:
        for number in range(rounds):
            name = f"round {number}"
            headers = {"Idempotency-Key": name}
            duplicates = await asyncio.gather(
                *(
                    client.post(f"{servers[duplicate % 2].url}/v1/folders", json={"name": name}, headers=headers)
                    for duplicate in range(DUPLICATES)
                )
            )
            responses.append(len({(duplicate.status_code, duplicate.content) for duplicate in duplicates}))
            effects.append(
                await accounts.connection.fetchval(
                    "SELECT count(*) FROM folders WHERE library_id = $1 AND name = $2", person.library_id, name
                )
            )
    return effects, responses
