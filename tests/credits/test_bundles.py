"""Bundles: lines, durations, validation, and reservations that match quotes."""

from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cutroom.accounts.plans import PlanName
from cutroom.credits.pricing import load_prices
from dev.scratch import Accounts
from tests.credits.api_calls import code, lines_of, quote, reserve
from tests.credits.conftest import LONG, AddVideo, LibraryLedger

# Lines.


@pytest.mark.parametrize(
    ("bundle", "lines"),
    [
        ({}, []),
        ({"dubs": [], "captionLanguageCodes": [], "transcriptOnly": False}, []),
        ({"zeroPromptThumbnail": {"enabled": False, "characterCount": 3, "translateLanguageCodes": ["de"]}}, []),
        ({"transcriptOnly": True}, [("transcript", 0.5)]),
        ({"dubs": [{"languages": ["de"]}]}, [("dub", 2.0)]),
        ({"dubs": [{"languages": ["de"]}, {"languages": ["de"], "product": "premium"}]}, [("dub", 2.0), ("dub", 4.0)]),
        ({"captionLanguageCodes": ["de", "fr", "es"]}, [("captions", 0.5)] * 3),
        ({"shorts": {"kind": "shorts"}}, [("shorts-clip", 2.0)]),
        ({"shorts": {"kind": "shorts", "numClips": 3}}, [("shorts-clip", 2.0)] * 3),
        ({"shorts": {"kind": "shorts", "numClips": 2, "includeWatermark": True}}, [("shorts-clip", 1.0)] * 2),
        ({"shorts": {"kind": "promo", "numClips": 9, "includeWatermark": True}}, [("promo", 10.0)]),
        ({"shorts": {"kind": "promo", "includeSoundtrack": True}}, [("promo", 12.0)]),
        ({"shorts": {"kind": "clips", "includeSoundtrack": True}}, [("longclip", 5.0)]),
        ({"shorts": {"kind": "clips", "numClips": 4}}, [("longclip", 5.0)] * 4),
        ({"shorts": {"kind": "clips", "numClips": 7}}, [("longclip", 5.0)] * 4),  # capped at four
        (
            {"shorts": {"kind": "clips", "numClips": 2, "includeGeneratedThumbnail": True}},
            [("longclip", 10.0)] * 2,
        ),
        ({"zeroPromptThumbnail": {"enabled": True}}, [("zero-prompt-thumbnail", 5.0)]),
        ({"zeroPromptThumbnail": {"enabled": True, "characterCount": 3}}, [("zero-prompt-thumbnail", 8.0)]),
        (
            {"zeroPromptThumbnail": {"enabled": True, "autoDetectContentMoments": True}},
            [("zero-prompt-thumbnail", 5.0), ("content-moment-detect", 2.0)],
        ),
    ],
)
async def test_bundle_lines_for_one_minute(
    api: httpx.AsyncClient,
    library_ledger: LibraryLedger,
    add_video: AddVideo,
    bundle: dict[str, Any],
    lines: list[tuple[str, float]],
) -> None:
    await library_ledger.grant(100_000)
    video_id = await add_video(600.0)  # long enough for clips
    quoted = await quote(api, video_id, durationSeconds=60, **bundle)
    assert [(each["actionKey"], each["credits"]) for each in quoted["breakdown"]] == lines
    assert quoted["total"] == sum(amount for _, amount in lines)
    if lines:
        reserved = await reserve(api, video_id, durationSeconds=60, **bundle)
        assert [(each["actionKey"], each["credits"]) for each in reserved["lineItems"]] == lines


@pytest.mark.parametrize("hint", [True, False])
@pytest.mark.parametrize(
    ("plan", "credits_"), [(PlanName.FREE, 3.0), (PlanName.CREATOR, 2.0), (PlanName.BUSINESS, 2.0)]
)
async def test_subscriber_discount_follows_plan_not_request(
    anonymous: httpx.AsyncClient,
    accounts: Accounts,
    add_video: AddVideo,
    plan: PlanName,
    credits_: float,
    *,
    hint: bool,
) -> None:
    person = await accounts.person(plan)
    video_id = await add_video(60.0, person.library_id)
    anonymous.headers.update((await accounts.key(person)).headers)
    quoted = await quote(anonymous, video_id, shorts={"kind": "shorts", "isSubscriber": hint})
    assert quoted["total"] == credits_


@pytest.mark.parametrize("duration_seconds", [None, 60.0])
async def test_empty_bundle_is_free_and_not_reservable(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo, duration_seconds: float | None
) -> None:
    video_id = await add_video(duration_seconds)
    assert await quote(api, video_id) == {
        "total": 0.0,
        "durationSeconds": duration_seconds or 0.0,
        "pricingVersion": load_prices().version,
        "balance": 0.0,
        "usageBillingActive": False,
        "shortfall": 0.0,
        "sufficient": True,
        "breakdown": [],
    }
    for empty in ({}, {"zeroPromptThumbnail": {"enabled": False}}):
        response = await api.post(f"/videos/{video_id}/reservations", json=empty)
        assert code(response) == (400, "INVALID_ARGUMENT")
        assert [field["path"] for field in response.json()["error"]["details"]["fields"]] == ["body"]
    assert await library_ledger.kinds() == []


# Durations.


@pytest.mark.parametrize(
    ("bundle", "needs_duration"),
    [
        ({"dubs": [{"languages": ["de"]}]}, True),
        ({"captionLanguageCodes": ["de"]}, True),
        ({"transcriptOnly": True}, True),
        ({"transcriptOnly": True, "shorts": {"kind": "promo"}}, True),
        ({"shorts": {"kind": "shorts"}}, False),
        ({"shorts": {"kind": "clips"}}, False),
        ({"shorts": {"kind": "promo"}}, False),
        ({"zeroPromptThumbnail": {"enabled": True, "translateLanguageCodes": ["de"]}}, False),
    ],
)
async def test_only_per_minute_items_need_duration(
    api: httpx.AsyncClient,
    library_ledger: LibraryLedger,
    add_video: AddVideo,
    bundle: dict[str, Any],
    *,
    needs_duration: bool,
) -> None:
    await library_ledger.grant(100_000)
    video_id = await add_video(None)
    for path, status in (("quote", 200), ("reservations", 201)):
        response = await api.post(f"/videos/{video_id}/{path}", json=bundle)
        if needs_duration:
            assert code(response) == (422, "DURATION_UNKNOWN")
        else:
            assert (response.status_code, response.json()["durationSeconds"]) == (status, 0.0)
        given_duration = await api.post(f"/videos/{video_id}/{path}", json={**bundle, "durationSeconds": 61})
        assert (given_duration.status_code, given_duration.json()["durationSeconds"]) == (status, 61.0)


@pytest.mark.parametrize(
    ("video", "requested", "billed", "total"),
    [
        (60.0, None, 60.0, 0.5),
        (60.0, 120, 120.0, 1.0),
        (60.0, 30, 30.0, 0.25),
        (60.0, 0.001, 0.001, 0.05),
        (60.0, 1e-9, 0.001, 0.05),
        (None, 6.001, 6.001, 0.1),
        (60.00000001, None, 60.0, 0.5),
        (59.99999999, None, 60.0, 0.5),
        (60.001, None, 60.001, 0.55),
        (None, 10_000_000, 10_000_000.0, 83_333.35),
    ],
)
async def test_duration_in_body_takes_precedence(
    api: httpx.AsyncClient,
    library_ledger: LibraryLedger,
    add_video: AddVideo,
    video: float | None,
    requested: float | None,
    billed: float,
    total: float,
) -> None:
    await library_ledger.grant(10**9)
    video_id = await add_video(video)
    bundle = {"transcriptOnly": True} | ({"durationSeconds": requested} if requested is not None else {})
    for response in (await quote(api, video_id, **bundle), await reserve(api, video_id, **bundle)):
        assert (response["durationSeconds"], response["total"]) == (billed, total)


# Validation.


INVALID: list[tuple[dict[str, Any], str]] = [
    ({"durationSeconds": 0}, "durationSeconds"),
    ({"durationSeconds": -1}, "durationSeconds"),
    ({"durationSeconds": 10_000_001}, "durationSeconds"),
    ({"durationSeconds": "long"}, "durationSeconds"),
    ({"dubs": [{"languages": []}]}, "dubs.0.languages"),
    ({"dubs": [{}]}, "dubs.0.languages"),
    ({"dubs": [{"languages": ["de", "DE"]}]}, "dubs.0.languages"),
    ({"dubs": [{"languages": ["german!"]}]}, "dubs.0.languages.0"),
    ({"dubs": [{"languages": ["de"], "product": "gold"}]}, "dubs.0.product"),
    ({"dubs": [{"languages": ["de"]}, {"languages": ["de"], "product": "plus"}]}, "body"),
    ({"dubs": [{"languages": LONG[:51]}]}, "dubs.0.languages"),
    ({"dubs": [{"languages": [code]} for code in LONG[:21]]}, "dubs"),
    ({"captionLanguageCodes": ["fr", "fr"]}, "captionLanguageCodes"),
    ({"captionLanguageCodes": ["pt-br", "pt-BR"]}, "captionLanguageCodes"),
    ({"captionLanguageCodes": LONG[:51]}, "captionLanguageCodes"),
    ({"captionLanguageCodes": "fr"}, "captionLanguageCodes"),
    ({"transcriptOnly": "perhaps"}, "transcriptOnly"),
    ({"unknown": ["field"], "transcriptOnly": True}, "unknown"),
    ({"shorts": {"kind": "promo", "includeSoundtracks": True}}, "shorts.includeSoundtracks"),
    ({"shorts": {}}, "shorts.kind"),
    ({"shorts": {"kind": "movies"}}, "shorts.kind"),
    ({"shorts": {"kind": "shorts", "numClips": 0}}, "shorts.numClips"),
    ({"shorts": {"kind": "shorts", "numClips": 101}}, "shorts.numClips"),
    ({"shorts": {"kind": "shorts", "numClips": 1.5}}, "shorts.numClips"),
    ({"zeroPromptThumbnail": {}}, "zeroPromptThumbnail.enabled"),
    ({"zeroPromptThumbnail": {"enabled": True, "characterCount": 4}}, "zeroPromptThumbnail.characterCount"),
    ({"zeroPromptThumbnail": {"enabled": True, "characterCount": -1}}, "zeroPromptThumbnail.characterCount"),
    (
        {"zeroPromptThumbnail": {"enabled": True, "translateLanguageCodes": ["de", "de"]}},
        "zeroPromptThumbnail.translateLanguageCodes",
    ),
    (
        {"zeroPromptThumbnail": {"enabled": True, "referenceProducts": ["x"] * 101}},
        "zeroPromptThumbnail.referenceProducts",
    ),
]


@pytest.mark.parametrize(("bundle", "path"), INVALID)
async def test_invalid_bundle_is_rejected_with_field(
    api: httpx.AsyncClient, library_ledger: LibraryLedger, add_video: AddVideo, bundle: dict[str, Any], path: str
) -> None:
    await library_ledger.grant(100_000)
    video_id = await add_video(60.0)
    for kind in ("quote", "reservations"):
        response = await api.post(f"/videos/{video_id}/{kind}", json=bundle)
        assert code(response) == (400, "INVALID_ARGUMENT")
        assert [field["path"] for field in response.json()["error"]["details"]["fields"]] == [path]
    assert await library_ledger.kinds() == ["grant"]


# Quote and reservation.

LANGUAGES = st.lists(st.sampled_from(LONG), unique=True, max_size=6)
SECONDS = st.integers(1, 36_000_000).map(lambda milliseconds: milliseconds / 1000)
LONG_ENOUGH = st.integers(300_000, 36_000_000).map(lambda milliseconds: milliseconds / 1000)  # for clips


@st.composite
def bundles(draw: st.DrawFn) -> dict[str, Any]:
    """Generate bundles that can be created."""
    bundle: dict[str, Any] = {"durationSeconds": draw(SECONDS)} if draw(st.booleans()) else {}
    dubs = [{"product": product, "languages": draw(LANGUAGES)} for product in ("plus", "premium")]
    bundle["dubs"] = [dub for dub in dubs if dub["languages"]]
    bundle["captionLanguageCodes"] = draw(LANGUAGES)
    bundle["transcriptOnly"] = draw(st.booleans())
    if draw(st.booleans()):
        bundle["shorts"] = {
            "kind": draw(st.sampled_from(["shorts", "promo", "clips"])),
            "numClips": draw(st.integers(1, 10)),
            "includeWatermark": draw(st.booleans()),
            "isSubscriber": draw(st.booleans()),
            "includeSoundtrack": draw(st.booleans()),
            "includeGeneratedThumbnail": draw(st.booleans()),
        }
    if draw(st.booleans()):
        detects_content = draw(st.booleans())
        bundle["zeroPromptThumbnail"] = {
            "enabled": draw(st.booleans()),
            "referenceProducts": draw(st.lists(st.just("mug"), max_size=5)),
            "characterCount": 0 if detects_content else draw(st.integers(0, 3)),
            "translateLanguageCodes": draw(LANGUAGES),
            "autoDetectContentMoments": detects_content,
        }
    return bundle


def charge(bundle: dict[str, Any], video_seconds: float) -> int:
    """Compute the price of a bundle on a paid plan independently, in milli-credits."""
    tenths = -(-round(bundle.get("durationSeconds", video_seconds) * 1000) // 6_000)
    total: int = sum(
        {"plus": 200, "premium": 400}[dub["product"]] * tenths * len(dub["languages"]) for dub in bundle["dubs"]
    )
    total += 50 * tenths * (len(bundle["captionLanguageCodes"]) + bundle["transcriptOnly"])
    if shorts := bundle.get("shorts"):
        total += {
            "promo": 10_000 + 2_000 * shorts["includeSoundtrack"],
            "clips": (5_000 + 5_000 * shorts["includeGeneratedThumbnail"]) * min(4, shorts["numClips"]),
            "shorts": (2_000 - 1_000 * shorts["includeWatermark"]) * shorts["numClips"],
        }[shorts["kind"]]
    thumbnail = bundle.get("zeroPromptThumbnail", {"enabled": False})
    if thumbnail["enabled"]:
        total += 5_000 + 1_000 * (thumbnail["characterCount"] + len(thumbnail["referenceProducts"]))
        total += 2_000 * (len(thumbnail["translateLanguageCodes"]) + thumbnail["autoDetectContentMoments"])
    return total


@settings(
    max_examples=40,
    deadline=None,  # slow machines must not fail the test
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],  # all examples share one library
)
@given(bundle=bundles(), video_seconds=LONG_ENOUGH)
async def test_reservation_matches_quote_exactly(
    api: httpx.AsyncClient,
    library_ledger: LibraryLedger,
    add_video: AddVideo,
    bundle: dict[str, Any],
    video_seconds: float,
) -> None:
    await library_ledger.grant(10**9)
    video_id, before = await add_video(video_seconds), await library_ledger.accounts()
    expected = charge(bundle, video_seconds)
    quoted = await quote(api, video_id, **bundle)
    assert quoted["total"] == expected / 1000
    response = await api.post(f"/videos/{video_id}/reservations", json=bundle)
    if not expected:
        assert (quoted["breakdown"], code(response)) == ([], (400, "INVALID_ARGUMENT"))
        return
    reserved = response.json()
    assert (response.status_code, reserved["total"], reserved["durationSeconds"]) == (
        201,
        quoted["total"],
        quoted["durationSeconds"],
    )
    assert lines_of(reserved["lineItems"]) == lines_of(quoted["breakdown"])
    assert sum(round(each["credits"] * 1000) for each in reserved["lineItems"]) == expected
    after = await library_ledger.accounts()
    assert (before.wallet - after.wallet, after.escrow - before.escrow) == (expected, expected)
