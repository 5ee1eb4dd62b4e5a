"""Tests for download tiers, dub selection and file names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.products.downloads.rules import (
    MAX_NAME,
    DubCandidate,
    DubReadiness,
    Tier,
    download_tier,
    dub_readiness,
    max_duration,
    safe_name,
    select_dub,
    title_stem,
)


@pytest.mark.parametrize(
    ("download", "suspended", "tier", "seconds"),
    [("full", False, Tier.FULL, None), ("sample", False, Tier.SAMPLE, 60.0)],
)
def test_tier_and_maximum_duration(download: str, suspended: bool, tier: Tier, seconds: float | None) -> None:  # noqa: FBT001
    assert download_tier(download, suspended=suspended) is tier
    assert max_duration(tier) == seconds


@pytest.mark.parametrize("download", ["full", "sample"])
def test_suspended_library_has_no_tier(download: str) -> None:
    assert download_tier(download, suspended=True) is None


@pytest.mark.parametrize(
    ("status", "completion", "readiness"),
    [
        ("ready", "complete", DubReadiness.COMPLETE),
        ("processing", "preview_ready", DubReadiness.PREVIEW),
        ("processing", "pending", DubReadiness.PENDING),
        ("queued", None, DubReadiness.PENDING),
        ("failed", "preview_ready", DubReadiness.FAILED),
    ],
)
def test_dub_readiness(status: str, completion: str | None, readiness: DubReadiness) -> None:
    assert dub_readiness(status, completion) is readiness


def test_most_complete_dub_is_selected_and_premium_first() -> None:
    plus = DubCandidate("a", "plus", DubReadiness.COMPLETE)
    premium = DubCandidate("b", "premium", DubReadiness.COMPLETE)
    waiting = DubCandidate("c", "premium", DubReadiness.PREVIEW)
    assert select_dub([plus, waiting]) == plus
    assert select_dub([plus, premium]) == premium
    assert select_dub([]) is None


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("How a lens sees", "How-a-lens-sees"),
        ("Été à Paris!", "Ete-a-Paris"),
        ("../../etc/passwd", "etc-passwd"),
        ('a"b\r\nSet-Cookie: x', "a-b-Set-Cookie-x"),
        ("日本", "video"),
        ("", "video"),
        (None, "video"),
        ("CON", "video-CON"),
        ("aux.txt", "video-aux.txt"),
        (".hidden", "hidden"),
    ],
)
def test_safe_name(title: str | None, name: str) -> None:
    assert safe_name(title) == name


@given(st.text())
def test_safe_name_never_escapes_a_directory_or_header(title: str) -> None:
    name = safe_name(title)
    assert 1 <= len(name) <= MAX_NAME + len("video-")
    assert all(letter.isascii() and (letter.isalnum() or letter in ".-") for letter in name)
    assert name[0] not in ".-"
    assert ".." not in name


@pytest.mark.parametrize(
    ("file_name", "stem"), [("holiday.mp4", "holiday"), ("v1.2 final", "v1.2-final"), ("a.tar.gz", "a.tar")]
)
def test_title_stem_drops_the_extension(file_name: str, stem: str) -> None:
    assert title_stem(file_name) == stem
