"""Tests for download tiers, dub selection and chapters."""

import pytest

from cutroom.products.downloads.rules import (
    DubCandidate,
    DubReadiness,
    Tier,
    chapter_lines,
    download_tier,
    dub_readiness,
    max_duration,
    select_dub,
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
    ("description", "lines"),
    [
        (None, []),
        ("A talk.\n\nChapters\n0:00 Intro\n1:20 Lenses\n1:02:03 Questions\n\n#optics", 3),
        ("0:00 Intro\n1:20 Lenses", []),  # sites require three
        ("0:10 Intro\n1:20 Lenses\n2:00 End", []),  # and the first at the start
        ("At 0:00 Intro\nSee 1:20 Lenses\nSee 2:00 End", []),
    ],
)
def test_chapter_lines(description: str | None, lines: int | list[str]) -> None:
    expected = ["0:00 Intro", "1:20 Lenses", "1:02:03 Questions"] if lines == 3 else lines
    assert chapter_lines(description) == expected
