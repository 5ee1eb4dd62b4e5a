"""The committed evaluation talks are valid, and a talk that breaks a rule of the format is refused."""

import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from eval.talks import (
    FOLDER,
    LANGUAGES,
    MAX_LINES,
    MIN_LINES,
    EvaluationTalk,
    Half,
    InvalidTalkError,
    contains_phrase,
    load_talks,
    parse_talk,
)

HEADER = """
title = "A walk"
genre = "walk"
half = "dev"
language = "en"
register = "informal"
background = "none"
names = ["Ana Prado"]
glossary = [{ en = "step", pt = "passo", es = "paso" }]

[[speakers]]
id = "ana"
name = "Ana Prado"
gender = "female"
voice = "af_heart"

[[pictures]]
at_line = 1
description = "a path"

[[pictures]]
at_line = 5
description = "a cup of coffee"
asset = "coffee.png"
"""
INTRODUCTION = """
[[lines]]
speaker = "ana"
en = "I am Ana Prado. Shall we go?"
pt = "Eu sou Ana Prado. Vamos?"
es = "Soy Ana Prado. ¿Vamos?"
traps = ["go = leave"]
"""


def line(number: int) -> str:
    return (
        f'\n[[lines]]\nspeaker = "ana"\nen = "This is step number {number}."\n'
        f'pt = "Este é o passo número {number}."\nes = "Este es el paso número {number}."\n'
    )


def valid_talk(lines: int = MIN_LINES) -> str:
    return HEADER + INTRODUCTION + "".join(line(number) for number in range(2, lines + 1))


def replaced(old: str, new: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return edit


def appended(more: str) -> Callable[[str], str]:
    return lambda text: text + more


SECOND_SPEAKER = """
[[speakers]]
id = "{id}"
name = "Bo"
gender = "male"
voice = "{voice}"
"""


@pytest.mark.parametrize("talk", load_talks(), ids=lambda talk: talk.slug)
def test_committed_talks_have_references_in_two_languages(talk: EvaluationTalk) -> None:
    assert {talk.language, *talk.targets} == set(LANGUAGES)
    assert len(talk.targets) == 2
    for line in talk.lines:
        assert talk.speaker(line).stock_voice.language.startswith(talk.language)
        # Untranslated lines are copies of the source.
        assert all(line.text(target) != talk.source(line) for target in talk.targets)


def test_dev_half_covers_its_genres() -> None:
    genres = {talk.genre for talk in load_talks(Half.DEV)}
    assert genres == {"product talk", "how-to", "lecture", "panel", "support call", "conversation"}


def test_halves_are_disjoint_and_complete() -> None:
    dev, held_out = load_talks(Half.DEV), load_talks(Half.HELD_OUT)
    assert {talk.half for talk in dev} == {Half.DEV}
    assert {talk.slug for talk in load_talks()} == {talk.slug for talk in (*dev, *held_out)}
    assert len(load_talks()) == len(dev) + len(held_out) == len(list(FOLDER.glob("*.toml")))


def test_no_line_occurs_in_two_talks() -> None:
    lines = [talk.source(line) for talk in load_talks() for line in talk.lines]
    assert len(lines) == len(set(lines))


@pytest.mark.parametrize("lines", [MIN_LINES, MAX_LINES])
def test_valid_talk_is_read(lines: int) -> None:
    talk = parse_talk(valid_talk(lines), slug="walk")
    assert (talk.slug, talk.half, len(talk.lines), talk.targets) == ("walk", Half.DEV, lines, ("pt", "es"))
    assert talk.lines[0].traps == ("go = leave",)
    assert talk.pictures[1].asset == "coffee.png"
    with pytest.raises(FrozenInstanceError):
        talk.title = "Another"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        pytest.param(replaced('title = "A walk"', "title = A walk"), "Invalid value", id="broken TOML"),
        pytest.param(replaced('title = "A walk"\n', ""), "title", id="missing key"),
        pytest.param(replaced("genre =", 'mood = "glad"\ngenre ='), "mood", id="unknown key"),
        pytest.param(replaced("at_line = 1", 'at_line = 1\nframe = "a"'), "pictures.0.frame", id="unknown picture key"),
        pytest.param(replaced('id = "ana"', 'id = "ana"\nage = "40"'), "speakers.0.age", id="unknown speaker key"),
        pytest.param(replaced("traps =", 'fr = "Allons"\ntraps ='), "lines.0.fr", id="unknown line key"),
        pytest.param(replaced(', es = "paso"', ""), "glossary.0.es", id="glossary without a language"),
        pytest.param(replaced('half = "dev"', 'half = "test"'), "half", id="unknown half"),
        pytest.param(replaced('language = "en"', 'language = "es"'), "language", id="unknown source language"),
        pytest.param(replaced('"informal"', '"polite"'), "register", id="unknown register"),
        pytest.param(replaced('"none"', '"rain"'), "background", id="unknown background"),
        pytest.param(replaced('"female"', '"neutral"'), "gender", id="unknown gender"),
        pytest.param(replaced('es = "Soy Ana Prado. ¿Vamos?"\n', ""), "lines.0.es", id="missing reference"),
        pytest.param(replaced('names = ["Ana Prado"]', 'names = ["Rio"]'), "no line says the name", id="name unsaid"),
        pytest.param(replaced("Eu sou Ana Prado", "Eu sou Ana"), "pt lacks the name", id="name lost in a reference"),
        pytest.param(replaced("Soy Ana Prado", "Soy Ana Prados"), "es lacks the name", id="name altered"),
        pytest.param(replaced('["Ana Prado"]', '["Ana Prado", "Ana Prado"]'), "listed twice", id="name twice"),
        pytest.param(replaced('en = "step"', 'en = "stair"'), "en term stair", id="glossary term unused"),
        pytest.param(replaced('es = "paso"', 'es = "escalón"'), "es term escalón", id="glossary not followed"),
        pytest.param(replaced('speaker = "ana"', 'speaker = "eva"'), "unknown speaker eva", id="unknown speaker"),
        pytest.param(appended(SECOND_SPEAKER.format(id="bo", voice="am_adam")), "bo says nothing", id="silent speaker"),
        pytest.param(appended(SECOND_SPEAKER.format(id="ana", voice="am_adam")), "declared twice", id="speaker twice"),
        pytest.param(appended(SECOND_SPEAKER.format(id="bo", voice="af_heart")), "share the voice", id="shared voice"),
        pytest.param(replaced("af_heart", "af_nobody"), "does not exist", id="unknown voice"),
        pytest.param(replaced("af_heart", "pf_dora"), "source language", id="voice of another language"),
        pytest.param(replaced("af_heart", "am_adam"), "gender", id="voice of another gender"),
        pytest.param(replaced(line(MIN_LINES), ""), f"{MIN_LINES - 1} lines", id="too few lines"),
        pytest.param(appended("".join(map(line, range(27, 38)))), f"{MAX_LINES + 1} lines", id="too many lines"),
        pytest.param(replaced(line(9), line(8)), "two lines say", id="duplicate line"),
        pytest.param(replaced("This is step number 7.", "Step seven."), "2 words", id="short line"),
        pytest.param(replaced("number 7.", "number 7" + " so" * 24 + "."), "29 words", id="long line"),
        pytest.param(replaced("Este es el paso número 7.", ""), "es is empty", id="empty reference"),
        pytest.param(replaced("passo número 7.", "passo número 7. "), "stray white space", id="stray white space"),
        pytest.param(replaced("¿Vamos?", "Vamos?"), "opening or closing mark", id="question"),
        pytest.param(replaced("paso número 7.", "paso número 7!"), "opening or closing mark", id="exclamation"),
        pytest.param(replaced("at_line = 1", "at_line = 2"), "do not start at line 1", id="no first picture"),
        pytest.param(replaced("at_line = 5", "at_line = 27"), "do not start at line 1", id="picture after the end"),
        pytest.param(replaced("at_line = 5", "at_line = 1"), "do not start at line 1", id="pictures at one line"),
        pytest.param(replaced("coffee.png", "../coffee.png"), "photograph", id="unknown photograph"),
        pytest.param(
            replaced(HEADER[HEADER.index("[[pictures]]\nat_line = 5") :], ""), "1 pictures", id="too few pictures"
        ),
    ],
)  # fmt: skip
def test_talk_that_breaks_a_rule_is_refused(edit: Callable[[str], str], message: str) -> None:
    with pytest.raises(InvalidTalkError, match=re.escape(message)):
        parse_talk(edit(valid_talk()), slug="walk")


def test_two_talks_of_one_genre_are_refused(tmp_path: Path) -> None:
    for name in ("walk", "stroll"):
        (tmp_path / f"{name}.toml").write_text(valid_talk())
    with pytest.raises(InvalidTalkError, match="genre walk"):
        load_talks(folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "phrase", "expected"),
    [
        ("June came.", "June", True),
        ("In Junebug Lane", "June", False),
        ("the Larkspur One, of course", "Larkspur One", True),
        ("larkspur one", "Larkspur One", False),
        ("Lívia!", "Lívia", True),
    ],
)
def test_phrases_match_whole_words(text: str, phrase: str, *, expected: bool) -> None:
    assert contains_phrase(text, phrase) is expected
