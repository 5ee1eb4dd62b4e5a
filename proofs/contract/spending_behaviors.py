"""Multi-request promises, by their text: spending limits."""

from typing import Any

from cutroom.platform.ids import new_id
from cutroom.web.spending import HEADER as SPENDING_LIMIT
from proofs.contract.behaviors import expect, promised
from proofs.contract.product_behaviors import DUBS, QUOTE, RESERVE
from proofs.contract.stage import ApiResponse, Stage

LANGUAGES = {"languages": ["pt", "de"]}
BUNDLE = {"dubs": [LANGUAGES]}
MALFORMED = ("-1", "+1", "1.2345", "NaN", "inf", "1e3", "1,5", "", "9" * 10, "9" * 300, "1, 1")


async def _limited(stage: Stage, operation: str, body: Any, limit: float | str, **more: Any) -> ApiResponse:  # noqa: ANN401
    return await stage.call(operation, body, headers={SPENDING_LIMIT: str(limit)} | more.pop("headers", {}), **more)


async def _balance(stage: Stage) -> tuple[float, float]:
    found = (await stage.call("GET /library")).document["credits"]
    return found["balance"], found["inEscrow"]


def _expect_over_limit(response: ApiResponse, *, price: float, limit: float) -> None:
    expect(response.status == 409 and response.code == "FAILED_PRECONDITION", response)
    details = {"reason": "over_limit", "price": price, "limit": limit}
    expect(response.document["error"]["details"] == details, response)


@promised("a request above its spending limit is refused with the price, and nothing is charged")
async def _over_limit(stage: Stage) -> None:
    ids = {"videoId": await stage.rows.video()}
    price, before = (await stage.call(QUOTE, BUNDLE, ids=ids)).document["total"], await _balance(stage)
    limit = round(price - 0.001, 3)
    for operation, body in ((DUBS, LANGUAGES), (RESERVE, BUNDLE)):
        _expect_over_limit(await _limited(stage, operation, body, limit, ids=ids), price=price, limit=limit)
    expect(await _balance(stage) == before, before)
    made = await _limited(stage, DUBS, LANGUAGES, price, ids=ids)
    expect(made.status == 202, made)
    again = await _limited(stage, DUBS, LANGUAGES, 0, ids=ids)
    expect(again.document["jobs"] == made.document["jobs"], again)
    after = await _balance(stage)
    expect(round(after[1] - before[1], 3) == price, after)


@promised("a reservation pays for nothing above a spending limit")
async def _reserved(stage: Stage) -> None:
    ids = {"videoId": await stage.rows.video()}
    reserved = (await stage.call(RESERVE, BUNDLE, ids=ids)).document
    body, limit = {**LANGUAGES, "reservationId": reserved["reservationId"]}, round(reserved["total"] - 0.001, 3)
    _expect_over_limit(await _limited(stage, DUBS, body, limit, ids=ids), price=reserved["total"], limit=limit)
    made = await _limited(stage, DUBS, body, reserved["total"], ids=ids)
    expect(made.status == 202, made)


@promised("a spending limit has at most three decimals and is sent once")
async def _malformed(stage: Stage) -> None:
    before = await _balance(stage)
    for limit in MALFORMED:
        refused = await _limited(stage, DUBS, LANGUAGES, limit)
        expect(refused.code == "INVALID_ARGUMENT", f"{limit}: {refused}")
    expect(await _balance(stage) == before, before)


@promised("another spending limit makes it another idempotent request")
async def _idempotent(stage: Stage) -> None:
    ids, key = {"videoId": await stage.rows.video()}, {"Idempotency-Key": new_id()}
    first, again, other = [await _limited(stage, DUBS, LANGUAGES, limit, headers=key, ids=ids) for limit in (0, 0, 100)]
    expect(first.code == "FAILED_PRECONDITION", first)
    expect(again.headers["Idempotency-Replayed"] == "true" and again.document == first.document, again)
    expect(other.code == "IDEMPOTENCY_REPLAY", other)
