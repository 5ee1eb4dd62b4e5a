"""Divides a video into chapters by topic, each named by a whole clause that is said in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from cutroom.engines.writing.extractive.analysis import TranscriptAnalysis
from cutroom.engines.writing.extractive.announced_subject import announced_text
from cutroom.engines.writing.extractive.clauses import (
    as_heading,
    has_pronoun,
    is_clause,
    main_clause,
    shorten,
    stands_alone,
)
from cutroom.engines.writing.extractive.speech_patterns import speech_patterns
from cutroom.engines.writing.extractive.titles import fallback_title, title_candidates
from cutroom.text.vocabulary import stems, words_of

MIN_CHAPTERS = 3
MAX_CHAPTERS = 12
MIN_SECONDS = 10.0  # the shortest chapter that players accept
MIN_VIDEO_SECONDS = 60.0
TITLE_CHARACTERS = 60
OPENING_SENTENCES = 2  # of a section, which may announce or ask what it is about

# A question to a person is not what a section is about.
_SECOND_PERSON = frozenset(
    {"you", "your", "você", "vocês", "tu", "usted", "ustedes", "vous", "du", "ihr", "sie", "voi"}
)


@dataclass(frozen=True, slots=True)
class Chapter:
    """A section about one topic; `first` and `end` are sentence indices."""

    title: str
    start_seconds: float
    first: int
    end: int

    @property
    def line(self) -> str:
        return f"{format_timestamp(self.start_seconds)} {self.title}"


def build_chapters(analysis: TranscriptAnalysis) -> list[Chapter]:
    """At least three chapters of ten seconds or more, the first at 0:00; else none."""
    if analysis.source.duration_seconds < MIN_VIDEO_SECONDS:
        return []
    min_seconds = max(MIN_SECONDS, analysis.source.duration_seconds / (2 * MAX_CHAPTERS))
    found = topic_sections(analysis, min_seconds=min_seconds)
    return found if len(found) >= MIN_CHAPTERS else []


def topic_sections(analysis: TranscriptAnalysis, *, min_seconds: float = 0.0) -> list[Chapter]:
    """Sections by topic; one that is too short or has no clause for a title is merged into the previous one."""
    starts, titles = [0], [""]
    bounds = [*analysis.topic_starts[1:], len(analysis.sentences)]
    titles[0] = _section_title(analysis, range(bounds[0]), ())
    for at, end in pairwise(bounds):
        begin = int(analysis.sentences[at].start_seconds)
        last = int(analysis.sentences[starts[-1]].start_seconds) if starts[-1] else 0
        rest = analysis.source.duration_seconds - begin
        title = _section_title(analysis, range(at, end), titles)
        if begin - last >= min_seconds and rest >= min_seconds and title:
            starts.append(at)
            titles.append(title)
    titles[0] = titles[0] or _fallback_title(analysis)
    return [
        Chapter(title, analysis.sentences[start].start_seconds if start else 0.0, start, end)
        for title, start, end in zip(titles, starts, [*starts[1:], len(analysis.sentences)], strict=True)
    ]


def format_timestamp(seconds: float) -> str:
    """As in video players: 1:20 or 1:02:03."""
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _section_title(analysis: TranscriptAnalysis, section: range, taken: Sequence[str]) -> str:
    """The announcement of the section, a question at its start, or its best clause; empty if there is none."""
    if section.start == 0 and analysis.subject is not None:
        subject = analysis.subject.within(TITLE_CHARACTERS, language=analysis.language)
        if subject and analysis.allows(subject):
            return subject
    opening = section[:OPENING_SENTENCES]
    keys = analysis.key_stems
    ranked = sorted(section, key=lambda at: (keys.isdisjoint(analysis.sentences[at].stems), -analysis.scores[at], at))
    candidates = [
        *(_announced(analysis, at) for at in opening),
        *(_clause(analysis, at) for at in opening if analysis.sentences[at].is_question),
        *(_clause(analysis, at) for at in ranked if not analysis.sentences[at].is_question),
    ]
    return next((text for text in candidates if text and text not in taken and analysis.allows(text)), "")


def _fallback_title(analysis: TranscriptAnalysis) -> str:
    """For a first section that says nothing about itself."""
    text = next(iter(title_candidates(analysis)), fallback_title(analysis) or analysis.sentences[0].text)
    return shorten(text, TITLE_CHARACTERS, language=analysis.language)


def _announced(analysis: TranscriptAnalysis, at: int) -> str:
    sentence = analysis.sentences[at]
    match = speech_patterns(analysis.language).section.search(sentence.text)
    if match is None or sentence.is_question:
        return ""
    _, text = announced_text(match, language=analysis.language)
    text = text.split(",")[0]
    fits = len(text) <= TITLE_CHARACTERS and bool(stems(text, language=analysis.language))
    return as_heading(text) if fits and stands_alone(text, language=analysis.language) else ""


def _clause(analysis: TranscriptAnalysis, at: int) -> str:
    """The main clause of a sentence if it fits and needs no context."""
    sentence = analysis.sentences[at]
    if sentence.is_housekeeping or not sentence.stands_alone:
        return ""
    text = sentence.text if sentence.is_question else main_clause(sentence.text, language=analysis.language)
    fits = len(text) <= TITLE_CHARACTERS and not (sentence.is_question and _SECOND_PERSON & set(words_of(text)))
    is_whole = is_clause(text, language=analysis.language) and not has_pronoun(text, language=analysis.language)
    return as_heading(text) if fits and is_whole else ""
