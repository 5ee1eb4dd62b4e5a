"""Finds line break opportunities: between words, and between likely phrases in scripts without spaces."""

import re
import unicodedata

MAX_CHUNKS = 16  # beyond this, the shortest neighbors are joined
LONG_PHRASE = 6  # characters, in scripts without spaces
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
# Kinsoku: closing punctuation, small kana, iteration and length marks never start a line.
_NO_START = frozenset(
    "!?,.:;)]\u3001\u3002\uff0c\uff0e\u30fb\uff1a\uff1b\uff1f\uff01\uff09\u3011\u300d\u300f\u30fc\u3005\u0e46"
    "\u3041\u3043\u3045\u3047\u3049\u3063\u3083\u3085\u3087\u30a1\u30a3\u30a5\u30a7\u30a9\u30c3\u30e3\u30e5\u30e7"
)
_NO_END = frozenset("([$#\uff08\u300c\u300e\u3010\u20ac\u00a3\u00a5")
_THAI_LEADING_VOWELS = frozenset("\u0e40\u0e41\u0e42\u0e43\u0e44")  # written before their syllable


# Articles, prepositions and conjunctions: avoided at line ends.
PROCLITICS = frozenset(
    {"a", "an", "the", "of", "in", "on", "at", "to", "for", "and", "or", "my", "your", "is", "about", "with", "from"}
    | {"der", "die", "das", "ein", "eine", "und", "im", "zu", "le", "la", "les", "un", "une", "de", "du", "des", "et"}
    | {"el", "los", "las", "una", "y", "en", "con", "o", "os", "as", "um", "uma", "e", "em", "da", "do"}
    | {"\u0641\u064a", "\u0645\u0646", "\u0639\u0644\u0649"}
)
_CLAUSE_STOPS = ",;:.!?\u2026\u060c\u061b)]"


def breakable_chunks(text: str) -> list[str]:
    """Unbreakable units with their trailing whitespace: words, or phrases in scripts without spaces.

    A number stays with its word: "200 DAYS", "TOP 5", "OF 1947".
    """
    chunks: list[str] = []
    for word in _joined_numbers(re.findall(r"\S+\s*", text)):
        chunks += _phrases(word) if _UNSPACED.search(word) else [word]
    while len(chunks) > MAX_CHUNKS:
        at = min(range(len(chunks) - 1), key=lambda each: len(chunks[each]) + len(chunks[each + 1]))
        chunks[at : at + 2] = [chunks[at] + chunks[at + 1]]
    return chunks


def _joined_numbers(words: list[str]) -> list[str]:
    """Joins each number with the word that it counts, or with the word before it if none follows in its clause."""
    joined: list[str] = []
    at = 0
    while at < len(words):
        word, following = words[at], words[at + 1] if at + 1 < len(words) else ""
        counts = bool(following) and word.rstrip()[-1] not in _CLAUSE_STOPS
        counts = counts and following.strip().lower() not in PROCLITICS
        if not _is_number(word):
            joined.append(word)
        elif counts:
            joined.append(word + following)
            at += 1
        elif joined and joined[-1].rstrip()[-1] not in _CLAUSE_STOPS:
            joined[-1] += word
        else:
            joined.append(word)
        at += 1
    return joined


def _is_number(word: str) -> bool:
    """Whether a word without its punctuation is a number, with or without a currency, such as "$1,000" or "50%"."""
    return any(map(str.isdigit, word)) and not any(map(str.isalpha, word)) and not _UNSPACED.search(word)


def _phrases(word: str) -> list[str]:
    """Heuristic phrase boundaries for Japanese, Chinese and Thai; a wrong break is harmless."""
    found: list[str] = []
    for at, letter in enumerate(word):
        no_break = letter in _NO_START or bool(unicodedata.combining(letter)) or _script(letter) == "mark"
        no_break = no_break or bool(found and found[-1][-1] in _NO_END)
        if not found or (not no_break and _begins(word, at, len(found[-1].strip()))):
            found.append(letter)
        else:
            found[-1] += letter
    return found


def _begins(word: str, at: int, length: int) -> bool:
    """Whether a phrase may begin here, given the length of the previous one."""
    script, before, after = (
        _script(word[at]),
        _script(word[at - 1]),
        _script(word[at + 1]) if at + 1 < len(word) else "",
    )
    if script == "thai":
        return length >= 5 and word[at] in _THAI_LEADING_VOWELS
    if length >= LONG_PHRASE and script != "other":
        return True
    if script == "han" and before == "han":
        # Chinese words mostly have two characters; in Japanese, a verb stem is the last kanji before its kana ending.
        return length >= 2 if not _has_kana(word) else after == "hiragana" and length >= 3
    return script != before and script in {"han", "katakana", "other"} and before != "other"


def _has_kana(word: str) -> bool:
    return any("\u3040" <= each <= "\u30ff" for each in word)


def _script(letter: str) -> str:
    if "\u4e00" <= letter <= "\u9fff" or "\u3400" <= letter <= "\u4dbf" or letter == "\u3005":
        return "han"
    if "\u30a0" <= letter <= "\u30ff":
        return "katakana"
    if "\u3040" <= letter <= "\u309f":
        return "hiragana"
    if unicodedata.category(letter)[0] == "P" or letter.isspace():
        return "mark"
    return "thai" if "\u0e00" <= letter <= "\u0eff" else "other"
