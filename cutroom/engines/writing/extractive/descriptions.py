"""Writes the five kinds of descriptions from the subject, quoted passages, chapters and steps."""

import re

from cutroom.engines.writing.extractive.analysis import TranscriptAnalysis
from cutroom.engines.writing.extractive.chapters import build_chapters, topic_sections
from cutroom.engines.writing.extractive.clauses import shorten
from cutroom.engines.writing.extractive.headings import headings
from cutroom.engines.writing.extractive.passages import Passage, find_passages, join_quoted, select_passages
from cutroom.engines.writing.extractive.quotes import capitalized, with_final_stop
from cutroom.engines.writing.extractive.steps import extract_steps
from cutroom.engines.writing.extractive.titles import fallback_title, title_candidates
from cutroom.engines.writing.port import POST_CHARACTERS, DescriptionKind

SUMMARY_PASSAGES = 3
LEAD_PASSAGES = 2
SECTION_PASSAGES = 2
MAX_SECTIONS = 8
MAX_HASHTAGS = 5
POST_HASHTAGS = 3
SUBJECT_CHARACTERS = 160
TAG_CHARACTERS = 24
TAG_MENTIONS = 3  # of a noun; a name needs two
_NOT_TAG = re.compile(r"[^\w]+")


def write_description(analysis: TranscriptAnalysis, *, kind: DescriptionKind) -> str:
    writers = {
        DescriptionKind.YOUTUBE_DESCRIPTION: _youtube,
        DescriptionKind.SOCIAL_POST: _post,
        DescriptionKind.HOW_TO_GUIDE: _guide,
        DescriptionKind.BLOG_POST: _article,
        DescriptionKind.VIDEO_SUMMARY: _summary,
    }
    return writers[kind](analysis)


def plain_title(analysis: TranscriptAnalysis) -> str:
    """The title above a guide or an article."""
    found = title_candidates(analysis)
    return found[0] if found else fallback_title(analysis)


def hashtags(analysis: TranscriptAnalysis, *, count: int) -> list[str]:
    """Hashtags of the brand voice, then recurring nouns and names, without duplicates."""
    found = list(analysis.guidelines.hashtags)
    for term in (term for term in analysis.terms if term.is_name or term.count >= TAG_MENTIONS):
        if len(found) >= max(count, len(analysis.guidelines.hashtags)):
            break
        tag = _hashtag(term.text)
        if tag and tag.lower() not in {each.lower() for each in found}:
            found.append(tag)
    return found


def _introduction(analysis: TranscriptAnalysis, *, passages: int, max_characters: int | None = None) -> str:
    """The subject as a sentence, and the best passages in quotation marks; without either, the title."""
    subject = ""
    if analysis.subject is not None:
        subject = analysis.subject.within(SUBJECT_CHARACTERS, language=analysis.language)
        subject = with_final_stop(subject, language=analysis.language) if analysis.allows(subject) else ""
    available = None if max_characters is None else max_characters - len(subject) - 4
    selected = select_passages(_allowed(analysis), count=passages, max_characters=available)
    if not selected and not subject:
        return with_final_stop(plain_title(analysis), language=analysis.language)
    return "\n\n".join(filter(None, [subject, join_quoted(selected, language=analysis.language)]))


def _allowed(analysis: TranscriptAnalysis, among: range | None = None) -> list[Passage]:
    """Passages without the sentence that announces the subject, which stands above them."""
    announced = analysis.subject.sentence if analysis.subject is not None else -1
    return [
        each
        for each in find_passages(analysis, among=among)
        if not each.first <= announced < each.end and analysis.allows(each.text)
    ]


def _youtube(analysis: TranscriptAnalysis) -> str:
    blocks = [_introduction(analysis, passages=LEAD_PASSAGES)]
    if chapters := build_chapters(analysis):
        lines = [each.line for each in chapters]
        heading = headings(analysis.language).chapters
        blocks.append("\n".join([heading, *lines] if heading else lines))
    blocks.append(" ".join(hashtags(analysis, count=MAX_HASHTAGS)))
    return "\n\n".join(filter(None, blocks))


def _post(analysis: TranscriptAnalysis) -> str:
    """The subject and a passage, or the title, with hashtags."""
    tags = " ".join(hashtags(analysis, count=POST_HASHTAGS))
    mark = "\U0001f3ac " if analysis.guidelines.emoji else ""
    available = POST_CHARACTERS - len(tags) - len(mark) - 2
    text = _introduction(analysis, passages=1, max_characters=available)
    if len(text) > available:
        text = plain_title(analysis)
    if len(text) > available:
        text = shorten(text, available, language=analysis.language)
    return f"{mark}{text}\n\n{tags}".strip()


def _summary(analysis: TranscriptAnalysis) -> str:
    return _introduction(analysis, passages=SUMMARY_PASSAGES)


def _guide(analysis: TranscriptAnalysis) -> str:
    own = headings(analysis.language)
    steps = extract_steps(analysis.sentences, language=analysis.language)
    if not steps:
        return "\n\n".join(filter(None, [own.no_steps, _summary(analysis)]))
    numbered = [f"{number}. {step}" for number, step in enumerate(steps, start=1)]
    return "\n\n".join(filter(None, [plain_title(analysis), own.steps, "\n".join(numbered)]))


def _article(analysis: TranscriptAnalysis) -> str:
    """Markdown with a section per topic."""
    sections = topic_sections(analysis, min_seconds=max(10.0, analysis.source.duration_seconds / (2 * MAX_SECTIONS)))
    title = plain_title(analysis)
    blocks = [f"# {title}"]
    for section in sections:
        passages = select_passages(_allowed(analysis, range(section.first, section.end)), count=SECTION_PASSAGES)
        if passages:
            text = join_quoted(passages, language=analysis.language)
            blocks.append(text if section.title == title else f"## {section.title}\n\n{text}")
    if len(blocks) == 1:
        blocks.append(_summary(analysis))
    return "\n\n".join(blocks)


def _hashtag(text: str) -> str:
    """In camel case without punctuation, as in `#RiceFlour`."""
    words = [_NOT_TAG.sub("", word) for word in text.split()]
    tag = "".join(capitalized(word) for word in words if word) if len(words) > 1 else "".join(words)
    return f"#{tag}" if 2 <= len(tag) <= TAG_CHARACTERS and not tag.isdigit() else ""
