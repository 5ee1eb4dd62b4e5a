"""What work costs: every rule as a table of cases, and lists of prices that are refused."""

import tomllib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.credits.pricing import (
    BUNDLED_PRICES,
    Action,
    Term,
    Work,
    billed_tenths,
    credits_of,
    is_per_minute,
    load_prices,
    milliseconds_of,
    price,
)
from cutroom.errors import Code, CutroomError

PLUS, PREMIUM = Work(Action.DUB, "plus", "de"), Work(Action.DUB, "premium", "de")
CAPTIONS, TRANSCRIPT = Work(Action.CAPTIONS, "captions", "de"), Work(Action.TRANSCRIPT, "transcript")
LIPSYNC = Work(Action.LIPSYNC, "lipsync", "de")
CLIP = Work(Action.SHORTS_CLIP, "shorts")
MARKED = Work(Action.SHORTS_CLIP, "shorts", terms={Term.WATERMARK: 1})
PER_MINUTE = [PLUS, PREMIUM, CAPTIONS, TRANSCRIPT, LIPSYNC]


def thumbnail(**terms: int) -> Work:
    names = {"characters": Term.CHARACTERS, "references": Term.REFERENCE_PRODUCTS}
    given_terms = {names[name].value: count for name, count in terms.items()}
    return Work(Action.ZERO_PROMPT_THUMBNAIL, "thumbnail", terms=given_terms)


FLAT = {
    "a thumbnail": (thumbnail(), 5_000),
    "a thumbnail with a character": (thumbnail(characters=1), 6_000),
    "a thumbnail with three characters": (thumbnail(characters=3), 8_000),
    "a thumbnail with a reference product": (thumbnail(references=1), 6_000),
    "a thumbnail with both": (thumbnail(characters=2, references=4), 11_000),
    "a thumbnail in another language": (Work(Action.THUMBNAIL_TRANSLATE, "thumbnail", "de"), 2_000),
    "finding moments": (Work(Action.CONTENT_MOMENT_DETECT, "thumbnail"), 2_000),
    "a thumbnail by prompt": (Work(Action.PROMPT_THUMBNAIL, "thumbnail"), 5_000),
    "a promo": (Work(Action.PROMO, "promo"), 10_000),
    "a promo with a soundtrack": (Work(Action.PROMO, "promo", terms={Term.SOUNDTRACK: 1}), 12_000),
    "a long clip": (Work(Action.LONGCLIP, "clips"), 5_000),
    "a long clip with a thumbnail": (Work(Action.LONGCLIP, "clips", terms={Term.GENERATED_THUMBNAIL: 1}), 10_000),
    "a synthesis": (Work(Action.SPEECH, "speech"), 1_000),
}

# What is said of a work, the work, seconds, whether on a paid plan, milli-credits.
CASES: list[tuple[str, Work, float | None, bool, int]] = [
    ("a minute of dub", PLUS, 60, False, 2_000),
    ("ten minutes of dub", PLUS, 600, False, 20_000),
    ("a minute of premium dub", PREMIUM, 60, False, 4_000),
    ("ninety seconds of premium dub", PREMIUM, 90, False, 6_000),
    ("a minute of captions", CAPTIONS, 60, False, 500),
    ("a tenth of captions", CAPTIONS, 1, False, 50),
    ("a minute of transcript", TRANSCRIPT, 60, False, 500),
    ("an hour of transcript", TRANSCRIPT, 3_600, False, 30_000),
    ("a minute of lip sync", LIPSYNC, 60, False, 10_000),
    ("a clip", CLIP, None, False, 3_000),
    ("a clip with the watermark", MARKED, None, False, 2_000),
    ("a subscriber's clip", CLIP, None, True, 2_000),
    ("a subscriber's clip with the watermark", MARKED, None, True, 1_000),
]
CASES += [(name, work, None, False, amount) for name, (work, amount) in FLAT.items()]
CASES += [(f"a subscriber's: {name}", work, None, True, amount) for name, (work, amount) in FLAT.items()]
CASES += [(f"{name}, however long", work, 7_200, False, amount) for name, (work, amount) in FLAT.items()]
CASES += [
    ("a subscriber's dub", PLUS, 60, True, 2_000),
    ("a subscriber's captions", CAPTIONS, 60, True, 500),
    ("a subscriber's transcript", TRANSCRIPT, 60, True, 500),
]


@pytest.mark.parametrize(
    ("work", "duration_seconds", "is_subscriber", "millicredits"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_work_costs(work: Work, duration_seconds: float | None, *, is_subscriber: bool, millicredits: int) -> None:
    duration = milliseconds_of(duration_seconds) if duration_seconds is not None else None
    found = price(work, prices=load_prices(), duration_milliseconds=duration, is_subscriber=is_subscriber)
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
        (sum([0.1] * 60), 1),  # a little less than 6 in floating point
        (sum([1.2] * 5) + 1e-9, 1),  # a little more
        (3_599.999, 600),
        (3_600, 600),
        (3_600.001, 601),
        (10_000_000, 1_666_667),
    ],
)
def test_minutes_round_up_to_the_tenth(duration_seconds: float, tenths: int) -> None:
    duration = milliseconds_of(duration_seconds)
    assert billed_tenths(duration) == tenths
    for work, tenth in zip(PER_MINUTE, (200, 400, 50, 50, 1_000), strict=True):
        found = price(work, prices=load_prices(), duration_milliseconds=duration, is_subscriber=False)
        assert found == tenth * tenths


@settings(deadline=None)  # a busy machine is no fault of ours
@given(milliseconds=st.integers(1, 10**10), more=st.integers(0, 10**7))
def test_a_longer_duration_never_costs_less_and_none_is_free(milliseconds: int, more: int) -> None:
    tenths = billed_tenths(milliseconds)
    assert 1 <= tenths <= billed_tenths(milliseconds + more)
    assert 0 <= tenths * 6_000 - milliseconds < 6_000


@pytest.mark.parametrize("action", list(Action))
def test_only_work_by_the_minute_needs_a_duration(action: Action) -> None:
    assert is_per_minute(action) == (action in {work.action for work in PER_MINUTE})
    work = Work(action, "plus")
    if not is_per_minute(action):
        assert price(work, prices=load_prices(), duration_milliseconds=None, is_subscriber=False) > 0
        return
    with pytest.raises(CutroomError) as refused:
        price(work, prices=load_prices(), duration_milliseconds=None, is_subscriber=False)
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
def test_a_clip_never_costs_less_than_the_floor(
    tmp_path: Path, rebates: dict[str, int], *, is_marked: bool, is_subscriber: bool, millicredits: int
) -> None:
    tables = bundled()
    tables["shorts_rebate"].update(rebates)
    prices = load_prices(write(tmp_path, tables))
    work = MARKED if is_marked else CLIP
    assert price(work, prices=prices, duration_milliseconds=None, is_subscriber=is_subscriber) == millicredits


@pytest.mark.parametrize(("millicredits", "shown"), [(0, 0.0), (1, 0.001), (50, 0.05), (2_100, 2.1), (-500, -0.5)])
def test_credits_are_shown_to_the_third_place(millicredits: int, shown: float) -> None:
    assert credits_of(millicredits) == shown


def test_work_survives_being_stored() -> None:
    for case in CASES:
        assert Work.from_json(case[1].as_json()) == case[1]


# The list of prices itself.

ISSUED = {
    "per_minute": {"dub_plus": 2_000, "dub_premium": 4_000, "captions": 500, "transcript": 500, "lipsync": 10_000},
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
    """A list of prices as a file; tables last, as TOML wants them."""
    lines = [f"{name} = {value!r}" for name, value in tables.items() if not isinstance(value, dict)]
    for name, table in tables.items():
        if isinstance(table, dict):
            lines += [f"[{name}]", *(f"{key} = {str(value).lower()}" for key, value in table.items())]
    path = folder / "prices.toml"
    path.write_text("\n".join(lines))
    return path


def test_the_bundled_prices_are_the_ones_that_were_set() -> None:
    prices = load_prices()
    assert {name: asdict(prices)[name] for name in ISSUED} == ISSUED


def test_a_version_is_the_name_of_the_list_and_a_digest_of_its_prices(tmp_path: Path) -> None:
    version = load_prices().version
    named, _, digest = version.rpartition(".")
    assert (named, len(digest)) == (bundled()["version"], 8)
    assert load_prices(write(tmp_path, bundled())).version == version  # comments and spelling do not count
    (renamed_folder := tmp_path / "renamed").mkdir()
    assert load_prices(write(renamed_folder, {**bundled(), "version": "next"})).version == f"next.{digest}"


@pytest.mark.parametrize(("table", "name"), EVERY_PRICE, ids=[name for _, name in EVERY_PRICE])
def test_any_other_price_is_another_version(tmp_path: Path, table: str, name: str) -> None:
    tables = bundled()
    tables[table][name] += 10
    changed = load_prices(write(tmp_path, tables))
    assert changed.version != load_prices().version
    assert asdict(changed)[table][name] == ISSUED[table][name] + 10


@pytest.mark.parametrize(("table", "name"), EVERY_PRICE, ids=[name for _, name in EVERY_PRICE])
@pytest.mark.parametrize("value", [None, 0, -1_000, 1.0, 1_000.5, "'1000'", True])
def test_a_price_that_is_missing_or_no_amount_is_refused(
    tmp_path: Path, table: str, name: str, value: float | str | None
) -> None:
    tables = bundled()
    tables[table][name] = value
    if value is None:
        del tables[table][name]
    with pytest.raises(ValueError, match="price"):
        load_prices(write(tmp_path, tables))


@pytest.mark.parametrize("name", list(ISSUED["per_minute"]))
@pytest.mark.parametrize("value", [1, 1_999, 2_005])
def test_a_price_of_a_minute_that_has_no_whole_tenth_is_refused(tmp_path: Path, name: str, value: int) -> None:
    tables = bundled()
    tables["per_minute"][name] = value
    with pytest.raises(ValueError, match="divides by ten"):
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
        "a version that is no text",
        "no prices of a minute",
        "no prices of a piece",
        "no rebates",
        "a table too many",
        "a price of a piece too many",
        "a price of a minute too many",
        "a rebate too many",
        "nothing",
    ],
)
def test_a_list_with_something_too_few_or_too_many_is_refused(tmp_path: Path, tables: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="list of prices"):
        load_prices(write(tmp_path, tables))


def test_a_list_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_prices(tmp_path / "none.toml")
