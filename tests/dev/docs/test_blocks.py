import pytest

from dev.docs.blocks import UnknownBlockError, renewed, stale


def test_every_page_follows_from_the_code_and_the_figures() -> None:
    assert [path.name for path, _ in stale()] == []


def test_text_around_a_block_stays() -> None:
    made = renewed("before\n<!-- begin scaling assumptions -->\nold\n<!-- end -->\nafter\n")
    assert made.startswith("before\n<!-- begin scaling assumptions -->\n\n| assumed |")
    assert made.endswith("|\n\n<!-- end -->\nafter\n")
    assert "old" not in made


def test_writing_twice_changes_nothing() -> None:
    once = renewed("<!-- begin scaling assumptions -->\n<!-- end -->\n")
    assert renewed(once) == once


@pytest.mark.parametrize("name", ["example nothing-1", "scaling nothing", "nothing"])
def test_a_block_that_nothing_makes_is_an_error(name: str) -> None:
    with pytest.raises(UnknownBlockError):
        renewed(f"<!-- begin {name} -->\n<!-- end -->\n")
