"""Finds spans that a translation must preserve verbatim: addresses, handles, placeholders, tags and emoji."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

# Longer tokens are keys or numbers, not words, and break engines.
MAX_WORD_CHARACTERS = 60
PLACEHOLDER_CHARACTERS = 80
TAG_CHARACTERS = 200


class PlaceholderKind(StrEnum):
    """Kind of a protected span."""

    URL = "url"
    EMAIL = "email"
    HANDLE = "handle"
    PLACEHOLDER = "placeholder"
    EMOJI = "emoji"
    LONG = "long"


@dataclass(frozen=True, slots=True)
class ProtectedSpan:
    """A span of text to preserve verbatim."""

    kind: PlaceholderKind
    text: str
    start: int
    end: int


# Repetitions are bounded and anchored to avoid quadratic time.
_DOMAINS = "com|org|net|edu|gov|info|dev|app|io|tv|fm|me|co|eu|uk|br|pt|es|fr|de|it|ca|us"
_PATTERNS: tuple[tuple[PlaceholderKind, str], ...] = (
    (PlaceholderKind.EMAIL, r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"),
    (PlaceholderKind.URL, r"(?:https?|ftp|rtmps?)://[^\s<>\"“”]+|www\.[^\s<>\"“”]+"),
    (PlaceholderKind.URL, rf"(?<![\w@.-])(?:[a-z0-9-]{{1,63}}\.){{1,8}}(?:{_DOMAINS})(?![\w.-]*\w)(?:/[^\s<>\"“”]*)?"),
    (PlaceholderKind.HANDLE, r"(?<![\w&])[@#][^\W\d_]\w*"),
    (PlaceholderKind.PLACEHOLDER, rf"\{{\{{[^{{}}]{{1,{PLACEHOLDER_CHARACTERS}}}\}}\}}"),
    (PlaceholderKind.PLACEHOLDER, rf"\$?\{{[^{{}}]{{0,{PLACEHOLDER_CHARACTERS}}}\}}"),
    (PlaceholderKind.PLACEHOLDER, r"(?<![\d%])%(?:\(\w{1,40}\))?[sd](?!\w)"),
    (
        PlaceholderKind.PLACEHOLDER,
        rf"</?[A-Za-z][\w-]*(?:\s[^<>]{{0,{TAG_CHARACTERS}}}=[^<>]{{0,{TAG_CHARACTERS}}})?\s*/?>",
    ),
    # Emoji with modifiers: skin tone, zero-width joiner, variation selector.
    (
        PlaceholderKind.EMOJI,
        "(?:[\U0001f000-\U0001faff\u2600-\u27bf\u2b50\u2b55\u231a\u231b][\ufe0f\u200d\U0001f3fb-\U0001f3ff]*)+",
    ),
    # Alphabetic scripts only: others write whole sentences without spaces.
    (PlaceholderKind.LONG, rf"[\u0021-\u052f]{{{MAX_WORD_CHARACTERS + 1},}}"),
)
_ANY = re.compile("|".join(f"(?P<p{number}>{pattern})" for number, (_, pattern) in enumerate(_PATTERNS)))
# Trailing punctuation belongs to the sentence, not the address.
_SENTENCE_MARKS = ".,;:!?…)]}'\u2019"


def find_protected_spans(text: str) -> list[ProtectedSpan]:
    """All protected spans, ordered and non-overlapping."""
    found = []
    for match in _ANY.finditer(text):
        kind = _PATTERNS[int((match.lastgroup or "p0")[1:])][0]
        literal = match.group()
        if kind is PlaceholderKind.URL:
            literal = literal.rstrip(_SENTENCE_MARKS)
        found.append(ProtectedSpan(kind, literal, match.start(), match.start() + len(literal)))
    return found


def clean_sentence(sentence: str) -> str:
    """Removes control and direction characters and collapses whitespace."""
    kept = []
    for character in sentence:
        category = unicodedata.category(character)
        if character.isspace() or category == "Cc":
            kept.append(" ")
        elif category not in {"Cf", "Cs", "Co", "Cn"} or character in _JOINERS:
            kept.append(character)
    return " ".join("".join(kept).split())


# Zero-width joiners, used by emoji and some scripts.
_JOINERS = "\u200c\u200d"


def has_words(text: str) -> bool:
    """Whether there are letters outside protected spans."""
    at = 0
    for span in find_protected_spans(text):
        if any(character.isalpha() for character in text[at : span.start]):
            return True
        at = span.end
    return any(character.isalpha() for character in text[at:])


def text_between(text: str, spans: Sequence[ProtectedSpan]) -> list[str]:
    """The text around the spans: always one segment more than there are spans."""
    edges = [0, *(edge for span in spans for edge in (span.start, span.end)), len(text)]
    return [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
