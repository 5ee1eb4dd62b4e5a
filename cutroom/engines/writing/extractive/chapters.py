"""Divides a video into titled chapters by topic."""

from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.engines.writing.extractive.analysis import TranscriptAnalysis
from cutroom.engines.writing.extractive.announced_topic import announced_text
from cutroom.engines.writing.extractive.keyphrases import Keyphrase, extract_keyphrases
from cutroom.engines.writing.extractive.quotes import capitalized, shortened, without_final_stop
from cutroom.engines.writing.extractive.speech_patterns import speech_patterns
from cutroom.engines.writing.extractive.titles import join_list
from cutroom.text.vocabulary import stems

MIN_CHAPTERS = 3
MAX_CHAPTERS = 12
MIN_SECONDS = 10.0  # YouTube's minimum chapter length
MIN_VIDEO_SECONDS = 60.0
TITLE_CHARACTERS = 48
ANNOUNCED_SENTENCES = 2  # sentences at the start of a section that may announce it
QUESTION_WORDS = range(3, 10)


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
    """Sections by topic; sections that are too short are merged into the previous one."""
    starts = [0]
    for at in analysis.topic_starts[1:]:
        begin = int(analysis.sentences[at].start_seconds)
        last = int(analysis.sentences[starts[-1]].start_seconds) if starts[-1] else 0
        rest = analysis.source.duration_seconds - begin
        if begin - last >= min_seconds and rest >= min_seconds:
            starts.append(at)
    ends = [*starts[1:], len(analysis.sentences)]
    titles = _titles(analysis, list(zip(starts, ends, strict=True)))
    return [
        Chapter(title, analysis.sentences[start].start_seconds if start else 0.0, start, end)
        for title, start, end in zip(titles, starts, ends, strict=True)
    ]


def format_timestamp(seconds: float) -> str:
    """As in video players: 1:20 or 1:02:03."""
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _titles(analysis: TranscriptAnalysis, spans: Sequence[tuple[int, int]]) -> list[str]:
    """Titles from the key phrases that distinguish each section from the others."""
    own = [
        [
            each
            for each in extract_keyphrases(analysis.sentences[start:end], language=analysis.language)
            if analysis.guidelines.allows(each.text)
        ]
        for start, end in spans
    ]
    taken: set[tuple[str, ...]] = set()
    titles = []
    for at, phrases in enumerate(own):
        others = [each for number, rest in enumerate(own) if number != at for each in rest]
        ranked = sorted(phrases[:12], key=lambda each: (-_distinctiveness(each, others), each.text))
        best = [each for each in ranked if each.key not in taken and each.is_noun][:2]
        announced = announced_title(analysis, spans[at])
        taken |= {each.key for each in best[:1]} if not announced else set()
        titles.append(announced or _title(analysis, best, spans[at][0]))
    return titles


def announced_title(analysis: TranscriptAnalysis, span: tuple[int, int]) -> str:
    """The section's announcement by the speaker, or a question asked at its start."""
    first, end = span
    for sentence in analysis.sentences[first : min(end, first + ANNOUNCED_SENTENCES)]:
        if first and sentence.is_question and sentence.word_count in QUESTION_WORDS and sentence.stems:
            return sentence.text if len(sentence.text) <= TITLE_CHARACTERS else ""
        match = speech_patterns(analysis.language).section.search(sentence.text)
        if first and match is not None and not sentence.is_question:
            text = announced_text(match, language=analysis.language).split(",")[0]
            text = capitalized(without_final_stop(text.strip()))
            if stems(text, language=analysis.language) and len(text) <= TITLE_CHARACTERS and analysis.allows(text):
                return text
    return ""


def _distinctiveness(phrase: Keyphrase, others: Sequence[Keyphrase]) -> float:
    """The phrase score, discounted by its scores in other sections."""
    elsewhere = sum(other.score for other in others if other.key == phrase.key)
    return phrase.score * phrase.score / (phrase.score + 0.5 * elsewhere)


def _title(analysis: TranscriptAnalysis, best: Sequence[Keyphrase], first: int) -> str:
    if not best:
        text = without_final_stop(analysis.sentences[first].text)
        return shortened(text, TITLE_CHARACTERS, language=analysis.language)
    one = best[0].with_article
    both = join_list([each.with_article for each in best], language=analysis.language)
    solid = len(best) > 1 and best[1].count > 1 and bool(best[1].article or best[1].is_name or " " in best[1].text)
    return capitalized(both if solid and len(both) <= TITLE_CHARACTERS else one)
