"""Checks that a tightened or shortened text says what its source says: nothing lost that matters, nothing invented."""

from collections.abc import Iterator
from itertools import chain

from cutroom.engines.translation.fidelity import missing_entities
from cutroom.engines.translation.port import LanguageIdentifier
from cutroom.engines.writing.extractive.speech_patterns import NEGATIONS
from cutroom.engines.writing.prompt_injection import has_markup, is_injection
from cutroom.text.language_tags import language_of
from cutroom.text.placeholders import has_words
from cutroom.text.vocabulary import stems, words_of

MIN_KEPT_STEMS = 0.6  # of the content words
MAX_NEW_STEMS = 0.4  # of the content words of a shorter text
MIN_LETTERS_FOR_LANGUAGE = 40
MIN_LANGUAGE_CONFIDENCE = 0.7
_NEGATIVE_ENDINGS = ("n't", "n\u2019t", "cannot")


def wording_fault(source: str, text: str, *, language: str, identifier: LanguageIdentifier | None = None) -> str:
    """Why a text is no tighter wording of its source; an empty string if it is one."""
    if fault := next(chain(_form_faults(source, text), _content_faults(source, text, language)), ""):
        return fault
    return "" if is_in_language(text, language, identifier) else "it is in another language."


def shortening_fault(source: str, text: str, *, language: str) -> str:
    """Why a text does not say its source in fewer characters; an empty string if it does.

    Unlike a tighter wording, it may have some words of its own.
    """
    faults = chain(
        _form_faults(source, text), _entity_faults(source, text, language), _new_words(source, text, language)
    )
    fault = next(faults, "")
    return fault or ("" if len(text) < len(source) else "it is not shorter.")


def is_in_language(text: str, language: str, identifier: LanguageIdentifier | None) -> bool:
    """False if a text is surely in another language; short ones cannot be told apart."""
    guess = identifier.identify(text) if identifier is not None and len(text) >= MIN_LETTERS_FOR_LANGUAGE else None
    is_sure = guess is not None and guess.confidence >= MIN_LANGUAGE_CONFIDENCE
    return guess is None or not is_sure or language_of(guess.language) == language_of(language)


def _form_faults(source: str, text: str) -> Iterator[str]:
    if not has_words(text):
        yield "it is empty."
    if len(text) > len(source):
        yield "it is longer than what was said."
    if has_markup(text) or (is_injection(text) and not is_injection(source)):
        yield "it has markup or instructions."


def _entity_faults(source: str, text: str, language: str) -> Iterator[str]:
    if missing_entities(source, text, source=language, target=language):
        yield "a name, a number or an address is missing."
    if missing_entities(text, source, source=language, target=language):
        yield "a name, a number or an address was not said."
    if _negations(source) != _negations(text):
        yield "a negation was added or lost."


def _new_words(source: str, text: str, language: str) -> Iterator[str]:
    said, kept = {*stems(source, language=language)}, {*stems(text, language=language)}
    if len(kept - said) > MAX_NEW_STEMS * len(kept):
        yield "most of it was not said."


def _content_faults(source: str, text: str, language: str) -> Iterator[str]:
    yield from _entity_faults(source, text, language)
    said, kept = {*stems(source, language=language)}, {*stems(text, language=language)}
    if kept - said:
        yield "it has words that were not said."
    if said and len(kept) < MIN_KEPT_STEMS * len(said):
        yield "too much is missing."


def _negations(text: str) -> int:
    return sum(word in NEGATIONS or word.endswith(_NEGATIVE_ENDINGS) for word in words_of(text))
