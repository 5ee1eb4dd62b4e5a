"""Finds numbers, names, addresses and placeholders of a source text that are missing in its translation.

Findings ask for human review and never fail a translation. `certain` ones were literal text or digits in the source;
the others (names, spelled numbers) may have been rephrased.
"""

import difflib
import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from cutroom.text.language_tags import language_of
from cutroom.text.names import COMMON_CAPITALS, EXONYMS
from cutroom.text.numbers import NumberMention, find_numbers, fold_accents, has_number_words, parse_roman
from cutroom.text.placeholders import PlaceholderKind, ProtectedSpan, find_protected_spans

# Translated names are mostly similar: Lisbon and Lisboa, Moscow and Moscou.
MIN_NAME_SIMILARITY = 0.6
# Above this share of capitalized words a text is a headline, where capitals do not mark names.
HEADLINE_SHARE = 0.6
HEADLINE_WORDS = 4
LOOK_BACK_CHARACTERS = 20
MAX_MATCH_CANDIDATES = 20  # numbers compared for the best match
MAX_NAMES = 50  # each is compared with every word of the translation


class EntityKind(StrEnum):
    """What can be missing."""

    NUMBER = "number"
    NAME = "name"
    URL = "url"
    EMAIL = "email"
    HANDLE = "handle"
    PLACEHOLDER = "placeholder"


@dataclass(frozen=True, slots=True)
class MissingEntity:
    """An entity of the source that the translation lacks; `text` is as written in the source."""

    kind: EntityKind
    text: str
    certain: bool


_LITERAL_KINDS = {
    PlaceholderKind.URL: EntityKind.URL,
    PlaceholderKind.EMAIL: EntityKind.EMAIL,
    PlaceholderKind.HANDLE: EntityKind.HANDLE,
    PlaceholderKind.PLACEHOLDER: EntityKind.PLACEHOLDER,
}
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
# A capital after one of these marks a sentence start, not a name.
_BEFORE_CAPITALS = ".!?…:;—\u2013\"'“”\u2018\u2019«»()[]¿¡/|-"
_LATIN = re.compile(r"[A-Za-zÀ-\u024f]")
# Languages that capitalize every noun.
_NOUN_CAPITALS = frozenset({"de", "lb"})


def missing_entities(source_text: str, translated_text: str, *, source: str, target: str) -> list[MissingEntity]:
    """Missing entities: literals first, then numbers, then names."""
    source_spans, target_spans = find_protected_spans(source_text), find_protected_spans(translated_text)
    original, translation = _blank_literals(source_text, source_spans), _blank_literals(translated_text, target_spans)
    from_language, to_language = language_of(source), language_of(target)
    return [
        *_missing_literals(source_spans, translated_text),
        *_missing_numbers(original, translation, source=from_language, target=to_language),
        *_missing_names(original, translation, source=from_language),
    ]


def _blank_literals(text: str, spans: list[ProtectedSpan]) -> str:
    """Replaces literals with spaces; LONG spans stay, as they may be numbers."""
    for span in spans:
        if span.kind is not PlaceholderKind.LONG:
            text = text[: span.start] + " " * (span.end - span.start) + text[span.end :]
    return text


def _missing_literals(spans: list[ProtectedSpan], translation: str) -> list[MissingEntity]:
    expected = Counter((span.kind, span.text) for span in spans if span.kind in _LITERAL_KINDS)
    return [
        MissingEntity(_LITERAL_KINDS[kind], text, certain=True)
        for (kind, text), times in expected.items()
        for _ in range(times - translation.count(text))
    ]


def _missing_numbers(original: str, translation: str, *, source: str, target: str) -> list[MissingEntity]:
    offered = find_numbers(translation, language=target, lenient=True)
    # The least ambiguous numbers are matched first.
    expected = sorted(
        find_numbers(original, language=source), key=lambda mention: (not mention.code, len(mention.values))
    )
    unmatched = [mention for mention in expected if not _match(mention, offered) and _is_reportable(mention, target)]
    missing = [MissingEntity(EntityKind.NUMBER, mention.text, certain=not mention.spelled) for mention in unmatched]
    return sorted(missing, key=lambda entity: original.find(entity.text))


def _match(wanted: NumberMention, offered: list[NumberMention]) -> bool:
    """Consumes the matching number: the same value, or the parts of a time of day on either side."""
    matching = islice(((at, each) for at, each in enumerate(offered) if _matches(wanted, each)), MAX_MATCH_CANDIDATES)
    best = min(matching, key=lambda one: (one[1].text != wanted.text, one[1].half != wanted.half), default=None)
    if best is not None:
        del offered[best[0]]
        return True
    for mention in offered:
        if mention.parts and not _halves_differ(wanted, mention) and any(v in mention.parts for v in wanted.values):
            left = tuple(part for part in mention.parts if part not in wanted.values)
            offered[offered.index(mention)] = NumberMention(mention.text, frozenset(), left)
            return True
    others = [each for each in offered if not _halves_differ(wanted, each)] if wanted.parts else []
    return bool(wanted.parts) and all(any(part in each.values for each in others) for part in wanted.parts)


def _matches(wanted: NumberMention, offered: NumberMention) -> bool:
    if wanted.code:
        return wanted.code == offered.code
    return bool(wanted.values & offered.values) and not _halves_differ(wanted, offered)


def _halves_differ(wanted: NumberMention, offered: NumberMention) -> bool:
    """Both state a half of the day, and not the same one."""
    return None not in {wanted.half, offered.half} and wanted.half is not offered.half


def _is_reportable(wanted: NumberMention, target: str) -> bool:
    """Digits are always reported, even if the target may have spelled them: false positives are cheaper."""
    return has_number_words(target) or not wanted.spelled


def _missing_names(original: str, translation: str, *, source: str) -> list[MissingEntity]:
    if source in _NOUN_CAPITALS or not _LATIN.search(translation):
        return []
    words = list(_WORD.finditer(original))
    capitals = sum(match.group()[0].isupper() for match in words)
    if len(words) >= HEADLINE_WORDS and capitals > HEADLINE_SHARE * len(words):
        return []
    present = list(dict.fromkeys(fold_accents(word) for word in _WORD.findall(translation)))
    return [
        MissingEntity(EntityKind.NAME, " ".join(name), certain=False)
        for name in _names(original, words)[:MAX_NAMES]
        if not any(_is_present(word, present) for word in name)
    ]


def _names(original: str, words: list[re.Match[str]]) -> list[list[str]]:
    """Capitalized words inside sentences; adjacent words form one name, of which one word must be present."""
    names: list[list[str]] = []
    end = -1
    for match in words:
        word = match.group()
        if not _may_be_name(word) or _is_sentence_start(original, match.start()):
            continue
        if names and original[end : match.start()] == " ":
            names[-1].append(word)
        else:
            names.append([word])
        end = match.end()
    return names


def _is_sentence_start(original: str, at: int) -> bool:
    before = original[max(0, at - LOOK_BACK_CHARACTERS) : at].rstrip()
    return not before or before[-1] in _BEFORE_CAPITALS


def _may_be_name(word: str) -> bool:
    stem = fold_accents(re.split(r"['\u2019]", word)[0])
    return len(stem) > 1 and word[0].isupper() and stem not in COMMON_CAPITALS and parse_roman(word) is None


def _is_present(name: str, present: list[str]) -> bool:
    folded = fold_accents(re.sub(r"['\u2019]s?$", "", name))
    variants = {folded, *EXONYMS.get(folded, ())}
    if any(word in variants or folded in word.split("-") for word in present):
        return True
    return bool(difflib.get_close_matches(folded, present, n=1, cutoff=MIN_NAME_SIMILARITY))
