"""Which full stops end a sentence, in several languages."""

# ruff: noqa: RUF001 (marks of many scripts look alike)

import re

from cutroom.text.writing_systems import SENTENCE_MARKS, bare, base_of

# After a number or an abbreviation, a full stop ends a sentence only where the speaker stops for so long.
STOP_SECONDS = 0.35


def listed(words: str) -> frozenset[str]:
    """A long list of words that still reads like one."""
    return frozenset(words.split())


_INITIAL = re.compile(r"[^\W\d_]\.")
_ACRONYM = re.compile(r"(?:[^\W\d_]\.){2,}")
_ORDINAL = re.compile(r"\d{1,4}\.")
_ORDINAL_STOPS = listed("de da nb nn no fi cs sk pl hu hr sr sl et lv")

# Titles as they are shortened: a name follows.
SHORT_TITLES = listed("mr mrs ms dr prof st sr sra srta dra mme mlle mgr sig dott gen col capt lt sgt rev")
# Never at the end of a sentence.
_LEADING = SHORT_TITLES | listed("vs approx ca cf e.g i.e z.b d.h u.a bzw p.ex av exmo exma avv")
# Not at the end of a sentence when a number follows.
_COUNTING = listed("no nos fig figs art cap pág págs p pp vol núm nr nº")
# At the end of a sentence only where the speaker stops.
_TRAILING = listed("etc jr inc ltd co corp a.m p.m usw ecc ltda cia dept")


def ends_sentence(text: str, after: str, *, pause_seconds: float = 0.0, language: str) -> bool:
    """Whether a sentence ends between two words."""
    end = bare(text)
    opening = next((character for character in after if character.isalnum()), "")
    if end[-1:] not in SENTENCE_MARKS or not opening or opening.islower():
        return False
    if end[-1] != "." or end.endswith(".."):
        return True
    word = end.lstrip("\"'“‘„«‹([¿¡").lower()
    if word[:-1] in _LEADING or (word[:-1] in _COUNTING and opening.isdigit()):
        return False
    unsure = word[:-1] in _TRAILING or _ACRONYM.fullmatch(word) or _INITIAL.fullmatch(word)
    if unsure or (_ORDINAL.fullmatch(word) and base_of(language) in _ORDINAL_STOPS):
        return pause_seconds >= STOP_SECONDS
    return True
