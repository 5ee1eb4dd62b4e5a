"""Two hundred reservations at once of a wallet that can pay for 142, over two API processes."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

import httpx

from dev.server import Server
from proofs.credits.stage import Stage
from proofs.stage.ledger_audit import look
from proofs.stage.report import Report

WALLET = 1_000  # credits
AT_ONCE = 200
LOG_CHARACTERS = 4_000  # of each server's, shown when somebody was told something else
SEVEN_CREDITS = {"zeroPromptThumbnail": {"enabled": True, "characterCount": 2}}
COST = 7
WANTED = WALLET // COST
LEFT = WALLET - WANTED * COST


async def prove_race(report: Report, stage: Stage, servers: list[Server], *, rounds: int) -> None:
    urls = [server.url for server in servers]
    seen = [await _round(stage, urls) for _ in range(rounds)]
    made = [one["reserved"] for one in seen]
    report.claim(
        f"{AT_ONCE} reservations at once of {COST} credits from {WALLET}, {rounds} rounds: how many succeed",
        wanted=str(WANTED),
        measured=f"{min(made)} to {max(made)}",
        holds=set(made) == {WANTED},
    )
    wrong = {what for one in seen for what in one} - {"reserved", "refused"}
    if wrong:
        for server in servers:
            report.note(server.read_log()[-LOG_CHARACTERS:])
    refused = [one["refused"] for one in seen]
    report.claim(
        "... the others are refused for want of credits, with what is missing and without Retry-After",
        wanted=str(AT_ONCE - WANTED),
        measured=f"{min(refused)} to {max(refused)} {sorted(wrong) or ''}",
        holds=set(refused) == {AT_ONCE - WANTED} and not wrong,
    )
    exact = set(made) == {WANTED} and set(refused) == {AT_ONCE - WANTED} and not wrong
    report.figures(exact_142=exact, race_rounds=rounds)


async def _round(stage: Stage, urls: list[str]) -> Counter[str]:
    """What the callers were told; anything but a reservation or the right refusal is named."""
    tenant = await stage.tenant(millicredits=WALLET * 1000)
    video_id = await stage.video(tenant, 60.0)
    limits = httpx.Limits(max_connections=AT_ONCE)
    async with httpx.AsyncClient(headers=tenant.key.headers, timeout=60, limits=limits) as client:
        answers = await asyncio.gather(
            *(
                client.post(f"{urls[number % len(urls)]}/v1/videos/{video_id}/reservations", json=SEVEN_CREDITS)
                for number in range(AT_ONCE)
            )
        )
        quote = await client.post(f"{urls[0]}/v1/videos/{video_id}/quote", json=SEVEN_CREDITS)
    seen = Counter(_verdict(answer) for answer in answers)
    wanted = {"balance": LEFT, "total": COST, "shortfall": COST - LEFT, "sufficient": False}
    if not _has(quote.json(), wanted):
        seen[f"quoted {quote.json()}"] += 1
    books = await look(stage.owner, tenant.library_id)
    if (books.balances["wallet"], books.balances["escrow"]) != (LEFT * 1000, WANTED * COST * 1000) or books.faults:
        seen[f"books {books.balances} {books.faults}"] += 1
    return seen


def _verdict(answer: httpx.Response) -> str:
    body = answer.json()
    if answer.status_code == 201 and body["total"] == COST:
        return "reserved"
    error = body.get("error", {})
    details = {"required": COST, "available": LEFT, "shortfall": COST - LEFT}
    is_right = error.get("code") == "INSUFFICIENT_CREDITS" and error.get("details") == details
    if answer.status_code == 429 and is_right and "Retry-After" not in answer.headers:
        return "refused"
    return f"{answer.status_code} {answer.text}"


def _has(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(found.get(name) == value for name, value in wanted.items())
