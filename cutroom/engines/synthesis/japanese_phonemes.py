"""Converts Japanese text to the phoneme symbols of Kokoro: text to kana with Open JTalk, kana to IPA."""

# ruff: noqa: RUF001 (phonemes, kana and full-width marks look like letters)

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from cutroom.engines.errors import EngineUnavailableError

CLAUSE_CHARACTERS = 200  # Open JTalk is given one clause at a time
_END = "。．！？!?、，\n"
_CLAUSE = re.compile(rf"[^{_END}]{{1,{CLAUSE_CHARACTERS}}}[{_END}]{{0,10}}|[{_END}]{{1,10}}")

_MARKS = {
    "、": ",", "，": ",", "。": ".", "．": ".", "！": "!", "？": "?", "：": ":", "；": ";", "…": "…", "―": "—",
    "—": "—", "「": "“", "」": "”", "『": "“", "』": "”", "“": "“", "”": "”", "（": "(", "）": ")",
}  # fmt: skip
_OPENING = ("“", "(")
_DEVOICED = "’"  # Open JTalk marks devoiced vowels, which the model devoices itself

# Consonants of each row: before `a`, `e` and `o`; before `i` and the glides of `ya`, `yu` and `yo`; before `u`.
_ROWS = {
    "アイウエオ": ("", "", ""), "カキクケコ": ("k", "kʲ", "k"), "ガギグゲゴ": ("ɡ", "ɡʲ", "ɡ"),
    "サシスセソ": ("s", "ɕ", "s"), "ザジズゼゾ": ("ʣ", "ʥ", "z"), "タチツテト": ("t", "ʨ", "ʦ"),
    "ダヂヅデド": ("d", "ʥ", "z"), "ナニヌネノ": ("n", "ɲ", "n"), "ハヒフヘホ": ("h", "ç", "ɸ"),
    "バビブベボ": ("b", "bʲ", "b"), "パピプペポ": ("p", "pʲ", "p"), "マミムメモ": ("m", "mʲ", "m"),
    "ラリルレロ": ("ɾ", "ɾʲ", "ɾ"),
}  # fmt: skip
_FRONTED = frozenset("スズツヅ")  # their `u` is pronounced further forward
_SINGLE = {
    "ヤ": "ja", "ユ": "jɯ", "ヨ": "jo", "ワ": "βa", "ヰ": "i", "ヱ": "e", "ヲ": "o", "ヴ": "vɯ", "ヵ": "ka", "ヶ": "ke",
    "ー": "ː", "ッ": "ʔ", "ン": "ɴ",
}  # fmt: skip
_SMALL = {"ァ": "a", "ィ": "i", "ゥ": "ɯ", "ェ": "e", "ォ": "o", "ャ": "a", "ュ": "ɨ", "ョ": "o", "ヮ": "a"}
_GLIDES = frozenset("ャュョ")
# Consonants before small vowels, in loanwords: plain, and palatalized before a small `i` or a glide.
_LOANS = {
    "イ": ("j", "j"), "ウ": ("β", "β"), "ク": ("kᵝ", "kᵝ"), "グ": ("ɡᵝ", "ɡᵝ"), "ス": ("s", "s"), "ズ": ("z", "z"),
    "ツ": ("ʦ", "ʦʲ"), "テ": ("tʲ", "tʲ"), "デ": ("dʲ", "dʲ"), "ト": ("t", "t"), "ド": ("d", "d"), "フ": ("ɸ", "ɸʲ"),
    "ヴ": ("v", "vʲ"),
}  # fmt: skip
# The nasal takes the place of articulation of the consonant after it.
_NASALS = {"m": "mpb", "ŋ": "kɡ", "ɲ": "ɲʨʥ", "n": "ntdɾzʣʦ"}


def japanese_phonemes(text: str) -> str:
    """The text as model symbols with punctuation; empty if it contains nothing to speak."""
    spoken = ""
    for surface, pronunciation in _words(unicodedata.normalize("NFC", text)):
        symbols = kana_to_ipa(pronunciation)
        mark = _MARKS.get(surface[:1])
        if symbols:
            spoken += symbols if not spoken or spoken.endswith((" ", *_OPENING)) else f" {symbols}"
        elif mark in _OPENING:
            spoken = f"{spoken} {mark}"
        elif mark:
            spoken = f"{spoken.rstrip()}{mark} "
    spoken = spoken.replace(" ː", "ː").replace("ʔ ", "ʔ").strip()
    return spoken if any(map(str.isalpha, spoken)) else ""


def kana_to_ipa(kana: str) -> str:
    """One word in katakana; other characters are dropped."""
    moras = _moras()
    symbols = [moras[each] for each in _split_moras(kana) if each in moras]
    return "".join(
        _nasal(symbols[at + 1] if at + 1 < len(symbols) else "") if symbol == "ɴ" else symbol
        for at, symbol in enumerate(symbols)
    )


def _words(text: str) -> Iterator[tuple[str, str]]:
    """Each word with its pronunciation in katakana, which is empty for punctuation."""
    try:
        import pyopenjtalk  # noqa: PLC0415 - optional, and large
    except ImportError as error:
        raise EngineUnavailableError("Install cutroom[speech-asia] to speak Japanese.") from error
    for clause in _CLAUSE.findall(text):
        # The reading of homographs needs a second dictionary of 200 MB, which is not installed.
        for word in pyopenjtalk.run_frontend(clause, use_sudachi_kanji_yomi=False):
            yield word["string"], word["pron"] if word["mora_size"] else ""


def _split_moras(kana: str) -> Iterator[str]:
    """A kana with the small vowel after it is one mora."""
    moras, at = _moras(), 0
    kana = kana.replace(_DEVOICED, "")
    while at < len(kana):
        size = 2 if kana[at : at + 2] in moras else 1
        yield kana[at : at + size]
        at += size


@cache
def _moras() -> dict[str, str]:
    moras = dict(_SINGLE) | _SMALL
    for row, (plain, palatal, before_u) in _ROWS.items():
        a, i, u, e, o = tuple(row)
        vowel = "ɨ" if u in _FRONTED else "ɯ"
        moras |= {a: f"{plain}a", i: f"{palatal}i", u: before_u + vowel, e: f"{plain}e", o: f"{plain}o"}
        moras |= {i + small: palatal + sound for small, sound in _SMALL.items() if palatal}
    for kana, (plain, palatal) in _LOANS.items():
        for small, sound in _SMALL.items():
            moras[kana + small] = (palatal if small == "ィ" or small in _GLIDES else plain) + sound
    return moras


def _nasal(following: str) -> str:
    return next((nasal for nasal, consonants in _NASALS.items() if following[:1] in consonants and following), "ɴ")
