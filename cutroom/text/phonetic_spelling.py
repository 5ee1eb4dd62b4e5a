"""Pronunciations in the International Phonetic Alphabet, which are written between slashes."""

# ruff: noqa: RUF001 (phonemes look like letters)

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

# Around phonemes in a text for a voice. Private-use characters, because slashes occur in texts as well.
_START, _END = "\ue000", "\ue001"
_SPELLING = re.compile(r"/([^/]+)/")
_MARKED = re.compile(f"{_START}([^{_START}{_END}]*){_END}")
# What voices that read phonemes know: letters, and marks that modify them.
LETTERS = frozenset("abcdefhijklmnopqrstuvwxyzɡɑɐɒæβɔɕçɖðʤəɚɛɜɟɥɨɪʝɯɰŋɳɲɴøɸθœɹɾɻʁɽʂʃʈʧʊʋʌɣɤχʎʒʔʣʥʦʨᵊᵻ")
MARKS = frozenset("ˈˌːʰʲ\u0303 ")
# Other ways to write the same: the letter g, ties between the parts of an affricate, syllable breaks, an apostrophe.
_EQUIVALENTS = str.maketrans({"g": "ɡ", "\u0361": None, "\u035c": None, ".": None, "'": "ˈ", ":": "ː", "ɫ": "l"})


@dataclass(frozen=True, slots=True)
class SpokenPart:
    """A part of a text for a voice: words, or phonemes."""

    text: str
    is_phonemes: bool


def phonemes_of(spelling: str) -> str | None:
    """The phonemes of a spelling between slashes, as voices know them; None if it is an ordinary spelling."""
    match = _SPELLING.fullmatch(spelling.strip())
    if match is None:
        return None
    return " ".join(unicodedata.normalize("NFD", match[1]).replace("c\u0327", "ç").translate(_EQUIVALENTS).split())


def unknown_phonemes(spelling: str) -> list[str]:
    """What a spelling between slashes has that no voice knows; everything if it has no letter."""
    phonemes = phonemes_of(spelling) or ""
    if not LETTERS & set(phonemes):
        return sorted(set(phonemes) or {spelling})
    return sorted(set(phonemes) - LETTERS - MARKS)


def marked(phonemes: str) -> str:
    """Phonemes as a part of a text for a voice."""
    return f"{_START}{phonemes}{_END}"


def spoken_parts(text: str) -> Iterator[SpokenPart]:
    """The parts of a text, in order."""
    at = 0
    for match in _MARKED.finditer(text):
        if before := text[at : match.start()].strip():
            yield SpokenPart(before, is_phonemes=False)
        yield SpokenPart(match[1], is_phonemes=True)
        at = match.end()
    if rest := text[at:].strip():
        yield SpokenPart(rest, is_phonemes=False)
