"""What a text about a film stands on: every number and name in it, and most of its words, must have been said."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from cutroom.engines.writing.port import WritingInput
from cutroom.text.numbers import plain, read_numbers
from cutroom.text.placeholders import Kind, find_protected
from cutroom.text.vocabulary import stems, words_of
from cutroom.text.writing_systems import base_of, unspaced

_STEP = re.compile(r"^\d{1,2}\.\s+")
_TIME = re.compile(r"^(?:(?P<hours>\d+):)?(?P<minutes>\d+):(?P<seconds>\d\d)\s+")
_HEADING = re.compile(r"^#{1,6}\s+")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
# A capital behind one of these is due.
_BEFORE_CAPITALS = '.!?…:;—\u2013"“”„\u2018«»()[]¿¡/|\u2022\u300c\u3002'
_APOSTROPHE = re.compile(r"['\u2019]")


@dataclass(frozen=True, slots=True)
class Grounds:
    """All words and numbers of a transcript, in the forms in which a text may repeat them."""

    language: str
    words: frozenset[str]
    stems: frozenset[str]
    refused: frozenset[str]  # stems of what somebody said to a machine, and nobody said to people
    numbers: frozenset[Fraction]
    squashed: str  # everything that was said without blanks and marks, for hashtags
    literals: frozenset[str]
    starts: frozenset[int]  # the seconds at which something begins


def grounds_of(material: WritingInput, *, allowed: Sequence[str] = (), refused: Sequence[str] = ()) -> Grounds:
    """What was said, and what a brand voice allows beside it; words that stand only in what is refused are refused."""
    language = material.language
    texts = [*(each.text for each in material.said), *allowed]
    whole = " ".join(texts)
    mentions = [mention for text in texts for mention in read_numbers(text, language=base_of(language), loosely=True)]
    values = {value for mention in mentions for value in (*mention.values, *map(Fraction, mention.parts))}
    elsewhere = _stems([text for text in texts if text not in set(refused)], language)
    return Grounds(
        language,
        frozenset(each for word in _WORD.findall(whole) for each in _forms(word)),
        _stems(texts, language),
        _stems(refused, language) - elsewhere,
        frozenset(values),
        "".join(plain(each) for each in whole if each.isalnum()),
        frozenset(part.text.lower() for text in texts for part in find_protected(text)),
        frozenset(int(each.start_seconds) for each in material.said),
    )


def unsupported_claims(text: str, grounds: Grounds, *, but: frozenset[str] = frozenset()) -> list[str]:
    """Every number, name, address and hashtag of a text that nobody said, and words that were said to machines only.

    Words in `but` are the writer's own.
    """
    found: list[str] = []
    for line in text.splitlines():
        rest = _without_form(line, grounds)
        parts = [each for each in find_protected(rest) if each.kind in {Kind.URL, Kind.EMAIL, Kind.HANDLE}]
        found += [each.text for each in parts if not _is_known(each.text, grounds)]
        for part in reversed(parts):
            rest = rest[: part.start] + " " + rest[part.end :]
        numbers = read_numbers(rest, language=base_of(grounds.language))
        found += [each.text for each in numbers if not each.values & grounds.numbers]
        found += [word for word in _capitals(rest) if not _is_said(word, grounds, but)]
        found += [
            stem for stem in stems(rest, language=grounds.language) if stem in grounds.refused and stem not in but
        ]
    return found


def support(text: str, grounds: Grounds, *, but: frozenset[str] = frozenset()) -> float:
    """The share of a text's telling words that were said, from 0 to 1."""
    own = [stem for stem in stems(text, language=grounds.language) if stem not in but and not stem.isdigit()]
    return sum(stem in grounds.stems for stem in own) / len(own) if own else 0.0


def _stems(texts: Sequence[str], language: str) -> frozenset[str]:
    return frozenset(stem for text in texts for stem in stems(text, language=language))


def _without_form(line: str, grounds: Grounds) -> str:
    """Numbers of steps and the times of chapters are form; a time must be one at which something begins."""
    rest = _STEP.sub("", _HEADING.sub("", line.strip()))
    if match := _TIME.match(rest):
        seconds = int(match["hours"] or 0) * 3600 + int(match["minutes"]) * 60 + int(match["seconds"])
        if seconds == 0 or seconds in grounds.starts:
            return rest[match.end() :]
    return rest


def _capitals(line: str) -> Iterator[str]:
    """Words with a capital where none is due."""
    for match in _WORD.finditer(line):
        word = match.group()
        before = line[: match.start()].rstrip()
        if len(word) > 1 and word[0].isupper() and before and before[-1] not in _BEFORE_CAPITALS:
            yield word


def _is_said(word: str, grounds: Grounds, but: frozenset[str]) -> bool:
    return any(form in grounds.words or form in but for form in _forms(word))


def _forms(word: str) -> list[str]:
    """A word as it compares: without accents, with and without what an apostrophe adds, and its parts."""
    whole = plain(word)
    return [whole, *(plain(part) for part in _APOSTROPHE.split(word) if len(part) > 1), *whole.split("-")]


def _is_known(literal: str, grounds: Grounds) -> bool:
    if literal.lower() in grounds.literals:
        return True
    tag = "".join(plain(each) for each in literal if each.isalnum())
    return literal.startswith("#") and bool(tag) and tag in grounds.squashed


def spaced_words(text: str) -> int:
    """How many words a reader sees; scripts without blanks have one for each run."""
    return len(text.split()) if not any(map(unspaced, text)) else len(words_of(text))
