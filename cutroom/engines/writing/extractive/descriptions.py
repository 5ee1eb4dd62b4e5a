"""Writes the five kinds of descriptions from the subject, quoted passages, chapters and steps."""

import re

from cutroom.engines.writing.extractive.analysis import TranscriptAnalysis
from cutroom.engines.writing.extractive.chapters import build_chapters, topic_sections
from cutroom.engines.writing.extractive.clauses import shorten
from cutroom.engines.writing.extractive.headings import headings
from cutroom.engines.writing.extractive.passages import (
    Passage,
    announcement,
    find_passages,
    first_statement,
    select_passages,
    single_sentences,
)
from cutroom.engines.writing.extractive.quotes import capitalized, quoted, with_final_stop
from cutroom.engines.writing.extractive.speech_patterns import speech_patterns
from cutroom.engines.writing.extractive.terms import Term
from cutroom.engines.writing.extractive.titles import fallback_title, title_candidates
from cutroom.engines.writing.port import POST_CHARACTERS, DescriptionKind
from cutroom.text.vocabulary import stems, vocabulary

SUMMARY_PASSAGES = 3
LEAD_PASSAGES = 2
SECTION_PASSAGES = 2
MAX_SECTIONS = 8
MAX_HASHTAGS = 5
POST_HASHTAGS = 3
SUBJECT_CHARACTERS = 160
TAG_CHARACTERS = 24
TAG_NOUNS = 3  # most frequent terms, which may be tags even if they are not names
_NOT_TAG = re.compile(r"[^\w]+")


def write_descriptions(analysis: TranscriptAnalysis, *, kind: DescriptionKind) -> list[str]:
    """Descriptions that differ in their introduction, best first."""
    writers = {
        DescriptionKind.YOUTUBE_DESCRIPTION: _youtube,
        DescriptionKind.SOCIAL_POST: _posts,
        DescriptionKind.HOW_TO_GUIDE: _guides,
        DescriptionKind.BLOG_POST: _articles,
        DescriptionKind.VIDEO_SUMMARY: _summaries,
    }
    return list(dict.fromkeys(writers[kind](analysis)))


def plain_title(analysis: TranscriptAnalysis) -> str:
    """The title above a guide or an article."""
    found = title_candidates(analysis)
    return found[0] if found else fallback_title(analysis)


def hashtags(analysis: TranscriptAnalysis, *, count: int) -> list[str]:
    """Hashtags of the brand voice, then recurring names and nouns of the subject, without duplicates."""
    found = list(analysis.guidelines.hashtags)
    for number, term in enumerate(analysis.terms):
        if len(found) >= max(count, len(analysis.guidelines.hashtags)):
            break
        tag = _hashtag(term.text) if (term.is_name or number < TAG_NOUNS) and _is_topic(term, analysis) else ""
        if tag and tag.lower() not in {each.lower() for each in found}:
            found.append(tag)
    return found


def _is_topic(term: Term, analysis: TranscriptAnalysis) -> bool:
    """Whether the lead of a description has the name, or the subject has the noun as a whole noun phrase."""
    lead, _ = _leads(analysis)[0]
    if term.is_name:
        return re.search(rf"\b{re.escape(term.text)}\b", lead) is not None
    before = "|".join(re.escape(each.rstrip("'")) for each in sorted(speech_patterns(analysis.language).articles))
    pattern = rf"\b(?:{before})[ '\u2019]{re.escape(term.text)}\b *(?P<next>\w*)" if before else re.escape(term.text)
    found = re.search(pattern, analysis.subject.text, re.IGNORECASE) if analysis.subject is not None else None
    after = found.groupdict().get("next") if found is not None else None
    return found is not None and (not after or vocabulary(analysis.language).is_stop_word(after.lower()))


def _introductions(analysis: TranscriptAnalysis, *, passages: int, max_characters: int | None = None) -> list[str]:
    """Introductions, best first: with the announcement, the subject or the first statement, or only quotes."""
    found = _quotable(analysis)
    texts = []
    for lead, taken in _leads(analysis):
        available = None if max_characters is None else max_characters - len(lead) - 4
        is_long = any(each.end - each.first > 1 for each in taken)  # so that no quote is better than a poor one
        quotes = [each for each in found if not (is_long and each.is_weak)]
        if not lead and not quotes:
            quotes = _allowed(analysis, single_sentences(analysis))
        quotes = select_passages(quotes, count=passages - len(taken), besides=taken, max_characters=available)
        texts.append("\n\n".join(filter(None, [lead, _join_quoted(quotes, analysis)])))
    fitting = [text for text in texts if text and (max_characters is None or len(text) <= max_characters)]
    return fitting or [with_final_stop(plain_title(analysis), language=analysis.language)]


def _leads(analysis: TranscriptAnalysis) -> list[tuple[str, list[Passage]]]:
    """Ways to begin, with the passages that each contains."""
    language, found = analysis.language, []
    if (announced := announcement(analysis)) and analysis.allows(announced.text):
        found.append((announced.text, [announced]))
    subject = analysis.subject.within(SUBJECT_CHARACTERS, language=language) if analysis.subject else ""
    if subject and analysis.allows(subject):
        found.append((with_final_stop(subject, language=language), []))
    elif (statement := first_statement(analysis)) and _allowed(analysis, [statement]):
        found.append((quoted(statement.text, language=language), [statement]))
    return [*found, ("", [])]


def _quotable(analysis: TranscriptAnalysis, *, among: range | None = None) -> list[Passage]:
    """Passages to quote, best first; weak ones only if there are no others."""
    found = _allowed(analysis, find_passages(analysis, among=among))
    return [each for each in found if not each.is_weak] or found


def _allowed(analysis: TranscriptAnalysis, passages: list[Passage]) -> list[Passage]:
    """Passages that say more than the title and do not announce the subject."""
    announced = analysis.subject.sentence if analysis.subject is not None else -1
    title = set(stems(plain_title(analysis), language=analysis.language))
    return [
        each
        for each in passages
        if not each.first <= announced < each.end and not title.issuperset(each.stems) and analysis.allows(each.text)
    ]


def _join_quoted(passages: list[Passage], analysis: TranscriptAnalysis) -> str:
    return "\n\n".join(quoted(each.text, language=analysis.language) for each in passages)


def _youtube(analysis: TranscriptAnalysis) -> list[str]:
    lines = [each.line for each in build_chapters(analysis)]
    heading = headings(analysis.language).chapters
    chapters = "\n".join([heading, *lines] if heading and lines else lines)
    tags = " ".join(hashtags(analysis, count=MAX_HASHTAGS))
    introductions = _introductions(analysis, passages=LEAD_PASSAGES)
    return ["\n\n".join(filter(None, [introduction, chapters, tags])) for introduction in introductions]


def _posts(analysis: TranscriptAnalysis) -> list[str]:
    """An introduction with one passage, or the title, with hashtags."""
    tags = " ".join(hashtags(analysis, count=POST_HASHTAGS))
    mark = "\U0001f3ac " if analysis.guidelines.emoji else ""
    available = POST_CHARACTERS - len(tags) - len(mark) - 2
    texts = _introductions(analysis, passages=1, max_characters=available)
    shortened = (shorten(text, available, language=analysis.language) for text in texts)
    return [f"{mark}{text}\n\n{tags}".strip() for text in shortened]


def _summaries(analysis: TranscriptAnalysis) -> list[str]:
    return _introductions(analysis, passages=SUMMARY_PASSAGES)


def _guides(analysis: TranscriptAnalysis) -> list[str]:
    own = headings(analysis.language)
    if not analysis.steps:
        return ["\n\n".join(filter(None, [own.no_steps, summary])) for summary in _summaries(analysis)]
    numbered = [f"{number}. {step}" for number, step in enumerate(analysis.steps, start=1)]
    return ["\n\n".join(filter(None, [plain_title(analysis), own.steps, "\n".join(numbered)]))]


def _articles(analysis: TranscriptAnalysis) -> list[str]:
    """Markdown with a section per topic."""
    sections = topic_sections(analysis, min_seconds=max(10.0, analysis.source.duration_seconds / (2 * MAX_SECTIONS)))
    title, (lead, taken) = plain_title(analysis), _leads(analysis)[0]
    blocks = [lead] if taken else []
    for section in sections:
        found = _quotable(analysis, among=range(section.first, section.end))
        if passages := select_passages(found, count=SECTION_PASSAGES, besides=taken):
            heading = [] if section.title in {"", title} else [f"## {section.title}"]
            blocks += [*heading, _join_quoted(passages, analysis)]
    return ["\n\n".join([f"# {title}", *(blocks or _summaries(analysis)[:1])])]


def _hashtag(text: str) -> str:
    """In camel case without punctuation, as in `#RiceFlour`."""
    words = [_NOT_TAG.sub("", word) for word in text.split()]
    tag = "".join(capitalized(word) for word in words if word) if len(words) > 1 else "".join(words)
    return f"#{tag}" if 2 <= len(tag) <= TAG_CHARACTERS and not tag.isdigit() else ""
