"""Text is split at natural pauses, and placeholders survive engines that mangle them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.text.passages import (
    batches,
    join_passages,
    match_case,
    scaled_limit,
    split_at_pauses,
    translate_preserving,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short", ["short"]),
        ("One is here. Two is there.", ["One is here.", "Two is there."]),
        ("one is here; two is there", ["one is here;", "two is there"]),
        ("one is here, two is there", ["one is here,", "two is there"]),
        ("one is here and two there", ["one is here", "and two there"]),
        ("ab" * 15, ["ab" * 7 + "a", "b" + "ab" * 7]),
        ("我们今天走了很久。我们谈论了很久的天气和孩子们", ["我们今天走了很久。", "我们谈论了很久的天气和孩子们"]),
    ],
)
def test_text_is_split_at_the_best_point(text: str, expected: list[str]) -> None:
    assert split_at_pauses(text, limit_characters=20) == expected


def test_placeholder_is_not_split() -> None:
    text = "we wrote to you {a b c d e f} and then again we did"
    assert any("{a b c d e f}" in passage for passage in split_at_pauses(text, limit_characters=24))


@given(st.text(alphabet=st.sampled_from("ab .,;{}x你。"), max_size=300), st.integers(5, 60))
def test_passages_are_complete_and_bounded(text: str, limit: int) -> None:
    passages = split_at_pauses(text, limit_characters=limit)
    assert "".join("".join(passages).split()) == "".join(text.split())
    assert all(len(passage) <= limit for passage in passages)


def test_limit_is_scaled_for_ideographs() -> None:
    assert scaled_limit("pt-BR", 240) == 240
    assert scaled_limit("zh", 240) == 80


def test_unspaced_languages_are_joined_without_spaces() -> None:
    assert join_passages(["a", "", "b"], language="pt") == "a b"
    assert join_passages(["我", "们"], language="zh-Hant") == "我们"


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [("it was", "Era", "era"), ("It was", "Era", "Era"), ("it was", "NASA", "NASA"), ("", "", ""), ("a", "É", "é")],
)
def test_lower_case_start_is_kept(source: str, translation: str, expected: str) -> None:
    assert match_case(source, translation) == expected


PRESERVED = [
    ("{x}Hello", "{x}HELLO"),
    ("Hello 😀", "HELLO 😀"),
    ("{x} 😀 {y}", "{x} 😀 {y}"),
    ("say {x} to me", "SAY {x} TO ME"),
    ("say {x}{x} to @me now", "SAY {x}{x} TO @me NOW"),
    ("X1X says {x} here", "X1X SAYS {x} HERE"),
    ("({x}) hello", "({x}) HELLO"),
    ("nothing at all", "NOTHING AT ALL"),
    ("12 {x} 13", "12 {x} 13"),
]


@pytest.mark.parametrize(("text", "expected"), PRESERVED)
def test_words_are_translated_and_placeholders_kept(text: str, expected: str) -> None:
    assert translate_preserving(text, str.upper) == expected


@pytest.mark.parametrize(("text", "expected"), PRESERVED)
def test_placeholders_are_kept_if_masks_get_lost(text: str, expected: str) -> None:
    assert translate_preserving(text, lambda text: text.upper().replace("X1X", "X 1").replace("X2X", "")) == (
        expected.replace("X1X", "X 1")
    )


def test_duplicated_mask_is_rejected() -> None:
    assert translate_preserving("say {x} to me", lambda text: text.replace("X1X", "X1X X1X").upper()) == "SAY {x} TO ME"


def test_batches_respect_both_bounds() -> None:
    texts = ["aa", "...", "bb", "cc", "", "d" * 9, "ee"]
    assert list(batches(texts, sentences=2, characters=100)) == [[0, 2], [3, 5], [6]]
    assert list(batches(texts, sentences=9, characters=6)) == [[0, 2, 3], [5], [6]]
    assert list(batches(["...", ""], sentences=2, characters=9)) == []
