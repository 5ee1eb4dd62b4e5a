"""Long sentences are cut where a speaker would pause, and what is carried over survives an engine that mangles it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.text.passages import batches, cut, join, limit_in, translate_around, with_case_of


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
def test_it_is_cut_at_the_best_place(text: str, expected: list[str]) -> None:
    assert cut(text, limit_characters=20) == expected


def test_an_address_is_not_cut() -> None:
    text = "we wrote to you {a b c d e f} and then again we did"
    assert any("{a b c d e f}" in passage for passage in cut(text, limit_characters=24))


@given(st.text(alphabet=st.sampled_from("ab .,;{}x你。"), max_size=300), st.integers(5, 60))
def test_every_word_is_in_some_passage_and_none_is_too_long(text: str, limit: int) -> None:
    passages = cut(text, limit_characters=limit)
    assert "".join("".join(passages).split()) == "".join(text.split())
    assert all(len(passage) <= limit for passage in passages)


def test_signs_that_stand_for_words_make_shorter_passages() -> None:
    assert limit_in("pt-BR", 240) == 240
    assert limit_in("zh", 240) == 80


def test_languages_without_blanks_are_joined_without() -> None:
    assert join(["a", "", "b"], language="pt") == "a b"
    assert join(["我", "们"], language="zh-Hant") == "我们"


@pytest.mark.parametrize(
    ("source", "answer", "expected"),
    [("it was", "Era", "era"), ("It was", "Era", "Era"), ("it was", "NASA", "NASA"), ("", "", ""), ("a", "É", "é")],
)
def test_a_small_letter_at_the_start_stays_one(source: str, answer: str, expected: str) -> None:
    assert with_case_of(source, answer) == expected


AROUND = [
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


@pytest.mark.parametrize(("text", "expected"), AROUND)
def test_words_are_translated_and_the_rest_is_carried_over(text: str, expected: str) -> None:
    assert translate_around(text, str.upper) == expected


@pytest.mark.parametrize(("text", "expected"), AROUND)
def test_so_it_is_where_the_engine_loses_its_marks(text: str, expected: str) -> None:
    assert translate_around(text, lambda part: part.upper().replace("X1X", "X 1").replace("X2X", "")) == (
        expected.replace("X1X", "X 1")
    )


def test_an_engine_that_doubles_a_mark_is_not_believed() -> None:
    assert translate_around("say {x} to me", lambda part: part.replace("X1X", "X1X X1X").upper()) == "SAY {x} TO ME"


def test_batches_hold_what_has_words_within_both_bounds() -> None:
    texts = ["aa", "...", "bb", "cc", "", "d" * 9, "ee"]
    assert list(batches(texts, sentences=2, characters=100)) == [[0, 2], [3, 5], [6]]
    assert list(batches(texts, sentences=9, characters=6)) == [[0, 2, 3], [5], [6]]
    assert list(batches(["...", ""], sentences=2, characters=9)) == []
