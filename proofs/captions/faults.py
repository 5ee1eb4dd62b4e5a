"""Engines that give nothing, too little, or other numbers: the first two cost nothing, the last is told by line."""

import json
import random
import re
from collections.abc import Sequence

from proofs.captions.numbers import unkept
from proofs.captions.stage import Desk
from proofs.stage.report import Report
from tests.support import chat_server
from tests.support.chat_server import KEY, MODEL, ChatServer, Items

TOO_LITTLE, OTHER_NUMBERS = "too little", "other numbers"
FAULTS = {"de": "nothing", "fr": "an empty one", "it": TOO_LITTLE}  # by the language that is asked for
DAMAGED = ("es", "de")  # the product knows the words for numbers of one, and not those of the other
REQUESTS = 200  # more than any job makes
EACH_DAMAGED = 3  # one line of so many
NO_ROUTE = "ja"


def chat_environment(server: ChatServer) -> dict[str, str]:
    """Settings of a worker that also asks the fake model."""
    pairs = ",".join(f"en-{language}" for language in {*FAULTS, *DAMAGED})
    return {
        "CUTROOM_TRANSLATORS": "firefox,apertium,chat",
        "CUTROOM_CHAT_URL": server.url,
        "CUTROOM_CHAT_KEY": KEY,
        "CUTROOM_CHAT_MODEL": MODEL,
        "CUTROOM_CHAT_PAIRS": pairs,
    }


def teach(server: ChatServer, fault: str | None) -> None:
    """What the fake model does from now on: well, or in this way wrong."""
    chat_server.WRONG = {**chat_server.WRONG, TOO_LITTLE: _too_little, OTHER_NUMBERS: _other_numbers}
    server.script.clear()
    server.script.extend([fault] * REQUESTS if fault else [])


async def prove_refused(report: Report, desk: Desk, video_id: str) -> None:
    """A language that nothing leads to is refused at the request, and nothing is taken."""
    before = (await desk.quote(video_id, ["pt"]))["balance"]
    answer = await desk.ask(video_id, ["pt", NO_ROUTE])
    error = answer.json().get("error", {})
    there = error.get("details", {}).get("available", [])
    after = (await desk.quote(video_id, ["pt"]))["balance"]
    report.claim(
        f"captions in {NO_ROUTE}, which nothing leads to",
        wanted="400 with the languages that are there, nothing taken",
        measured=f"{answer.status_code} {error.get('code')}, {', '.join(there)}; {before} -> {after} credits",
        holds=answer.status_code == 400 and {"pt", "ca"} <= set(there) and NO_ROUTE not in there and before == after,
    )


async def prove_faults(report: Report, desk: Desk, server: ChatServer, video_id: str) -> None:
    for language, fault in FAULTS.items():
        teach(server, fault)
        quoted = await desk.quote(video_id, [language])
        (job,) = await desk.make(video_id, [language])
        after = (await desk.quote(video_id, [language]))["balance"]
        paid = await desk.receipt(job["id"])
        wallet = f"wallet {quoted['balance']} -> {after}"
        returned = paid["captured"] == 0 and paid["returned"] == paid["held"] == quoted["total"] > 0
        report.claim(
            f"an engine that answers with {fault}",
            wanted="failed, all credits back",
            measured=f"{job['status']}, {paid['returned']} of {paid['held']} back, {wallet}",
            holds=job["status"] == "failed" and "error" in job and returned and after == quoted["balance"],
        )
        missing = (await desk.client.get(f"/v1/videos/{video_id}/subtitles/{language}")).status_code
        report.claim(f"subtitles in {language} after that", wanted="404", measured=missing, holds=missing == 404)
    await _claim_second_try(report, desk, server, video_id)


async def _claim_second_try(report: Report, desk: Desk, server: ChatServer, video_id: str) -> None:
    language = next(iter(FAULTS))
    teach(server, None)
    quoted = await desk.quote(video_id, [language])
    (job,) = await desk.make(video_id, [language])
    paid = await desk.receipt(f"{job['id']}.2")
    report.claim(
        "the same asked again once the engine answers well",
        wanted=f"ready, {quoted['total']} captured",
        measured=f"{job['status']}, {paid['captured']} captured",
        holds=job["status"] == "ready" and paid["captured"] == quoted["total"],
    )


async def prove_damage(report: Report, desk: Desk, server: ChatServer, video_id: str, sources: Sequence[str]) -> int:
    """A model that writes other numbers is caught in every line; how many it was not."""
    missed = 0
    for language in DAMAGED:
        teach(server, OTHER_NUMBERS)
        (job,) = await desk.make(video_id, [language])
        kept = await desk.captions(video_id, language)
        damaged = {each.line for each in unkept(sources, [row["text"] for row in kept])}
        flagged = {each["line"] for each in job["result"]["flagged"]}
        unflagged = damaged - flagged
        for line in sorted(unflagged):
            report.note(f"not flagged in {language}: {sources[line]} -> {kept[line]['text']}")
        report.claim(
            f"lines of {len(sources)} in {language} in which a model wrote other numbers, not flagged",
            wanted="0",
            measured=f"{len(unflagged)} of {len(damaged)}, {len(flagged - damaged)} flagged beside",
            holds=not unflagged and len(damaged) >= len(sources) // (EACH_DAMAGED + 1),
        )
        missed += len(unflagged)
    return missed


def _too_little(items: Items) -> str:
    return json.dumps({"translations": [{**item, "text": "A"} for item in items]})


def _other_numbers(items: Items) -> str:
    """Every third line with one number dropped, or with one digit changed."""
    chance = random.Random(len(items) + len(items[0]["text"]))
    changed = [
        {**item, "text": _damaged(item["text"], chance)} if item["id"] % EACH_DAMAGED == 0 else item for item in items
    ]
    return json.dumps({"translations": changed})


def _damaged(text: str, chance: random.Random) -> str:
    numbers = list(re.finditer(r"\d+", text))
    if not numbers:
        return text
    match = chance.choice(numbers)
    last = str((int(match[0][-1]) + chance.randint(1, 9)) % 10)
    other = chance.choice(["", match[0][:-1] + last])
    return text[: match.start()] + other + text[match.end() :]
