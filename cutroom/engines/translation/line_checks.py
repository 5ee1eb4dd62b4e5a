"""Checks each translated line of a document: numbers, names, addresses, language, leftovers and length."""

from collections.abc import Iterator

from cutroom.engines.translation.document import DocumentLine, Finding, LineFault, TranslationDocument
from cutroom.engines.translation.fidelity import EntityKind, missing_entities
from cutroom.engines.translation.output_checks import translation_fault
from cutroom.engines.translation.port import LanguageIdentifier
from cutroom.engines.writing.prompt_injection import code_words, has_markup, is_injection
from cutroom.text.glossary.rules import TermFinder
from cutroom.text.language_tags import language_of
from cutroom.text.placeholders import PlaceholderKind, clean_sentence, find_protected_spans, has_words
from cutroom.text.vocabulary import vocabulary, words_of

MIN_CONFIDENCE = 0.7  # of the language identifier, to reject a line
MIN_LANGUAGE_WORDS = 4
MIN_COPIED_WORDS = 4  # a translation equal to its source is a fault from this length on; shorter lines may be names
MAX_LEFTOVER_RUN = 2  # consecutive words that a translation may share with its source
MIN_LEFTOVER_STOP_WORDS = 2
LENGTH_TOLERANCE = 1.1  # characters per allowed character

_ADDRESSES = frozenset({PlaceholderKind.URL, PlaceholderKind.EMAIL, PlaceholderKind.HANDLE})
_ENTITY_FAULTS = {EntityKind.NUMBER: LineFault.NUMBER, EntityKind.NAME: LineFault.NAME}
# The identifier confuses languages that share most of their words.
_CLOSE_LANGUAGES = (
    frozenset({"pt", "gl"}),
    frozenset({"es", "ca", "gl", "ast", "an"}),
    frozenset({"nb", "no", "nn", "da", "sv"}),
    frozenset({"hr", "sr", "bs", "sh", "sr-Latn"}),
    frozenset({"cs", "sk"}),
    frozenset({"id", "ms"}),
    frozenset({"ru", "uk", "be", "bg"}),
    frozenset({"zh", "yue", "wuu", "zh-Hans", "zh-Hant"}),
    frozenset({"nl", "af"}),
)


class LineChecker:
    """Checks lines of one document; thread-safe."""

    def __init__(self, document: TranslationDocument, *, identifier: LanguageIdentifier | None = None) -> None:
        self._source, self._target = language_of(document.source), language_of(document.target)
        self._terms = TermFinder(document.glossary)
        self._identifier = identifier

    def __call__(self, line: DocumentLine, text: str) -> list[Finding]:
        """All faults of a translated line, worst first; none if its source has no words."""
        source = clean_sentence(line.text)
        if not has_words(source):
            return []
        if not text.strip():
            return [Finding(LineFault.EMPTY)]
        if translation_fault(source, text):
            return [Finding(LineFault.IMPLAUSIBLE)]
        said, rest = self._terms.without_terms(source, text)
        return [
            *self._invented(source, text),
            *self._missing(said, rest),
            *self._wrong_language(said, rest),
            *(Finding(LineFault.GLOSSARY, each.term) for each in self._terms.broken(source, text)),
            *([Finding(LineFault.TOO_LONG)] if _is_too_long(line, text) else []),
        ]

    def _invented(self, source: str, text: str) -> Iterator[Finding]:
        plain_source, plain_text = _without_addresses(source), _without_addresses(text)
        if any(found(plain_text) and not found(plain_source) for found in (is_injection, has_markup, code_words)):
            yield Finding(LineFault.INSTRUCTION)
        said = source.casefold()
        spans = find_protected_spans(text)
        if any(span.kind in _ADDRESSES and span.text.casefold() not in said for span in spans):
            yield Finding(LineFault.INVENTED)
            return
        # With the languages exchanged, digits of the translation that the source lacks are "missing".
        missing = missing_entities(text, source, source=self._target, target=self._source)
        if any(each.kind is EntityKind.NUMBER and each.certain for each in missing):
            yield Finding(LineFault.INVENTED)

    def _missing(self, source: str, text: str) -> Iterator[Finding]:
        for each in missing_entities(source, text, source=self._source, target=self._target):
            yield Finding(_ENTITY_FAULTS.get(each.kind, LineFault.ADDRESS), each.text)

    def _wrong_language(self, source: str, text: str) -> Iterator[Finding]:
        said, words = _plain_words(source), _plain_words(text)
        if len(words) >= MIN_COPIED_WORDS and said == words:
            yield Finding(LineFault.UNTRANSLATED)
            return
        if self._identifier is not None and len(words) >= MIN_LANGUAGE_WORDS:
            guess = self._identifier.identify(text)
            if guess and guess.confidence >= MIN_CONFIDENCE and not _is_close(guess.language, self._target):
                yield Finding(LineFault.LANGUAGE)
                return
        if leftover := _leftover(source, text, source_language=self._source, target_language=self._target):
            yield Finding(LineFault.LEFTOVER, leftover)


def _is_too_long(line: DocumentLine, text: str) -> bool:
    return line.max_characters is not None and len(text) > LENGTH_TOLERANCE * max(line.max_characters, 1)


def _is_close(guessed: str, wanted: str) -> bool:
    guessed, wanted = language_of(guessed), language_of(wanted)
    same = guessed == wanted or guessed.partition("-")[0] == wanted.partition("-")[0]
    return same or any(guessed in group and wanted in group for group in _CLOSE_LANGUAGES)


def _leftover(source: str, text: str, *, source_language: str, target_language: str) -> str:
    """Words of the source language left in the translation: a run of shared words, or several of its stop words."""
    if source_language == target_language:
        return ""
    lower = {word for word in _plain_words(source) if word in source}  # words in capitals are mostly names
    run: list[str] = []
    for word in [*_plain_words(text), ""]:
        if word in lower:
            run.append(word)
            continue
        if len(run) > MAX_LEFTOVER_RUN:
            return " ".join(run)
        run = []
    ours, theirs = vocabulary(source_language), vocabulary(target_language)
    if not ours.is_known or not theirs.is_known:
        return ""
    shared = [
        word
        for word in dict.fromkeys(_plain_words(text))
        if word in lower and len(word) > MAX_LEFTOVER_RUN and ours.is_stop_word(word) and not theirs.is_stop_word(word)
    ]
    return " ".join(shared) if len(shared) >= MIN_LEFTOVER_STOP_WORDS else ""


def _plain_words(text: str) -> list[str]:
    """Lower-case words outside addresses and placeholders."""
    return [word.casefold() for word in words_of(_without_addresses(text)) if any(map(str.isalpha, word))]


def _without_addresses(text: str) -> str:
    for span in reversed(find_protected_spans(text)):
        text = f"{text[: span.start]} {text[span.end :]}"
    return text
