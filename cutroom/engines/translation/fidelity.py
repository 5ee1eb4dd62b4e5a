"""Compares a translation with its source and says which numbers, names, addresses and placeholders were lost.

A loss is a reason for a person to look, never a reason to fail: what is `certain` was there letter by letter or in
digits, the rest (names, numbers in words) may have been said in another way.
"""

import difflib
import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from cutroom.engines.translation.routing import language_of
from cutroom.text.names import COMMON_CAPITALS, EXONYMS
from cutroom.text.numbers import Mention, plain, read_numbers, reads_words, roman
from cutroom.text.placeholders import Kind, Protected, find_protected

# Names in other languages mostly look alike: Lisbon and Lisboa, Moscow and Moscou.
SIMILAR = 0.6
# Above this share of capitals a text is a headline, in which capitals say nothing.
HEADLINE_SHARE = 0.6
HEADLINE_WORDS = 4
LOOK_BACK_CHARACTERS = 20
FITTING_LIMIT = 20  # numbers that are looked at for the one that looks the same
NAMES_LIMIT = 50  # in one text; each is compared with every word of the other


class Lost(StrEnum):
    """What can be lost."""

    NUMBER = "number"
    NAME = "name"
    URL = "url"
    EMAIL = "email"
    HANDLE = "handle"
    PLACEHOLDER = "placeholder"


@dataclass(frozen=True, slots=True)
class Loss:
    """Something of the source that the translation does not have; `text` is as it stands in the source."""

    what: Lost
    text: str
    certain: bool


_LITERAL = {
    Kind.URL: Lost.URL,
    Kind.EMAIL: Lost.EMAIL,
    Kind.HANDLE: Lost.HANDLE,
    Kind.PLACEHOLDER: Lost.PLACEHOLDER,
}
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
# A capital behind one of these is due.
_BEFORE_CAPITALS = ".!?…:;—\u2013\"'“”\u2018\u2019«»()[]¿¡/|-"
_LATIN = re.compile(r"[A-Za-zÀ-\u024f]")
# In German every noun has a capital.
_CAPITALS_ARE_NO_NAMES = frozenset({"de", "lb"})


def missing_entities(source_text: str, translated_text: str, *, source: str, target: str) -> list[Loss]:
    """What was lost, in order of kind: literal things first, then numbers, then names."""
    kept, given = find_protected(source_text), find_protected(translated_text)
    said, answered = _without(source_text, kept), _without(translated_text, given)
    from_language, to_language = language_of(source), language_of(target)
    return [
        *_lost_literals(kept, translated_text),
        *_lost_numbers(said, answered, source=from_language, target=to_language),
        *_lost_names(said, answered, source=from_language),
    ]


def _without(text: str, parts: list[Protected]) -> str:
    """The text with blanks in place of what is compared letter by letter; long ones may be numbers and stay."""
    for part in parts:
        if part.kind is not Kind.LONG:
            text = text[: part.start] + " " * (part.end - part.start) + text[part.end :]
    return text


def _lost_literals(parts: list[Protected], answer: str) -> list[Loss]:
    wanted = Counter((part.kind, part.text) for part in parts if part.kind in _LITERAL)
    return [
        Loss(_LITERAL[kind], text, certain=True)
        for (kind, text), times in wanted.items()
        for _ in range(times - answer.count(text))
    ]


def _lost_numbers(said: str, answered: str, *, source: str, target: str) -> list[Loss]:
    offered = read_numbers(answered, language=target, loosely=True)
    # Those with the fewest readings choose first.
    wanted = sorted(read_numbers(said, language=source), key=lambda mention: (not mention.code, len(mention.values)))
    missed = [mention for mention in wanted if not _take(mention, offered) and _is_missed(mention, target)]
    lost = [Loss(Lost.NUMBER, mention.text, certain=not mention.spelled) for mention in missed]
    return sorted(lost, key=lambda loss: said.find(loss.text))


def _take(wanted: Mention, offered: list[Mention]) -> bool:
    """Strike out what answers the number: the same value, or the parts of a time of the day on either side."""
    fitting = islice(((at, each) for at, each in enumerate(offered) if _fits(wanted, each)), FITTING_LIMIT)
    best = min(fitting, key=lambda one: (one[1].text != wanted.text, one[1].half != wanted.half), default=None)
    if best is not None:
        del offered[best[0]]
        return True
    for mention in offered:
        if mention.parts and not _contradict(wanted, mention) and any(v in mention.parts for v in wanted.values):
            left = tuple(part for part in mention.parts if part not in wanted.values)
            offered[offered.index(mention)] = Mention(mention.text, frozenset(), left)
            return True
    others = [each for each in offered if not _contradict(wanted, each)] if wanted.parts else []
    return bool(wanted.parts) and all(any(part in each.values for each in others) for part in wanted.parts)


def _fits(wanted: Mention, offered: Mention) -> bool:
    if wanted.code:
        return wanted.code == offered.code
    return bool(wanted.values & offered.values) and not _contradict(wanted, offered)


def _contradict(wanted: Mention, offered: Mention) -> bool:
    """Both say which half of the day they mean, and not the same."""
    return None not in {wanted.half, offered.half} and wanted.half is not offered.half


def _is_missed(wanted: Mention, target: str) -> bool:
    """Digits are always missed, also where the other language may have spelled them: better a flag too many."""
    return reads_words(target) or not wanted.spelled


def _lost_names(said: str, answered: str, *, source: str) -> list[Loss]:
    if source in _CAPITALS_ARE_NO_NAMES or not _LATIN.search(answered):
        return []
    words = list(_WORD.finditer(said))
    capitals = sum(match.group()[0].isupper() for match in words)
    if len(words) >= HEADLINE_WORDS and capitals > HEADLINE_SHARE * len(words):
        return []
    there = list(dict.fromkeys(plain(word) for word in _WORD.findall(answered)))
    return [
        Loss(Lost.NAME, " ".join(name), certain=False)
        for name in _names(said, words)[:NAMES_LIMIT]
        if not any(_is_there(word, there) for word in name)
    ]


def _names(said: str, words: list[re.Match[str]]) -> list[list[str]]:
    """Words with a capital where none is due; neighbours are one name, and one word of it must be found again."""
    names: list[list[str]] = []
    end = -1
    for match in words:
        word = match.group()
        if not _may_be_name(word) or _is_due(said, match.start()):
            continue
        if names and said[end : match.start()] == " ":
            names[-1].append(word)
        else:
            names.append([word])
        end = match.end()
    return names


def _is_due(said: str, at: int) -> bool:
    before = said[max(0, at - LOOK_BACK_CHARACTERS) : at].rstrip()
    return not before or before[-1] in _BEFORE_CAPITALS


def _may_be_name(word: str) -> bool:
    stem = plain(re.split(r"['\u2019]", word)[0])
    return len(stem) > 1 and word[0].isupper() and stem not in COMMON_CAPITALS and roman(word) is None


def _is_there(name: str, there: list[str]) -> bool:
    bare = plain(re.sub(r"['\u2019]s?$", "", name))
    known = {bare, *EXONYMS.get(bare, ())}
    if any(word in known or bare in word.split("-") for word in there):
        return True
    return bool(difflib.get_close_matches(bare, there, n=1, cutoff=SIMILAR))
