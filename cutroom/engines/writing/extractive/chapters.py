"""Chapters of a film with real times, or none where it is too short for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.engines.writing.extractive.keyphrases import Phrase, keyphrases
from cutroom.engines.writing.extractive.quotes import capitalised, shortened, unmarked
from cutroom.engines.writing.extractive.speech import speech
from cutroom.engines.writing.extractive.study import TranscriptAnalysis
from cutroom.engines.writing.extractive.subject import rest_of
from cutroom.engines.writing.extractive.titles import listed
from cutroom.text.vocabulary import stems

MIN_CHAPTERS = 3
MAX_CHAPTERS = 12
LEAST_SECONDS = 10.0  # what platforms ask of a chapter
MIN_FILM_SECONDS = 60.0
TITLE_CHARACTERS = 48
ANNOUNCED_SENTENCES = 2  # at the start of a part
QUESTION_WORDS = range(3, 10)


@dataclass(frozen=True, slots=True)
class Chapter:
    """A stretch of a film about one thing; the places are those of its sentences."""

    title: str
    start_seconds: float
    first: int
    end: int

    @property
    def line(self) -> str:
        return f"{clock_text(self.start_seconds)} {self.title}"


def chapters_of(study: TranscriptAnalysis) -> list[Chapter]:
    """At least three, each of ten seconds or more, the first at 0:00; else none."""
    if study.material.duration_seconds < MIN_FILM_SECONDS:
        return []
    found = parts_of(study, least_seconds=max(LEAST_SECONDS, study.material.duration_seconds / (2 * MAX_CHAPTERS)))
    return found if len(found) >= MIN_CHAPTERS else []


def parts_of(study: TranscriptAnalysis, *, least_seconds: float = 0.0) -> list[Chapter]:
    """The film by its topics; a part that would be too short belongs to the one before it."""
    starts = [0]
    for at in study.topic_starts[1:]:
        begin = int(study.sentences[at].start_seconds)
        last = int(study.sentences[starts[-1]].start_seconds) if starts[-1] else 0
        rest = study.material.duration_seconds - begin
        if begin - last >= least_seconds and rest >= least_seconds:
            starts.append(at)
    ends = [*starts[1:], len(study.sentences)]
    titles = _titles(study, list(zip(starts, ends, strict=True)))
    return [
        Chapter(title, study.sentences[start].start_seconds if start else 0.0, start, end)
        for title, start, end in zip(titles, starts, ends, strict=True)
    ]


def clock_text(seconds: float) -> str:
    """A time as players show it, as in 1:20 or 1:02:03."""
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _titles(study: TranscriptAnalysis, spans: Sequence[tuple[int, int]]) -> list[str]:
    """What each part is about and the others are not."""
    own = [
        [
            each
            for each in keyphrases(study.sentences[start:end], language=study.language)
            if study.rules.allow(each.text)
        ]
        for start, end in spans
    ]
    taken: set[tuple[str, ...]] = set()
    titles = []
    for at, phrases in enumerate(own):
        others = [each for number, rest in enumerate(own) if number != at for each in rest]
        ranked = sorted(phrases[:12], key=lambda each: (-_own_score(each, others), each.text))
        best = [each for each in ranked if each.key not in taken and each.is_sure][:2]
        said = announced(study, spans[at])
        taken |= {each.key for each in best[:1]} if not said else set()
        titles.append(said or _title(study, best, spans[at][0]))
    return titles


def announced(study: TranscriptAnalysis, span: tuple[int, int]) -> str:
    """What the speaker says that comes now, or the question that somebody asks at the start of the part."""
    first, end = span
    for sentence in study.sentences[first : min(end, first + ANNOUNCED_SENTENCES)]:
        if first and sentence.asks and sentence.words in QUESTION_WORDS and sentence.stems:
            return sentence.text if len(sentence.text) <= TITLE_CHARACTERS else ""
        match = speech(study.language).section.search(sentence.text)
        if first and match is not None and not sentence.asks:
            text = rest_of(match, language=study.language).split(",")[0]
            text = capitalised(unmarked(text.strip()))
            if stems(text, language=study.language) and len(text) <= TITLE_CHARACTERS and study.allows(text):
                return text
    return ""


def _own_score(phrase: Phrase, others: Sequence[Phrase]) -> float:
    """Less for what other parts speak of as well."""
    elsewhere = sum(other.score for other in others if other.key == phrase.key)
    return phrase.score * phrase.score / (phrase.score + 0.5 * elsewhere)


def _title(study: TranscriptAnalysis, best: Sequence[Phrase], first: int) -> str:
    if not best:
        text = unmarked(study.sentences[first].text)
        return shortened(text, TITLE_CHARACTERS, language=study.language)
    one = best[0].full
    both = listed([each.full for each in best], language=study.language)
    solid = len(best) > 1 and best[1].count > 1 and bool(best[1].article or best[1].is_name or " " in best[1].text)
    return capitalised(both if solid and len(both) <= TITLE_CHARACTERS else one)
