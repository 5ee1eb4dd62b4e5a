"""Chooses titles: the announced subject, or a whole clause of a speaker in quotation marks."""

from cutroom.engines.writing.extractive.analysis import TranscriptAnalysis
from cutroom.engines.writing.extractive.clauses import as_heading, has_pronoun, is_clause, main_clause, shorten
from cutroom.engines.writing.extractive.quotes import capitalized, quoted, without_final_stop
from cutroom.engines.writing.extractive.sentences import TranscriptSentence
from cutroom.engines.writing.port import TITLE_CHARACTERS
from cutroom.text.writing_systems import primary_language

QUOTE_WORDS = range(4, 13)
UNSPACED_QUOTE_CHARACTERS = range(4, 31)
OPENING_SHARE = 0.3  # of the sentences; what is said there often introduces the situation
OPENING_WEIGHT = 0.8
NUMBER_WEIGHT = 0.1


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
