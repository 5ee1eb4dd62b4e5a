"""Fifty twins of one POST, spread over two API processes: one effect, one answer."""

import asyncio

import httpx

from dev.scratch import Accounts, environment_of
from dev.server import Server
from proofs.stage.report import Report

TWINS = 50


async def prove_duplicates(report: Report, accounts: Accounts, *, rounds: int) -> None:
    servers = [Server(environment_of(accounts.settings)) for _ in range(2)]
    try:
        for server in servers:
            server.start()
        effects, answers = await _rounds(accounts, servers, rounds)
    finally:
        for server in servers:
            server.stop()
    most = max(effects)
    report.claim(
        f"{TWINS} concurrent twins over two processes, {rounds} rounds: effects per round",
        wanted="1",
        measured=f"{min(effects)} to {most}",
        holds=set(effects) == {1},
    )
    report.claim("... different answers among the twins", wanted="1", measured=max(answers), holds=set(answers) == {1})
    report.figures(duplicates_effects=most, duplicates_rounds=rounds)


async def _rounds(accounts: Accounts, servers: list[Server], rounds: int) -> tuple[list[int], list[int]]:
    """Effects and distinct answers of each round."""
    person = await accounts.person()
    key = await accounts.key(person)
    effects, answers = [], []
    async with httpx.AsyncClient(headers=key.headers, timeout=30, limits=httpx.Limits(max_connections=TWINS)) as client:
        for number in range(rounds):
            name = f"round {number}"
            headers = {"Idempotency-Key": name}
            twins = await asyncio.gather(
                *(
                    client.post(f"{servers[twin % 2].url}/v1/folders", json={"name": name}, headers=headers)
                    for twin in range(TWINS)
                )
            )
            answers.append(len({(twin.status_code, twin.content) for twin in twins}))
            effects.append(
                await accounts.connection.fetchval(
                    "SELECT count(*) FROM folders WHERE library_id = $1 AND name = $2", person.library_id, name
                )
            )
    return effects, answers
