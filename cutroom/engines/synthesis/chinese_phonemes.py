"""Converts Chinese text to the phoneme symbols of Kokoro: characters to pinyin, pinyin to IPA."""

# ruff: noqa: RUF001 (phonemes and full-width marks look like letters)

import re
from collections.abc import Callable, Iterator

from cutroom.engines.errors import EngineUnavailableError

# Tone contours of the model; the neutral tone has none.
_TONES = {"1": "→", "2": "↗", "3": "↓", "4": "↘", "5": ""}
_INITIALS = {
    "b": "p", "p": "pʰ", "m": "m", "f": "f", "d": "t", "t": "tʰ", "n": "n", "l": "l", "g": "k", "k": "kʰ", "h": "x",
    "j": "ʨ", "q": "ʨʰ", "x": "ɕ", "z": "ʦ", "c": "ʦʰ", "s": "s", "zh": "\uab67", "ch": "\uab67ʰ", "sh": "ʂ", "r": "ɻ",
}  # fmt: skip
# Glide and vowel, and the coda, which follows the tone.
_FINALS = {
    "a": ("a", ""), "ai": ("ai", ""), "an": ("a", "n"), "ang": ("a", "ŋ"), "ao": ("au", ""),
    "e": ("ɤ", ""), "ei": ("ei", ""), "en": ("ə", "n"), "eng": ("ə", "ŋ"), "er": ("ɚ", ""), "ê": ("ɛ", ""),
    "i": ("i", ""), "ia": ("ja", ""), "ian": ("jɛ", "n"), "iang": ("ja", "ŋ"), "iao": ("jau", ""), "ie": ("je", ""),
    "in": ("i", "n"), "ing": ("i", "ŋ"), "iong": ("jʊ", "ŋ"), "iou": ("jou", ""), "io": ("jɔ", ""),
    "o": ("wo", ""), "ong": ("ʊ", "ŋ"), "ou": ("ou", ""),
    "u": ("u", ""), "ua": ("wa", ""), "uai": ("wai", ""), "uan": ("wa", "n"), "uang": ("wa", "ŋ"), "uei": ("wei", ""),
    "uen": ("wə", "n"), "ueng": ("wə", "ŋ"), "uo": ("wo", ""),
    "ü": ("y", ""), "üan": ("ɥɛ", "n"), "üe": ("ɥe", ""), "ün": ("y", "n"),
}  # fmt: skip
# Interjections that are no regular syllables.
_SYLLABLES = {"o": "ɔ", "m": "m", "n": "n", "ng": "ŋ", "hm": "hm", "hng": "hŋ"}
_APICAL = frozenset({"z", "c", "s", "zh", "ch", "sh", "r"})  # their `i` is a syllabic consonant

_SEGMENT = re.compile(
    "(?P<han>[\u3400-\u4dbf\u4e00-\u9fff\u3007]+)|(?P<latin>[A-Za-z]+(?:[ '-][A-Za-z]+)*)|(?P<rest>.)", re.DOTALL
)
_WHITESPACE = re.compile(r"\s+")
_SPACE_BEFORE_MARK = re.compile(r"\s(?=[,.!?:;…”)])")
_MARKS = {
    "、": ", ", "，": ", ", ",": ", ", "。": ". ", "．": ". ", ".": ". ", "！": "! ", "!": "! ", "？": "? ", "?": "? ",
    "：": ": ", ":": ": ", "；": "; ", ";": "; ", "…": "… ", "—": "— ", "“": " “", "”": "” ", "《": " “", "》": "” ",
    "「": " “", "」": "” ", "『": " “", "』": "” ", "【": " “", "】": "” ", "（": " (", "）": ") ",
    "(": " (", ")": ") ",
}  # fmt: skip


def chinese_phonemes(text: str, *, latin: Callable[[str], str]) -> str:
    """The text as model symbols with punctuation; digits are dropped, and `latin` converts words in Latin letters."""
    spoken = ""
    for match in _SEGMENT.finditer(text):
        if match["han"]:
            spoken += " ".join("".join(map(pinyin_to_ipa, word)) for word in _pinyin_words(match["han"]))
        elif match["latin"]:
            spoken += f" {latin(match['latin'])} "
        else:
            spoken += _MARKS.get(match["rest"], " ")
    spoken = _SPACE_BEFORE_MARK.sub("", _WHITESPACE.sub(" ", spoken)).strip()
    return spoken if any(map(str.isalpha, spoken)) else ""


def pinyin_to_ipa(pinyin: str) -> str:
    """One syllable such as `zhong1`; empty if it is none."""
    from pypinyin.contrib.tone_convert import to_finals, to_initials  # noqa: PLC0415 - optional

    syllable, tone = pinyin[:-1], _TONES.get(pinyin[-1:])
    if tone is None:
        return ""
    if syllable in _SYLLABLES:
        return _SYLLABLES[syllable] + tone
    initial, final = to_initials(syllable, strict=True), to_finals(syllable, strict=True, v_to_u=True)
    if final not in _FINALS:
        return ""
    vowel, coda = ("ɨ", "") if final == "i" and initial in _APICAL else _FINALS[final]
    return _INITIALS.get(initial, "") + vowel + tone + coda


def _pinyin_words(characters: str) -> Iterator[list[str]]:
    """The syllables of each word, with tone numbers; 5 is the neutral tone."""
    try:
        from pypinyin import Style, lazy_pinyin  # noqa: PLC0415 - optional
        from pypinyin.seg.mmseg import seg  # noqa: PLC0415 - optional
    except ImportError as error:
        raise EngineUnavailableError("Install cutroom[speech-asia] to speak Chinese.") from error
    for word in seg.cut(characters):
        yield lazy_pinyin(word, style=Style.TONE3, neutral_tone_with_five=True)
