"""Tests for human file names."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.text.file_names import file_name, safe_stem, title_stem

MAX_BYTES = 255  # of a file name on common file systems


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("How a lens sees", "How-a-lens-sees"),
        ("Été à Paris!", "Été-à-Paris"),
        ("E\u0301te\u0301", "Été"),  # decomposed
        ("日本の朝", "日本の朝"),
        ("नमस्ते दुनिया", "नमस्ते-दुनिया"),
        ("../../etc/passwd", "etc-passwd"),
        ("C:\\Windows\\system32", "C-Windows-system32"),
        ('a"b\r\nSet-Cookie: x', "a-b-Set-Cookie-x"),
        ("null\0byte", "null-byte"),
        ("gpj.\u202eexe", "gpj.exe"),  # right-to-left override
        ("a\u2028b\u200fc\ufeffd", "a-bcd"),
        ("a/b\u2044c\uff0fd\u2215e", "a-b-c-d-e"),  # slashes, and what looks like them
        ("😀 party 🎉", "party"),
        ("💥", "video"),
        ("\ud800", "video"),  # a lone surrogate
        ("", "video"),
        (None, "video"),
        ("CON", "video-CON"),
        ("aux.txt", "video-aux.txt"),
        ("COM¹", "video-COM¹"),
        ("console", "console"),
        (".hidden", "hidden"),
        ("trailing. ", "trailing"),
        ("a...b", "a.b"),
        ("%2e%2e%2f", "2e-2e-2f"),
    ],
)
def test_safe_stem(title: str | None, stem: str) -> None:
    assert safe_stem(title) == stem


@pytest.mark.parametrize(
    ("title", "stem"),
    [("holiday.mp4", "holiday"), ("v1.2 final", "v1.2-final"), ("a.tar.gz", "a.tar"), ("Mr. T", "Mr.T")],
)
def test_title_stem_drops_the_extension(title: str, stem: str) -> None:
    assert title_stem(title) == stem


@pytest.mark.parametrize(
    ("labels", "extension", "name"),
    [
        ((), "zip", "launch.zip"),
        (("pt",), "mp4", "launch-pt.mp4"),
        (("pt-BR",), "srt", "launch-pt-BR.srt"),
        (("short", 1), "mp4", "launch-short-1.mp4"),
    ],
)
def test_file_name(labels: tuple[str | int, ...], extension: str, name: str) -> None:
    assert file_name("launch.mp4", *labels, extension=extension) == name


@given(st.text(max_size=400))
def test_any_title_gives_a_portable_name(title: str) -> None:
    name = file_name(title, "thumbnail", 12, "zh-Hant", extension="jpeg")
    assert len(name.encode()) <= MAX_BYTES
    assert not set(name) & set('/\\:*?"<>|%')
    assert all(unicodedata.category(each)[0] not in "CZ" for each in name)
    assert name[0] not in ".-"
    assert ".." not in name
    assert name.startswith(safe_stem(title_stem(title)))  # a safe stem stays as it is


def test_a_long_title_is_cut_between_characters() -> None:
    assert safe_stem("日" * 300) == "日" * 53
