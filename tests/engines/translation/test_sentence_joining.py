"""Sentences across several lines."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from cutroom.engines.translation.document import DocumentLine
from cutroom.engines.translation.sentence_joining import divide, join_lines, sentence_groups


def line(number: int, text: str, *, speaker: str = "a", start: float | None = None) -> DocumentLine:
    return DocumentLine(str(number), text, speaker, start, None if start is None else start + 1.0)


def test_fragments_of_one_speaker_are_joined() -> None:
    lines = [line(1, "When the rain came,"), line(2, "we ran inside."), line(3, "It was late.")]
    assert sentence_groups(lines) == [range(2), range(2, 3)]


def test_other_speakers_pauses_and_whole_sentences_are_not_joined() -> None:
    assert len(sentence_groups([line(1, "When the rain came,"), line(2, "we ran.", speaker="b")])) == 2
    assert len(sentence_groups([line(1, "When the rain came,", start=0), line(2, "we ran.", start=9)])) == 2
    assert len(sentence_groups([line(1, "It rained."), line(2, "we ran.")])) == 2
    assert len(sentence_groups([line(1, "When"), line(2, "♪"), line(3, "we ran.")])) == 3


def test_a_translation_is_divided_at_the_clause() -> None:
    parts = divide(
        "Quando a chuva chegou, corremos para dentro.", ["When the rain came,", "we ran inside."], language="pt"
    )
    assert parts == ["Quando a chuva chegou,", "corremos para dentro."]


def test_numbers_decide_between_near_cuts() -> None:
    def faults(parts: Sequence[str]) -> int:
        return int("12" not in parts[0])

    translation, sources = "Ontem comprei 12 livros no total.", ["I bought about 12", "books yesterday in total."]
    assert divide(translation, sources, language="pt") == ["Ontem comprei", "12 livros no total."]
    assert divide(translation, sources, language="pt", faults=faults) == ["Ontem comprei 12", "livros no total."]


def test_too_few_words_are_not_divided() -> None:
    assert divide("Sim.", ["Yes, it", "is."], language="pt") is None


words = st.lists(st.text(alphabet="abcdefg,", min_size=1, max_size=8).filter(str.isalpha), min_size=1, max_size=20)


@given(words, st.lists(st.just("some words of a line"), min_size=1, max_size=4))
def test_no_word_is_lost_and_no_line_is_empty(translation: list[str], sources: list[str]) -> None:
    parts = divide(" ".join(translation), sources, language="pt")
    if parts is None:
        assert len(translation) < 2 * len(sources)
    else:
        assert len(parts) == len(sources)
        assert all(parts)
        assert join_lines(parts).split() == translation
