"""Finds what a translation must carry over letter by letter: addresses, handles, placeholders, tags and emoji."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

# No word of an alphabet is longer; what is longer is a key, a number or nonsense, and engines choke on it.
LONGEST_WORD_CHARACTERS = 60
PLACEHOLDER_CHARACTERS = 80
TAG_CHARACTERS = 200


class Kind(StrEnum):
    """What sort of thing is carried over."""

    URL = "url"
    EMAIL = "email"
    HANDLE = "handle"
    PLACEHOLDER = "placeholder"
    EMOJI = "emoji"
    LONG = "long"


@dataclass(frozen=True, slots=True)
class Protected:
    """A stretch of a text that stays as it is."""

    kind: Kind
    text: str
    start: int
    end: int


# Every repetition has a bound, and none can start in the middle of a run: time must not grow by the square.
_DOMAINS = "com|org|net|edu|gov|info|dev|app|io|tv|fm|me|co|eu|uk|br|pt|es|fr|de|it|ca|us"
_PATTERNS: tuple[tuple[Kind, str], ...] = (
    (Kind.EMAIL, r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"),
    (Kind.URL, r"(?:https?|ftp|rtmps?)://[^\s<>\"“”]+|www\.[^\s<>\"“”]+"),
    (Kind.URL, rf"(?<![\w@.-])(?:[a-z0-9-]{{1,63}}\.){{1,8}}(?:{_DOMAINS})(?![\w.-]*\w)(?:/[^\s<>\"“”]*)?"),
    (Kind.HANDLE, r"(?<![\w&])[@#][^\W\d_]\w*"),
    (Kind.PLACEHOLDER, rf"\{{\{{[^{{}}]{{1,{PLACEHOLDER_CHARACTERS}}}\}}\}}"),
    (Kind.PLACEHOLDER, rf"\$?\{{[^{{}}]{{0,{PLACEHOLDER_CHARACTERS}}}\}}"),
    (Kind.PLACEHOLDER, r"(?<![\d%])%(?:\(\w{1,40}\))?[sd](?!\w)"),
    (Kind.PLACEHOLDER, rf"</?[A-Za-z][\w-]*(?:\s[^<>]{{0,{TAG_CHARACTERS}}}=[^<>]{{0,{TAG_CHARACTERS}}})?\s*/?>"),
    # Pictures with what may follow them: a skin colour, a joiner to the next one, the sign that asks for colour.
    (
        Kind.EMOJI,
        "(?:[\U0001f000-\U0001faff\u2600-\u27bf\u2b50\u2b55\u231a\u231b][\ufe0f\u200d\U0001f3fb-\U0001f3ff]*)+",
    ),
    # Only in alphabets: some scripts write whole sentences without a blank.
    (Kind.LONG, rf"[\u0021-\u052f]{{{LONGEST_WORD_CHARACTERS + 1},}}"),
)
_ANY = re.compile("|".join(f"(?P<p{number}>{pattern})" for number, (_, pattern) in enumerate(_PATTERNS)))
# Marks at the end of an address belong to the sentence around it.
_SENTENCE_MARKS = ".,;:!?…)]}'\u2019"


def find_protected(text: str) -> list[Protected]:
    """Everything to carry over, in order and without overlap."""
    found = []
    for match in _ANY.finditer(text):
        kind = _PATTERNS[int((match.lastgroup or "p0")[1:])][0]
        part = match.group()
        if kind is Kind.URL:
            part = part.rstrip(_SENTENCE_MARKS)
        found.append(Protected(kind, part, match.start(), match.start() + len(part)))
    return found


def cleaned(sentence: str) -> str:
    """The sentence without what nobody can see: control and direction marks go, blanks of any sort become one."""
    kept = []
    for character in sentence:
        category = unicodedata.category(character)
        if character.isspace() or category == "Cc":
            kept.append(" ")
        elif category not in {"Cf", "Cs", "Co", "Cn"} or character in _JOINERS:
            kept.append(character)
    return " ".join("".join(kept).split())


# Emoji and some scripts are written with them.
_JOINERS = "\u200c\u200d"


def has_words(text: str) -> bool:
    """Whether there is anything to translate, apart from what is carried over."""
    at = 0
    for part in find_protected(text):
        if any(character.isalpha() for character in text[at : part.start]):
            return True
        at = part.end
    return any(character.isalpha() for character in text[at:])


def between(text: str, parts: Sequence[Protected]) -> list[str]:
    """What lies around the protected parts: always one more than there are parts."""
    edges = [0, *(edge for part in parts for edge in (part.start, part.end)), len(text)]
    return [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
