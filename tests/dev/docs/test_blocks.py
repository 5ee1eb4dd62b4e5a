import pytest

from dev.docs.blocks import UnknownBlockError, regenerate, stale


def test_no_page_is_stale() -> None:
    assert [path.name for path, _ in stale()] == []


def test_text_around_a_block_is_unchanged() -> None:
    page = regenerate("before\n<!-- begin scaling assumptions -->\nold\n<!-- end -->\nafter\n")
    assert page.startswith("before\n<!-- begin scaling assumptions -->\n\n| assumption |")
    assert page.endswith("|\n\n<!-- end -->\nafter\n")
    assert "old" not in page


def test_regenerating_twice_changes_nothing() -> None:
    once = regenerate("<!-- begin scaling assumptions -->\n<!-- end -->\n")
    assert regenerate(once) == once


@pytest.mark.parametrize("name", ["example nothing-1", "scaling nothing", "nothing"])
def test_unknown_block_is_an_error(name: str) -> None:
    with pytest.raises(UnknownBlockError):
        regenerate(f"<!-- begin {name} -->\n<!-- end -->\n")
