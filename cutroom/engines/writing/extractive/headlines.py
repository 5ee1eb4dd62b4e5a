"""A few words for a thumbnail: what the film is about, short enough to be read at a glance."""

from cutroom.engines.writing.extractive.quotes import capitalised, clauses, unmarked, without_small_end
from cutroom.engines.writing.extractive.speech import DENIALS
from cutroom.engines.writing.extractive.study import TranscriptAnalysis
from cutroom.engines.writing.extractive.titles import listed, topic_of
from cutroom.engines.writing.port import HEADLINE_WORDS
from cutroom.text.vocabulary import points_back, stems
from cutroom.text.writing_systems import base_of

LEAST_WORDS = 2
CHARACTERS = 32
SIGNS = 12


def headline_of(study: TranscriptAnalysis) -> str:
    """A short clause that speaks of the topic, or the topic itself with what goes with it."""
    if base_of(study.language) in {"ja", "zh"}:
        return _in_signs(study)
    topic = topic_of(study)
    if topic is not None:
        if _fits(topic.text):
            return capitalised(topic.text)
        for text in _clauses(study, topic.key):
            return text
        for other in study.phrases[:6]:
            text = listed([topic.text, other.text], language=study.language)
            if other.key != topic.key and _fits(text):
                return capitalised(text)
    best = max(range(len(study.sentences)), key=lambda at: study.scores[at])
    words = without_small_end(unmarked(study.sentences[best].text).split()[:HEADLINE_WORDS], language=study.language)
    return " ".join(words)


def _clauses(study: TranscriptAnalysis, key: tuple[str, ...]) -> list[str]:
    """Whole clauses of a few words about the topic, the one that says most first."""
    found = []
    for at, sentence in enumerate(study.sentences):
        if sentence.serves or not set(key) & set(sentence.stems):
            continue
        for text in clauses(sentence.text, language=study.language):
            short = unmarked(text)
            stands = not points_back(short, language=study.language) and not DENIALS & set(short.lower().split())
            if (
                stands
                and study.allows(short)
                and _fits(short)
                and len(short.split()) > LEAST_WORDS
                and set(key) <= set(_stems(short, study))
            ):
                found.append((-study.scores[at], at, short))
    return [text for _, _, text in sorted(found)]


def _stems(text: str, study: TranscriptAnalysis) -> list[str]:
    return stems(text, language=study.language)


def _fits(text: str) -> bool:
    return LEAST_WORDS <= len(text.split()) <= HEADLINE_WORDS and len(text) <= CHARACTERS


def _in_signs(study: TranscriptAnalysis) -> str:
    topic = topic_of(study)
    if topic is None:
        return unmarked(study.sentences[0].text)[:SIGNS]
    for other in study.phrases[:6]:
        text = f"{topic.text}と{other.text}"
        if other.key != topic.key and len(topic.text) < 4 and len(text) <= SIGNS:
            return text
    return topic.text[:SIGNS]
