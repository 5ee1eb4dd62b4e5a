"""Chooses headlines for thumbnails: two to five words of a whole thought."""

from cutroom.engines.writing.extractive.analysis import TranscriptAnalysis
from cutroom.engines.writing.extractive.clauses import (
    as_heading,
    cut_before_phrase,
    has_pronoun,
    is_clause,
    main_clause,
    shorten,
)
from cutroom.engines.writing.extractive.quotes import drop_trailing_function_words
from cutroom.engines.writing.extractive.titles import fallback_title, quotable_clauses
from cutroom.engines.writing.port import HEADLINE_WORDS
from cutroom.text.vocabulary import stems
from cutroom.text.writing_systems import primary_language

MIN_WORDS = 2
MAX_CHARACTERS = 32
MAX_UNSPACED_CHARACTERS = 12


def write_headline(analysis: TranscriptAnalysis) -> str:
    """The subject if it is short enough, else a short clause, else the start of the subject or of the best clause."""
    subject = analysis.subject.text if analysis.subject else ""
    if primary_language(analysis.language) in {"ja", "zh"}:
        return _unspaced_headline(analysis, subject)
    cut = cut_before_phrase(subject, _characters(subject), language=analysis.language)
    quotes = quotable_clauses(analysis)
    for text in (subject, cut, *_short_clauses(analysis), *(_cut(text, analysis) for text in quotes)):
        if text and _fits(text) and analysis.allows(as_heading(text)):
            return as_heading(text)
    text = subject or next(iter(quotes), "") or fallback_title(analysis) or analysis.sentences[0].text
    words = text.split()[:HEADLINE_WORDS]
    return as_heading(" ".join(drop_trailing_function_words(words, language=analysis.language)))


def _characters(text: str) -> int:
    """Length of the words that a headline may have."""
    return min(MAX_CHARACTERS, len(" ".join(text.split()[:HEADLINE_WORDS])))


def _cut(text: str, analysis: TranscriptAnalysis) -> str:
    cut = cut_before_phrase(text, _characters(text), language=analysis.language)
    return cut if is_clause(cut, language=analysis.language) else ""


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
    return MIN_WORDS <= len(text.split()) <= HEADLINE_WORDS and len(text) <= MAX_CHARACTERS


def _unspaced_headline(analysis: TranscriptAnalysis, subject: str) -> str:
    candidates = [subject, *(term.text for term in analysis.terms)]
    fitting = [text for text in candidates if MIN_WORDS <= len(text) <= MAX_UNSPACED_CHARACTERS]
    text = fitting[0] if fitting else analysis.sentences[0].text
    return shorten(text, MAX_UNSPACED_CHARACTERS, language=analysis.language)
