"""200 concurrent reservations from a wallet that covers 142, over two API processes."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

import httpx

from dev.server import Server
from proofs.credits.stage import Stage
from proofs.stage.ledger_audit import audit_library
from proofs.stage.report import Report

WALLET = 1_000  # credits
CONCURRENCY = 200
LOG_CHARACTERS = 4_000  # of each server's log, shown on unexpected responses
SEVEN_CREDITS = {"zeroPromptThumbnail": {"enabled": True, "characterCount": 2}}
COST = 7
SUCCEEDING = WALLET // COST
REMAINDER = WALLET - SUCCEEDING * COST


async def prove_race(report: Report, stage: Stage, servers: list[Server], *, rounds: int) -> None:
    urls = [server.url for server in servers]
    counts = [await _round(stage, urls) for _ in range(rounds)]
    created = [one["reserved"] for one in counts]
    report.claim(
        f"{CONCURRENCY} concurrent reservations of {COST} credits from {WALLET}, {rounds} rounds: succeeded",
        expected=str(SUCCEEDING),
        measured=f"{min(created)} to {max(created)}",
        holds=set(created) == {SUCCEEDING},
    )
    wrong = {what for one in counts for what in one} - {"reserved", "refused"}
    if wrong:
        for server in servers:
            report.note(server.read_log()[-LOG_CHARACTERS:])
    refused = [one["refused"] for one in counts]
    report.claim(
        "... rejected with INSUFFICIENT_CREDITS, the shortfall, and no Retry-After",
        expected=str(CONCURRENCY - SUCCEEDING),
        measured=f"{min(refused)} to {max(refused)} {sorted(wrong) or ''}",
        holds=set(refused) == {CONCURRENCY - SUCCEEDING} and not wrong,
    )
    exact = set(created) == {SUCCEEDING} and set(refused) == {CONCURRENCY - SUCCEEDING} and not wrong
    report.figures(exact_142=exact, race_rounds=rounds)


async def _round(stage: Stage, urls: list[str]) -> Counter[str]:
    """Counts of outcomes; anything but a reservation or the correct rejection is counted by its text."""
    tenant = await stage.tenant(millicredits=WALLET * 1000)
    video_id = await stage.video(tenant, 60.0)
    limits = httpx.Limits(max_connections=CONCURRENCY)
    async with httpx.AsyncClient(headers=tenant.key.headers, timeout=60, limits=limits) as client:
        responses = await asyncio.gather(
            *(
                client.post(f"{urls[number % len(urls)]}/v1/videos/{video_id}/reservations", json=SEVEN_CREDITS)
                for number in range(CONCURRENCY)
            )
        )
        quote = await client.post(f"{urls[0]}/v1/videos/{video_id}/quote", json=SEVEN_CREDITS)
    counts = Counter(_verdict(response) for response in responses)
    expected = {"balance": REMAINDER, "total": COST, "shortfall": COST - REMAINDER, "sufficient": False}
    if not _has(quote.json(), expected):
        counts[f"quoted {quote.json()}"] += 1
    audit = await audit_library(stage.owner, tenant.library_id)
    if (audit.balances["wallet"], audit.balances["escrow"]) != (
        REMAINDER * 1000,
        SUCCEEDING * COST * 1000,
    ) or audit.faults:
        counts[f"ledger {audit.balances} {audit.faults}"] += 1
    return counts


def _verdict(response: httpx.Response) -> str:
    body = response.json()
    if response.status_code == 201 and body["total"] == COST:
        return "reserved"
    error = body.get("error", {})
    details = {"required": COST, "available": REMAINDER, "shortfall": COST - REMAINDER}
    is_right = error.get("code") == "INSUFFICIENT_CREDITS" and error.get("details") == details
    if response.status_code == 429 and is_right and "Retry-After" not in response.headers:
        return "refused"
    return f"{response.status_code} {response.text}"


def _has(found: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    return all(found.get(name) == value for name, value in expected.items())
