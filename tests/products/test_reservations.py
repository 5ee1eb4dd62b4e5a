"""Every priced product consumes the lines that were reserved for it, once, at the reserved price."""

import tomllib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from cutroom.credits import ledger
from cutroom.credits.pricing import BUNDLED_PRICES, load_prices
from cutroom.entrypoints.api import build_app
from cutroom.jobs import lifecycle
from cutroom.jobs.lifecycle import Failure, JobRef
from cutroom.platform.clock import system_clock
from cutroom.platform.settings import Settings
from cutroom.web.runtime import Runtime, open_runtime
from dev.scratch import Accounts, Keyring
from tests.products.conftest import TranscribedVideo
from tests.support.transcribed_videos import advertise_languages, withdraw_languages

FUNDS = 100_000
PRECISION = {"pipelineMode": "thumbnail-precision", "referenceSchemaVersion": 2, "autoDetectContentReferences": True}
TRANSLATED = {"autoTranslateThumbnail": True, "thumbnailTranslationLanguageCodes": ["de", "es"]}
THUMBNAIL_WORK = {"enabled": True, "translateLanguageCodes": ["de", "es"], "autoDetectContentMoments": True}
# Product, creation body, and the bundle that reserves it.
PRODUCTS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "dubs": ("dubs", {"languages": ["de", "es"]}, {"dubs": [{"languages": ["de", "es"]}]}),
    "captions": ("captions", {"languages": ["de"]}, {"captionLanguageCodes": ["de"]}),
    "shorts": (
        "shorts",
        {"numClips": 2, "includeWatermark": True},
        {"shorts": {"kind": "shorts", "numClips": 2, "includeWatermark": True}},
    ),
    "promo": (
        "shorts",
        {"kind": "promo", "includeSoundtrack": True},
        {"shorts": {"kind": "promo", "includeSoundtrack": True}},
    ),
    "clips": (
        "shorts",
        {"kind": "clips", "numClips": 9, "includeGeneratedThumbnail": True},
        {"shorts": {"kind": "clips", "numClips": 9, "includeGeneratedThumbnail": True}},
    ),
    "thumbnail": (
        "thumbnails",
        {
            "mode": "zero_prompt",
            "characters": [{"name": "Ada"}],
            "styleReferenceImageUrl": "https://a.example.com/x.png",
        },
        {"zeroPromptThumbnail": {"enabled": True, "characterCount": 1, "referenceProducts": ["style"]}},
    ),
    "thumbnail with detection": (
        "thumbnails",
        {**PRECISION, **TRANSLATED},
        {"zeroPromptThumbnail": THUMBNAIL_WORK},
    ),
    "packaging": (
        "packaging",
        {"automationOptions": {"zeroPromptThumbnail": {"enabled": True, **PRECISION, **TRANSLATED}}},
        {"zeroPromptThumbnail": THUMBNAIL_WORK},
    ),
}


@pytest.fixture(autouse=True)
async def funded(accounts: Accounts, transcribed: TranscribedVideo) -> AsyncIterator[None]:
    """Credits, languages, and a video that is long enough for clips; the ledger must be consistent after the test."""
    connection, library_id = accounts.connection, transcribed.library_id
    await ledger.grant(connection, library_id, millicredits=FUNDS, reference="tests", now=system_clock())
    await connection.execute("UPDATE videos SET duration_seconds = 300 WHERE id = $1", transcribed.video_id)
    await advertise_languages(connection, ["de", "es"])
    yield
    await withdraw_languages(connection)
    assert await connection.fetch("SELECT * FROM ledger_faults($1)", library_id) == []


async def reserve(api: httpx.AsyncClient, transcribed: TranscribedVideo, **bundle: Any) -> dict[str, Any]:  # noqa: ANN401
    response = await api.post(f"/videos/{transcribed.video_id}/reservations", json=bundle)
    assert response.status_code == 201, response.text
    reservation: dict[str, Any] = response.json()
    return reservation


async def lines(accounts: Accounts, reservation: dict[str, Any]) -> list[tuple[str, str | None, str]]:
    """The action, holder and state of each line."""
    rows = await accounts.connection.fetch(
        "SELECT action, holder, state FROM escrow_lines WHERE reservation_id = $1 ORDER BY action, id",
        reservation["reservationId"],
    )
    return [(row["action"], row["holder"], row["state"]) for row in rows]


async def wallet(accounts: Accounts, transcribed: TranscribedVideo) -> int:
    return await ledger.wallet_balance(accounts.connection, transcribed.library_id)


@pytest.mark.parametrize("name", PRODUCTS)
async def test_product_consumes_its_reserved_lines_once(
    api: httpx.AsyncClient, accounts: Accounts, transcribed: TranscribedVideo, name: str
) -> None:
    product, body, bundle = PRODUCTS[name]
    reservation = await reserve(api, transcribed, **bundle)
    balance = await wallet(accounts, transcribed)
    assert balance == FUNDS - round(reservation["total"] * 1000)
    path, body = f"/videos/{transcribed.video_id}/{product}", {**body, "reservationId": reservation["reservationId"]}
    response = await api.post(path, json=body)
    assert response.status_code < 300, response.text
    assert await wallet(accounts, transcribed) == balance  # not charged again
    found = await lines(accounts, reservation)
    assert all(holder is not None and state == "open" for _, holder, state in found)
    again = await api.post(path, json=body)
    if product == "shorts" or name == "thumbnail":  # a new job each time
        assert (again.status_code, again.json()["error"]["details"]["reason"]) == (409, "the line is spent")
    assert await wallet(accounts, transcribed) == balance
    assert await lines(accounts, reservation) == found


@pytest.mark.parametrize("name", PRODUCTS)
async def test_quote_reservation_and_charge_are_equal(
    api: httpx.AsyncClient, accounts: Accounts, transcribed: TranscribedVideo, name: str
) -> None:
    product, body, bundle = PRODUCTS[name]
    quoted = (await api.post(f"/videos/{transcribed.video_id}/quote", json=bundle)).json()
    assert (await api.post(f"/videos/{transcribed.video_id}/{product}", json=body)).status_code < 300
    assert await wallet(accounts, transcribed) == FUNDS - round(quoted["total"] * 1000)


async def test_thumbnail_from_a_prompt_cannot_be_reserved(
    api: httpx.AsyncClient, accounts: Accounts, transcribed: TranscribedVideo
) -> None:
    reservation = await reserve(api, transcribed, zeroPromptThumbnail={"enabled": True})
    body = {"prompt": "A lens", "reservationId": reservation["reservationId"]}
    refused = await api.post(f"/videos/{transcribed.video_id}/thumbnails", json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "CONFLICT")
    assert await wallet(accounts, transcribed) == FUNDS - 5_000


# The transcript line.


async def test_ready_transcript_consumes_its_line_when_a_reserved_product_needs_it(
    api: httpx.AsyncClient, accounts: Accounts, transcribed: TranscribedVideo
) -> None:
    both = {"transcriptOnly": True, "captionLanguageCodes": ["de"]}
    first, second = await reserve(api, transcribed, **both), await reserve(api, transcribed, **both)
    assert ("transcript", None, "open") in await lines(accounts, first)
    for reservation, language in ((first, "de"), (second, "de")):
        body = {"languages": [language], "reservationId": reservation["reservationId"]}
        assert (await api.post(f"/videos/{transcribed.video_id}/captions", json=body)).status_code == 202
    job_id = f"transcript_{transcribed.video_id}"
    assert await lines(accounts, first) == [
        ("captions", f"captions_{transcribed.video_id}_de", "open"),
        ("transcript", job_id, "captured"),
    ]
    assert [state for _, _, state in await lines(accounts, second)] == ["open", "open"]  # the transcript is paid
    receipt = (await api.get(f"/jobs/{job_id}")).json()["result"]["receipt"]
    assert (receipt["captured"], receipt["lines"][0]["reservationId"]) == (2.5, first["reservationId"])


@pytest.mark.parametrize("ends", ["ready", "failed"])
async def test_unfinished_transcript_consumes_its_line_when_it_ends(
    api: httpx.AsyncClient, accounts: Accounts, transcribed: TranscribedVideo, runtime: Runtime, ends: str
) -> None:
    await transcribed.job(status="processing", finished_at=None)
    reservation = await reserve(api, transcribed, transcriptOnly=True)
    ref = JobRef(transcribed.library_id, f"transcript_{transcribed.video_id}", 1)
    async with runtime.database.transaction(transcribed.library_id) as connection:
        if ends == "ready":
            await lifecycle.complete(connection, ref, result={}, now=system_clock())
        else:
            await lifecycle.fail(connection, ref, failure=Failure("INTERNAL", "It broke."), now=system_clock())
    state = "captured" if ends == "ready" else "released"
    assert await lines(accounts, reservation) == [("transcript", ref.job_id, state)]
    receipt = (await api.get(f"/jobs/{ref.job_id}")).json()["result"]["receipt"]
    assert (receipt["captured"], receipt["returned"]) == ((2.5, 0) if ends == "ready" else (0, 2.5))
    assert await wallet(accounts, transcribed) == FUNDS - (2_500 if ends == "ready" else 0)


@pytest.mark.parametrize("path", ["quote", "reservations"])
async def test_transcript_that_failed_cannot_be_quoted(
    api: httpx.AsyncClient, transcribed: TranscribedVideo, path: str
) -> None:
    await transcribed.job(status="failed", error_code="INTERNAL", error_message="It broke.")
    response = await api.post(f"/videos/{transcribed.video_id}/{path}", json={"transcriptOnly": True})
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (409, "FAILED_PRECONDITION")
    assert error["details"]["jobId"] == f"transcript_{transcribed.video_id}"


# Prices that change.


@pytest.fixture
async def repriced(settings: Settings, key: Keyring, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """The API with twice the prices."""
    tables = tomllib.loads(BUNDLED_PRICES.read_text())
    text = [f'version = "{tables.pop("version")}"']
    for name, table in tables.items():
        text += [f"[{name}]", *(f"{entry} = {2 * price}" for entry, price in table.items())]
    path = tmp_path / "prices.toml"
    path.write_text("\n".join(text))
    app = build_app(lambda: open_runtime(settings.model_copy(update={"prices_file": path})))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url="http://cutroom.test/v1", headers=key.headers
        ) as client,
    ):
        yield client


async def test_reserved_price_is_kept_when_the_price_list_changes(
    api: httpx.AsyncClient,
    repriced: httpx.AsyncClient,
    accounts: Accounts,
    transcribed: TranscribedVideo,
    runtime: Runtime,
) -> None:
    bundle = {"captionLanguageCodes": ["de"]}
    reservation = await reserve(api, transcribed, **bundle)
    quoted = (await repriced.post(f"/videos/{transcribed.video_id}/quote", json=bundle)).json()
    assert (reservation["total"], quoted["total"]) == (2.5, 5.0)
    old, new = load_prices().version, quoted["pricingVersion"]
    assert old != new
    body = {"languages": ["de"], "reservationId": reservation["reservationId"]}
    created = await repriced.post(f"/videos/{transcribed.video_id}/captions", json=body)
    assert created.status_code == 202, created.text
    ref = JobRef(transcribed.library_id, f"captions_{transcribed.video_id}_de", 1)
    prices = replace(load_prices(), version=new)
    async with runtime.database.transaction(transcribed.library_id) as connection:
        assert await lifecycle.start(connection, ref, prices=prices, now=system_clock()) is not None
        await lifecycle.complete(connection, ref, result={}, now=system_clock())
    receipt = (await api.get(f"/jobs/{ref.job_id}")).json()["result"]["receipt"]
    assert (receipt["quoted"], receipt["captured"]) == (2.5, 2.5)
    assert [line["pricingVersion"] for line in receipt["lines"]] == [old]
    assert await wallet(accounts, transcribed) == FUNDS - 2_500


# Usage billing.


@pytest.mark.parametrize(("overdraft", "is_accepted"), [(4_000, True), (3_999, False)])
async def test_usage_billing_is_the_same_in_quote_creation_and_receipt(
    api: httpx.AsyncClient,
    accounts: Accounts,
    transcribed: TranscribedVideo,
    runtime: Runtime,
    overdraft: int,
    *,
    is_accepted: bool,
) -> None:
    """A promo costs 10 credits, and the wallet has 6."""
    connection, library_id = accounts.connection, transcribed.library_id
    await reserve(api, transcribed, dubs=[{"languages": ["de", "es"]}], durationSeconds=1410)
    assert await wallet(accounts, transcribed) == 6_000
    await ledger.set_overdraft(connection, library_id, millicredits=overdraft)
    quoted = (await api.post(f"/videos/{transcribed.video_id}/quote", json={"shorts": {"kind": "promo"}})).json()
    assert (quoted["usageBillingActive"], quoted["sufficient"]) == (is_accepted, is_accepted)
    assert quoted["shortfall"] == (0 if is_accepted else 0.001)
    created = await api.post(f"/videos/{transcribed.video_id}/shorts", json={"kind": "promo"})
    if not is_accepted:
        details = {"required": 10, "available": 9.999, "shortfall": quoted["shortfall"]}
        assert (created.status_code, created.json()["error"]["details"]) == (429, details)
        return
    assert (created.json()["creditsSpent"], created.json()["balance"]) == (quoted["total"], -4)
    ref = JobRef(library_id, created.json()["jobId"], 1)
    async with runtime.database.transaction(library_id) as scoped:
        await lifecycle.start(scoped, ref, prices=load_prices(), now=system_clock())
        await lifecycle.complete(scoped, ref, result={}, now=system_clock())
    receipt = (await api.get(f"/jobs/{ref.job_id}")).json()["result"]["receipt"]
    assert (receipt["quoted"], receipt["held"], receipt["captured"]) == (10, 10, 10)
    assert await wallet(accounts, transcribed) == -4_000
