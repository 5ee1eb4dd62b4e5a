"""Groundedness checks: traces numbers, names and content words of a text to segments of the transcript."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from cutroom.engines.writing.port import WritingInput
from cutroom.engines.writing.prompt_injection import code_words
from cutroom.text.numbers import find_numbers, fold_accents
from cutroom.text.placeholders import PlaceholderKind, find_protected_spans
from cutroom.text.sentences import split_sentences
from cutroom.text.vocabulary import stems, words_of
from cutroom.text.writing_systems import is_unspaced, primary_language

MAX_SOURCES = 3  # sentences of the transcript that a written sentence may combine
_STEP = re.compile(r"^\d{1,2}\.\s+")
_TIME = re.compile(r"^(?:(?P<hours>\d+):)?(?P<minutes>\d+):(?P<seconds>\d\d)\s+")
_HEADING = re.compile(r"^#{1,6}\s+")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
# Punctuation after which a capital is expected.
_BEFORE_CAPITALS = '.!?…:;—\u2013"“”„\u2018«»()[]¿¡/|\u2022\u300c\u3002'
_APOSTROPHE = re.compile(r"['\u2019]")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Words and numbers of a transcript, normalized for comparison."""

    language: str
    words: frozenset[str]
    stems: frozenset[str]
    excluded: frozenset[str]  # stems that occur only in prompt injections
    numbers: Mapping[Fraction, frozenset[str]]  # with the stems of the segments around each
    joined_letters: str  # the whole transcript without spaces and punctuation, to match hashtags
    literals: frozenset[str]
    start_times: frozenset[int]  # segment starts in seconds


def collect_evidence(source: WritingInput, *, allowed: Sequence[str] = (), excluded: Sequence[str] = ()) -> Evidence:
    """Evidence from the transcript and the `allowed` brand terms, minus words that occur only in `excluded`."""
    language = source.language
    texts = [*(each.text for each in source.segments), *allowed]
    whole = " ".join(texts)
    elsewhere = _stems([text for text in texts if text not in set(excluded)], language)
    return Evidence(
        language,
        frozenset(each for word in _WORD.findall(whole) for each in _forms(word)),
        _stems(texts, language),
        _stems(excluded, language) - elsewhere,
        _numbers(texts, language),
        _letters(whole),
        frozenset(part.text.lower() for text in texts for part in find_protected_spans(text)),
        frozenset(int(each.start_seconds) for each in source.segments),
    )


def unsupported_claims(text: str, evidence: Evidence, *, ignoring: frozenset[str] = frozenset()) -> list[str]:
    """Numbers, names, codes, addresses and hashtags that are not in the evidence, and words from excluded sentences.

    Words in `ignoring` are the writer's own.
    """
    found: list[str] = []
    for line in text.splitlines():
        rest = _without_numbering(line, evidence)
        parts = [
            each
            for each in find_protected_spans(rest)
            if each.kind in {PlaceholderKind.URL, PlaceholderKind.EMAIL, PlaceholderKind.HANDLE}
        ]
        found += [each.text for each in parts if not _is_known(each.text, evidence)]
        for part in reversed(parts):
            rest = rest[: part.start] + " " + rest[part.end :]
        found += _untraced_numbers(rest, evidence)
        found += [word for word in code_words(rest) if _letters(word) not in evidence.joined_letters]
        found += [word for word in _unexpected_capitals(rest) if not _is_supported(word, evidence, ignoring)]
        found += [
            stem
            for stem in stems(rest, language=evidence.language)
            if stem in evidence.excluded and stem not in ignoring
        ]
    return found


def traced_share(text: str, transcript: Sequence[Sequence[str]], *, language: str) -> float:
    """How well each sentence of a text is covered by a few sentences of the transcript, given as stems, from 0 to 1."""
    shares = []
    for sentence in (each for line in text.splitlines() for each in split_sentences(line)):
        missing = own = frozenset(stems(sentence, language=language))
        for _ in range(MAX_SOURCES):
            missing -= frozenset(max(transcript, key=lambda source: len(missing.intersection(source)), default=()))
        shares += [1 - len(missing) / len(own)] if own else []
    return sum(shares) / len(shares) if shares else 0.0


def supported_share(text: str, evidence: Evidence, *, ignoring: frozenset[str] = frozenset()) -> float:
    """Share of a text's content words that occur in the evidence, from 0 to 1."""
    own = [stem for stem in stems(text, language=evidence.language) if stem not in ignoring and not stem.isdigit()]
    return sum(stem in evidence.stems for stem in own) / len(own) if own else 0.0


def _numbers(texts: Sequence[str], language: str) -> Mapping[Fraction, frozenset[str]]:
    found: dict[Fraction, frozenset[str]] = {}
    for at, text in enumerate(texts):
        around = _stems(texts[max(0, at - 1) : at + 2], language)
        for mention in find_numbers(text, language=primary_language(language), lenient=True):
            for value in (*mention.values, *map(Fraction, mention.parts)):
                found[value] = found.get(value, frozenset()) | around
    return found


def _untraced_numbers(line: str, evidence: Evidence) -> list[str]:
    """Numbers that were not said, or not near any of the other words of the line."""
    numbers = find_numbers(line, language=primary_language(evidence.language))
    spoken = {word for each in numbers for word in stems(each.text, language=evidence.language)}
    own = evidence.stems.intersection(stems(line, language=evidence.language)) - spoken
    traced = {value for value, around in evidence.numbers.items() if not own or own & around}
    return [each.text for each in numbers if not each.values & traced]


def _stems(texts: Sequence[str], language: str) -> frozenset[str]:
    return frozenset(stem for text in texts for stem in stems(text, language=language))


def _letters(text: str) -> str:
    """Letters and digits, without accents, spaces and punctuation."""
    return "".join(fold_accents(each) for each in text if each.isalnum())


def _without_numbering(line: str, evidence: Evidence) -> str:
    """Removes step numbers, heading marks and chapter times; a time must match the start of a segment."""
    rest = _STEP.sub("", _HEADING.sub("", line.strip()))
    if match := _TIME.match(rest):
        seconds = int(match["hours"] or 0) * 3600 + int(match["minutes"]) * 60 + int(match["seconds"])
        if seconds == 0 or seconds in evidence.start_times:
            return rest[match.end() :]
    return rest


def _unexpected_capitals(line: str) -> Iterator[str]:
    """Capitalized words inside a sentence."""
    for match in _WORD.finditer(line):
        word = match.group()
        before = line[: match.start()].rstrip()
        if len(word) > 1 and word[0].isupper() and before and before[-1] not in _BEFORE_CAPITALS:
            yield word


def _is_supported(word: str, evidence: Evidence, ignoring: frozenset[str]) -> bool:
    return any(form in evidence.words or form in ignoring for form in _forms(word))


def _forms(word: str) -> list[str]:
    """Comparison forms of a word: without accents, split at apostrophes, and split at hyphens."""
    whole = fold_accents(word)
    return [whole, *(fold_accents(part) for part in _APOSTROPHE.split(word) if len(part) > 1), *whole.split("-")]


def _is_known(literal: str, evidence: Evidence) -> bool:
    if literal.lower() in evidence.literals:
        return True
    tag = _letters(literal)
    return literal.startswith("#") and bool(tag) and tag in evidence.joined_letters


def count_words(text: str) -> int:
    """Words separated by spaces; in scripts without spaces, runs of text."""
    return len(text.split()) if not any(map(is_unspaced, text)) else len(words_of(text))
