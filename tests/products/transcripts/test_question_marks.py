"""Question marks in segments: the text and its last word change together."""

from cutroom.engines.recognition.port import Word
from cutroom.products.transcripts.question_marks import mark_questions
from cutroom.products.transcripts.segmentation import split_segments


def words(text: str) -> list[Word]:
    return [Word(each, at / 2, at / 2 + 0.4, 0.9) for at, each in enumerate(text.split())]


def test_questions_are_marked_in_text_and_words() -> None:
    segments = split_segments(words("Do you know why. I do."), lambda _: "A", language="en")
    asked, answered = mark_questions(segments, language="en")
    assert (asked.text, asked.words[-1].text) == ("Do you know why?", "why?")
    assert asked.words[:-1] == segments[0].words[:-1]
    assert answered == segments[1]


def test_other_languages_are_left_alone() -> None:
    segments = split_segments(words("Do you know why."), lambda _: "A", language="de")
    assert mark_questions(segments, language="de") == segments
