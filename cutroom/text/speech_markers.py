"""Marks spelled numbers while a text is normalized, so that adjacent numbers can be separated by a pause."""

import re

_START, _END = "\ue000", "\ue001"  # private-use characters
_ADJACENT = re.compile(f"{_END}[ ]+{_START}")
# A name with a number, then one word and another number: without a pause, `dos cuesta ciento` is heard as 2,100.
_NAMED = re.compile(
    rf"(\b\w{{0,30}}[A-Z]\w{{0,30}} {_START}[^{_START}{_END}]{{1,200}}{_END})(?= [^\W\d_]{{4,30}} {_START})"
)
_BEFORE_LETTER = re.compile(f"(?<={_END})(?=[^\\W\\d_])")
_MARKERS = re.compile(f"[{_START}{_END}]")


def mark_number(words: str) -> str:
    return f"{_START}{words}{_END}"


def remove_markers(text: str) -> str:
    return _MARKERS.sub("", text)


def separate_letters(text: str) -> str:
    """A space between a number and a letter that follows, as in `B2B`."""
    return _BEFORE_LETTER.sub(" ", text)


def separate_numbers(text: str) -> str:
    """`2 149` from two numbers becomes `two, one hundred forty-nine`; markers are removed."""
    return remove_markers(_ADJACENT.sub(", ", _NAMED.sub(r"\1,", text)))
