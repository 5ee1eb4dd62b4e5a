"""Decides whether a sentence ends between two words, given abbreviations and ordinals of several languages."""

# ruff: noqa: RUF001 (confusable characters are intended)

import re

from cutroom.text.writing_systems import SENTENCE_MARKS, primary_language, strip_closing_marks

# After an ordinal or abbreviation, a period ends a sentence only if the speaker pauses at least this long.
MIN_PAUSE_SECONDS = 0.35


def word_set(words: str) -> frozenset[str]:
    """A set of words from a space-separated string."""
    return frozenset(words.split())


_INITIAL = re.compile(r"[^\W\d_]\.")
_ACRONYM = re.compile(r"(?:[^\W\d_]\.){2,}")
_ORDINAL = re.compile(r"\d{1,4}\.")
_ORDINAL_PERIOD_LANGUAGES = word_set("de da nb nn no fi cs sk pl hu hr sr sl et lv")

# Abbreviated titles, followed by a name.
TITLE_ABBREVIATIONS = word_set("mr mrs ms dr prof st sr sra srta dra mme mlle mgr sig dott gen col capt lt sgt rev")
# Abbreviations that never end a sentence.
_NON_FINAL = TITLE_ABBREVIATIONS | word_set("vs approx ca cf e.g i.e z.b d.h u.a bzw p.ex av exmo exma avv")
# Abbreviations that do not end a sentence before a number.
_BEFORE_NUMBER = word_set("no nos fig figs art cap pág págs p pp vol núm nr nº")
# Abbreviations that end a sentence only before a pause.
_POSSIBLY_FINAL = word_set("etc jr inc ltd co corp a.m p.m usw ecc ltda cia dept")


def ends_sentence(text: str, after: str, *, pause_seconds: float = 0.0, language: str) -> bool:
    """Whether a sentence ends between two words."""
    end = strip_closing_marks(text)
    opening = next((character for character in after if character.isalnum()), "")
    if end[-1:] not in SENTENCE_MARKS or not opening or opening.islower():
        return False
    if end[-1] != "." or end.endswith(".."):
        return True
    word = end.lstrip("\"'“‘„«‹([¿¡").lower()
    if word[:-1] in _NON_FINAL or (word[:-1] in _BEFORE_NUMBER and opening.isdigit()):
        return False
    ambiguous = word[:-1] in _POSSIBLY_FINAL or _ACRONYM.fullmatch(word) or _INITIAL.fullmatch(word)
    if ambiguous or (_ORDINAL.fullmatch(word) and primary_language(language) in _ORDINAL_PERIOD_LANGUAGES):
        return pause_seconds >= MIN_PAUSE_SECONDS
    return True
