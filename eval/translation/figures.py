"""Figures of translated talks: chrF, names, numbers, leftovers and invented text, verdicts and flags."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from sacrebleu.metrics.chrf import CHRF

from cutroom.engines.translation.document import DocumentLine, LineFault
from cutroom.engines.translation.fidelity import EntityKind, missing_entities
from cutroom.engines.translation.line_checks import LineChecker
from cutroom.text.vocabulary import vocabulary, words_of
from eval.talks import Language, contains_phrase, load_talks
from eval.translation.outputs import TalkTranslation, talk_document
from eval.translation.verdicts import TalkVerdicts

MIN_LEFTOVER_LETTERS = 4
_NOTE = re.compile(r"\((?:em|in|en) \w+\)", re.IGNORECASE)

CountInLine = Callable[[TalkTranslation, int], int]  # of the line with this index


@dataclass(frozen=True, slots=True)
class FlagCounts:
    """How flags for review agree with the readers."""

    flagged_wrong: int = 0
    flagged: int = 0
    wrong: int = 0

    @property
    def precision(self) -> float:
        return self.flagged_wrong / self.flagged if self.flagged else 0.0

    @property
    def recall(self) -> float:
        return self.flagged_wrong / self.wrong if self.wrong else 1.0


def chrf(translations: Sequence[TalkTranslation]) -> float:
    """Corpus chrF2 against the references, 0 to 100."""
    texts = [text for each in translations for text in each.texts]
    references = [text for each in translations for text in each.references]
    return float(CHRF().corpus_score(texts, [references]).score)


def total(translations: Iterable[TalkTranslation], count: CountInLine) -> int:
    return sum(count(each, at) for each in translations for at in range(len(each.texts)))


def names_lost(translation: TalkTranslation, at: int) -> int:
    """Names of the talk that the line says and its translation does not have as they are."""
    source, text = translation.talk.source(translation.talk.lines[at]), translation.texts[at]
    said = [name for name in translation.talk.names if contains_phrase(source, name)]
    return sum(not contains_phrase(text, name) for name in said)


def numbers_wrong(translation: TalkTranslation, at: int) -> int:
    """Numbers in digits that the translation lacks, or that only the translation has."""
    source, text = translation.talk.source(translation.talk.lines[at]), translation.texts[at]
    languages: tuple[str, str] = (translation.talk.language, translation.target)
    lost = missing_entities(source, text, source=languages[0], target=languages[1])
    added = missing_entities(text, source, source=languages[1], target=languages[0])
    return sum(each.kind is EntityKind.NUMBER and each.certain for each in (*lost, *added))


def invented(translation: TalkTranslation, at: int) -> int:
    """1 if the translation has a note, an address or an instruction that was not said, or far more text."""
    line = DocumentLine(str(at + 1), translation.talk.source(translation.talk.lines[at]))
    checker = LineChecker(talk_document(translation.talk, translation.target))
    faults = {each.fault for each in checker(line, translation.texts[at])}
    has_note = _NOTE.search(translation.texts[at]) is not None
    return int(has_note or bool(faults & {LineFault.INVENTED, LineFault.INSTRUCTION, LineFault.IMPLAUSIBLE}))


def leftover_words(translation: TalkTranslation, at: int) -> int:
    """Words of the source in the translation that no reference in the target language uses, without names."""
    source, text = translation.talk.source(translation.talk.lines[at]), translation.texts[at]
    names = {word for name in translation.talk.names for word in words_of(name)}
    said = {word for word in words_of(source) if len(word) >= MIN_LEFTOVER_LETTERS and word.isalpha()}
    known = target_words(translation.target)
    return sum(word in said and word not in names and word not in known for word in words_of(text))


def meaning_right(verdicts: Sequence[TalkVerdicts]) -> float:
    """The share of lines that readers found right."""
    lines = sum(len(each.lines) for each in verdicts)
    return sum(each.right for each in verdicts) / lines if lines else 0.0


def flag_counts(translations: Sequence[TalkTranslation], verdicts: Sequence[TalkVerdicts]) -> FlagCounts:
    """Compares flags with verdicts, talk by talk in the same order."""
    pairs = [
        (bool(line.reasons), verdict.is_right)
        for translation, talk in zip(translations, verdicts, strict=True)
        for line, verdict in zip(translation.translation.lines, talk.lines, strict=True)
    ]
    return FlagCounts(
        flagged_wrong=sum(flagged and not right for flagged, right in pairs),
        flagged=sum(flagged for flagged, _ in pairs),
        wrong=sum(not right for _, right in pairs),
    )


@cache
def target_words(language: Language) -> frozenset[str]:
    """Words of the language: its stop words, those of all references, and names of all talks."""
    talks = load_talks()
    texts = [line.text(language) for talk in talks for line in talk.lines]
    return vocabulary(language).stop_words | {word for text in texts for word in words_of(text)}
