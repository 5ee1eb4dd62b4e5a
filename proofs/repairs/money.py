"""Money: reservations are consumed once, quotes agree with creation, prices stay, and usage billing has one meaning."""

import asyncio
import random
import secrets
import subprocess
import tomllib
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from cutroom.credits import ledger
from cutroom.credits.pricing import BUNDLED_PRICES
from cutroom.entrypoints.api import BUNDLE_CHECKS
from cutroom.platform.clock import system_clock
from cutroom.products.shorts.captions.watermark import TEXT
from cutroom.products.shorts.rules import OUTPUT_SIZES, AspectRatio
from cutroom.web.runtime import open_runtime
from dev.environment import PROJECT
from dev.scratch import environment_of
from dev.server import Server
from proofs.repairs.quoted_library import QuotedLibrary
from proofs.repairs.stage import RepairsStage, Rows
from proofs.stage.transcript_stage import upload_file, wait_for_transcript
from tests.support.ocr import read_text

BODIES = {True: 100, False: 2_500}  # by whether the form is short
POLL_SECONDS = 0.3
WAIT_SECONDS = 300
EXAMPLE = PROJECT / "examples" / "launch.mp4"  # of 32 seconds, for which draft captions cost 0.15 credits
# In milli-credits: draft captions, what the reservations take, what is left, and the limit of usage billing.
CAPTIONS, RESERVED, LEFT, LIMIT = 150, 8_450 + 150, 100, 50
REFUSALS = {(400, "INVALID_ARGUMENT"), (409, "FAILED_PRECONDITION")}


async def check(stage: RepairsStage, rows: Rows) -> None:
    person = await stage.running.accounts.person()
    headers = (await stage.running.accounts.key(person)).headers
    now = system_clock()
    await ledger.grant(stage.connection, person.library_id, millicredits=RESERVED + LEFT, reference="proof", now=now)
    async with httpx.AsyncClient(base_url=stage.running.api.url, headers=headers, timeout=60) as client:
        video_id = await upload_file(client, EXAMPLE)
        await wait_for_transcript(stage.running, client, video_id, seconds=WAIT_SECONDS)
        caller = Caller(client, person.library_id, video_id)
        languages = await caller.languages()
        await _check_refusals(rows, caller)
        drafts = await caller.draft_languages()
        await _check_reservation(stage, rows, caller, language=drafts[0])
        await _check_prices(stage, rows, caller, language=drafts[1])
        await _check_usage(stage, rows, caller, language=drafts[2])
    await _check_quotes(stage, rows, languages)


@dataclass(frozen=True)
class Caller:
    """A caller with a library of its own, and a ready video in it."""

    client: httpx.AsyncClient
    library_id: str
    video_id: str

    async def request(self, path: str, **body: Any) -> httpx.Response:  # noqa: ANN401 (JSON)
        return await self.client.post(f"/v1/videos/{self.video_id}/{path}", json=body)

    async def post(self, path: str, **body: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
        document: dict[str, Any] = (await self.request(path, **body)).raise_for_status().json()
        return document

    async def languages(self) -> list[str]:
        """What a refusal lists as available for captions."""
        refused = await self.request("captions", languages=["tlh"])
        found: list[str] = refused.json()["error"]["details"]["available"]
        return found

    async def draft_languages(self) -> list[str]:
        """Languages in which captions of an English video are drafts, and so have the same price."""
        pairs = (await self.client.get("/v1/capabilities")).raise_for_status().json()["pairs"]
        return [pair["target"] for pair in pairs if pair["source"] == "en" and pair["quality"] == "draft"]

    async def finish(self, job_id: str) -> dict[str, Any]:
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                job: dict[str, Any] = (await self.client.get(f"/v1/jobs/{job_id}")).raise_for_status().json()
                if job["status"] in {"ready", "failed"}:
                    return job
                await asyncio.sleep(POLL_SECONDS)


# 1 and 2: reservations and watermarks.


async def _check_reservation(stage: RepairsStage, rows: Rows, caller: Caller, *, language: str) -> None:
    shorts = {"kind": "shorts", "numClips": 1, "minDuration": 15, "includeWatermark": True}
    reserved = await caller.post(
        "reservations",
        captionLanguageCodes=[language],
        transcriptOnly=True,
        shorts=shorts,
        zeroPromptThumbnail={"enabled": True, "translateLanguageCodes": [language]},
    )
    reservation = {"reservationId": reserved["reservationId"]}
    captions = await caller.post("captions", languages=[language], **reservation)
    made = await caller.post("shorts", **shorts, maxDuration=16, **reservation)
    options = {"enabled": True, "autoTranslateThumbnail": True, "thumbnailTranslationLanguageCodes": [language]}
    packaged = await caller.post("packaging", zeroPromptThumbnail=options, **reservation)
    again = await caller.request("shorts", **shorts, **reservation)
    ids = [captions["jobs"][0]["id"], made["jobId"], packaged["jobs"][0]["id"], f"transcript_{caller.video_id}"]
    jobs = [await caller.finish(job_id) for job_id in ids]
    for job in jobs:
        if job["status"] == "failed":
            rows.report.note(f"{job['id']}: {job['error']}")
    receipts = [job["result"]["receipt"] for job in jobs]
    paid = Counter(line["lineItemId"] for receipt in receipts for line in receipt["lines"])
    captured = sum(round(receipt["captured"] * 1000) for receipt in receipts)
    rows.check(
        1,
        "captions, transcript, shorts and a packaged thumbnail with its translation consume each reserved line once",
        expected=f"{len(reserved['lineItems'])} lines, {reserved['total']:g} credits",
        measured=f"{len(paid)} lines, {captured / 1000:g} credits",
        holds=paid == Counter(line["lineItemId"] for line in reserved["lineItems"])
        and captured == round(reserved["total"] * 1000),
    )
    rows.check(
        1,
        "a spent reservation pays for nothing more",
        expected="409 CONFLICT",
        measured=f"{again.status_code} {again.json()['error']['code']}",
        holds=again.status_code == 409,
    )
    await _check_watermark(stage, rows, caller, made=made, reserved=reserved)


async def _check_watermark(
    stage: RepairsStage, rows: Rows, caller: Caller, *, made: dict[str, Any], reserved: dict[str, Any]
) -> None:
    [line] = [line for line in reserved["lineItems"] if line["actionKey"] == "shorts-clip"]
    full = await caller.post("quote", shorts={"kind": "shorts"})
    rows.check(
        2,
        "a watermarked short costs the same in reservation and creation, and less than one without",
        expected=f"{line['credits']:g} < {full['total']:g}",
        measured=f"{made['creditsSpent']:g}",
        holds=made["creditsSpent"] == line["credits"] < full["total"],
    )
    request = (await caller.client.get(f"/v1/shorts/{made['shortsRequestId']}")).json()
    video = stage.folder / "watermarked.mp4"
    async with httpx.AsyncClient() as storage:
        video.write_bytes((await storage.get(request["outputs"][0]["videoUrl"])).raise_for_status().content)
    read = await asyncio.to_thread(_read_frame, video)
    rows.check(
        2,
        "the watermark can be read in a frame of the short",
        expected=TEXT,
        measured=TEXT if TEXT.replace(" ", "") in read.replace(" ", "") else read,
        holds=TEXT.replace(" ", "") in read.replace(" ", ""),
    )


def _read_frame(video: Path) -> str:
    command = ["ffmpeg", "-v", "error", "-ss", "5", "-i", str(video), "-frames:v", "1", "-pix_fmt", "rgb24"]
    frame = subprocess.run([*command, "-f", "rawvideo", "-"], check=True, capture_output=True).stdout
    width, height = OUTPUT_SIZES[AspectRatio.PORTRAIT]
    return read_text(np.frombuffer(frame, np.uint8).reshape(height, width, 3))


# 3: quotes and creation.


async def _check_quotes(stage: RepairsStage, rows: Rows, languages: list[str]) -> None:
    settings = stage.running.settings
    seed = secrets.randbits(32)
    async with open_runtime(settings) as runtime:
        library = await QuotedLibrary.open(stage, replace(runtime, bundle_checks=BUNDLE_CHECKS))
        found = await library.compare(BODIES[stage.short], languages, rng=random.Random(seed))
    for each in found[:10]:
        rows.report.note(f"disagreement (seed {seed}): {each}")
    comparison = library.comparison
    rows.check(
        3,
        f"random bodies of which {comparison.accepted} can be created: quote and creation disagree",
        expected=f"0 of >= {BODIES[stage.short]}",
        measured=f"{len(found)} of {comparison.compared}",
        holds=not found and comparison.compared >= BODIES[stage.short],
    )
    rows.report.figures(quote_disagreements=len(found), quote_bodies=comparison.compared)


async def _check_refusals(rows: Rows, caller: Caller) -> None:
    """What cannot be made is refused by quote, reservation and creation alike, over HTTP."""
    cases: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
        "a promo": ("shorts", {"kind": "promo"}, {"shorts": {"kind": "promo"}}),
        "clips": ("shorts", {"kind": "clips"}, {"shorts": {"kind": "clips"}}),
        "captions without a route": ("captions", {"languages": ["tlh"]}, {"captionLanguageCodes": ["tlh"]}),
        "a dub without a route": ("dubs", {"languages": ["tlh"]}, {"dubs": [{"languages": ["tlh"]}]}),
    }
    found = {}
    for name, (product, body, bundle) in cases.items():
        requests = {product: body, "quote": bundle, "reservations": bundle}
        responses = [await caller.request(path, **sent) for path, sent in requests.items()]
        errors = [response.json().get("error", {}) for response in responses]
        found[name] = {
            (response.status_code, error.get("code")) for response, error in zip(responses, errors, strict=True)
        }
    rows.check(
        3,
        "a promo or clips of 32 s, and languages without a route, get one answer from quote, reservation and creation",
        expected="400 or 409 each",
        measured=", ".join(f"{name} {'/'.join(str(status) for status, _ in found[name])}" for name in found),
        holds=all(len(answers) == 1 and answers <= REFUSALS for answers in found.values()),
    )


# 5: price lists and usage billing.


async def _check_prices(stage: RepairsStage, rows: Rows, caller: Caller, *, language: str) -> None:
    """Reserve with one price list, and create with another one that is twice as expensive."""
    bundle = {"captionLanguageCodes": [language]}
    old = await caller.post("quote", **bundle)
    reserved = await caller.post("reservations", **bundle)
    settings = stage.running.settings.model_copy(
        update={"prices_file": _doubled_prices(stage.folder), "metrics_port": 0, "worker_metrics_port": None}
    )
    server = Server(environment_of(settings))
    server.start()
    try:
        async with httpx.AsyncClient(base_url=server.url, headers=caller.client.headers, timeout=60) as client:
            repriced = replace(caller, client=client)
            new = await repriced.post("quote", **bundle)
            created = await repriced.post("captions", languages=[language], reservationId=reserved["reservationId"])
    finally:
        server.stop()
    receipt = (await caller.finish(created["jobs"][0]["id"]))["result"]["receipt"]
    rows.check(
        5,
        f"a price reserved before it rose to {new['total']:g} credits is kept",
        expected=f"{old['total']:g} credits, {old['pricingVersion']}",
        measured=f"{receipt['captured']:g} credits, {receipt['lines'][0]['pricingVersion']}",
        holds=receipt["captured"] == reserved["total"] == old["total"] == new["total"] / 2
        and receipt["lines"][0]["pricingVersion"] == old["pricingVersion"] != new["pricingVersion"],
    )


def _doubled_prices(folder: Path) -> Path:
    tables = tomllib.loads(BUNDLED_PRICES.read_text())
    lines = [f'version = "{tables.pop("version")}"']
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{entry} = {2 * price}" for entry, price in table.items())]
    path = folder / "prices.toml"
    path.write_text("\n".join(lines))
    return path


async def _check_usage(stage: RepairsStage, rows: Rows, caller: Caller, *, language: str) -> None:
    """Captions cost more than is left. One milli-credit decides whether usage billing covers the rest."""
    found = {}
    for limit in (LIMIT - 1, LIMIT):
        await ledger.set_overdraft(stage.connection, caller.library_id, millicredits=limit)
        quoted = await caller.post("quote", captionLanguageCodes=[language])
        found[limit] = (quoted, await caller.request("captions", languages=[language]))
    quoted, created = found[LIMIT - 1]
    error = created.json()["error"]
    rows.check(
        5,
        "beyond the limit of usage billing, quote and creation state the same shortfall",
        expected="429, 0.001 credits in both",
        measured=f"{created.status_code}, {quoted['shortfall']:g} and {error['details'].get('shortfall')}",
        holds=created.status_code == 429
        and not quoted["sufficient"]
        and not quoted["usageBillingActive"]
        and quoted["shortfall"] == error["details"]["shortfall"] == 0.001,
    )
    quoted, created = found[LIMIT]
    receipt: dict[str, Any] = {}
    with suppress(KeyError):
        receipt = (await caller.finish(created.json()["jobs"][0]["id"]))["result"]["receipt"]
    balance = await ledger.wallet_balance(stage.connection, caller.library_id)
    rows.check(
        5,
        "up to the limit, quote, receipt and balance agree, and the balance is below zero",
        expected=f"{CAPTIONS / 1000:g} quoted and captured, {-LIMIT / 1000:g} left",
        measured=f"{quoted['total']:g} quoted, {receipt.get('captured')} captured, {balance / 1000:g} left",
        holds=quoted["usageBillingActive"]
        and quoted["sufficient"]
        and quoted["shortfall"] == 0
        and receipt.get("quoted") == receipt.get("captured") == quoted["total"] == CAPTIONS / 1000
        and balance == -LIMIT,
    )
