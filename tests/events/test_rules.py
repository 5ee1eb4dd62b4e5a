"""Types of events, and cursors."""

import pytest

from cutroom.events.rules import (
    DECLARATIONS,
    DEFAULT_TYPES,
    EVENT_TYPES,
    InvalidCursorError,
    decode_cursor,
    encode_cursor,
)
from cutroom.platform.ids import new_id

LIBRARY = "01m7eeq2mcwc2d1xkwh8e0ww9f"


def test_every_type_is_declared_once() -> None:
    assert tuple(each.type for each in DECLARATIONS) == EVENT_TYPES


def test_endpoints_without_a_choice_receive_the_types_of_the_contract() -> None:
    assert DEFAULT_TYPES == ("video.ready", "video.failed", "job.ready", "job.failed")


@pytest.mark.parametrize("position", [0, 1, 255, 2**32, 2**63 - 1])
def test_cursors_are_read_back(position: int) -> None:
    assert decode_cursor(LIBRARY, encode_cursor(LIBRARY, position)) == position


def test_cursors_of_another_library_are_refused() -> None:
    with pytest.raises(InvalidCursorError):
        decode_cursor(new_id(), encode_cursor(LIBRARY, 7))


@pytest.mark.parametrize("cursor", ["", "7", "AAAA", "=", "é", "a" * 100, "-1", "AAAAAAAAAAcAAAAAAAA"])
def test_malformed_cursors_are_refused(cursor: str) -> None:
    with pytest.raises(InvalidCursorError):
        decode_cursor(LIBRARY, cursor)


def test_every_changed_character_is_noticed() -> None:
    cursor = encode_cursor(LIBRARY, 7)
    for at in range(len(cursor)):
        changed = cursor[:at] + ("A" if cursor[at] != "A" else "B") + cursor[at + 1 :]
        with pytest.raises(InvalidCursorError):
            decode_cursor(LIBRARY, changed)
