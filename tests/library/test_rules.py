"""What a folder may be called."""

import pytest

from cutroom.library.rules import fault_in_name, is_reserved

RESERVED = [
    "All Videos",
    "all videos",
    "ALL VIDEOS",
    "aLL vIDEOS",
    "All  Videos",
    "All\tVideos",
    "All\nVideos",
    " All Videos ",
    "All\u00a0Videos",
    "All\u2003Videos",
    "All\u3000Videos",
]
FREE = ["AllVideos", "All Video", "All Videos 2", "All-Videos", "My All Videos", "Videos", "All"]


@pytest.mark.parametrize("name", RESERVED)
def test_the_name_of_the_whole_library_is_reserved_however_it_is_written(name: str) -> None:
    assert is_reserved(name)
    assert fault_in_name(name) == "`All Videos` is reserved."


@pytest.mark.parametrize("name", FREE)
def test_a_name_that_only_resembles_it_is_free(name: str) -> None:
    assert not is_reserved(name)
    assert fault_in_name(name) is None


@pytest.mark.parametrize(
    ("name", "acceptable"),
    [
        ("", False),
        ("a", True),
        ("a" * 120, True),
        ("a" * 121, False),
        ("a" * 100_000, False),
        ("ü" * 120, True),
        ("ü" * 121, False),
        ("字" * 120, True),
        ("字" * 121, False),
        ("🎬" * 120, True),  # characters are counted, not bytes and not UTF-16 units
        ("🎬" * 121, False),
        ("Ça va? / \\ <b> 'x' \"y\" ; -- %", True),
    ],
)
def test_a_name_has_1_to_120_characters_of_any_script(name: str, *, acceptable: bool) -> None:
    assert (fault_in_name(name) is None) is acceptable
