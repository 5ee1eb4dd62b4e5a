"""Display width of text, spacing between words, and break opportunities inside words."""

# ruff: noqa: RUF001 (confusable characters are intended)

import unicodedata
from functools import lru_cache

from cutroom.text.writing_systems import is_unspaced, primary_language

# Languages written without spaces between words.
UNSPACED_LANGUAGES = frozenset({"zh", "yue", "ja", "th", "lo", "km", "my"})

OPENING_PUNCTUATION = frozenset("([{«‹“„‘‚¿¡（［｛「『【〈《〔〖")
CLOSING_PUNCTUATION = frozenset(")]}»›”’，、。．！？：；）］｝」』】〉》〕〗・％" + ",.!?:;%…\"'،؛؟।॥។៕၊။")
# Never at the start of a line: small kana, length and iteration marks, Thai and Lao vowels and marks.
_FOLLOWING = frozenset("ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶーゝゞヽヾ々〻ะาำๅๆฯະາຳໆຯ")
_LEADING = frozenset("เแโใไເແໂໃໄ")  # Thai and Lao vowels written before their consonant
_JOINS_NEXT = frozenset("\u200d\u2060")
_SAFE_AFTER = frozenset("/-_.?&=#,;:—–+@~")

_WIDE = frozenset("WF")
_NO_WIDTH = frozenset({"Mn", "Me", "Cf", "Cc"})


def display_width(text: str) -> int:
    """Width in columns: East Asian wide characters count as two, combining marks as zero."""
    return len(text) if text.isascii() else sum(_character_width(character) for character in text)


@lru_cache(maxsize=8192)
def _character_width(character: str) -> int:
    if unicodedata.category(character) in _NO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


def join_words(words: list[str], *, language: str) -> str:
    """Join words into text, with spaces where the language uses them."""
    text = ""
    unspaced_language = primary_language(language) in UNSPACED_LANGUAGES
    for word in words:
        if text and word and not (unspaced_language and _touches(text[-1], word[0])):
            text += " "
        text += word
    return text


def _touches(left: str, right: str) -> bool:
    return (
        is_unspaced(left) or is_unspaced(right) or (left.isdigit() and right.isdigit()) or right in CLOSING_PUNCTUATION
    )


def split_word(word: str, *, max_columns: int) -> list[str]:
    """Split a word into the smallest units that may be on different lines, none wider than `max_columns`.

    Scripts without word spacing break between characters; other words only after a dash or when too wide.
    """
    if word.isascii() and len(word) <= max_columns:
        return [word]
    runs: list[str] = []
    for cluster in _clusters(word):
        if runs and not _can_break(runs[-1], cluster):
            runs[-1] += cluster
        else:
            runs.append(cluster)
    return [part for run in runs for part in _split_wide(run, max_columns)]


def _can_break(run: str, cluster: str) -> bool:
    """Whether a line may break between the two even if both fit."""
    return is_unspaced(run[-1]) or is_unspaced(cluster[0]) or (run[-1] == "—" and cluster != "—")


def _split_wide(run: str, max_columns: int) -> list[str]:
    """Split a run that is too wide, after punctuation if possible, otherwise between any characters."""
    rest = display_width(run)
    if rest <= max_columns:
        return [run]
    clusters = [part for each in _clusters(run) for part in (each if display_width(each) > max_columns else [each])]
    parts = []
    start = 0
    while rest > max_columns:
        end, width = start, 0
        while end < len(clusters) and width + display_width(clusters[end]) <= max_columns:
            width += display_width(clusters[end])
            end += 1
        safe = [at + 1 for at in range((start + end) // 2, end) if clusters[at][-1] in _SAFE_AFTER]
        end = safe[-1] if safe else end
        parts.append("".join(clusters[start:end]))
        rest -= display_width(parts[-1])
        start = end
    return [*parts, "".join(clusters[start:])]


def _clusters(text: str) -> list[str]:
    """Characters together with the marks that must not be separated from them."""
    clusters: list[str] = []
    for character in text:
        if clusters and joins_previous(clusters[-1], character):
            clusters[-1] += character
        else:
            clusters.append(character)
    return clusters


def joins_previous(before: str, character: str) -> bool:
    """Whether a character must not be separated from the preceding text."""
    left = before[-1]
    if left.isascii() and character.isascii():
        return False
    if left in _LEADING or left in _JOINS_NEXT or (left in OPENING_PUNCTUATION and is_unspaced(left)):
        return True
    if character in _FOLLOWING or (character in CLOSING_PUNCTUATION and is_unspaced(character)):
        return True
    if unicodedata.combining(left) == 9:  # virama: joins two consonants into one glyph
        return True
    if _is_regional_indicator(character) and _is_regional_indicator(left):
        return len(before) % 2 == 1  # flags are pairs of regional indicators
    return unicodedata.category(character)[0] == "M" or character in _JOINS_NEXT or _is_modifier(character)


def _is_regional_indicator(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _is_modifier(character: str) -> bool:
    """Emoji skin tones, and medial and final Hangul jamo."""
    return "\U0001f3fb" <= character <= "\U0001f3ff" or "\u1160" <= character <= "\u11ff"
