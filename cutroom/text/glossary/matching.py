"""Finds phrases in a text as whole words, the longest first."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cutroom.text.writing_systems import is_unspaced

_INDEXED = 2  # characters by which phrases are found


@dataclass(frozen=True, slots=True)
class Phrase:
    """Text to find, for the owner with this number."""

    text: str
    owner: int
    case_sensitive: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """A phrase in a text, from `start` up to but excluding `end`."""

    phrase: Phrase
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PhraseFinder:
    """Finds any of many phrases; the work depends on the length of a text more than on their number."""

    _by_start: dict[str, list[tuple[str, Phrase]]] = field(default_factory=dict)

    @classmethod
    def of(cls, phrases: Iterable[Phrase]) -> "PhraseFinder":
        by_start: dict[str, list[tuple[str, Phrase]]] = {}
        for phrase in phrases:
            folded = fold(phrase.text)
            if folded:
                by_start.setdefault(folded[:_INDEXED], []).append((folded, phrase))
        for found in by_start.values():
            found.sort(key=lambda each: (-len(each[0]), not each[1].case_sensitive))
        return cls(by_start)

    def find(self, text: str) -> list[Match]:
        """Matches in order, none of which overlap; of those that start at one place, the longest."""
        plain, folded = _plain(unicodedata.normalize("NFC", text)), fold(text)
        found: list[Match] = []
        at = 0
        while at < len(folded):
            match = self._match_at(plain, folded, at)
            if match is not None:
                found.append(match)
            at = match.end if match is not None else at + 1
        return found

    def _match_at(self, plain: str, folded: str, at: int) -> Match | None:
        if not _is_boundary(folded, at):
            return None
        starts = dict.fromkeys((folded[at : at + _INDEXED], folded[at : at + 1]))
        for wanted, phrase in (each for start in starts for each in self._by_start.get(start, ())):
            end = at + len(wanted)
            if not folded.startswith(wanted, at) or not _is_boundary(folded, end):
                continue
            if not phrase.case_sensitive or plain[at:end] == _plain(composed_phrase(phrase.text)):
                return Match(phrase, at, end)
        return None


def composed_phrase(text: str) -> str:
    """A phrase in composed characters, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def fold(text: str) -> str:
    """Lower case, with plain spaces, apostrophes and hyphens; as long as the composed text."""
    composed = unicodedata.normalize("NFC", text)
    return "".join(low if len(low := each.lower()) == 1 else each for each in _plain(composed))


def replace_matches(text: str, replacements: Sequence[tuple[Match, str]]) -> str:
    """The composed text with other text in place of matches, which must be in order."""
    composed, parts, at = unicodedata.normalize("NFC", text), [], 0
    for match, replacement in replacements:
        parts += [composed[at : match.start], replacement]
        at = match.end
    return "".join((*parts, composed[at:]))


_SAME = str.maketrans({"’": "'", "ʼ": "'", "‐": "-", "‑": "-"})  # noqa: RUF001 (marks that look alike)


def _plain(composed: str) -> str:
    return "".join(" " if each.isspace() else each for each in composed.translate(_SAME))


def _is_boundary(text: str, at: int) -> bool:
    """Whether a word can start or end here: always, in scripts that are written without spaces."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if is_unspaced(before) or is_unspaced(after):
        return True
    return not (_is_word(before) and _is_word(after))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_" or bool(unicodedata.combining(character))
