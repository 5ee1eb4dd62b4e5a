"""Pricing rules as tables of cases, and validation of price lists."""

import tomllib
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.credits.pricing import (
    BUNDLED_PRICES,
    Action,
    BillableItem,
    Term,
    billed_tenths,
    is_per_minute,
    load_prices,
    price,
    to_credits,
    to_milliseconds,
)
from cutroom.errors import Code, CutroomError

PLUS, PREMIUM = BillableItem(Action.DUB, "plus", "de"), BillableItem(Action.DUB, "premium", "de")
CAPTIONS, TRANSCRIPT = BillableItem(Action.CAPTIONS, "captions", "de"), BillableItem(Action.TRANSCRIPT, "transcript")
LIPSYNC = BillableItem(Action.LIPSYNC, "lipsync", "de")
CLIP = BillableItem(Action.SHORTS_CLIP, "shorts")
MARKED = BillableItem(Action.SHORTS_CLIP, "shorts", terms={Term.WATERMARK: 1})
PER_MINUTE = [PLUS, PREMIUM, CAPTIONS, TRANSCRIPT, LIPSYNC]


def thumbnail(**terms: int) -> BillableItem:
    names = {"characters": Term.CHARACTERS, "references": Term.REFERENCE_PRODUCTS}
    given_terms = {names[name].value: count for name, count in terms.items()}
    return BillableItem(Action.ZERO_PROMPT_THUMBNAIL, "thumbnail", terms=given_terms)


def part(seconds: float) -> BillableItem:
    """Captions of which some seconds are translated again."""
    return BillableItem(Action.CAPTIONS, "captions", "de", terms={Term.MILLISECONDS: round(seconds * 1000)})


FLAT = {
    "a thumbnail": (thumbnail(), 5_000),
    "a thumbnail with a character": (thumbnail(characters=1), 6_000),
    "a thumbnail with three characters": (thumbnail(characters=3), 8_000),
    "a thumbnail with a reference product": (thumbnail(references=1), 6_000),
    "a thumbnail with both": (thumbnail(characters=2, references=4), 11_000),
    "a thumbnail in another language": (BillableItem(Action.THUMBNAIL_TRANSLATE, "thumbnail", "de"), 2_000),
    "content moment detection": (BillableItem(Action.CONTENT_MOMENT_DETECT, "thumbnail"), 2_000),
    "a thumbnail from a prompt": (BillableItem(Action.PROMPT_THUMBNAIL, "thumbnail"), 5_000),
    "a promo": (BillableItem(Action.PROMO, "promo"), 10_000),
    "a promo with a soundtrack": (BillableItem(Action.PROMO, "promo", terms={Term.SOUNDTRACK: 1}), 12_000),
    "a long clip": (BillableItem(Action.LONGCLIP, "clips"), 5_000),
    "a long clip with a thumbnail": (
        BillableItem(Action.LONGCLIP, "clips", terms={Term.GENERATED_THUMBNAIL: 1}),
        10_000,
    ),
    "speech synthesis": (BillableItem(Action.SPEECH, "speech"), 1_000),
}

# Case name, item, duration in seconds, is_subscriber, milli-credits.
CASES: list[tuple[str, BillableItem, float | None, bool, int]] = [
    ("a minute of dub", PLUS, 60, False, 2_000),
    ("ten minutes of dub", PLUS, 600, False, 20_000),
    ("a minute of premium dub", PREMIUM, 60, False, 4_000),
    ("ninety seconds of premium dub", PREMIUM, 90, False, 6_000),
    ("a minute of captions", CAPTIONS, 60, False, 500),
    ("a tenth of captions", CAPTIONS, 1, False, 50),
    ("a minute of draft captions", CAPTIONS.as_draft(), 60, False, 250),
    ("a tenth of draft captions", CAPTIONS.as_draft(), 1, True, 25),
    ("a minute of a draft dub", BillableItem(Action.DUB, "plus", "de").as_draft(), 60, False, 1_000),
    ("a minute of a premium draft dub", BillableItem(Action.DUB, "premium", "de").as_draft(), 60, False, 2_000),
    ("a minute of transcript", TRANSCRIPT, 60, False, 500),
    ("an hour of transcript", TRANSCRIPT, 3_600, False, 30_000),
    ("a minute of lip sync", LIPSYNC, 60, False, 10_000),
    ("a clip", CLIP, None, False, 3_000),
    ("a clip with the watermark", MARKED, None, False, 2_000),
    ("a subscriber's clip", CLIP, None, True, 2_000),
    ("a subscriber's clip with the watermark", MARKED, None, True, 1_000),
]
CASES += [
    ("a second of captions again", part(1), 600, False, 100),
    ("twelve seconds of captions again", part(12), 600, False, 100),
    ("twelve seconds and a millisecond", part(12.001), 600, False, 200),
    ("a minute of captions again", part(60), 600, False, 500),
    ("all of a short video again", part(60), 12, False, 100),
    ("all of a very short video again", part(6), 6, False, 50),
    ("a second of draft captions again", part(1).as_draft(), 600, False, 100),
    ("a minute of draft captions again", part(60).as_draft(), 600, False, 300),
]
CASES += [(name, item, None, False, amount) for name, (item, amount) in FLAT.items()]
CASES += [(f"a subscriber's: {name}", item, None, True, amount) for name, (item, amount) in FLAT.items()]
CASES += [(f"{name}, however long", item, 7_200, False, amount) for name, (item, amount) in FLAT.items()]
CASES += [
    ("a subscriber's dub", PLUS, 60, True, 2_000),
    ("a subscriber's captions", CAPTIONS, 60, True, 500),
    ("a subscriber's transcript", TRANSCRIPT, 60, True, 500),
]


@pytest.mark.parametrize(
    ("item", "duration_seconds", "is_subscriber", "millicredits"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_item_price(
    item: BillableItem, duration_seconds: float | None, *, is_subscriber: bool, millicredits: int
) -> None:
    duration = to_milliseconds(duration_seconds) if duration_seconds is not None else None
    found = price(item, prices=load_prices(), duration_milliseconds=duration, is_subscriber=is_subscriber)
    assert (found, type(found)) == (millicredits, int)


def test_every_action_has_a_case() -> None:
    assert {case[1].action for case in CASES} == set(Action)


@pytest.mark.parametrize(
    ("duration_seconds", "tenths"),
    [
        (5e-324, 1),
        (0.0001, 1),
        (0.001, 1),
        (1, 1),
        (5.999, 1),
        (5.99999999, 1),
        (6, 1),
        (6.00000001, 1),
        (6.001, 2),
        (11.999, 2),
        (12.001, 3),
        (59.999, 10),
        (59.99999999, 10),
        (60, 10),
        (60.00000001, 10),
        (60.001, 11),
        (66, 11),
        (sum([0.1] * 60), 1),  # slightly less than 6 in floating point
        (sum([1.2] * 5) + 1e-9, 1),  # slightly more
        (3_599.999, 600),
        (3_600, 600),
        (3_600.001, 601),
        (10_000_000, 1_666_667),
    ],
)
def test_duration_rounds_up_to_tenth_of_minute(duration_seconds: float, tenths: int) -> None:
    duration = to_milliseconds(duration_seconds)
    assert billed_tenths(duration) == tenths
    for item, tenth in zip(PER_MINUTE, (200, 400, 50, 50, 1_000), strict=True):
        found = price(item, prices=load_prices(), duration_milliseconds=duration, is_subscriber=False)
        assert found == tenth * tenths


@settings(deadline=None)  # slow machines must not fail the test
@given(milliseconds=st.integers(1, 10**10), more=st.integers(0, 10**7))
def test_price_grows_with_duration_and_is_positive(milliseconds: int, more: int) -> None:
    tenths = billed_tenths(milliseconds)
    assert 1 <= tenths <= billed_tenths(milliseconds + more)
    assert 0 <= tenths * 6_000 - milliseconds < 6_000


@pytest.mark.parametrize("action", list(Action))
def test_only_per_minute_actions_need_duration(action: Action) -> None:
    assert is_per_minute(action) == (action in {item.action for item in PER_MINUTE})
    item = BillableItem(action, "plus")
    if not is_per_minute(action):
        assert price(item, prices=load_prices(), duration_milliseconds=None, is_subscriber=False) > 0
        return
    with pytest.raises(CutroomError) as refused:
        price(item, prices=load_prices(), duration_milliseconds=None, is_subscriber=False)
    assert (refused.value.code, refused.value.status) == (Code.DURATION_UNKNOWN, 422)


@pytest.mark.parametrize(
    ("rebates", "is_marked", "is_subscriber", "millicredits"),
    [
        ({"watermark": 2_500}, True, False, 1_000),
        ({"watermark": 9_000}, True, False, 1_000),
        ({"watermark": 9_000}, False, False, 3_000),
        ({"subscriber": 9_000}, False, True, 1_000),
        ({"subscriber": 2_000}, False, True, 1_000),
        ({"subscriber": 2_001}, False, True, 1_000),
        ({"subscriber": 1_999}, False, True, 1_001),
        ({"floor": 2_500}, True, False, 2_500),
        ({"floor": 1}, True, True, 1_000),
    ],
)
def test_clip_discounts_stop_at_floor(
    tmp_path: Path, rebates: dict[str, int], *, is_marked: bool, is_subscriber: bool, millicredits: int
) -> None:
    tables = bundled()
    tables["shorts_rebate"].update(rebates)
    prices = load_prices(write(tmp_path, tables))
    item = MARKED if is_marked else CLIP
    assert price(item, prices=prices, duration_milliseconds=None, is_subscriber=is_subscriber) == millicredits


@pytest.mark.parametrize(("millicredits", "shown"), [(0, 0.0), (1, 0.001), (50, 0.05), (2_100, 2.1), (-500, -0.5)])
def test_credits_have_three_decimals(millicredits: int, shown: float) -> None:
    assert to_credits(millicredits) == shown


def test_item_json_round_trips() -> None:
    for case in CASES:
        assert BillableItem.from_json(case[1].as_json()) == case[1]


def test_same_work_may_differ_in_its_class() -> None:
    assert CAPTIONS.has_draft_rate
    assert not CAPTIONS.as_draft().has_draft_rate
    assert not TRANSCRIPT.has_draft_rate
    assert CAPTIONS.is_same_work(CAPTIONS.as_draft())
    assert not CAPTIONS.is_same_work(replace(CAPTIONS, language="es"))


# Price lists.

ISSUED = {
    "per_minute": {
        "dub_plus": 2_000,
        "dub_plus_draft": 1_000,
        "dub_premium": 4_000,
        "dub_premium_draft": 2_000,
        "captions": 500,
        "captions_draft": 250,
        "transcript": 500,
        "lipsync": 10_000,
    },
    "each": {
        "zero_prompt_thumbnail": 5_000,
        "thumbnail_character": 1_000,
        "thumbnail_reference_product": 1_000,
        "thumbnail_translate": 2_000,
        "content_moment_detect": 2_000,
        "prompt_thumbnail": 5_000,
        "shorts_clip": 3_000,
        "promo": 10_000,
        "promo_soundtrack": 2_000,
        "longclip": 5_000,
        "longclip_thumbnail": 5_000,
        "speech": 1_000,
    },
    "shorts_rebate": {"watermark": 1_000, "subscriber": 1_000, "floor": 1_000},
}
EVERY_PRICE = [(table, name) for table, prices in ISSUED.items() for name in prices]


def bundled() -> dict[str, Any]:
    return tomllib.loads(BUNDLED_PRICES.read_text())


def write(folder: Path, tables: dict[str, Any]) -> Path:
    """Write a price list; TOML requires tables last."""
    lines = [f"{name} = {value!r}" for name, value in tables.items() if not isinstance(value, dict)]
    for name, table in tables.items():
        if isinstance(table, dict):
            lines += [f"[{name}]", *(f"{key} = {str(value).lower()}" for key, value in table.items())]
    path = folder / "prices.toml"
    path.write_text("\n".join(lines))
    return path


def test_bundled_prices() -> None:
    tables = asdict(load_prices())
    assert tables["each"].pop("regeneration_minimum") == 100
    assert {name: tables[name] for name in ISSUED} == ISSUED


def test_price_list_of_an_earlier_version_has_the_least_price_of_a_part(tmp_path: Path) -> None:
    tables = bundled()
    del tables["each"]["regeneration_minimum"]
    assert load_prices(write(tmp_path, tables)).each.regeneration_minimum == 100


@pytest.mark.parametrize("name", ["dub_plus", "dub_premium", "captions"])
def test_draft_costs_less(tmp_path: Path, name: str) -> None:
    tables = bundled()
    tables["per_minute"][f"{name}_draft"] = tables["per_minute"][name]
    with pytest.raises(ValueError, match=f"{name}_draft: a draft must cost less"):
        load_prices(write(tmp_path, tables))


def test_version_contains_name_and_digest(tmp_path: Path) -> None:
    version = load_prices().version
    named, _, digest = version.rpartition(".")
    assert (named, len(digest)) == (bundled()["version"], 8)
    assert load_prices(write(tmp_path, bundled())).version == version  # comments and formatting do not matter
    (renamed_folder := tmp_path / "renamed").mkdir()
    assert load_prices(write(renamed_folder, {**bundled(), "version": "next"})).version == f"next.{digest}"


@pytest.mark.parametrize(("table", "name"), EVERY_PRICE, ids=[name for _, name in EVERY_PRICE])
def test_price_change_changes_version(tmp_path: Path, table: str, name: str) -> None:
    tables = bundled()
    tables[table][name] += 10
    changed = load_prices(write(tmp_path, tables))
    assert changed.version != load_prices().version
    assert asdict(changed)[table][name] == ISSUED[table][name] + 10


@pytest.mark.parametrize(("table", "name"), EVERY_PRICE, ids=[name for _, name in EVERY_PRICE])
@pytest.mark.parametrize("value", [None, 0, -1_000, 1.0, 1_000.5, "'1000'", True])
def test_missing_or_invalid_price_is_rejected(tmp_path: Path, table: str, name: str, value: float | str | None) -> None:
    tables = bundled()
    tables[table][name] = value
    if value is None:
        del tables[table][name]
    with pytest.raises(ValueError, match="price"):
        load_prices(write(tmp_path, tables))


@pytest.mark.parametrize("name", list(ISSUED["per_minute"]))
@pytest.mark.parametrize("value", [1, 1_999, 2_005])
def test_minute_price_not_divisible_by_ten_is_rejected(tmp_path: Path, name: str, value: int) -> None:
    tables = bundled()
    tables["per_minute"][name] = value
    with pytest.raises(ValueError, match="divisible by ten"):
        load_prices(write(tmp_path, tables))


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in bundled().items() if key != name}


@pytest.mark.parametrize(
    "tables",
    [
        without("version"),
        {**bundled(), "version": 3},
        without("per_minute"),
        without("each"),
        without("shorts_rebate"),
        {**bundled(), "discounts": {"everything": 1}},
        {**bundled(), "each": {**bundled()["each"], "hologram": 1_000}},
        {**bundled(), "per_minute": {**bundled()["per_minute"], "hologram": 1_000}},
        {**bundled(), "shorts_rebate": {**bundled()["shorts_rebate"], "friends": 1_000}},
        {},
    ],
    ids=[
        "no version",
        "a version that is not a string",
        "no minute prices",
        "no unit prices",
        "no discounts",
        "an unknown table",
        "an unknown unit price",
        "an unknown minute price",
        "an unknown discount",
        "nothing",
    ],
)
def test_missing_or_unknown_entries_are_rejected(tmp_path: Path, tables: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="price list"):
        load_prices(write(tmp_path, tables))


def test_missing_price_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_prices(tmp_path / "none.toml")
