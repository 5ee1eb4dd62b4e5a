"""Failing translation engines: empty or short output costs nothing, and changed numbers are flagged by line."""

import json
import random
import re
from collections import Counter
from collections.abc import Sequence

from proofs.captions.numbers import find_missing
from proofs.captions.stage import CaptionsClient
from proofs.stage.report import Report
from tests.support.servers import chat_server
from tests.support.servers.chat_server import KEY, MODEL, ChatServer, Items

TOO_SHORT, OTHER_NUMBERS = "output that is too short", "other numbers"
FAULTS = {"de": "nothing", "fr": "an empty one", "it": TOO_SHORT}  # by target language
DAMAGED = ("es", "de")  # the product knows number words in the first only
REQUESTS = 200  # more than any job sends
DAMAGED_EVERY = 3  # one line in three
UNSUPPORTED = "ja"
_changed: Counter[str] = Counter()  # lines that the fake model has changed


def chat_environment(server: ChatServer) -> dict[str, str]:
    """Settings of a worker that also uses the fake chat model."""
    pairs = ",".join(f"en-{language}" for language in {*FAULTS, *DAMAGED})
    return {
        "CUTROOM_TRANSLATORS": "firefox,apertium,chat",
        "CUTROOM_CHAT_URL": server.url,
        "CUTROOM_CHAT_KEY": KEY,
        "CUTROOM_CHAT_MODEL": MODEL,
        "CUTROOM_CHAT_PAIRS": pairs,
    }


def set_fault(server: ChatServer, fault: str | None) -> None:
    """Set the fake model's fault for all further requests; None for correct output."""
    chat_server.FAULTY_TRANSLATIONS = {
        **chat_server.FAULTY_TRANSLATIONS,
        TOO_SHORT: _too_short,
        OTHER_NUMBERS: _other_numbers,
    }
    server.script.clear()
    server.script.extend([fault] * REQUESTS if fault else [])


async def prove_unsupported_language(report: Report, api: CaptionsClient, video_id: str) -> None:
    """An unsupported language is rejected by the request and charges nothing."""
    before = (await api.quote(video_id, ["pt"]))["balance"]
    response = await api.request(video_id, ["pt", UNSUPPORTED])
    error = response.json().get("error", {})
    available = error.get("details", {}).get("available", [])
    after = (await api.quote(video_id, ["pt"]))["balance"]
    report.claim(
        f"captions in {UNSUPPORTED}, which no engine supports",
        expected="400 with the available languages, nothing charged",
        measured=f"{response.status_code} {error.get('code')}, {', '.join(available)}; {before} -> {after} credits",
        holds=response.status_code == 400
        and {"pt", "ca"} <= set(available)
        and UNSUPPORTED not in available
        and before == after,
    )


async def prove_engine_failures(report: Report, api: CaptionsClient, server: ChatServer, video_id: str) -> None:
    for language, fault in FAULTS.items():
        set_fault(server, fault)
        quoted = await api.quote(video_id, [language])
        (job,) = await api.make_captions(video_id, [language])
        after = (await api.quote(video_id, [language]))["balance"]
        receipt = await api.receipt(job["id"])
        wallet = f"wallet {quoted['balance']} -> {after}"
        returned = receipt["captured"] == 0 and receipt["returned"] == receipt["held"] == quoted["total"] > 0
        report.claim(
            f"an engine that returns {fault}",
            expected="failed, all credits refunded",
            measured=f"{job['status']}, {receipt['returned']} of {receipt['held']} refunded, {wallet}",
            holds=job["status"] == "failed" and "error" in job and returned and after == quoted["balance"],
        )
        missing = (await api.client.get(f"/v1/videos/{video_id}/subtitles/{language}")).status_code
        report.claim(f"subtitles in {language} afterwards", expected="404", measured=missing, holds=missing == 404)
    await _claim_second_try(report, api, server, video_id)


async def _claim_second_try(report: Report, api: CaptionsClient, server: ChatServer, video_id: str) -> None:
    language = next(iter(FAULTS))
    set_fault(server, None)
    quoted = await api.quote(video_id, [language])
    (job,) = await api.make_captions(video_id, [language])
    receipt = await api.receipt(f"{job['id']}.2")
    report.claim(
        "the same request again with a working engine",
        expected=f"ready, {quoted['total']} captured",
        measured=f"{job['status']}, {receipt['captured']} captured",
        holds=job["status"] == "ready" and receipt["captured"] == quoted["total"],
    )


async def prove_wrong_numbers(
    report: Report, api: CaptionsClient, server: ChatServer, video_id: str, sources: Sequence[str]
) -> int:
    """Every line in which the model changed a number is repaired or flagged; returns how many are neither."""
    missed = 0
    for language in DAMAGED:
        set_fault(server, OTHER_NUMBERS)
        before = _changed["lines"]
        (job,) = await api.make_captions(video_id, [language])
        translated = await api.captions(video_id, language)
        damaged = {each.line for each in find_missing(sources, [row["text"] for row in translated])}
        flagged = {each["line"] for each in job["result"]["flagged"]}
        unflagged, changed = damaged - flagged, _changed["lines"] - before
        for line in sorted(unflagged):
            report.note(f"not flagged in {language}: {sources[line]} -> {translated[line]['text']}")
        report.claim(
            f"unflagged lines of {len(sources)} in {language} with numbers changed by a model",
            expected="0",
            measured=f"{len(unflagged)}; {changed} lines changed, {len(damaged)} left, {len(flagged)} flagged",
            holds=not unflagged and changed >= len(sources) // (DAMAGED_EVERY + 1),
        )
        missed += len(unflagged)
    return missed


def _too_short(items: Items) -> str:
    return json.dumps({"translations": [{**item, "text": "A"} for item in items]})


def _other_numbers(items: Items) -> str:
    """Drop a number or change one digit in every third line."""
    rng = random.Random(len(items) + len(items[0]["text"]))
    changed = [
        {**item, "text": _damaged(item["text"], rng)} if item["id"] % DAMAGED_EVERY == 0 else item for item in items
    ]
    _changed["lines"] += sum(new["text"] != item["text"] for new, item in zip(changed, items, strict=True))
    return json.dumps({"translations": changed})


def _damaged(text: str, rng: random.Random) -> str:
    numbers = list(re.finditer(r"\d+", text))
    if not numbers:
        return text
    match = rng.choice(numbers)
    last = str((int(match[0][-1]) + rng.randint(1, 9)) % 10)
    other = rng.choice(["", match[0][:-1] + last])
    return text[: match.start()] + other + text[match.end() :]
