"""Multi-request promises, by their text: credits, jobs and products."""

from typing import Any

from cutroom.platform.ids import new_id
from proofs.contract.behaviors import expect, promised
from proofs.contract.samples import BUNDLE
from proofs.contract.stage import Stage

DUBS, CAPTIONS, SHORTS = (f"POST /videos/{{videoId}}/{name}" for name in ("dubs", "captions", "shorts"))
QUOTE, RESERVE = (f"POST /videos/{{videoId}}/{name}" for name in ("quote", "reservations"))
THUMBNAILS, PACKAGING = (f"POST /videos/{{videoId}}/{name}" for name in ("thumbnails", "packaging"))


async def balance(stage: Stage, caller: str = "owner") -> float:
    response = await stage.call(QUOTE, {}, caller=caller)
    balance: float = response.document["balance"]
    return balance


async def _new_video(stage: Stage) -> dict[str, str]:
    return {"videoId": await stage.rows.video()}


@promised("a quote debits nothing and equals the reservation")
async def _quote(stage: Stage) -> None:
    before = await balance(stage)
    quoted = (await stage.call(QUOTE, BUNDLE)).document
    expect(await balance(stage) == before, "the quote was debited")
    reserved = (await stage.call(RESERVE, BUNDLE)).document
    expect(reserved["total"] == quoted["total"], f"{quoted['total']} and {reserved['total']}")
    expect(round(before - await balance(stage), 3) == quoted["total"], "the reservation debited another amount")
    expect(sum(line["credits"] for line in quoted["breakdown"]) - quoted["total"] < 0.001, quoted)
    keys = [[line["actionKey"] for line in lines] for lines in (quoted["breakdown"], reserved["lineItems"])]
    expect(keys[0] == keys[1], keys)


@promised("thumbnails are priced only if enabled, per language")
async def _thumbnail_lines(stage: Stage) -> None:
    codes = ["pt", "de"]
    options: dict[str, Any] = {"enabled": True, "translateLanguageCodes": codes, "autoDetectContentMoments": True}
    lines = (await stage.call(QUOTE, {"zeroPromptThumbnail": options})).document["breakdown"]
    keys = [line["actionKey"] for line in lines]
    expect(
        sorted(keys) == sorted(["zero-prompt-thumbnail", *["thumbnail-translate"] * 2, "content-moment-detect"]), keys
    )
    off = (await stage.call(QUOTE, {"zeroPromptThumbnail": {**options, "enabled": False}})).document
    expect(off["total"] == 0 and off["breakdown"] == [], off)


@promised("caller hints do not change prices, and add-ons do")
async def _hints(stage: Stage) -> None:
    async def total(**shorts: Any) -> float:  # noqa: ANN401 (fields)
        price: float = (await stage.call(QUOTE, {"shorts": shorts})).document["total"]
        return price

    expect(await total(kind="promo", includeSoundtrack=True) > await total(kind="promo"), "a soundtrack is free")
    expect(await total(kind="clips", includeGeneratedThumbnail=True) > await total(kind="clips"), "thumbnails are free")
    expect(await total(kind="clips", numClips=9) == await total(kind="clips", numClips=4), "more than four are billed")
    expect(await total(kind="promo", numClips=9) == await total(kind="promo"), "a promo is billed more than once")


@promised("a reservation pays for dubs by language")
async def _reserved_dub(stage: Stage) -> None:
    ids = await _new_video(stage)
    reserved = (await stage.call(RESERVE, {"dubs": [{"languages": ["pt", "de"]}]}, ids=ids)).document
    lines = {line["targetLanguageCode"]: line["lineItemId"] for line in reserved["lineItems"]}
    before = await balance(stage)
    body = {
        "languages": ["pt", "de"],
        "reservationId": reserved["reservationId"],
        "reservationLineItemIdByLanguage": lines,
    }
    made = await stage.call(DUBS, body, ids=ids)
    expect(made.status == 202 and made.document["balance"] == before == await balance(stage), made)


@promised("repeated dubs, captions and packaging return the same job without another charge")
async def _same_job(stage: Stage) -> None:
    ids = await _new_video(stage)
    packaging = {"automationOptions": {"generateTitle": {"enabled": True, "titleType": "funny"}}}
    for operation, body in ((DUBS, {"languages": ["pt"]}), (CAPTIONS, {"languages": ["pt"]})):
        first = (await stage.call(operation, body, ids=ids)).document["jobs"]
        before = await balance(stage)
        again = (await stage.call(operation, body, ids=ids)).document["jobs"]
        expect([job["id"] for job in first] == [job["id"] for job in again], again)
        expect(await balance(stage) == before, f"{operation} was charged twice")
    first = (await stage.call(PACKAGING, packaging, ids=ids)).document
    again = (await stage.call(PACKAGING, packaging, ids=ids)).document
    expect(first["registered"] and first["alreadyPending"] == [], first)
    expect(again == {"registered": False, "alreadyPending": ["generateTitle"], "jobs": []}, again)


@promised("a failed dub is retried under its id")
async def _retry(stage: Stage) -> None:
    ids = stage.states["a failed dub"]
    made = (await stage.call(DUBS, {"languages": ["fr"]}, ids=ids)).document["jobs"][0]
    expect(made["id"] == f"dub_{ids['videoId']}_fr_plus" and made["status"] == "queued", made)
    read = (await stage.call("GET /jobs/{jobId}", ids={"jobId": made["id"]})).document
    expect(read["status"] == "queued" and "error" not in read, read)


@promised("a canceled job is refunded once, and a retry charges it again")
async def _canceled_job(stage: Stage) -> None:
    async def balance() -> float:
        balance: float = (await stage.call("GET /library")).document["credits"]["balance"]
        return balance

    before, ids = await balance(), await _new_video(stage)
    made = (await stage.call(DUBS, {"languages": ["pt", "de"]}, ids=ids)).document["jobs"]
    charged, job = await balance(), {"jobId": made[0]["id"]}
    for _ in range(2):
        canceled = (await stage.call("POST /jobs/{jobId}/cancel", ids=job)).document
        expect((canceled["status"], canceled["error"]["code"]) == ("failed", "CANCELLED"), canceled)
    other = (await stage.call("GET /jobs/{jobId}", ids={"jobId": made[1]["id"]})).document
    expect(other["status"] == "queued", other)
    price = (before - charged) / 2
    expect(round(await balance() - charged - price, 3) == 0, "it was not refunded once")
    retried = await stage.call("POST /jobs/{jobId}/retry", ids=job)
    expect((retried.status, retried.document["status"]) == (202, "queued"), retried)
    expect(round(await balance() - charged, 3) == 0, "it was not charged again")


@promised("a canceled shorts request returns FAILED_PRECONDITION with its reason")
async def _canceled_shorts(stage: Stage) -> None:
    made = (await stage.call(SHORTS, {"kind": "promo"})).document
    await stage.call("POST /jobs/{jobId}/cancel", ids={"jobId": made["jobId"]})
    read = await stage.call("GET /shorts/{shortsRequestId}", ids={"shortsRequestId": made["shortsRequestId"]})
    expect((read.status, read.code) == (422, "FAILED_PRECONDITION"), read)
    details = read.document["error"]["details"]
    expect(details["reason"] == "cancelled" and details["request"]["status"] == "failed", details)


@promised("shorts, thumbnails and downloads get a new id for each request")
async def _new_ids(stage: Stage) -> None:
    for operation, body, name, prefix in (
        (SHORTS, {"kind": "promo"}, "shortsRequestId", "shorts"),
        (THUMBNAILS, {"prompt": "A lens"}, "thumbnailRequestId", "thumbnail"),
        ("POST /videos/{videoId}/downloads", {"artifact": "source"}, "downloadRequestId", "download"),
    ):
        made = [(await stage.call(operation, body)).document for _ in range(2)]
        expect(made[0][name] != made[1][name], made)
        expect(made[0]["jobId"] == f"{prefix}_{made[0][name]}", made)


@promised("language tags are case-insensitive and returned in canonical case")
async def _canonical(stage: Stage) -> None:
    ids = await _new_video(stage)
    jobs = (await stage.call(CAPTIONS, {"languages": ["PT-br"]}, ids=ids)).document["jobs"]
    expect([job["id"] for job in jobs] == [f"captions_{ids['videoId']}_pt-BR"], jobs)
    expect(jobs[0]["language"] == "pt-BR" and jobs[0]["type"] == "captions", jobs)


@promised("a video's jobs are listed newest first, including captions, and can be read by id")
async def _jobs(stage: Stage) -> None:
    ids = stage.states["captions"]
    before = (await stage.call("GET /videos/{videoId}/jobs", ids=ids)).document["jobs"]
    expect(any(job["id"].startswith("captions_") for job in before), before)
    made = (await stage.call(SHORTS, {"kind": "promo"}, ids=ids)).document["jobId"]
    listed = (await stage.call("GET /videos/{videoId}/jobs", ids=ids)).document["jobs"]
    expect([job["id"] for job in listed] == [made, *(job["id"] for job in before)], listed)
    for job in listed:
        expect((await stage.call("GET /jobs/{jobId}", ids={"jobId": job["id"]})).document == job, job)


@promised("requests that depend on a failed job are rejected with its id")
async def _failed_before(stage: Stage) -> None:
    ids = stage.states["failed"]
    for operation, body in (
        (DUBS, {"languages": ["pt"]}),
        (SHORTS, {"kind": "promo"}),
        (CAPTIONS, {"languages": ["pt"]}),
    ):
        response = await stage.call(operation, body, ids=ids)
        expect(response.code == "FAILED_PRECONDITION", response)
        expect(response.document["error"]["details"]["jobId"].endswith(ids["videoId"]), response)


@promised("requests made before the transcript is ready wait for it")
async def _waits(stage: Stage) -> None:
    ids = stage.states["waiting"]
    made = await stage.call(DUBS, {"languages": ["pt"]}, ids=ids)
    expect(made.status == 202 and made.document["jobs"][0]["status"] == "queued", made)
    shorts = (await stage.call(SHORTS, {"kind": "promo"}, ids=ids)).document
    read = await stage.call("GET /shorts/{shortsRequestId}", ids={"shortsRequestId": shorts["shortsRequestId"]})
    expect(read.document["status"] == "pending", read)


@promised("clipSelectionPrompt is trimmed, and blank means none")
async def _selection_prompt(stage: Stage) -> None:
    for prompt, kept in (("  the storm ", "the storm"), ("   ", None)):
        made = (await stage.call(SHORTS, {"clipSelectionPrompt": prompt})).document
        plan = await stage.accounts.connection.fetchval("SELECT plan FROM jobs WHERE id = $1", made["jobId"])
        expect(plan.get("clipSelectionPrompt") == kept and plan["kind"] == "shorts", plan)


@promised("fields of another kind are ignored")
async def _other_kind(stage: Stage) -> None:
    made = (await stage.call(SHORTS, {"kind": "promo", "numClips": 7, "minDuration": 20})).document
    plan = await stage.accounts.connection.fetchval("SELECT plan FROM jobs WHERE id = $1", made["jobId"])
    expect("numClips" not in plan and "minDuration" not in plan, plan)


@promised("unknown fields are refused where credits are spent, naming the closest known field")
async def _unknown_fields(stage: Stage) -> None:
    typo = {"mode": "zero_prompt", "pipelinMode": "thumbnail-precision"}
    refused = await stage.call(THUMBNAILS, typo)
    field = {"path": "pipelinMode", "message": "Unknown field. Did you mean `pipelineMode`?"}
    expect(refused.status == 400 and refused.document["error"]["details"]["fields"] == [field], refused)
    ids = await _new_video(stage)
    for operation in (QUOTE, RESERVE):
        refused = await stage.call(operation, {"transcriptOnly": True, "unknown": 1}, ids=ids)
        expect(refused.status == 400 and refused.fields == ["unknown"], refused)
    recipe = {"source": {"type": "upload"}, "products": {"packaging": {"thumbnail": typo}}}
    refused = await stage.call("POST /videos", recipe)
    expect(refused.status == 400 and refused.fields == ["products.packaging.thumbnail.pipelinMode"], refused)
    made = await stage.call("POST /folders", {"name": new_id(), "unknown": 1})
    expect(made.status == 201, made)


@promised("a failed shorts request returns the job's error and the request")
async def _failed_shorts(stage: Stage) -> None:
    ids = stage.states["failed shorts"]
    response = await stage.call("GET /shorts/{shortsRequestId}", ids=ids)
    error = response.document["error"]
    expect((response.status, error["code"], error["message"]) == (422, "INTERNAL", "Processing failed."), response)
    request = error["details"]["request"]
    expect((request["status"], request["shortsRequestId"]) == ("failed", ids["shortsRequestId"]), request)


@promised("detection flags create one packaging job")
async def _detects(stage: Stage) -> None:
    ids = await _new_video(stage)
    responses = [await stage.call(THUMBNAILS, {"autoDetectCharacters": True}, ids=ids) for _ in range(2)]
    for response, registered in zip(responses, (True, False), strict=True):
        expected = {
            "jobId": f"packaging_{ids['videoId']}_zeroPromptThumbnail",
            "status": "queued",
            "registered": registered,
        }
        expect((response.status, response.document) == (202, expected), response)


@promised("an automation with overwriteMode never is recorded and skipped")
async def _never_overwrite(stage: Stage) -> None:
    ids = await _new_video(stage)
    title = {"enabled": True, "titleType": "funny", "overwriteMode": "never"}
    made = await stage.call(PACKAGING, {"automationOptions": {"generateTitle": title}}, ids=ids)
    state = (await stage.call("GET /videos/{videoId}/packaging", ids=ids)).document
    expect(made.status == 202 and state["automations"][0]["overwriteMode"] == "never", f"{made}, then {state}")


@promised("hosting is activated once")
async def _hosting(stage: Stage) -> None:
    operation, ids = "POST /videos/{videoId}/professional-hosting", await _new_video(stage)
    before = (await stage.call("GET /videos/{videoId}/professional-hosting", ids=ids)).document
    expect((before["status"], before["canActivate"], "reason" in before) == ("inactive", True, False), before)
    first, again = [await stage.call(operation, ids=ids) for _ in range(2)]
    expect((first.status, first.document["status"]) == (202, "queued"), first)
    expect((again.status, again.document) == (200, first.document), again)
