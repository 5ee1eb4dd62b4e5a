"""Question marks: restored by word order and question words, and never put on statements."""

# ruff: noqa: RUF001 (typographic quotes are intended)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutroom.text.questions import is_unmarked_question, restore_question_mark
from cutroom.text.sentences import split_sentences
from eval.talks import Half, load_talks

QUESTIONS = {
    "en": [
        "Do you know why it leaks.",
        "So, Owen, can you pick it up.",
        "Is this the one.",
        "Aren't they late",
        "What's that smell.",
        "What do we do now.",
        "How much does it cost.",
        "How about lunch.",
        "Which one did she take.",
        "Why don’t we try again.",
        "What if it rains.",
        "If it leaks, what do you do.",
        "It leaks, doesn't it.",
        "You turned it off, right.",
        "Does the lid come off.",
        "Have you seen her.",
    ],
    "pt": [
        "Por que ele saiu.",
        "O que você quer.",
        "Qual é o nome dela.",
        "Quantos alunos vieram.",
        "Será que chove.",
        "Onde fica a feira.",
        "Como é que se faz.",
        "Isso é bom, né.",
        "E aí, cadê o pastel.",
        "De quem é isso.",
    ],
}
STATEMENTS = {
    "en": [
        "Do the dishes first.",
        "Do it again.",
        "Have a seat.",
        "Don't you dare.",
        "Had I known, I would have stayed.",
        "What you need is time.",
        "What's important is that we know.",
        "What is left is yours.",
        "What a day.",
        "When I was young, we walked.",
        "Which is why we stopped.",
        "How we got here is a long story.",
        "May the best one win.",
        "Who knows.",
        "Can openers are cheap.",
        "You can do it.",
        "Was.",
    ],
    "pt": [
        "Como eu disse, é simples.",
        "Quando cheguei, já era tarde.",
        "O que você precisa é de tempo.",
        "Quem quiser pode vir.",
        "Quanto mais caro, melhor.",
        "Porque é assim.",
        "Qual nada.",
        "Você sabe disso.",
    ],
    "de": ["Was ist das."],
}
ALL_QUESTIONS = [(text, language) for language, texts in QUESTIONS.items() for text in texts]
ALL_STATEMENTS = [(text, language) for language, texts in STATEMENTS.items() for text in texts]


@pytest.mark.parametrize(("text", "language"), ALL_QUESTIONS)
def test_questions_get_their_mark(text: str, language: str) -> None:
    assert restore_question_mark(text, language) == text.rstrip(".") + "?"


@pytest.mark.parametrize(("text", "language"), ALL_STATEMENTS)
def test_statements_keep_their_period(text: str, language: str) -> None:
    assert restore_question_mark(text, language) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“Do you know.”", "“Do you know?”"),
        ("Do you know...", "Do you know?"),
        ("Do you know?", "Do you know?"),
        ("Do you know!", "Do you know!"),
        ("Do you know,", "Do you know,"),
        ("", ""),
    ],
)
def test_only_a_period_or_missing_mark_is_replaced(text: str, expected: str) -> None:
    assert restore_question_mark(text, "en-US") == expected


def test_no_statement_of_the_dev_talks_becomes_a_question() -> None:
    found = {"en": [0, 0], "pt": [0, 0]}
    for talk in load_talks():
        if talk.half is not Half.DEV:
            continue
        for language, counts in found.items():
            for sentence in (each for line in talk.lines for each in split_sentences(getattr(line, language))):
                bare = sentence.rstrip("?.!…\"”'") + "."
                asked = sentence.rstrip("\"”'").endswith("?")
                assert asked or not is_unmarked_question(bare, language), sentence
                counts[0] += asked
                counts[1] += is_unmarked_question(bare, language)
    assert found["en"][1] >= 0.75 * found["en"][0]
    assert found["pt"][1] >= 0.35 * found["pt"][0]


@given(st.text(max_size=60), st.sampled_from(["en", "pt", "es", "und"]))
def test_only_the_end_changes(text: str, language: str) -> None:
    restored = restore_question_mark(text, language)
    assert restored == text or restored.count("?") == text.count("?") + 1
