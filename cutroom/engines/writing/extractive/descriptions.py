"""Writes the five kinds of descriptions from quoted sentences, chapters, steps and key phrases."""

import re
from collections.abc import Sequence

from cutroom.engines.writing.extractive.analysis import TranscriptAnalysis
from cutroom.engines.writing.extractive.chapters import Chapter, build_chapters, topic_sections
from cutroom.engines.writing.extractive.quotes import capitalized, shortened, without_final_stop
from cutroom.engines.writing.extractive.ranking import is_distinct, select_sentences
from cutroom.engines.writing.extractive.sentences import TranscriptSentence
from cutroom.engines.writing.extractive.speech_patterns import speech_patterns
from cutroom.engines.writing.extractive.steps import as_step, extract_steps
from cutroom.engines.writing.extractive.templates import templates
from cutroom.engines.writing.extractive.titles import main_topic, write_title
from cutroom.engines.writing.port import POST_CHARACTERS, DescriptionKind, TitleStyle
from cutroom.text.writing_systems import primary_language

SUMMARY_SENTENCES = 4
LEAD_SENTENCES = 3
SECTION_SENTENCES = 4
MAX_SECTIONS = 8
MAX_HASHTAGS = 5
POST_HASHTAGS = 3
MIN_MENTIONS = 1.9  # weighted occurrences of a recurring phrase
TAG_CHARACTERS = 24
LEAD_WORDS = 30
INTRODUCTION = 4  # sentences searched for a lead
STEP_WEIGHT = 0.45
_NOT_TAG = re.compile(r"[^\w]+")


def write_description(analysis: TranscriptAnalysis, *, kind: DescriptionKind) -> str:
    writers = {
        DescriptionKind.YOUTUBE_DESCRIPTION: _youtube,
        DescriptionKind.SOCIAL_POST: _post,
        DescriptionKind.HOW_TO_GUIDE: _guide,
        DescriptionKind.BLOG_POST: _article,
        DescriptionKind.VIDEO_SUMMARY: summary,
    }
    return writers[kind](analysis)


def summary(analysis: TranscriptAnalysis, *, count: int = SUMMARY_SENTENCES) -> str:
    """A few sentences from across the video, in order of time."""
    return _join_sentences(analysis, _summary_sentences(analysis, count))


def hashtags(analysis: TranscriptAnalysis, *, count: int) -> list[str]:
    """Hashtags of the brand voice, then key phrases, without duplicates."""
    found = list(analysis.guidelines.hashtags)
    topic = main_topic(analysis)
    # Phrases mentioned once are used only if there are too few others.
    recurring = [each for each in analysis.phrases if each.count >= MIN_MENTIONS or each.is_name]
    phrases = [*([topic] if topic else []), *(recurring if len(recurring) >= POST_HASHTAGS else analysis.phrases)]
    for phrase in phrases:
        tag = _hashtag(phrase.text)
        if tag and tag.lower() not in {each.lower() for each in found}:
            found.append(tag)
        if len(found) >= max(count, len(analysis.guidelines.hashtags)):
            break
    return found


def _youtube(analysis: TranscriptAnalysis) -> str:
    blocks = [summary(analysis, count=LEAD_SENTENCES)]
    if chapters := build_chapters(analysis):
        lines = [each.line for each in chapters]
        heading = templates(analysis.language).chapters
        blocks.append("\n".join([heading, *lines] if heading else lines))
    blocks.append(" ".join(hashtags(analysis, count=MAX_HASHTAGS)))
    return "\n\n".join(filter(None, blocks))


def _post(analysis: TranscriptAnalysis) -> str:
    """The best sentence that fits, a second one if there is space, and hashtags."""
    tags = " ".join(hashtags(analysis, count=POST_HASHTAGS))
    mark = "\U0001f3ac " if analysis.guidelines.emoji else ""
    available = POST_CHARACTERS - len(tags) - len(mark) - 2
    scores, lead = statement_scores(analysis), lead_sentence(analysis)
    ranked = sorted(range(len(analysis.sentences)), key=lambda at: (at != lead, -scores[at], at))
    fitting = [at for at in ranked if len(analysis.sentences[at].text) <= available]
    if not fitting:
        text = shortened(analysis.sentences[ranked[0]].text, available - 1, language=analysis.language) + "\u2026"
        return f"{mark}{text}\n\n{tags}".strip()
    selected = fitting[:1]
    for at in fitting[1:6]:
        joined = _join_sentences(analysis, sorted({*selected, at}))
        if len(selected) < 2 and len(joined) <= available and is_distinct(analysis.sentences, at, selected):
            selected.append(at)
    return f"{mark}{_join_sentences(analysis, sorted(selected))}\n\n{tags}".strip()


def _guide(analysis: TranscriptAnalysis) -> str:
    words = templates(analysis.language)
    title = write_title(analysis, style=TitleStyle.INFORMATIONAL)
    steps = extract_steps(analysis.sentences, language=analysis.language)
    if not steps:
        return "\n\n".join(filter(None, [title, words.no_steps, summary(analysis)]))
    numbered = [f"{number}. {step}" for number, step in enumerate(steps, start=1)]
    return "\n\n".join(filter(None, [title, words.steps, "\n".join(numbered)]))


def _article(analysis: TranscriptAnalysis) -> str:
    """Markdown with a section per topic."""
    blocks = [f"# {write_title(analysis, style=TitleStyle.INFORMATIONAL)}"]
    sections = topic_sections(analysis, min_seconds=max(10.0, analysis.source.duration_seconds / (2 * MAX_SECTIONS)))
    several = len({each.speaker for each in analysis.sentences}) > 1
    texts = [(each.title, _section_text(analysis, each, quoted=several)) for each in sections]
    blocks += [f"## {heading}\n\n{text}" if len(sections) > 1 else text for heading, text in texts if text]
    return "\n\n".join(blocks)


def _section_text(analysis: TranscriptAnalysis, section: Chapter, *, quoted: bool) -> str:
    """The best sentences of a section, in quotation marks if there are several speakers."""
    announcement = speech_patterns(analysis.language).section
    among = [
        at
        for at in range(section.first, section.end)
        if not _repeats_heading(analysis.sentences[at], section.title, announcement)
    ]
    selected = select_sentences(analysis.sentences, analysis.scores, count=SECTION_SENTENCES, among=among)
    if not quoted:
        return _join_sentences(analysis, selected)
    left, right = _quotation_marks(analysis.language)
    groups: list[list[int]] = []
    for at in selected:
        before = groups[-1][-1] if groups else -2
        if groups and at == before + 1 and analysis.sentences[at].speaker == analysis.sentences[before].speaker:
            groups[-1].append(at)
        else:
            groups.append([at])
    return "\n\n".join(f"{left}{_join_sentences(analysis, group)}{right}" for group in groups)


def _repeats_heading(sentence: TranscriptSentence, title: str, announcement: re.Pattern[str]) -> bool:
    match = announcement.search(sentence.text)
    return sentence.text == title or (match is not None and without_final_stop(title).lower() in sentence.text.lower())


def _summary_sentences(analysis: TranscriptAnalysis, count: int) -> list[int]:
    """The lead and the best statements, spread over the sections of the video."""
    scores = statement_scores(analysis)
    opening = lead_sentence(analysis)
    selected = [] if opening is None else [opening]
    sections = topic_sections(analysis, min_seconds=analysis.source.duration_seconds / (count + 1))
    best = [
        at
        for each in sections
        for at in select_sentences(analysis.sentences, scores, count=1, among=range(each.first, each.end))
    ]
    rest = select_sentences(analysis.sentences, scores, count=3 * count)
    for at in [*sorted(best, key=lambda at: -scores[at]), *sorted(rest, key=lambda at: -scores[at])]:
        if len(selected) < count and at not in selected and is_distinct(analysis.sentences, at, selected):
            selected.append(at)
    return sorted(selected)


def statement_scores(analysis: TranscriptAnalysis) -> list[float]:
    """Sentence scores for summaries, where instructions count less."""
    steps = {at for at, each in enumerate(analysis.sentences) if as_step(each, language=analysis.language)}
    return [score * (STEP_WEIGHT if at in steps else 1.0) for at, score in enumerate(analysis.scores)]


def lead_sentence(analysis: TranscriptAnalysis) -> int | None:
    """Index of the sentence that introduces the topic: the announcement, else an early sentence that mentions it."""
    if analysis.announced_topic is not None:
        at = analysis.announced_topic.sentence
        return at if analysis.sentences[at].word_count <= LEAD_WORDS else None
    topic = main_topic(analysis)
    for at, sentence in enumerate(analysis.sentences[:INTRODUCTION]):
        if (
            topic
            and set(topic.key) <= set(sentence.stems)
            and 8 <= sentence.word_count <= LEAD_WORDS
            and not sentence.is_question
        ):
            return at
    return None


def _join_sentences(analysis: TranscriptAnalysis, indices: Sequence[int]) -> str:
    separator = "" if primary_language(analysis.language) in {"ja", "zh", "th"} else " "
    return separator.join(_with_final_stop(analysis.sentences[at].text, language=analysis.language) for at in indices)


def _with_final_stop(text: str, *, language: str) -> str:
    if text[-1:].isalnum() or text[-1:] in ",;:":
        return without_final_stop(text) + ("\u3002" if primary_language(language) in {"ja", "zh"} else ".")
    return text


def _hashtag(text: str) -> str:
    """In camel case without punctuation, as in `#RiceFlour`."""
    words = [_NOT_TAG.sub("", word) for word in text.split()]
    tag = "".join(capitalized(word) for word in words if word) if len(words) > 1 else "".join(words)
    return f"#{tag}" if 2 <= len(tag) <= TAG_CHARACTERS and not tag.isdigit() else ""


def _quotation_marks(language: str) -> tuple[str, str]:
    return {"fr": ("« ", " »"), "de": ("„", "“"), "ja": ("「", "」")}.get(primary_language(language), ("“", "”"))
