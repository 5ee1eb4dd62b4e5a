"""Tests for the Content-Disposition header."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.platform.storage.disposition import content_disposition
from tests.support import disposition


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("launch-pt.mp4", 'attachment; filename="launch-pt.mp4"'),
        ("Été.mp4", "attachment; filename=\"Ete.mp4\"; filename*=UTF-8''%C3%89t%C3%A9.mp4"),
        ("日本.srt", "attachment; filename=\"download.srt\"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.srt"),
        ("日本-pt.srt", "attachment; filename=\"pt.srt\"; filename*=UTF-8''%E6%97%A5%E6%9C%AC-pt.srt"),
        ("", "attachment; filename=\"download\"; filename*=UTF-8''"),
    ],
)
def test_header(name: str, header: str) -> None:
    assert content_disposition(name) == header


@given(st.text())
def test_no_name_ends_the_header(name: str) -> None:
    header = content_disposition(name)
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2
    assert "\\" not in header


@given(st.text(st.characters(categories=("L", "N")), min_size=1))
def test_clients_read_the_name_in_full(name: str) -> None:
    assert disposition.saved_name(content_disposition(f"{name}.mp4")) == f"{name}.mp4"
