"""Quote and reservation routes: prices, bodies and access."""

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
from tests.credits.api_calls import code, lines_of, quote, reserve
from tests.credits.conftest import AddVideo, LedgerAccounts, LibraryLedger

EVERYTHING: dict[str, Any] = {
    "dubs": [{"product": "premium", "languages": ["pt-br"]}, {"languages": ["ES"]}],
    "captionLanguageCodes": ["fr"],
    "transcriptOnly": True,
    "shorts": {"kind": "promo", "includeSoundtrack": True},
    "zeroPromptThumbnail": {
        "enabled": True,
        "referenceProducts": ["style", "brand", "design"],
        "translateLanguageCodes": ["de", "ja"],
        "autoDetectContentMoments": True,
    },
}
# For ninety seconds: action, product, language, credits.
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


async def test_quote_lists_lines_without_charging(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(100_000)
    quoted = await quote(api, await add_video(90.0), **EVERYTHING)
    breakdown = quoted.pop("breakdown")
    assert quoted == {
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
        "quality": "publishable",
        "description": "Dub (premium), pt-BR",
    }
    assert set(breakdown[3]) == {"actionKey", "product", "credits", "description"}  # no language, not even null
    assert await library_ledger.accounts() == LedgerAccounts(wallet=100_000, escrow=0, revenue=0, granted=-100_000)


async def test_reservation_holds_whole_bundle(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(100_000)
    video_id = await add_video(90.0)
    reservation = await reserve(api, video_id, **EVERYTHING)
    assert set(reservation) == {"reservationId", "total", "durationSeconds", "lineItems"}
    assert (reservation["total"], reservation["durationSeconds"]) == (TOTAL, 90.0)
    assert lines_of(reservation["lineItems"]) == LINES
    named = {"lineItemId", "actionKey", "product", "targetLanguageCode", "credits", "quality"}
    assert set(reservation["lineItems"][0]) == named
    assert set(reservation["lineItems"][3]) == {"lineItemId", "actionKey", "product", "credits"}
    assert len({each["lineItemId"] for each in reservation["lineItems"]}) == len(LINES)
    assert await library_ledger.accounts() == LedgerAccounts(wallet=63_500, escrow=36_500, revenue=0, granted=-100_000)
    rows = await library_ledger.owner.fetch(
        "SELECT * FROM escrow_lines WHERE library_id = $1 AND reservation_id = $2",
        library_ledger.library_id,
        reservation["reservationId"],
    )
    assert {row["id"] for row in rows} == {each["lineItemId"] for each in reservation["lineItems"]}
    for row in rows:
        assert (row["video_id"], row["state"], row["holder"]) == (video_id, "open", None)
        assert row["pricing_version"] == load_prices().version


async def test_reservation_starts_expiry_workflow(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(100_000)
    reservation = await reserve(api, await add_video(90.0), transcriptOnly=True)
    row = await library_ledger.owner.fetchrow(
        "SELECT expires_at, created_at FROM escrow_lines WHERE reservation_id = $1", reservation["reservationId"]
    )
    started = await library_ledger.owner.fetchrow(
        "SELECT * FROM outbox WHERE library_id = $1", library_ledger.library_id
    )
    assert row is not None
    assert started is not None
    assert row["expires_at"] - row["created_at"] == timedelta(hours=24)
    assert (started["workflow"], started["queue"], started["is_job"]) == ("expire-reservation", "control", False)
    assert started["workflow_id"] == f"reservation_{reservation['reservationId']}"
    assert started["argument"] == {
        "library_id": library_ledger.library_id,
        "reservation_id": reservation["reservationId"],
        "expires_at": row["expires_at"].isoformat(),
    }


async def test_quote_balance_excludes_escrow(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(10_000)
    video_id = await add_video(60.0)
    await reserve(api, video_id, shorts={"kind": "promo"})
    quoted = await quote(api, video_id, transcriptOnly=True)
    assert (quoted["balance"], quoted["shortfall"], quoted["sufficient"]) == (0.0, 0.5, False)


# Balances.


async def test_insufficient_wallet_is_quoted_and_not_reservable(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(1_999)
    video_id = await add_video(60.0)
    bundle = {"dubs": [{"languages": ["de"]}]}
    quoted = await quote(api, video_id, **bundle)
    assert (quoted["balance"], quoted["shortfall"], quoted["sufficient"]) == (1.999, 0.001, False)
    response = await api.post(f"/videos/{video_id}/reservations", json=bundle)
    assert response.status_code == 429
    assert response.json() == {
        "error": {
            "code": "INSUFFICIENT_CREDITS",
            "message": "Not enough credits.",
            "details": {"required": 2.0, "available": 1.999, "shortfall": 0.001},
        }
    }
    assert "retry-after" not in response.headers
    assert await library_ledger.accounts() == LedgerAccounts(wallet=1_999, escrow=0, revenue=0, granted=-1_999)
    outbox = "SELECT count(*) FROM outbox WHERE library_id = $1"
    assert await library_ledger.owner.fetchval(outbox, library_ledger.library_id) == 0
    await library_ledger.grant(1)
    assert (await quote(api, video_id, **bundle))["sufficient"]
    await reserve(api, video_id, **bundle)
    assert (await library_ledger.accounts()).wallet == 0


async def test_usage_billing_has_no_shortfall_up_to_limit(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(1_000)
    await library_ledger.set_overdraft(3_000)
    video_id = await add_video(60.0)
    bundle = {"dubs": [{"languages": ["de"]}]}
    quoted = await quote(api, video_id, **bundle)
    assert quoted["usageBillingActive"] is True
    assert (quoted["balance"], quoted["shortfall"], quoted["sufficient"]) == (1.0, 0.0, True)
    for _ in range(2):
        await reserve(api, video_id, **bundle)
    quoted = await quote(api, video_id, **bundle)
    assert quoted["usageBillingActive"] is False  # the limit is reached
    assert (quoted["balance"], quoted["shortfall"], quoted["sufficient"]) == (-3.0, 2.0, False)
    response = await api.post(f"/videos/{video_id}/reservations", json=bundle)
    assert code(response) == (429, "INSUFFICIENT_CREDITS")
    assert response.json()["error"]["details"] == {"required": 2.0, "available": 0.0, "shortfall": 2.0}


async def test_frozen_library_can_quote_but_not_reserve(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(100_000)
    await library_ledger.freeze()
    video_id = await add_video(60.0)
    quoted = await quote(api, video_id, transcriptOnly=True)
    assert (quoted["total"], quoted["shortfall"], quoted["sufficient"]) == (0.5, 0.0, False)
    response = await api.post(f"/videos/{video_id}/reservations", json={"transcriptOnly": True})
    assert code(response) == (409, "FAILED_PRECONDITION")
    assert (await quote(api, video_id))["sufficient"]  # free bundles are always affordable


async def test_reservation_is_idempotent(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(100_000)
    path, headers = f"/videos/{await add_video(60.0)}/reservations", {"Idempotency-Key": "once"}
    requests = (api.post(path, json={"transcriptOnly": True}, headers=headers) for _ in range(5))
    duplicates = await asyncio.gather(*requests)
    again = await api.post(path, json={"transcriptOnly": True}, headers=headers)
    assert {(each.status_code, each.content) for each in [*duplicates, again]} == {(201, again.content)}
    assert again.headers["idempotency-replayed"] == "true"
    assert await library_ledger.accounts() == LedgerAccounts(wallet=99_500, escrow=500, revenue=0, granted=-100_000)
    assert (await api.post(path, json={"transcriptOnly": True})).status_code == 201  # not idempotent without a key
    assert (await library_ledger.accounts()).escrow == 1_000


async def test_insufficient_credits_response_is_replayed(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    path, headers = f"/videos/{await add_video(60.0)}/reservations", {"Idempotency-Key": "once"}
    first = await api.post(path, json={"transcriptOnly": True}, headers=headers)
    await library_ledger.grant(100_000)
    again = await api.post(path, json={"transcriptOnly": True}, headers=headers)
    assert code(first) == (429, "INSUFFICIENT_CREDITS")
    assert (again.status_code, again.content) == (429, first.content)
    assert (await library_ledger.accounts()).escrow == 0


# Access.


async def test_quote_needs_read_and_reservation_needs_write_scope(
    anonymous: httpx.AsyncClient, accounts: Accounts, person: Person, library_ledger: LibraryLedger, add_video: AddVideo
) -> None:
    await library_ledger.grant(100_000)
    video_id = await add_video(60.0)
    responses = {}
    for scope in (Scope.VIDEOS_READ, Scope.VIDEOS_WRITE, Scope.JOBS_READ):
        headers = (await accounts.key(person, scopes=[scope])).headers
        responses[scope] = [
            (await anonymous.post(f"/videos/{video_id}/{path}", json={"transcriptOnly": True}, headers=headers))
            for path in ("quote", "reservations")
        ]
    assert [response.status_code for response in responses[Scope.VIDEOS_READ]] == [200, 403]
    assert [response.status_code for response in responses[Scope.VIDEOS_WRITE]] == [403, 201]
    assert [response.status_code for response in responses[Scope.JOBS_READ]] == [403, 403]
    refused = responses[Scope.VIDEOS_READ][1].json()["error"]
    assert (refused["code"], refused["details"]) == ("INSUFFICIENT_SCOPE", {"required": ["videos:write"]})
    assert code(await anonymous.post(f"/videos/{video_id}/quote", json={})) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    ("role", "error"), [(Role.VIEWER, (403, "ROLE_CANNOT_PRODUCE")), (Role.EDITOR, None), (Role.ADMIN, None)]
)
async def test_viewer_can_quote_but_not_reserve(
    anonymous: httpx.AsyncClient,
    runtime: Runtime,
    accounts: Accounts,
    person: Person,
    add_video: AddVideo,
    role: Role,
    error: tuple[int, str] | None,
) -> None:
    workspace_id, guest = await accounts.workspace(person), await accounts.person()
    await accounts.member(workspace_id, guest, role=role)
    team = LibraryLedger(runtime, accounts.connection, workspace_id)
    await team.grant(100_000)
    video_id = await add_video(60.0, workspace_id)
    anonymous.headers.update((await accounts.key(guest, library_id=workspace_id)).headers)
    assert (await quote(anonymous, video_id, transcriptOnly=True))["balance"] == 100.0
    response = await anonymous.post(f"/videos/{video_id}/reservations", json={"transcriptOnly": True})
    assert (code(response) if error else response.status_code) == (error or 201)
    assert (await team.accounts()).escrow == (0 if error else 500)


async def test_video_of_other_library_is_not_found(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, accounts: Accounts, person: Person, add_video: AddVideo
) -> None:
    await library_ledger.grant(100_000)
    theirs = await add_video(60.0, (await accounts.person()).library_id)
    team = await add_video(60.0, await accounts.workspace(person))
    for video_id in (theirs, team, new_id(), "none", "x" * 500):
        for path in ("quote", "reservations"):
            for bundle in ({}, {"transcriptOnly": True}, {"transcriptOnly": True, "durationSeconds": 60}):
                assert code(await api.post(f"/videos/{video_id}/{path}", json=bundle)) == (404, "NOT_FOUND")
    assert (await library_ledger.accounts()).escrow == 0


async def test_reservation_uses_api_clock(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo, clock: MovableClock
) -> None:
    await library_ledger.grant(100_000)
    clock.shift = timedelta(days=3)
    reservation = await reserve(api, await add_video(60.0), transcriptOnly=True)
    expires_at = await library_ledger.owner.fetchval(
        "SELECT expires_at FROM escrow_lines WHERE reservation_id = $1", reservation["reservationId"]
    )
    assert abs(expires_at - clock() - timedelta(days=1)) < timedelta(minutes=1)
