"""Promises that take more than one request to show, by their sentence: credits, jobs, products."""

from typing import Any

from proofs.contract.behaviour import expect, promised
from proofs.contract.samples import BUNDLE
from proofs.contract.stage import Stage

DUBS, CAPTIONS, SHORTS = (f"POST /videos/{{videoId}}/{name}" for name in ("dubs", "captions", "shorts"))
QUOTE, RESERVE = (f"POST /videos/{{videoId}}/{name}" for name in ("quote", "reservations"))
THUMBNAILS, PACKAGING = (f"POST /videos/{{videoId}}/{name}" for name in ("thumbnails", "packaging"))


async def balance(stage: Stage, caller: str = "owner") -> float:
    answer = await stage.ask(QUOTE, {}, caller=caller)
    balance: float = answer.document["balance"]
    return balance


async def _fresh(stage: Stage) -> dict[str, str]:
    return {"videoId": await stage.rows.video()}


@promised("a quote debits nothing and is exactly what a reservation then takes")
async def _quote(stage: Stage) -> None:
    before = await balance(stage)
    quoted = (await stage.ask(QUOTE, BUNDLE)).document
    expect(await balance(stage) == before, "the quote was debited")
    reserved = (await stage.ask(RESERVE, BUNDLE)).document
    expect(reserved["total"] == quoted["total"], f"{quoted['total']} and {reserved['total']}")
    expect(round(before - await balance(stage), 3) == quoted["total"], "the reservation took something else")
    expect(sum(line["credits"] for line in quoted["breakdown"]) - quoted["total"] < 0.001, quoted)
    keys = [[line["actionKey"] for line in lines] for lines in (quoted["breakdown"], reserved["lineItems"])]
    expect(keys[0] == keys[1], keys)


@promised("only an enabled thumbnail, and each language of it, is priced")
async def _thumbnail_lines(stage: Stage) -> None:
    wanted: dict[str, Any] = {"enabled": True, "translateLanguageCodes": ["pt", "de"], "autoDetectContentMoments": True}
    lines = (await stage.ask(QUOTE, {"zeroPromptThumbnail": wanted})).document["breakdown"]
    keys = [line["actionKey"] for line in lines]
    expect(
        sorted(keys) == sorted(["zero-prompt-thumbnail", *["thumbnail-translate"] * 2, "content-moment-detect"]), keys
    )
    off = (await stage.ask(QUOTE, {"zeroPromptThumbnail": {**wanted, "enabled": False}})).document
    expect(off["total"] == 0 and off["breakdown"] == [], off)


@promised("a hint of the caller's changes no price, and what is added does")
async def _hints(stage: Stage) -> None:
    async def total(**shorts: Any) -> float:  # noqa: ANN401 (fields)
        answer: float = (await stage.ask(QUOTE, {"shorts": shorts})).document["total"]
        return answer

    expect(await total(kind="promo", includeSoundtrack=True) > await total(kind="promo"), "a soundtrack is free")
    expect(await total(kind="clips", includeGeneratedThumbnail=True) > await total(kind="clips"), "thumbnails are free")
    expect(await total(kind="clips", numClips=9) == await total(kind="clips", numClips=4), "more than four are billed")
    expect(await total(kind="promo", numClips=9) == await total(kind="promo"), "a promo is more than one")


@promised("a reservation pays for the dubs that name it, by language")
async def _reserved_dub(stage: Stage) -> None:
    ids = await _fresh(stage)
    reserved = (await stage.ask(RESERVE, {"dubs": [{"languages": ["pt", "de"]}]}, ids=ids)).document
    lines = {line["targetLanguageCode"]: line["lineItemId"] for line in reserved["lineItems"]}
    before = await balance(stage)
    body = {
        "languages": ["pt", "de"],
        "reservationId": reserved["reservationId"],
        "reservationLineItemIdByLanguage": lines,
    }
    made = await stage.ask(DUBS, body, ids=ids)
    expect(made.status == 202 and made.document["balance"] == before == await balance(stage), made)


@promised("the same dub, captions or packaging again is the same job, and costs nothing more")
async def _converge(stage: Stage) -> None:
    ids = await _fresh(stage)
    packaging = {"automationOptions": {"generateTitle": {"enabled": True, "titleType": "funny"}}}
    for operation, body in ((DUBS, {"languages": ["pt"]}), (CAPTIONS, {"languages": ["pt"]})):
        first = (await stage.ask(operation, body, ids=ids)).document["jobs"]
        before = await balance(stage)
        again = (await stage.ask(operation, body, ids=ids)).document["jobs"]
        expect([job["id"] for job in first] == [job["id"] for job in again], again)
        expect(await balance(stage) == before, f"{operation} was charged twice")
    first = (await stage.ask(PACKAGING, packaging, ids=ids)).document
    again = (await stage.ask(PACKAGING, packaging, ids=ids)).document
    expect(first["registered"] and first["alreadyPending"] == [], first)
    expect(again == {"registered": False, "alreadyPending": ["generateTitle"], "jobs": []}, again)


@promised("a dub that failed is run again under its id")
async def _again(stage: Stage) -> None:
    ids = stage.states["a failed dub"]
    made = (await stage.ask(DUBS, {"languages": ["fr"]}, ids=ids)).document["jobs"][0]
    expect(made["id"] == f"dub_{ids['videoId']}_fr_plus" and made["status"] == "queued", made)
    read = (await stage.ask("GET /jobs/{jobId}", ids={"jobId": made["id"]})).document
    expect(read["status"] == "queued" and "error" not in read, read)


@promised("shorts, thumbnails and downloads get a new id each time")
async def _new_ids(stage: Stage) -> None:
    for operation, body, name, prefix in (
        (SHORTS, {"kind": "promo"}, "shortsRequestId", "shorts"),
        (THUMBNAILS, {"prompt": "A lens"}, "thumbnailRequestId", "thumbnail"),
        ("POST /videos/{videoId}/downloads", {"artifact": "source"}, "downloadRequestId", "download"),
    ):
        made = [(await stage.ask(operation, body)).document for _ in range(2)]
        expect(made[0][name] != made[1][name], made)
        expect(made[0]["jobId"] == f"{prefix}_{made[0][name]}", made)


@promised("languages are compared without regard to case and told in canonical case")
async def _canonical(stage: Stage) -> None:
    ids = await _fresh(stage)
    jobs = (await stage.ask(CAPTIONS, {"languages": ["PT-br"]}, ids=ids)).document["jobs"]
    expect([job["id"] for job in jobs] == [f"captions_{ids['videoId']}_pt-BR"], jobs)
    expect(jobs[0]["language"] == "pt-BR" and jobs[0]["type"] == "captions", jobs)


@promised("a video's jobs are listed newest first, captions among them, and can each be read by id")
async def _jobs(stage: Stage) -> None:
    ids = stage.states["captions"]
    before = (await stage.ask("GET /videos/{videoId}/jobs", ids=ids)).document["jobs"]
    expect(any(job["id"].startswith("captions_") for job in before), before)
    made = (await stage.ask(SHORTS, {"kind": "promo"}, ids=ids)).document["jobId"]
    listed = (await stage.ask("GET /videos/{videoId}/jobs", ids=ids)).document["jobs"]
    expect([job["id"] for job in listed] == [made, *(job["id"] for job in before)], listed)
    for job in listed:
        expect((await stage.ask("GET /jobs/{jobId}", ids={"jobId": job["id"]})).document == job, job)


@promised("what needs a step that failed is refused, and names that job")
async def _failed_before(stage: Stage) -> None:
    ids = stage.states["failed"]
    for operation, body in (
        (DUBS, {"languages": ["pt"]}),
        (SHORTS, {"kind": "promo"}),
        (CAPTIONS, {"languages": ["pt"]}),
    ):
        answer = await stage.ask(operation, body, ids=ids)
        expect(answer.code == "FAILED_PRECONDITION", answer)
        expect(answer.document["error"]["details"]["jobId"].endswith(ids["videoId"]), answer)


@promised("what is asked for before the transcript is there waits for it")
async def _waits(stage: Stage) -> None:
    ids = stage.states["waiting"]
    made = await stage.ask(DUBS, {"languages": ["pt"]}, ids=ids)
    expect(made.status == 202 and made.document["jobs"][0]["status"] == "queued", made)
    shorts = (await stage.ask(SHORTS, {"kind": "promo"}, ids=ids)).document
    read = await stage.ask("GET /shorts/{shortsRequestId}", ids={"shortsRequestId": shorts["shortsRequestId"]})
    expect(read.document["status"] == "pending", read)


@promised("a wish is trimmed, and an empty one is none")
async def _wish(stage: Stage) -> None:
    for wish, kept in (("  the storm ", "the storm"), ("   ", None)):
        made = (await stage.ask(SHORTS, {"clipSelectionPrompt": wish})).document
        plan = await stage.accounts.connection.fetchval("SELECT plan FROM jobs WHERE id = $1", made["jobId"])
        expect(plan.get("clipSelectionPrompt") == kept and plan["kind"] == "shorts", plan)


@promised("fields of one kind are not forwarded to another")
async def _kinds(stage: Stage) -> None:
    made = (await stage.ask(SHORTS, {"kind": "promo", "numClips": 7, "minDuration": 20})).document
    plan = await stage.accounts.connection.fetchval("SELECT plan FROM jobs WHERE id = $1", made["jobId"])
    expect("numClips" not in plan and "minDuration" not in plan, plan)


@promised("a failed request carries the job's error and the request as it stands")
async def _failed_shorts(stage: Stage) -> None:
    ids = stage.states["failed shorts"]
    answer = await stage.ask("GET /shorts/{shortsRequestId}", ids=ids)
    error = answer.document["error"]
    expect((answer.status, error["code"], error["message"]) == (422, "INTERNAL", "It came to nothing."), answer)
    request = error["details"]["request"]
    expect((request["status"], request["shortsRequestId"]) == ("failed", ids["shortsRequestId"]), request)


@promised("flags that detect something are answered with a packaging job, once")
async def _detects(stage: Stage) -> None:
    ids = await _fresh(stage)
    answers = [await stage.ask(THUMBNAILS, {"autoDetectCharacters": True}, ids=ids) for _ in range(2)]
    for answer, registered in zip(answers, (True, False), strict=True):
        wanted = {
            "jobId": f"packaging_{ids['videoId']}_zeroPromptThumbnail",
            "status": "queued",
            "registered": registered,
        }
        expect((answer.status, answer.document) == (202, wanted), answer)


@promised("an automation that may never overwrite is recorded and skipped")
async def _never(stage: Stage) -> None:
    ids = await _fresh(stage)
    title = {"enabled": True, "titleType": "funny", "overwriteMode": "never"}
    made = await stage.ask(PACKAGING, {"automationOptions": {"generateTitle": title}}, ids=ids)
    state = (await stage.ask("GET /videos/{videoId}/packaging", ids=ids)).document
    expect(made.status == 202 and state["automations"][0]["overwriteMode"] == "never", f"{made}, then {state}")


@promised("hosting that was activated is not activated again")
async def _hosting(stage: Stage) -> None:
    operation, ids = "POST /videos/{videoId}/professional-hosting", await _fresh(stage)
    before = (await stage.ask("GET /videos/{videoId}/professional-hosting", ids=ids)).document
    expect((before["status"], before["canActivate"], "reason" in before) == ("inactive", True, False), before)
    first, again = [await stage.ask(operation, ids=ids) for _ in range(2)]
    expect((first.status, first.document["status"]) == (202, "queued"), first)
    expect((again.status, again.document) == (200, first.document), again)
