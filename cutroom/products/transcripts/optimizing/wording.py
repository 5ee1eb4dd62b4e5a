"""Removes from a text what its speaker would not have written: hesitations, repeated words and broken-off ones."""

import re
from collections.abc import Iterator

from cutroom.products.transcripts.cutting.suggestions import is_hesitation, suggest_cuts
from cutroom.products.transcripts.document import DocumentSegment

MAX_PASSES = 5  # a word that is removed can leave the same words on both sides
_BROKEN_OFF = re.compile(r"(?:(?<=\s)|^)(\w{2,})[-\N{EN DASH}\N{EM DASH}]+,?\s+(?=(\w+))")
_SPACE_BEFORE = re.compile(r"\s+([,.;:!?…])")
_DOUBLE_COMMA = re.compile(r",(?:\s*,)+")
_LEADING = re.compile(r"^[\s,;:.…\N{EN DASH}\N{EM DASH}-]+(?=\w)")
_TRAILING = re.compile(r"[\s,;:]+$")


def clean_wording(text: str, *, language: str) -> str:
    """The text without disfluencies; empty if there is nothing else. Other words stay as they are."""
    if is_hesitation(text, language=language):
        return ""
    cleaned = text
    for _ in range(MAX_PASSES):
        before, cleaned = cleaned, _without(cleaned, [*_disfluencies(cleaned, language)])
        if cleaned == before:
            break
    return _tidy(cleaned) if cleaned != text else text


def _disfluencies(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Spans to remove, with the white space after them."""
    whole = DocumentSegment("", 0.0, 0.0, text, "")
    for found in suggest_cuts([whole], language=language):
        yield found.start, found.end
    for broken in _BROKEN_OFF.finditer(text):
        part, word = broken.group(1).casefold(), broken.group(2).casefold()
        if word.startswith(part) and len(word) > len(part):
            yield broken.start(), broken.end()


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """The text without spans that do not overlap; what follows a removed capital begins with one."""
    end_of_last = len(text) + 1
    for start, end in sorted(spans, reverse=True):
        if end > end_of_last:
            continue
        end_of_last = start
        rest = text[end:]
        if text[start : start + 1].isupper():
            rest = rest[:1].upper() + rest[1:]
        text = text[:start] + rest
    return text


def _tidy(text: str) -> str:
    text = _DOUBLE_COMMA.sub(",", _SPACE_BEFORE.sub(r"\1", " ".join(text.split())))
    return _TRAILING.sub("", _LEADING.sub("", text))
