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
    is_personal,
    main_clause,
    stands_alone,
    starts_with_noun,
)
from cutroom.engines.writing.extractive.quotes import without_final_stop
from cutroom.engines.writing.extractive.speech_patterns import speech_patterns
from cutroom.engines.writing.extractive.steps import as_step
from cutroom.text.discourse import SentenceDiscourse
from cutroom.text.vocabulary import stems

MIN_CHAPTERS = 3
MAX_CHAPTERS = 12
MIN_SECONDS = 10.0  # the shortest chapter that players accept
MIN_VIDEO_SECONDS = 60.0
TITLE_CHARACTERS = 60
OPENING_SENTENCES = 2  # of a section, which may announce or ask what it is about


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
    return found if found[0].title and len(found) >= MIN_CHAPTERS else []


def topic_sections(analysis: TranscriptAnalysis, *, min_seconds: float = 0.0) -> list[Chapter]:
    """Sections by topic; one that is too short or cannot be named is merged into the previous one."""
    bounds = [*analysis.topic_starts[1:], len(analysis.sentences)]
    starts, titles = [0], [_section_title(analysis, range(bounds[0]), ())]
    for at, end in pairwise(bounds):
        begin = int(analysis.sentences[at].start_seconds)
        last = int(analysis.sentences[starts[-1]].start_seconds) if starts[-1] else 0
        rest = analysis.source.duration_seconds - begin
        title = _section_title(analysis, range(at, end), titles)
        if begin - last >= min_seconds and rest >= min_seconds and title:
            starts.append(at)
            titles.append(title)
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
    """The subject, the announcement of the section, a step, or a statement about its topic; empty if there is none."""
    if section.start == 0 and analysis.subject is not None:
        subject = analysis.subject.within(TITLE_CHARACTERS, language=analysis.language)
        if subject and analysis.allows(subject):
            return subject
    ranked = sorted(section, key=lambda at: (-analysis.scores[at], at))
    opening, keys = section[:OPENING_SENTENCES], analysis.key_stems
    candidates = [
        *(_announced(analysis, at) for at in opening),
        *(_step(analysis, at) for at in section if analysis.steps),
        *(_statement(analysis, at) for at in ranked if at in opening or keys & set(analysis.sentences[at].stems)),
    ]
    return next((text for text in candidates if text and text not in taken and analysis.allows(text)), "")


def _announced(analysis: TranscriptAnalysis, at: int) -> str:
    sentence = analysis.sentences[at]
    match = speech_patterns(analysis.language).section.search(sentence.text)
    if match is None or sentence.is_question:
        return ""
    _, text = announced_text(match, language=analysis.language)
    return _name(text.split(",")[0], analysis, needs_statement=False)


def _step(analysis: TranscriptAnalysis, at: int) -> str:
    text = as_step(analysis.sentences[at], language=analysis.language)
    return _name(main_clause(text, language=analysis.language), analysis) if text else ""


def _statement(analysis: TranscriptAnalysis, at: int) -> str:
    """A main clause that begins with a noun phrase."""
    sentence = analysis.sentences[at]
    if sentence.is_housekeeping or sentence.is_question or not sentence.stands_alone:
        return ""
    text = main_clause(sentence.text, language=analysis.language)
    is_cut_list = "," in text and text != without_final_stop(sentence.text)
    has_subject = starts_with_noun(text, language=analysis.language)
    return _name(text, analysis) if has_subject and not is_cut_list else ""


def _name(text: str, analysis: TranscriptAnalysis, *, needs_statement: bool = True) -> str:
    """The text as a chapter title if it fits and needs no context."""
    language = analysis.language
    whole = is_clause(text, language=language) if needs_statement else stands_alone(text, language=language)
    is_topic = bool(stems(text, language=language)) and not is_personal(text, language=language)
    is_open = has_pronoun(text, language=language) or SentenceDiscourse(text, language=language).depends_on_previous
    return as_heading(text) if whole and is_topic and not is_open and len(text) <= TITLE_CHARACTERS else ""
