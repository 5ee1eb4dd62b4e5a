"""Folder name rules."""

import pytest

from cutroom.library.rules import folder_name_error, is_reserved

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
def test_all_videos_is_reserved(name: str) -> None:
    assert is_reserved(name)
    assert folder_name_error(name) == "`All Videos` is reserved."


@pytest.mark.parametrize("name", FREE)
def test_similar_names_are_not_reserved(name: str) -> None:
    assert not is_reserved(name)
    assert folder_name_error(name) is None


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
        ("🎬" * 120, True),  # counts characters, not bytes or UTF-16 units
        ("🎬" * 121, False),
        ("Ça va? / \\ <b> 'x' \"y\" ; -- %", True),
    ],
)
def test_name_length_is_limited(name: str, *, acceptable: bool) -> None:
    assert (folder_name_error(name) is None) is acceptable
