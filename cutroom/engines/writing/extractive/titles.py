"""Chooses titles and thumbnail headlines: the announced subject, or a whole clause of a speaker."""

import re
from collections.abc import Iterator

from cutroom.engines.writing.extractive.analysis import TranscriptAnalysis
from cutroom.engines.writing.extractive.clauses import (
    as_heading,
    cut_before_phrase,
    has_pronoun,
    is_clause,
    main_clause,
    shorten,
)
from cutroom.engines.writing.extractive.quotes import (
    capitalized,
    drop_trailing_function_words,
    quoted,
    without_final_stop,
)
from cutroom.engines.writing.extractive.sentences import TranscriptSentence
from cutroom.engines.writing.extractive.speech_patterns import speech_patterns
from cutroom.engines.writing.port import HEADLINE_WORDS, TITLE_CHARACTERS
from cutroom.text.vocabulary import stems, vocabulary
from cutroom.text.writing_systems import primary_language

QUOTE_WORDS = range(4, 13)
UNSPACED_QUOTE_CHARACTERS = range(4, 31)
OPENING_SHARE = 0.3  # of the sentences; what is said there often introduces the situation
OPENING_WEIGHT = 0.8
NUMBER_WEIGHT = 0.1
MIN_HEADLINE_WORDS = 2
MAX_HEADLINE_CHARACTERS = 32
MAX_UNSPACED_HEADLINE = 12
MODIFIERS = (1, 2)  # words between the article and the noun of a key phrase
_NO_MODIFIERS = ("ing", "ndo", "ed", "ly", "mente")  # endings of verbs and adverbs
_PARTICIPLES = ("ing", "ndo")  # their complement follows


def title_candidates(analysis: TranscriptAnalysis) -> list[str]:
    """Titles that need no context, best first; empty if the transcript has none."""
    subject = analysis.subject.within(TITLE_CHARACTERS, language=analysis.language) if analysis.subject else ""
    quotes = [quoted(text, language=analysis.language) for text in quotable_clauses(analysis)]
    found = dict.fromkeys([subject, *quotes])
    return [text for text in found if text and len(text) <= TITLE_CHARACTERS and analysis.allows(text)]


def fallback_title(analysis: TranscriptAnalysis) -> str:
    """The start of the best sentence; empty if none is allowed."""
    for at in sorted(range(len(analysis.sentences)), key=lambda at: (-analysis.scores[at], at)):
        text = without_final_stop(analysis.sentences[at].text)
        text = shorten(text, TITLE_CHARACTERS, language=analysis.language)
        if text and analysis.allows(text):
            return capitalized(text)
    return ""


def quotable_clauses(analysis: TranscriptAnalysis) -> list[str]:
    """Whole clauses that stand alone, best first, without the announcement of the subject."""
    announced = analysis.subject.sentence if analysis.subject is not None else -1
    found: list[tuple[float, int, str]] = []
    opening = OPENING_SHARE * len(analysis.sentences)
    for at, sentence in enumerate(analysis.sentences):
        if at == announced or not (text := _clause(sentence, language=analysis.language)):
            continue
        score = analysis.scores[at] + OPENING_WEIGHT * max(0.0, 1 - at / max(1.0, opening))
        score += NUMBER_WEIGHT * any(map(str.isdigit, text))
        found.append((-score, at, text))
    return [text for _, _, text in sorted(found)]


def _clause(sentence: TranscriptSentence, *, language: str) -> str:
    """The sentence or its main clause, or an empty string if it needs context."""
    if sentence.is_housekeeping or sentence.is_question or not sentence.stands_alone:
        return ""
    for text in (without_final_stop(sentence.text), main_clause(sentence.text, language=language)):
        unspaced = primary_language(language) in {"ja", "zh"}
        fits = len(text) in UNSPACED_QUOTE_CHARACTERS if unspaced else len(text.split()) in QUOTE_WORDS
        if fits and is_clause(text, language=language) and not has_pronoun(text, language=language):
            return as_heading(text)
    return ""


def write_headline(analysis: TranscriptAnalysis) -> str:
    """The subject if it is short enough, else a phrase about the main term, a short clause, or a start of either."""
    subject = analysis.subject.text if analysis.subject else ""
    if primary_language(analysis.language) in {"ja", "zh"}:
        return _unspaced_headline(analysis, subject)
    cut = cut_before_phrase(subject, _characters(subject), language=analysis.language)
    quotes = quotable_clauses(analysis)
    cuts = (_cut(text, analysis) for text in quotes)
    for text in (subject, cut, *_key_phrases(analysis), *_short_clauses(analysis), *cuts):
        if text and _fits(text) and analysis.allows(as_heading(text)):
            return as_heading(text)
    text = subject or next(iter(quotes), "") or fallback_title(analysis) or analysis.sentences[0].text
    words = text.split()[:HEADLINE_WORDS]
    return as_heading(" ".join(drop_trailing_function_words(words, language=analysis.language)))


def _characters(text: str) -> int:
    """Length of the words that a headline may have."""
    return min(MAX_HEADLINE_CHARACTERS, len(" ".join(text.split()[:HEADLINE_WORDS])))


def _cut(text: str, analysis: TranscriptAnalysis) -> str:
    cut = cut_before_phrase(text, _characters(text), language=analysis.language)
    is_whole = is_clause(cut, language=analysis.language) and (cut == text or not cut.endswith(_PARTICIPLES))
    return cut if is_whole else ""


def _key_phrases(analysis: TranscriptAnalysis) -> Iterator[str]:
    """Phrases of an article, modifiers and the main term: "the wrong coat"."""
    main = set(stems(analysis.terms[0].text, language=analysis.language)) if analysis.terms else set()
    articles, function_words = speech_patterns(analysis.language).articles, vocabulary(analysis.language)
    for sentence in analysis.sentences:
        words = sentence.text.split()
        for at, word in enumerate(words):
            for count in MODIFIERS if word.lower() in articles else ():
                *modifiers, noun = words[at + 1 : at + 2 + count] or [""]
                is_plain = len(modifiers) == count and all(
                    re.fullmatch(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?", each)
                    and not function_words.is_stop_word(each.lower())
                    and not each.endswith(_NO_MODIFIERS)
                    for each in modifiers
                )
                if is_plain and main & set(stems(noun, language=analysis.language)):
                    yield " ".join([word, *modifiers, noun]).rstrip('.,;:!?"\u201d')


def _short_clauses(analysis: TranscriptAnalysis) -> list[str]:
    """Short statements that stand alone, those about recurring terms first."""
    found = []
    for at, sentence in enumerate(analysis.sentences):
        text = main_clause(sentence.text, language=analysis.language)
        own = stems(text, language=analysis.language)
        quotable = sentence.stands_alone and not sentence.is_question and not sentence.is_housekeeping
        is_whole = is_clause(text, language=analysis.language) and not has_pronoun(text, language=analysis.language)
        if quotable and _fits(text) and is_whole:
            found.append((not analysis.term_stems & set(own), -analysis.scores[at], at, text))
    return [text for *_, text in sorted(found)]


def _fits(text: str) -> bool:
    return MIN_HEADLINE_WORDS <= len(text.split()) <= HEADLINE_WORDS and len(text) <= MAX_HEADLINE_CHARACTERS


def _unspaced_headline(analysis: TranscriptAnalysis, subject: str) -> str:
    candidates = [subject, *(term.text for term in analysis.terms)]
    fitting = [text for text in candidates if MIN_HEADLINE_WORDS <= len(text) <= MAX_UNSPACED_HEADLINE]
    text = fitting[0] if fitting else analysis.sentences[0].text
    return shorten(text, MAX_UNSPACED_HEADLINE, language=analysis.language)
