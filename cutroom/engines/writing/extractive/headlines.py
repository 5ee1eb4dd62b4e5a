"""Writes short headlines for thumbnails."""

from cutroom.engines.writing.extractive.analysis import TranscriptAnalysis
from cutroom.engines.writing.extractive.quotes import (
    capitalized,
    drop_trailing_function_words,
    split_clauses,
    without_final_stop,
)
from cutroom.engines.writing.extractive.speech_patterns import NEGATIONS
from cutroom.engines.writing.extractive.titles import join_list, main_topic
from cutroom.engines.writing.port import HEADLINE_WORDS
from cutroom.text.vocabulary import starts_with_back_reference, stems
from cutroom.text.writing_systems import primary_language

MIN_WORDS = 2
MAX_CHARACTERS = 32
MAX_UNSPACED_CHARACTERS = 12


def write_headline(analysis: TranscriptAnalysis) -> str:
    """The topic, a short clause about it, or the topic with a related phrase."""
    if primary_language(analysis.language) in {"ja", "zh"}:
        return _unspaced_headline(analysis)
    topic = main_topic(analysis)
    if topic is not None:
        if _fits(topic.text):
            return capitalized(topic.text)
        for text in _clauses(analysis, topic.key):
            return text
        for other in analysis.phrases[:6]:
            text = join_list([topic.text, other.text], language=analysis.language)
            if other.key != topic.key and _fits(text):
                return capitalized(text)
    best = max(range(len(analysis.sentences)), key=lambda at: analysis.scores[at])
    words = drop_trailing_function_words(
        without_final_stop(analysis.sentences[best].text).split()[:HEADLINE_WORDS], language=analysis.language
    )
    return " ".join(words)


def _clauses(analysis: TranscriptAnalysis, key: tuple[str, ...]) -> list[str]:
    """Short clauses about the topic, by score."""
    found = []
    for at, sentence in enumerate(analysis.sentences):
        if sentence.is_housekeeping or not set(key) & set(sentence.stems):
            continue
        for text in split_clauses(sentence.text, language=analysis.language):
            short = without_final_stop(text)
            stands_alone = not starts_with_back_reference(short, language=analysis.language)
            stands_alone = stands_alone and not NEGATIONS & set(short.lower().split())
            if (
                stands_alone
                and analysis.allows(short)
                and _fits(short)
                and len(short.split()) > MIN_WORDS
                and set(key) <= set(_stems(short, analysis))
            ):
                found.append((-analysis.scores[at], at, short))
    return [text for _, _, text in sorted(found)]


def _stems(text: str, analysis: TranscriptAnalysis) -> list[str]:
    return stems(text, language=analysis.language)


def _fits(text: str) -> bool:
    return MIN_WORDS <= len(text.split()) <= HEADLINE_WORDS and len(text) <= MAX_CHARACTERS


def _unspaced_headline(analysis: TranscriptAnalysis) -> str:
    topic = main_topic(analysis)
    if topic is None:
        return without_final_stop(analysis.sentences[0].text)[:MAX_UNSPACED_CHARACTERS]
    for other in analysis.phrases[:6]:
        text = f"{topic.text}と{other.text}"
        if other.key != topic.key and len(topic.text) < 4 and len(text) <= MAX_UNSPACED_CHARACTERS:
            return text
    return topic.text[:MAX_UNSPACED_CHARACTERS]
