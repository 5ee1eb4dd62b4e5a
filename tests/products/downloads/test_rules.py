"""Who may download how much, which dub is taken, and what files are called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.products.downloads.rules import (
    MAX_NAME,
    DubState,
    Ground,
    Tier,
    cap_of,
    ground_of,
    safe_name,
    select,
    stem_of,
    tier_of,
)


@pytest.mark.parametrize(
    ("download", "suspended", "tier", "cap"),
    [("full", False, Tier.FULL, None), ("sample", False, Tier.SAMPLE, 60.0)],
)
def test_the_plan_says_how_much(download: str, suspended: bool, tier: Tier, cap: float | None) -> None:  # noqa: FBT001
    assert tier_of(download, suspended=suspended) is tier
    assert cap_of(tier) == cap


@pytest.mark.parametrize("download", ["full", "sample"])
def test_a_suspended_library_downloads_nothing(download: str) -> None:
    assert tier_of(download, suspended=True) is None


@pytest.mark.parametrize(
    ("status", "completion", "ground"),
    [
        ("ready", "complete", Ground.COMPLETE),
        ("processing", "preview_ready", Ground.PREVIEW),
        ("processing", "pending", Ground.PENDING),
        ("queued", None, Ground.PENDING),
        ("failed", "preview_ready", Ground.FAILED),
    ],
)
def test_how_far_a_dub_has_come(status: str, completion: str | None, ground: Ground) -> None:
    assert ground_of(status, completion) is ground


def test_the_dub_that_has_come_furthest_is_taken_and_a_clone_before_a_service_voice() -> None:
    plus = DubState("a", "plus", Ground.COMPLETE)
    premium = DubState("b", "premium", Ground.COMPLETE)
    waiting = DubState("c", "premium", Ground.PREVIEW)
    assert select([plus, waiting]) == plus
    assert select([plus, premium]) == premium
    assert select([]) is None


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
def test_a_title_becomes_a_name_that_every_system_takes(title: str | None, name: str) -> None:
    assert safe_name(title) == name


@given(st.text())
def test_no_title_leads_out_of_a_folder_or_a_header(title: str) -> None:
    name = safe_name(title)
    assert 1 <= len(name) <= MAX_NAME + len("video-")
    assert all(letter.isascii() and (letter.isalnum() or letter in ".-") for letter in name)
    assert name[0] not in ".-"
    assert ".." not in name


@pytest.mark.parametrize(
    ("file_name", "stem"), [("holiday.mp4", "holiday"), ("v1.2 final", "v1.2-final"), ("a.tar.gz", "a.tar")]
)
def test_the_ending_of_a_file_is_not_part_of_its_title(file_name: str, stem: str) -> None:
    assert stem_of(file_name) == stem
