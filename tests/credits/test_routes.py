"""Quotes and reservations over HTTP: exact prices, exact bodies, and who may."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest

from cutroom.accounts.principals import Role
from cutroom.accounts.scopes import Scope
from cutroom.credits.pricing import load_prices
from cutroom.platform.ids import new_id
from cutroom.web.runtime import Runtime
from dev.scratch import Accounts, Person
from tests.conftest import MovableClock
from tests.credits.calls import code, lines_of, quote, reserve
from tests.credits.conftest import Accountancy, AddVideo, Books

EVERYTHING: dict[str, Any] = {
    "dubs": [{"product": "premium", "languages": ["pt-br"]}, {"languages": ["ES"]}],
    "captionLanguageCodes": ["fr"],
    "transcriptOnly": True,
    "shorts": {"kind": "promo", "includeSoundtrack": True},
    "zeroPromptThumbnail": {
        "enabled": True,
        "referenceProducts": ["mug", "shirt"],
        "characterCount": 1,
        "translateLanguageCodes": ["de", "ja"],
        "autoDetectContentMoments": True,
    },
}
# Of ninety seconds: action, product, language, credits.
LINES = [
    ("dub", "premium", "pt-BR", 6.0),
    ("dub", "plus", "es", 3.0),
    ("captions", "captions", "fr", 0.75),
    ("transcript", "transcript", None, 0.75),
    ("promo", "promo", None, 12.0),
    ("zero-prompt-thumbnail", "thumbnail", None, 8.0),
    ("thumbnail-translate", "thumbnail", "de", 2.0),
    ("thumbnail-translate", "thumbnail", "ja", 2.0),
    ("content-moment-detect", "thumbnail", None, 2.0),
]
TOTAL = 36.5


# Bodies.


async def test_a_quote_tells_every_line_and_takes_nothing(
    api: httpx.AsyncClient, books: Books, add_video: AddVideo
) -> None:
    await books.grant(100_000)
    told = await quote(api, await add_video(90.0), **EVERYTHING)
    breakdown = told.pop("breakdown")
    assert told == {
        "total": TOTAL,
        "durationSeconds": 90.0,
        "pricingVersion": load_prices().version,
        "balance": 100.0,
        "usageBillingActive": False,
        "shortfall": 0.0,
        "sufficient": True,
    }
    assert lines_of(breakdown) == LINES
    assert breakdown[0] == {
        "actionKey": "dub",
        "product": "premium",
        "targetLanguageCode": "pt-BR",
        "credits": 6.0,
        "description": "Dub (premium), pt-BR",
    }
    assert set(breakdown[3]) == {"actionKey", "product", "credits", "description"}  # no language, not even null
    assert await books.accounts() == Accountancy(wallet=100_000, escrow=0, revenue=0, granted=-100_000)


async def test_a_reservation_puts_the_whole_bundle_into_escrow(
    api: httpx.AsyncClient, books: Books, add_video: AddVideo
) -> None:
    await books.grant(100_000)
    video_id = await add_video(90.0)
    made = await reserve(api, video_id, **EVERYTHING)
    assert set(made) == {"reservationId", "total", "durationSeconds", "lineItems"}
    assert (made["total"], made["durationSeconds"]) == (TOTAL, 90.0)
    assert lines_of(made["lineItems"]) == LINES
    assert set(made["lineItems"][0]) == {"lineItemId", "actionKey", "product", "targetLanguageCode", "credits"}
    assert set(made["lineItems"][3]) == {"lineItemId", "actionKey", "product", "credits"}
    assert len({each["lineItemId"] for each in made["lineItems"]}) == len(LINES)
    assert await books.accounts() == Accountancy(wallet=63_500, escrow=36_500, revenue=0, granted=-100_000)
    rows = await books.owner.fetch(
        "SELECT * FROM escrow_lines WHERE library_id = $1 AND reservation_id = $2",
        books.library_id,
        made["reservationId"],
    )
    assert {row["id"] for row in rows} == {each["lineItemId"] for each in made["lineItems"]}
    for row in rows:
        assert (row["video_id"], row["state"], row["holder"]) == (video_id, "open", None)
        assert row["pricing_version"] == load_prices().version


async def test_a_reservation_ends_after_a_day_by_a_timer_of_its_own(
    api: httpx.AsyncClient, books: Books, add_video: AddVideo
) -> None:
    await books.grant(100_000)
    made = await reserve(api, await add_video(90.0), transcriptOnly=True)
    row = await books.owner.fetchrow(
        "SELECT expires_at, created_at FROM escrow_lines WHERE reservation_id = $1", made["reservationId"]
    )
    started = await books.owner.fetchrow("SELECT * FROM outbox WHERE library_id = $1", books.library_id)
    assert row is not None
    assert started is not None
    assert row["expires_at"] - row["created_at"] == timedelta(hours=24)
    assert (started["workflow"], started["queue"], started["is_job"]) == ("expire-reservation", "control", False)
    assert started["workflow_id"] == f"reservation_{made['reservationId']}"
    assert started["argument"] == {
        "library_id": books.library_id,
        "reservation_id": made["reservationId"],
        "expires_at": row["expires_at"].isoformat(),
    }


async def test_the_balance_of_a_quote_does_not_count_escrow(
    api: httpx.AsyncClient, books: Books, add_video: AddVideo
) -> None:
    await books.grant(10_000)
    video_id = await add_video(60.0)
    await reserve(api, video_id, shorts={"kind": "promo"})
    told = await quote(api, video_id, transcriptOnly=True)
    assert (told["balance"], told["shortfall"], told["sufficient"]) == (0.0, 0.5, False)


# What the wallet can pay.


async def test_a_wallet_that_is_too_small_is_told_so_by_quote_and_refused_by_reservation(
    api: httpx.AsyncClient, books: Books, add_video: AddVideo
) -> None:
    await books.grant(1_999)
    video_id = await add_video(60.0)
    bundle = {"dubs": [{"languages": ["de"]}]}
    told = await quote(api, video_id, **bundle)
    assert (told["balance"], told["shortfall"], told["sufficient"]) == (1.999, 0.001, False)
    answer = await api.post(f"/videos/{video_id}/reservations", json=bundle)
    assert answer.status_code == 429
    assert answer.json() == {
        "error": {
            "code": "INSUFFICIENT_CREDITS",
            "message": "Not enough credits.",
            "details": {"required": 2.0, "available": 1.999, "shortfall": 0.001},
        }
    }
    assert "retry-after" not in answer.headers
    assert await books.accounts() == Accountancy(wallet=1_999, escrow=0, revenue=0, granted=-1_999)
    outbox = "SELECT count(*) FROM outbox WHERE library_id = $1"
    assert await books.owner.fetchval(outbox, books.library_id) == 0
    await books.grant(1)
    assert (await quote(api, video_id, **bundle))["sufficient"]
    await reserve(api, video_id, **bundle)
    assert (await books.accounts()).wallet == 0


async def test_usage_billing_has_no_shortfall_and_ends_at_its_limit(
    api: httpx.AsyncClient, books: Books, add_video: AddVideo
) -> None:
    await books.grant(1_000)
    await books.allow_debt(3_000)
    video_id = await add_video(60.0)
    bundle = {"dubs": [{"languages": ["de"]}]}
    told = await quote(api, video_id, **bundle)
    assert told["usageBillingActive"] is True
    assert (told["balance"], told["shortfall"], told["sufficient"]) == (1.0, 0.0, True)
    for _ in range(2):
        await reserve(api, video_id, **bundle)
    told = await quote(api, video_id, **bundle)
    assert (told["balance"], told["shortfall"], told["sufficient"]) == (-3.0, 0.0, False)
    answer = await api.post(f"/videos/{video_id}/reservations", json=bundle)
    assert code(answer) == (429, "INSUFFICIENT_CREDITS")
    assert answer.json()["error"]["details"] == {"required": 2.0, "available": 0.0, "shortfall": 2.0}


async def test_a_frozen_library_is_quoted_and_cannot_reserve(
    api: httpx.AsyncClient, books: Books, add_video: AddVideo
) -> None:
    await books.grant(100_000)
    await books.freeze()
    video_id = await add_video(60.0)
    told = await quote(api, video_id, transcriptOnly=True)
    assert (told["total"], told["shortfall"], told["sufficient"]) == (0.5, 0.0, False)
    answer = await api.post(f"/videos/{video_id}/reservations", json={"transcriptOnly": True})
    assert code(answer) == (409, "FAILED_PRECONDITION")
    assert (await quote(api, video_id))["sufficient"]  # what costs nothing can always be paid


async def test_a_reservation_is_made_once_for_its_key(
    api: httpx.AsyncClient, books: Books, add_video: AddVideo
) -> None:
    await books.grant(100_000)
    path, headers = f"/videos/{await add_video(60.0)}/reservations", {"Idempotency-Key": "once"}
    asked = (api.post(path, json={"transcriptOnly": True}, headers=headers) for _ in range(5))
    twins = await asyncio.gather(*asked)
    again = await api.post(path, json={"transcriptOnly": True}, headers=headers)
    assert {(each.status_code, each.content) for each in [*twins, again]} == {(201, again.content)}
    assert again.headers["idempotency-replayed"] == "true"
    assert await books.accounts() == Accountancy(wallet=99_500, escrow=500, revenue=0, granted=-100_000)
    assert (await api.post(path, json={"transcriptOnly": True})).status_code == 201  # without a key, one more
    assert (await books.accounts()).escrow == 1_000


async def test_a_refusal_for_lack_of_credits_is_replayed_too(
    api: httpx.AsyncClient, books: Books, add_video: AddVideo
) -> None:
    path, headers = f"/videos/{await add_video(60.0)}/reservations", {"Idempotency-Key": "once"}
    first = await api.post(path, json={"transcriptOnly": True}, headers=headers)
    await books.grant(100_000)
    again = await api.post(path, json={"transcriptOnly": True}, headers=headers)
    assert code(first) == (429, "INSUFFICIENT_CREDITS")
    assert (again.status_code, again.content) == (429, first.content)
    assert (await books.accounts()).escrow == 0


# Who may.


async def test_reading_is_enough_to_quote_and_writing_is_needed_to_reserve(
    anonymous: httpx.AsyncClient, accounts: Accounts, person: Person, books: Books, add_video: AddVideo
) -> None:
    await books.grant(100_000)
    video_id = await add_video(60.0)
    answers = {}
    for scope in (Scope.VIDEOS_READ, Scope.VIDEOS_WRITE, Scope.JOBS_READ):
        headers = (await accounts.key(person, scopes=[scope])).headers
        answers[scope] = [
            (await anonymous.post(f"/videos/{video_id}/{path}", json={"transcriptOnly": True}, headers=headers))
            for path in ("quote", "reservations")
        ]
    assert [answer.status_code for answer in answers[Scope.VIDEOS_READ]] == [200, 403]
    assert [answer.status_code for answer in answers[Scope.VIDEOS_WRITE]] == [403, 201]
    assert [answer.status_code for answer in answers[Scope.JOBS_READ]] == [403, 403]
    refused = answers[Scope.VIDEOS_READ][1].json()["error"]
    assert (refused["code"], refused["details"]) == ("INSUFFICIENT_SCOPE", {"required": ["videos:write"]})
    assert code(await anonymous.post(f"/videos/{video_id}/quote", json={})) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    ("role", "refusal"), [(Role.VIEWER, (403, "ROLE_CANNOT_PRODUCE")), (Role.EDITOR, None), (Role.ADMIN, None)]
)
async def test_a_viewer_may_quote_and_not_reserve(
    anonymous: httpx.AsyncClient,
    runtime: Runtime,
    accounts: Accounts,
    person: Person,
    add_video: AddVideo,
    role: Role,
    refusal: tuple[int, str] | None,
) -> None:
    workspace_id, guest = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, guest, role=role)
    team = Books(runtime, accounts.connection, workspace_id)
    await team.grant(100_000)
    video_id = await add_video(60.0, workspace_id)
    anonymous.headers.update((await accounts.key(guest, library_id=workspace_id)).headers)
    assert (await quote(anonymous, video_id, transcriptOnly=True))["balance"] == 100.0
    answer = await anonymous.post(f"/videos/{video_id}/reservations", json={"transcriptOnly": True})
    assert (code(answer) if refusal else answer.status_code) == (refusal or 201)
    assert (await team.accounts()).escrow == (0 if refusal else 500)


async def test_a_video_of_another_library_is_not_found(
    api: httpx.AsyncClient, books: Books, accounts: Accounts, person: Person, add_video: AddVideo
) -> None:
    await books.grant(100_000)
    theirs = await add_video(60.0, (await accounts.person()).library_id)
    team = await add_video(60.0, await accounts.workspace(person))
    for video_id in (theirs, team, new_id(), "none", "x" * 500):
        for path in ("quote", "reservations"):
            for bundle in ({}, {"transcriptOnly": True}, {"transcriptOnly": True, "durationSeconds": 60}):
                assert code(await api.post(f"/videos/{video_id}/{path}", json=bundle)) == (404, "NOT_FOUND")
    assert (await books.accounts()).escrow == 0


async def test_a_reservation_follows_the_clock_of_the_api(
    api: httpx.AsyncClient, books: Books, add_video: AddVideo, clock: MovableClock
) -> None:
    await books.grant(100_000)
    clock.shift = timedelta(days=3)
    made = await reserve(api, await add_video(60.0), transcriptOnly=True)
    expires_at = await books.owner.fetchval(
        "SELECT expires_at FROM escrow_lines WHERE reservation_id = $1", made["reservationId"]
    )
    assert abs(expires_at - clock() - timedelta(days=1)) < timedelta(minutes=1)
