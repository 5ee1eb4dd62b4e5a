"""Format and validation of ids."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutroom.platform.ids import is_id, new_id

# Ids carry milliseconds in 48 bits: until the year 10889.
MOMENTS = st.integers(min_value=0, max_value=2**48 - 2)


def test_id_has_26_lower_case_crockford_characters() -> None:
    for _ in range(1_000):
        assert re.fullmatch(r"[0-7][0-9a-hjkmnp-tv-z]{25}", new_id())


def test_id_contains_no_underscore() -> None:
    assert not any("_" in new_id() for _ in range(1_000))


def test_ids_are_unique_within_a_millisecond() -> None:
    assert len({new_id(1_700_000_000.0) for _ in range(20_000)}) == 20_000


@settings(deadline=None)  # machines may be busy
@given(first=MOMENTS, second=MOMENTS)
def test_ids_sort_by_creation_time(first: int, second: int) -> None:
    earlier, later = sorted((first, second))
    # The offset avoids floating-point rounding across milliseconds.
    assert new_id((earlier + 0.25) / 1000) < new_id((later + 1.25) / 1000)


def test_id_uses_the_current_time() -> None:
    before, made, after = new_id(time.time() - 1), new_id(), new_id(time.time() + 1)
    assert before < made < after


@settings(deadline=None)  # machines may be busy
@given(moment=MOMENTS)
def test_new_ids_are_valid(moment: int) -> None:
    assert is_id(new_id(moment / 1000))


GOOD = "01j9z3k4m5n6p7q8r9s0t1v2w3"


@pytest.mark.parametrize("text", [GOOD, "0" * 26, "7" + "z" * 25])
def test_well_formed_id_is_valid(text: str) -> None:
    assert is_id(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        GOOD[:-1],
        GOOD + "0",
        GOOD.upper(),
        GOOD + "\n",
        "\n" + GOOD,
        " " + GOOD[1:],
        GOOD[:-1] + "\x00",
        GOOD[:-1] + "_",
        GOOD[:-1] + "-",
        GOOD[:-1] + "%",
        GOOD[:-1] + "'",
        *(GOOD[:-1] + left_out for left_out in "ilou"),
        "8" + GOOD[1:],  # more than 128 bits
        "\uff10" + GOOD[1:],  # a Unicode digit, but not ASCII
        "\u0661" + GOOD[1:],
        GOOD[:-1] + "é",
        "\ud800" * 26,
        "../" + GOOD[3:],
        "' OR 1=1 --" + "0" * 15,
        "0" * 100_000,
    ],
)
def test_malformed_id_is_invalid(text: str) -> None:
    assert not is_id(text)
