"""Multi-request promises, by their text: translations of draft quality."""

from typing import Any

from proofs.contract.behaviors import expect, promised
from proofs.contract.product_behaviors import CAPTIONS, DUBS, QUOTE, RESERVE
from proofs.contract.stage import DRAFT_LANGUAGE, Stage

REFUSING = "a caller that refuses drafts"
DRAFT_CAPTIONS = {"languages": [DRAFT_LANGUAGE]}
DRAFT_BUNDLE: dict[str, Any] = {
    "captionLanguageCodes": [DRAFT_LANGUAGE, "pt"],
    "dubs": [{"languages": [DRAFT_LANGUAGE, "pt"]}],
}
ACCEPTED = {"acceptDraft": True}


@promised("a draft is labeled on quotes and reservations and costs less")
async def _labels(stage: Stage) -> None:
    for operation, lines in ((QUOTE, "breakdown"), (RESERVE, "lineItems")):
        found = (await stage.call(operation, DRAFT_BUNDLE)).document[lines]
        prices = {(line["actionKey"], line["quality"]): line["credits"] for line in found}
        expect(set(prices) == {(each, q) for each in ("dub", "captions") for q in ("draft", "publishable")}, found)
        for action in ("dub", "captions"):
            expect(prices[action, "draft"] < prices[action, "publishable"], prices)


@promised("the listed class of a pair is that of its quote")
async def _capabilities(stage: Stage) -> None:
    pairs = (await stage.call("GET /capabilities")).document["pairs"]
    listed = {pair["target"]: pair["quality"] for pair in pairs if pair["source"] == "en"}
    quoted = (await stage.call(QUOTE, {"captionLanguageCodes": sorted(listed)})).document["breakdown"]
    expect({line["targetLanguageCode"]: line["quality"] for line in quoted} == listed, quoted)


@promised("a draft is charged at the price that was quoted")
async def _charge(stage: Stage) -> None:
    ids = {"videoId": await stage.rows.video()}
    quoted = (await stage.call(QUOTE, {"captionLanguageCodes": [DRAFT_LANGUAGE]}, ids=ids)).document
    created = await stage.call(CAPTIONS, DRAFT_CAPTIONS, ids=ids)
    expect(created.status == 202, created)
    after = (await stage.call(QUOTE, {}, ids=ids)).document
    expect(round(quoted["balance"] - after["balance"], 3) == quoted["total"], (quoted, after))


@promised("a library that refuses drafts makes none without acceptDraft")
async def _refusal(stage: Stage) -> None:
    bodies = ((CAPTIONS, DRAFT_CAPTIONS), (DUBS, DRAFT_CAPTIONS), (QUOTE, DRAFT_BUNDLE), (RESERVE, DRAFT_BUNDLE))
    before = (await stage.call(QUOTE, {}, caller=REFUSING)).document["balance"]
    for operation, body in bodies:
        refused = await stage.call(operation, body, caller=REFUSING)
        expect((refused.status, refused.document["error"]["code"]) == (409, "FAILED_PRECONDITION"), refused)
        details = refused.document["error"]["details"]
        expect(details == {"reason": "draft_quality", "languages": [DRAFT_LANGUAGE]}, details)
    expect((await stage.call(QUOTE, {}, caller=REFUSING)).document["balance"] == before, "a refusal was charged")
    for operation, body in bodies:
        accepted = await stage.call(operation, {**body, **ACCEPTED}, caller=REFUSING)
        expect(accepted.status < 300, accepted)


@promised("a library that refuses drafts makes other translations")
async def _others(stage: Stage) -> None:
    expect((await stage.call("GET /capabilities", caller=REFUSING)).document["refusesDrafts"] is True, "not listed")
    expect((await stage.call("GET /capabilities")).document["refusesDrafts"] is False, "listed for another library")
    made = await stage.call(CAPTIONS, {"languages": ["pt"]}, caller=REFUSING)
    expect(made.status == 202, made)


@promised("acceptDraft does not change the job of a language")
async def _same_job(stage: Stage) -> None:
    ids = {"videoId": await stage.rows.video()}
    first = (await stage.call(CAPTIONS, {"languages": ["pt"]}, ids=ids)).document["jobs"]
    again = (await stage.call(CAPTIONS, {"languages": ["pt"], **ACCEPTED}, ids=ids)).document["jobs"]
    expect([job["id"] for job in first] == [job["id"] for job in again], (first, again))


@promised("a region is offered only where a route writes it")
async def _regions(stage: Stage) -> None:
    for language, status in (("pt-BR", 200), ("fr-FR", 200), ("pt-PT", 400), ("fr-CA", 400)):
        response = await stage.call(QUOTE, {"captionLanguageCodes": [language]})
        expect(response.status == status, f"{language}: {response}")
