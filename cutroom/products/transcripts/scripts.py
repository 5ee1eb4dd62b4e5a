"""Facts about writing: how wide text is, where blanks go, and where it can be taken apart."""

# ruff: noqa: RUF001 (marks of many scripts look alike)

import unicodedata
from functools import lru_cache

from cutroom.text.writing_systems import base_of, unspaced

# Written without blanks between words.
SPACELESS = frozenset({"zh", "yue", "ja", "th", "lo", "km", "my"})

OPENING = frozenset("([{«‹“„‘‚¿¡（［｛「『【〈《〔〖")
CLOSING = frozenset(")]}»›”’，、。．！？：；）］｝」』】〉》〕〗・％" + ",.!?:;%…\"'،؛؟।॥។៕၊။")
# Signs that belong to what stands before them: small kana, marks of length and repetition, Thai vowels and marks.
_FOLLOWING = frozenset("ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶーゝゞヽヾ々〻ะาำๅๆฯະາຳໆຯ")
_LEADING = frozenset("เแโใไເແໂໃໄ")  # Thai and Lao vowels written before their consonant
_JOINS_NEXT = frozenset("\u200d\u2060")
_SAFE_AFTER = frozenset("/-_.?&=#,;:—–+@~")

_WIDE = frozenset("WF")
_NO_WIDTH = frozenset({"Mn", "Me", "Cf", "Cc"})


def columns(text: str) -> int:
    """Width on the screen: wide characters count double, marks on other characters nothing."""
    return len(text) if text.isascii() else sum(_columns_of(character) for character in text)


@lru_cache(maxsize=8192)
def _columns_of(character: str) -> int:
    if unicodedata.category(character) in _NO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


def joined(words: list[str], *, language: str) -> str:
    """Words as running text, with blanks where the language writes them."""
    text = ""
    unspaced_language = base_of(language) in SPACELESS
    for word in words:
        if text and word and not (unspaced_language and _touches(text[-1], word[0])):
            text += " "
        text += word
    return text


def _touches(left: str, right: str) -> bool:
    return unspaced(left) or unspaced(right) or (left.isdigit() and right.isdigit()) or right in CLOSING


def parts_of(word: str, *, most_columns: int) -> list[str]:
    """The smallest parts of a word that may stand on different lines, none of them wider than `most_columns`.

    Words of scripts without blanks come apart between characters; others only after a dash, or when too wide.
    """
    if word.isascii() and len(word) <= most_columns:
        return [word]
    runs: list[str] = []
    for cluster in _clusters(word):
        if runs and not _opens(runs[-1], cluster):
            runs[-1] += cluster
        else:
            runs.append(cluster)
    return [part for run in runs for part in _narrow(run, most_columns)]


def _opens(run: str, cluster: str) -> bool:
    """Whether a line may end between the two without a need for it."""
    return unspaced(run[-1]) or unspaced(cluster[0]) or (run[-1] == "—" and cluster != "—")


def _narrow(run: str, most_columns: int) -> list[str]:
    """A run that is too wide, cut after a sign where it can be read on, or else anywhere between characters."""
    rest = columns(run)
    if rest <= most_columns:
        return [run]
    clusters = [part for each in _clusters(run) for part in (each if columns(each) > most_columns else [each])]
    parts = []
    start = 0
    while rest > most_columns:
        end, width = start, 0
        while end < len(clusters) and width + columns(clusters[end]) <= most_columns:
            width += columns(clusters[end])
            end += 1
        safe = [at + 1 for at in range((start + end) // 2, end) if clusters[at][-1] in _SAFE_AFTER]
        end = safe[-1] if safe else end
        parts.append("".join(clusters[start:end]))
        rest -= columns(parts[-1])
        start = end
    return [*parts, "".join(clusters[start:])]


def _clusters(text: str) -> list[str]:
    """Characters with the marks and signs that must stay with them."""
    clusters: list[str] = []
    for character in text:
        if clusters and stays(clusters[-1], character):
            clusters[-1] += character
        else:
            clusters.append(character)
    return clusters


def stays(before: str, character: str) -> bool:
    """Whether nothing may part a character from what stands before it."""
    left = before[-1]
    if left.isascii() and character.isascii():
        return False
    if left in _LEADING or left in _JOINS_NEXT or (left in OPENING and unspaced(left)):
        return True
    if character in _FOLLOWING or (character in CLOSING and unspaced(character)):
        return True
    if unicodedata.combining(left) == 9:  # a virama ties two consonants into one sign
        return True
    if _is_flag(character) and _is_flag(left):
        return len(before) % 2 == 1  # flags are pairs
    return unicodedata.category(character)[0] == "M" or character in _JOINS_NEXT or _modifies(character)


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _modifies(character: str) -> bool:
    """Skin tones and the vowels and endings of Korean syllables written in letters."""
    return "\U0001f3fb" <= character <= "\U0001f3ff" or "\u1160" <= character <= "\u11ff"
