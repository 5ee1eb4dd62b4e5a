"""Five kinds of descriptions, made of sentences that were said, chapters, steps and keyphrases."""

import re
from collections.abc import Sequence

from cutroom.engines.writing.extractive.chapters import Chapter, chapters_of, parts_of
from cutroom.engines.writing.extractive.quotes import capitalised, shortened, unmarked
from cutroom.engines.writing.extractive.ranking import chosen, is_new
from cutroom.engines.writing.extractive.sentences import Sentence
from cutroom.engines.writing.extractive.speech import speech
from cutroom.engines.writing.extractive.steps import step_in, steps_of
from cutroom.engines.writing.extractive.study import TranscriptAnalysis
from cutroom.engines.writing.extractive.templates import templates
from cutroom.engines.writing.extractive.titles import title_of, topic_of
from cutroom.engines.writing.port import POST_CHARACTERS, DescriptionKind, TitleStyle
from cutroom.text.writing_systems import base_of

SUMMARY_SENTENCES = 4
LEAD_SENTENCES = 3
PART_SENTENCES = 4
PARTS_LIMIT = 8
MAX_HASHTAGS = 5
POST_HASHTAGS = 3
AGAIN = 1.9
TAG_CHARACTERS = 24
LEAD_WORDS = 30
INTRODUCTION = 4  # sentences
STEP_WEIGHT = 0.45
_NOT_TAG = re.compile(r"[^\w]+")


def description_of(study: TranscriptAnalysis, *, kind: DescriptionKind) -> str:
    makers = {
        DescriptionKind.YOUTUBE_DESCRIPTION: _youtube,
        DescriptionKind.SOCIAL_POST: _post,
        DescriptionKind.HOW_TO_GUIDE: _guide,
        DescriptionKind.BLOG_POST: _article,
        DescriptionKind.VIDEO_SUMMARY: summary,
    }
    return makers[kind](study)


def summary(study: TranscriptAnalysis, *, count: int = SUMMARY_SENTENCES) -> str:
    """A few sentences from all over the film, in the order of time."""
    return _running(study, _spread(study, count))


def hashtags(study: TranscriptAnalysis, *, count: int) -> list[str]:
    """Those that the brand voice asks for, and keyphrases; each once."""
    found = list(study.rules.hashtags)
    topic = topic_of(study)
    # What came up once is no topic; where all did, it must do.
    again = [each for each in study.phrases if each.count >= AGAIN or each.is_name]
    phrases = [*([topic] if topic else []), *(again if len(again) >= POST_HASHTAGS else study.phrases)]
    for phrase in phrases:
        tag = _tag(phrase.text)
        if tag and tag.lower() not in {each.lower() for each in found}:
            found.append(tag)
        if len(found) >= max(count, len(study.rules.hashtags)):
            break
    return found


def _youtube(study: TranscriptAnalysis) -> str:
    parts = [summary(study, count=LEAD_SENTENCES)]
    if chapters := chapters_of(study):
        lines = [each.line for each in chapters]
        heading = templates(study.language).chapters
        parts.append("\n".join([heading, *lines] if heading else lines))
    parts.append(" ".join(hashtags(study, count=MAX_HASHTAGS)))
    return "\n\n".join(filter(None, parts))


def _post(study: TranscriptAnalysis) -> str:
    """The best sentence that fits, a second one where there is room, and hashtags."""
    tags = " ".join(hashtags(study, count=POST_HASHTAGS))
    mark = "\U0001f3ac " if study.rules.emoji else ""
    room = POST_CHARACTERS - len(tags) - len(mark) - 2
    scores, lead = telling(study), lead_of(study)
    ranked = sorted(range(len(study.sentences)), key=lambda at: (at != lead, -scores[at], at))
    fitting = [at for at in ranked if len(study.sentences[at].text) <= room]
    if not fitting:
        text = shortened(study.sentences[ranked[0]].text, room - 1, language=study.language) + "\u2026"
        return f"{mark}{text}\n\n{tags}".strip()
    places = fitting[:1]
    for at in fitting[1:6]:
        joined = _running(study, sorted({*places, at}))
        if len(places) < 2 and len(joined) <= room and is_new(study.sentences, at, places):
            places.append(at)
    return f"{mark}{_running(study, sorted(places))}\n\n{tags}".strip()


def _guide(study: TranscriptAnalysis) -> str:
    words = templates(study.language)
    title = title_of(study, style=TitleStyle.INFORMATIONAL)
    steps = steps_of(study.sentences, language=study.language)
    if not steps:
        return "\n\n".join(filter(None, [title, words.no_steps, summary(study)]))
    numbered = [f"{number}. {step}" for number, step in enumerate(steps, start=1)]
    return "\n\n".join(filter(None, [title, words.steps, "\n".join(numbered)]))


def _article(study: TranscriptAnalysis) -> str:
    """Markdown: a heading for each topic, and under it what was said of it."""
    parts = [f"# {title_of(study, style=TitleStyle.INFORMATIONAL)}"]
    told = parts_of(study, least_seconds=max(10.0, study.material.duration_seconds / (2 * PARTS_LIMIT)))
    several = len({each.speaker for each in study.sentences}) > 1
    texts = [(part.title, _told(study, part, quoted=several)) for part in told]
    parts += [f"## {heading}\n\n{text}" if len(told) > 1 else text for heading, text in texts if text]
    return "\n\n".join(parts)


def _told(study: TranscriptAnalysis, part: Chapter, *, quoted: bool) -> str:
    """The best sentences of one part; where several people speak they are quotes."""
    # What became the heading is not said again under it.
    announces = speech(study.language).section
    among = [at for at in range(part.first, part.end) if not _repeats(study.sentences[at], part.title, announces)]
    places = chosen(study.sentences, study.scores, count=PART_SENTENCES, among=among)
    if not quoted:
        return _running(study, places)
    left, right = _quotes(study.language)
    groups: list[list[int]] = []
    for at in places:
        before = groups[-1][-1] if groups else -2
        if groups and at == before + 1 and study.sentences[at].speaker == study.sentences[before].speaker:
            groups[-1].append(at)
        else:
            groups.append([at])
    return "\n\n".join(f"{left}{_running(study, group)}{right}" for group in groups)


def _repeats(sentence: Sentence, title: str, announces: re.Pattern[str]) -> bool:
    match = announces.search(sentence.text)
    return sentence.text == title or (match is not None and unmarked(title).lower() in sentence.text.lower())


def _spread(study: TranscriptAnalysis, count: int) -> list[int]:
    """What opens the film, and the best statements of the whole of it, not all of one part."""
    scores = telling(study)
    opening = lead_of(study)
    places = [] if opening is None else [opening]
    parts = parts_of(study, least_seconds=study.material.duration_seconds / (count + 1))
    best = [at for part in parts for at in chosen(study.sentences, scores, count=1, among=range(part.first, part.end))]
    rest = chosen(study.sentences, scores, count=3 * count)
    for at in [*sorted(best, key=lambda at: -scores[at]), *sorted(rest, key=lambda at: -scores[at])]:
        if len(places) < count and at not in places and is_new(study.sentences, at, places):
            places.append(at)
    return sorted(places)


def telling(study: TranscriptAnalysis) -> list[float]:
    """The scores of sentences for those who want to know what the film says: steps are of less use to them."""
    steps = {at for at, each in enumerate(study.sentences) if step_in(each, language=study.language)}
    return [score * (STEP_WEIGHT if at in steps else 1.0) for at, score in enumerate(study.scores)]


def lead_of(study: TranscriptAnalysis) -> int | None:
    """The sentence that says what the film is about: an announcement, or else an introduction that names its topic."""
    if study.subject is not None:
        at = study.subject.sentence
        return at if study.sentences[at].words <= LEAD_WORDS else None
    topic = topic_of(study)
    for at, sentence in enumerate(study.sentences[:INTRODUCTION]):
        if topic and set(topic.key) <= set(sentence.stems) and 8 <= sentence.words <= LEAD_WORDS and not sentence.asks:
            return at
    return None


def _running(study: TranscriptAnalysis, places: Sequence[int]) -> str:
    blank = "" if base_of(study.language) in {"ja", "zh", "th"} else " "
    return blank.join(_ended(study.sentences[at].text, language=study.language) for at in places)


def _ended(text: str, *, language: str) -> str:
    """With a mark at its end."""
    if text[-1:].isalnum() or text[-1:] in ",;:":
        return unmarked(text) + ("\u3002" if base_of(language) in {"ja", "zh"} else ".")
    return text


def _tag(text: str) -> str:
    """`#RiceFlour`: nothing but letters and digits, each word with a capital."""
    words = [_NOT_TAG.sub("", word) for word in text.split()]
    tag = "".join(capitalised(word) for word in words if word) if len(words) > 1 else "".join(words)
    return f"#{tag}" if 2 <= len(tag) <= TAG_CHARACTERS and not tag.isdigit() else ""


def _quotes(language: str) -> tuple[str, str]:
    return {"fr": ("« ", " »"), "de": ("„", "“"), "ja": ("「", "」")}.get(base_of(language), ("“", "”"))
