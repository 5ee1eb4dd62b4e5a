"""Finds passages: consecutive sentences of one speaker that together are a whole thought."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cutroom.engines.writing.extractive.analysis import TranscriptAnalysis
from cutroom.engines.writing.extractive.announced_subject import searched
from cutroom.engines.writing.extractive.clauses import has_pronoun, speaks_to_person
from cutroom.engines.writing.extractive.quotes import capitalized, with_final_stop
from cutroom.engines.writing.extractive.ranking import MAX_OVERLAP, overlap
from cutroom.engines.writing.extractive.sentences import ADDRESS, INTRODUCTION
from cutroom.engines.writing.extractive.speech_patterns import speech_patterns
from cutroom.engines.writing.extractive.steps import as_step
from cutroom.text.discourse import SentenceDiscourse
from cutroom.text.vocabulary import words_of
from cutroom.text.writing_systems import primary_language

MAX_SENTENCES = 3
MAX_CHARACTERS = 320
MIN_WORDS = 8
MIN_LAST_WORDS = 5  # a shorter sentence at the end often announces the next one
MIN_STEMS = 5
DETAIL_WEIGHT = 0.2  # of each further sentence
NUMBER_WEIGHT = 0.1
OPENING_WEIGHT = 0.8  # what is said early often introduces the rest
QUOTED_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class Passage:
    """A quotable passage; `first` and `end` are sentence indices."""

    text: str
    first: int
    end: int
    score: float
    stems: tuple[str, ...]
    is_weak: bool  # answers another person, or gives away the end

    def repeats(self, other: "Passage") -> bool:
        overlaps = self.first < other.end and other.first < self.end
        return overlaps or overlap(self.stems, other.stems) >= MAX_OVERLAP


def announcement(analysis: TranscriptAnalysis) -> Passage | None:
    """The sentences that announce the subject, unless they also greet or thank."""
    if analysis.subject is None:
        return None
    passage = _opening(analysis, analysis.subject.sentence)
    return None if speech_patterns(analysis.language).housekeeping.search(passage.text) else passage


def first_statement(analysis: TranscriptAnalysis) -> Passage | None:
    """The first sentences of the video that are said to everybody; what follows them must need no context."""
    is_dialogue = len({each.speaker for each in analysis.sentences}) > 1
    is_first = True
    for at in searched(len(analysis.sentences)):
        sentence = analysis.sentences[at]
        if _is_aside(analysis, at) or sentence.is_question or sentence.word_count < MIN_LAST_WORDS:
            continue
        is_said_to_all = not (is_dialogue and speaks_to_person(sentence.text, language=analysis.language))
        passage = _opening(analysis, at)
        is_long = len(words_of(passage.text)) >= MIN_WORDS
        if is_said_to_all and is_long and (is_first or sentence.stands_alone):
            return passage
        is_first = False
    return None


def find_passages(analysis: TranscriptAnalysis, *, among: range | None = None) -> list[Passage]:
    """Passages that need no context and mention what the video is about, best first."""
    indices = range(len(analysis.sentences)) if among is None else among
    found = [passage for at in indices if (passage := _passage(analysis, at, indices.stop)) is not None]
    keys = analysis.key_stems
    related = [passage for passage in found if not keys or keys & set(passage.stems)]
    return sorted(related, key=lambda passage: (-passage.score, passage.first))


def single_sentences(analysis: TranscriptAnalysis) -> list[Passage]:
    """For speech in which nothing stands alone: the sentences that can be quoted at all, best first."""
    found = [
        _built(analysis, at, at + 1)
        for at, each in enumerate(analysis.sentences)
        if analysis.scores[at] > 0 and not each.is_question
    ]
    return sorted(found, key=lambda passage: (-passage.score, passage.first))


def select_passages(
    passages: Sequence[Passage], *, count: int, besides: Sequence[Passage] = (), max_characters: int | None = None
) -> list[Passage]:
    """The best passages that repeat neither each other nor `besides`, in order of time."""
    taken: list[Passage] = []
    size = 0
    for each in passages:
        too_long = max_characters is not None and size + len(each.text) + 3 * len(taken) > max_characters
        if len(taken) == count:
            break
        if not too_long and not any(map(each.repeats, [*taken, *besides])):
            taken.append(each)
            size += len(each.text)
    return sorted(taken, key=lambda each: each.first)


def _opening(analysis: TranscriptAnalysis, first: int) -> Passage:
    """The sentence without the name of the speaker, and what the same speaker says next."""
    end = first + 1
    while end < len(analysis.sentences) and end - first < MAX_SENTENCES:
        each = analysis.sentences[end]
        is_over = _answers(analysis, end) or _is_aside(analysis, end)
        is_asked = each.is_question and speaks_to_person(each.text, language=analysis.language)
        if is_over or is_asked or len(_joined(analysis, first, end + 1)) > MAX_CHARACTERS:
            break
        end += 1
    while end - first > 1 and _is_continued(analysis, end):
        end -= 1
    return _built(analysis, first, _trimmed(analysis, first, end))


def _is_aside(analysis: TranscriptAnalysis, at: int) -> bool:
    """Whether a sentence only greets, thanks or introduces, addresses a person, or is a step of a guide."""
    sentence = analysis.sentences[at]
    text = _without_introduction(sentence.text, language=analysis.language)
    says_more = text != sentence.text and not speech_patterns(analysis.language).housekeeping.search(text)
    is_greeting = sentence.is_housekeeping and not says_more
    return is_greeting or bool(ADDRESS.search(text)) or _belongs_to_step(analysis, at)


def _is_continued(analysis: TranscriptAnalysis, end: int) -> bool:
    """Whether the same speaker completes the thought in the next sentence."""
    if end == len(analysis.sentences) or _answers(analysis, end):
        return False
    return SentenceDiscourse(analysis.sentences[end].text, language=analysis.language).continues


def _may_open(analysis: TranscriptAnalysis, at: int) -> bool:
    """Whether a sentence is a statement that needs no context."""
    sentence = analysis.sentences[at]
    if sentence.is_housekeeping or sentence.is_question or not sentence.stands_alone:
        return False
    return not has_pronoun(sentence.text, language=analysis.language) and not _belongs_to_step(analysis, at)


def _passage(analysis: TranscriptAnalysis, first: int, stop: int) -> Passage | None:
    """The passage that starts with this sentence and takes in the sentences that refer back to it."""
    text = analysis.sentences[first].text
    if not _may_open(analysis, first) or SentenceDiscourse(text, language=analysis.language).depends_on_previous:
        return None
    end = first + 1
    while end < stop and _continues(analysis, end) and end - first < MAX_SENTENCES:
        end += 1
    if end < len(analysis.sentences) and _continues(analysis, end):
        return None  # its point comes later
    passage = _built(analysis, first, _trimmed(analysis, first, end))
    word_count = sum(each.word_count for each in analysis.sentences[first : passage.end])
    says_enough = len(passage.stems) >= MIN_STEMS and word_count >= MIN_WORDS
    return passage if says_enough and len(passage.text) <= MAX_CHARACTERS else None


def _built(analysis: TranscriptAnalysis, first: int, end: int) -> Passage:
    own, text = analysis.sentences[first:end], _joined(analysis, first, end)
    score = max(analysis.scores[first:end]) + DETAIL_WEIGHT * (len(own) - 1)
    score += NUMBER_WEIGHT * any(map(str.isdigit, text))
    score += OPENING_WEIGHT * (1 - first / len(analysis.sentences)) ** 2
    all_stems = tuple(stem for each in own for stem in each.stems)
    is_weak = _answers(analysis, first) or first >= QUOTED_SHARE * len(analysis.sentences)
    return Passage(text, first, end, score, all_stems, is_weak)


def _joined(analysis: TranscriptAnalysis, first: int, end: int) -> str:
    separator = "" if primary_language(analysis.language) in {"ja", "zh", "th"} else " "
    texts = [with_final_stop(each.text, language=analysis.language) for each in analysis.sentences[first:end]]
    return separator.join([_without_introduction(texts[0], language=analysis.language), *texts[1:]])


def _without_introduction(text: str, *, language: str) -> str:
    """Without the name of the speaker: "I'm Grace, and today we fix a tap" becomes "Today we fix a tap"."""
    name = INTRODUCTION.match(text)
    rest = re.match(r",? (?P<word>\w+),? ", text[name.end() :]) if name is not None else None
    if name is None or rest is None or rest["word"] not in speech_patterns(language).openers:
        return text
    return capitalized(text[name.end() + rest.end() :])


def _trimmed(analysis: TranscriptAnalysis, first: int, end: int) -> int:
    while end - first > 1 and analysis.sentences[end - 1].word_count < MIN_LAST_WORDS:
        end -= 1
    return end


def _belongs_to_step(analysis: TranscriptAnalysis, at: int) -> bool:
    """Whether a sentence is an instruction, or is said by the same person right after one."""
    if not analysis.steps:
        return False
    near = analysis.sentences[max(0, at - 1) : at + 1]
    return any(as_step(each, language=analysis.language) and each.speaker == near[-1].speaker for each in near)


def _answers(analysis: TranscriptAnalysis, at: int) -> bool:
    """Whether another person spoke just before."""
    return at > 0 and analysis.sentences[at - 1].speaker != analysis.sentences[at].speaker


def _continues(analysis: TranscriptAnalysis, at: int) -> bool:
    """Whether it is by the same speaker and refers back."""
    sentence = analysis.sentences[at]
    return not (_answers(analysis, at) or sentence.is_housekeeping or sentence.is_question or sentence.stands_alone)
